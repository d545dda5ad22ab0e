/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What answers carry besides the file: error pages (behaviours.md Q1 to Q5), expires (R4), add_header (R5, R6),
 * server_tokens, and return with all its forms.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char PAGES[] =
    "http:\n"
    "  server:\n"
    "    - listen: 127.0.0.1:@0@\n"
    "      root: html\n"
    "      error_page: ['404 /404.html', '403 =200 /403.txt', '405 /none.html', '410 /gone.html',"
    " '500 502 503 504 /50x.html']\n"
    "      location:\n"
    "        /plain/: {error_page: '400 /x'}\n"
    "        /as/: {error_page: '404 =410 /gone.html'}\n"
    "        /there/: {error_page: '404 =302 http://e.example/x'}\n"
    "        /away/: {error_page: '404 http://e.example/y'}\n"
    "        /odd/: {error_page: '404 http://e.example$uri'}\n"
    "        /taken/: {error_page: '404 = /re.html'}\n"
    "        /named/: {error_page: '404 @named'}\n"
    "        '@named': {return: 200 named}\n"
    "        /self/: {error_page: '404 /self/none.html'}\n"
    "        /two/: {error_page: '404 /three/none.html'}\n"
    "        /three/: {error_page: '404 /two/none.html'}\n"
    "        = /five: {return: 503}\n"
    "        = /gone: {return: 410}\n"
    "        /inside/: {internal: }\n"
    "        /shown/: {error_page: '404 /inside/page.html'}\n"
    "    - {listen: '127.0.0.1:@1@', root: html}\n";

static const struct row pages[] = {
    {"Q1 404 page, own status and type", GET("/none"), 404, KEEPS, .body = "page 404\n",
     .has = "Content-Type: text/html*\nContent-Length: 9"},
    {"Q1 override of the status", GET("/d/"), 200, KEEPS, .body = "page 403\n",
     .has = "Content-Type: text/plain*"},
    {"Q1 missing page: built in", REQ("POST", "/a.txt", "Content-Length: 0\r\n"), 405, 0,
     .has = "Content-Type: text/html*\nAllow: GET, HEAD*", .body_has = "405"},
    {"Q1 one of several codes", GET("/five"), 503, 0, .body = "page 50x\n"},
    {"Q1 410", GET("/gone"), 410, 0, .body = "page gone\n"},
    {"Q1 =410", GET("/as/none"), 410, KEEPS, .body = "page gone\n"},
    {"Q1 =302 to a URL", GET("/there/none"), 302, KEEPS, .has = "Location: http://e.example/x"},
    {"Q1 to a URL", GET("/away/none"), 302, KEEPS, .has = "Location: http://e.example/y"},
    {"E7 CR LF into a URL", GET("/odd/%0d%0aY:1"), 302, KEEPS,
     .has = "Location: http://e.example/odd/%0D%0AY:1", .lacks = "Y"},
    {"E7 other bytes into a URL", GET("/odd/%1b%20%ff"), 302, KEEPS,
     .has = "Location: http://e.example/odd/%1B%20%FF"},
    {"Q1 = takes the page's status", GET("/taken/none"), 200, KEEPS, .body = "re\n"},
    {"Q1 named location", GET("/named/none"), 404, KEEPS, .body = "named", .or_status = 200},
    {"Q1 replaced below", GET("/plain/none"), 404, KEEPS, .body_lacks = "page 404"},
    {"Q1 HEAD", HEAD("/none"), 404, KEEPS, .has = "Content-Length: 9"},
    {"Q1 the page itself", GET("/404.html"), 200, KEEPS, .body = "page 404\n"},
    {"Q1 HTTP/1.0", "GET /none HTTP/1.0\r\n\r\n", 404, CLOSES, .body = "page 404\n"},
    {"Q3 page that is missing itself", GET("/self/none"), 404, KEEPS, .body_has = "404"},
    {"Q3 two that name each other", GET("/two/none"), 404, KEEPS, .body_has = "404"},
    {"internal is 404 from outside", GET("/inside/page.html"), 404, KEEPS, .body = "page 404\n"},
    {"internal as an error page", GET("/shown/none"), 404, KEEPS, .body = "inside\n"},
    {"Q2 no script", GET("/%3Cscript%3E"), 404, KEEPS, .body_lacks = "<script>"},
};

static const struct row builtin[] = {
    {"Q4 404", GET("/none"), 404, KEEPS, .has = "Content-Type: text/html*\nContent-Length: *",
     .body_has = "404 Not Found"},
    {"Q4 403", GET("/d/"), 403, KEEPS, .has = "Content-Type: text/html*",
     .body_has = "403 Forbidden"},
    {"Q4 400", GET("/%"), 400, CLOSES, .has = "Content-Type: text/html*",
     .body_has = "400 Bad Request"},
    {"Q4 405", REQ("DELETE", "/a.txt", ""), 405, KEEPS, .body_has = "405 Method Not Allowed"},
    {"Q4 HEAD", HEAD("/none"), 404, KEEPS, .has = "Content-Type: text/html*"},
    {"Q2 target is not shown raw", GET("/%3Cscript%3Ealert(1)%3C/script%3E"), 404, KEEPS,
     .body_lacks = "<script>"},
    {"Q2 raw < is no target or not shown", GET("/<script>"), 404, 0, .or_status = 400,
     .body_lacks = "<script>"},
    {"Q2 no path of the machine", GET("/none"), 404, KEEPS, .body_lacks = "/tmp"},
    {"Q2 query", GET("/none?<b>"), 404, 0, .or_status = 400, .body_lacks = "<b>"},
    {"Q5 no version", GET("/none"), 404, KEEPS, .has = "Server: sluice", .body_lacks = "sluice/"},
};

static const char HEADERS[] =
    "http:\n"
    "  add_header: X-Http http\n"
    "  server:\n"
    "    - listen: 127.0.0.1:@0@\n"
    "      root: html\n"
    "      add_header: ['X-Server one', 'X-Always \"yes please\" always', 'X-Empty \"\"']\n"
    "      location:\n"
    "        /merge/: {add_header: ['X-Server two', X-Loc loc], alias: html/}\n"
    "        /twice/: {add_header: ['X-Server a', 'X-Server b'], alias: html/}\n"
    "        /gone/: {add_header: ['X-Server \"\"'], alias: html/}\n"
    "        /var/: {add_header: ['X-Uri $uri', 'X-Arg \"<$arg_a>\"', [X-List, 'a b']], alias: "
    "html/}\n"
    "        /tag/: {add_header: ['ETag $uri', 'Last-Modified $uri'], return: 200 ok}\n"
    "        /quoted/: {add_header: [[ETag, '\"$uri\"']], return: 200 ok}\n"
    "        /made/: {add_header: ['X-Uri $uri'], return: 200 ok}\n"
    "        /server/: {add_header: ['Cache-Control no-store', 'Content-Security-Policy"
    " \"default-src ''self''; x\"'], alias: html/}\n"
    "        /created: {return: 201 made, add_header: X-201 yes}\n"
    "        /err: {return: 500 sorry, add_header: X-500 yes}\n"
    "    - {listen: '127.0.0.1:@1@', root: html, server_tokens: on}\n"
    "    - {listen: '127.0.0.1:@2@', root: html, server_tokens: off}\n";

static const struct row headers[] = {
    {"R5 200", GET("/a.txt"), 200, KEEPS,
     .has = "X-Http: http\nX-Server: one\nX-Always: yes please", .lacks = "X-Empty"},
    {"R5 304", REQ("GET", "/a.txt", "If-None-Match: *\r\n"), 304, KEEPS, .has = "X-Server: one"},
    {"R5 301", GET("/d"), 301, KEEPS, .has = "X-Server: one\nX-Always: yes please"},
    {"R5 404", GET("/none"), 404, KEEPS, .has = "X-Always: yes please",
     .lacks = "X-Server\nX-Http"},
    {"R5 201", GET("/created"), 201, KEEPS, .has = "X-201: yes\nX-Server: one"},
    {"R5 500", GET("/err"), 500, 0, .lacks = "X-500", .has = "X-Always: yes please"},
    {"R5 a child replaces by name", GET("/merge/a.txt"), 200, KEEPS,
     .has = "X-Server: two\nX-Loc: loc\nX-Http: http\nX-Always: yes please"},
    {"R5 two lines of one block", GET("/twice/a.txt"), 200, KEEPS,
     .has = "X-Server: a\nX-Server: b\nX-Http: http"},
    {"R5 an empty value removes", GET("/gone/a.txt"), 200, KEEPS, .has = "X-Http: http",
     .lacks = "X-Server"},
    {"R5 variables", GET("/var/a.txt?a=7"), 200, KEEPS,
     .has = "X-Uri: /var/a.txt\nX-Arg: <7>\nX-List: a b"},
    {"R6 no CR LF from a variable", GET("/var/%0d%0aY:1"), 404, KEEPS, .lacks = "Y"},
    {"E7 no CR LF into ETag and Last-Modified", GET("/tag/%0d%0aY:1"), 200, KEEPS, .body = "ok",
     .lacks = "Y"},
    {"R6 ETag from a variable", GET("/quoted/x"), 200, KEEPS, .has = "ETag: \"/quoted/x\""},
    {"G9 no control byte from a variable", GET("/made/%1b"), 200, KEEPS, .lacks = "X-Uri"},
    {"R5 quoted value", GET("/server/a.txt"), 200, KEEPS,
     .has = "Cache-Control: no-store\nContent-Security-Policy: default-src 'self'; x"},
    {"R5 HEAD", HEAD("/a.txt"), 200, KEEPS, .has = "X-Server: one"},
};

static const struct row tokens[] = {
    {"Q5 server_tokens on", GET("/a.txt"), 200, KEEPS, .has = "Server: sluice/*"},
    {"Q5 server_tokens on, error page", GET("/none"), 404, KEEPS, .has = "Server: sluice/*"},
};

static const struct row no_tokens[] = {
    {"Q5 server_tokens off", GET("/a.txt"), 200, KEEPS, .has = "Server: sluice"},
};

static const char RETURNS[] =
    "http:\n"
    "  server:\n"
    "    - listen: 127.0.0.1:@0@\n"
    "      root: html\n"
    "      default_type: text/plain\n"
    "      location:\n"
    "        = /ok: {return: '200 \"ok $uri $arg_x\"'}\n"
    "        = /list: {return: [200, 'as it is \"$uri\"']}\n"
    "        = /empty: {return: 200 \"\"}\n"
    "        = /204: {return: 204}\n"
    "        = /301: {return: '301 /to?$args'}\n"
    "        = /302: {return: 302 https://$host$request_uri}\n"
    "        = /303: {return: 303 /see}\n"
    "        = /307: {return: 307 /t}\n"
    "        = /308: {return: 308 /p}\n"
    "        = /url: {return: http://e.example/}\n"
    "        = /404: {return: 404}\n"
    "        = /404text: {return: '404 \"nothing here\"'}\n"
    "        = /500: {return: 500}\n"
    "        = /503: {return: 503 later}\n"
    "        = /444: {return: 444}\n"
    "        = /429: {return: 429}\n"
    "        = /inject: {return: '302 /x$arg_u'}\n"
    "        = /json: {default_type: application/json, return: [200, '{\"a\":1}']}\n"
    "    - {listen: '127.0.0.1:@1@', return: '301 https://$host$request_uri'}\n";

static const struct row returns[] = {
    {"200 text", GET("/ok?x=1"), 200, KEEPS, .body = "ok /ok 1",
     .has = "Content-Type: text/plain*"},
    {"list form is verbatim", GET("/list"), 200, KEEPS, .body = "as it is \"/list\""},
    {"200 empty", GET("/empty"), 200, KEEPS | EMPTY, .has = "Content-Length: 0"},
    {"R7 204", GET("/204"), 204, KEEPS | EMPTY, .lacks = "Content-Length\nTransfer-Encoding"},
    {"R7 204 HEAD", HEAD("/204"), 204, KEEPS | EMPTY, .lacks = "Content-Length\nTransfer-Encoding"},
    {"301 with query", GET("/301?a=b"), 301, KEEPS, .has = "Location: /to?a=b"},
    {"302 to a URL", GET("/302?q"), 302, KEEPS, .has = "Location: https://localhost/302?q"},
    {"303", GET("/303"), 303, KEEPS, .has = "Location: /see"},
    {"307", GET("/307"), 307, KEEPS, .has = "Location: /t"},
    {"308", GET("/308"), 308, KEEPS, .has = "Location: /p"},
    {"bare URL is 302", GET("/url"), 302, KEEPS, .has = "Location: http://e.example/"},
    {"404", GET("/404"), 404, KEEPS, .has = "Content-Type: text/html*", .body_has = "404"},
    {"404 text", GET("/404text"), 404, KEEPS, .body = "nothing here",
     .has = "Content-Type: text/plain*"},
    {"500", GET("/500"), 500, 0, .body_has = "500"},
    {"503 text", GET("/503"), 503, 0, .body = "later"},
    {"429", GET("/429"), 429, KEEPS, .body_has = "429"},
    {"444 closes without an answer", GET("/444"), 0, 0},
    {"POST gets it too", REQ("POST", "/ok", "Content-Length: 3\r\n") "abc", 200, KEEPS,
     .body = "ok /ok "},
    {"HEAD", HEAD("/ok"), 200, KEEPS | EMPTY, .has = "Content-Length: 7"},
    {"E7 escapes stay escaped", GET("/inject?u=%0d%0aX:1"), 302, KEEPS,
     .has = "Location: /x%0d%0aX:1", .lacks = "X"},
    {"own type", GET("/json"), 200, KEEPS, .has = "Content-Type: application/json*",
     .body = "{\"a\":1}"},
};

static const struct row server_return[] = {
    {"return in server", GET("/a/b?c"), 301, 0, .has = "Location: https://localhost/a/b?c"},
    {"return in server, any method", REQ("PUT", "/a", "Content-Length: 0\r\n"), 301, 0,
     .has = "Location: https://localhost/a"},
};

static const char EXPIRES[] =
    "http:\n"
    "  server:\n"
    "    listen: 127.0.0.1:@0@\n"
    "    root: html\n"
    "    expires: 1h\n"
    "    location:\n"
    "      /epoch: {expires: epoch, alias: html/a.txt}\n"
    "      /max: {expires: max, alias: html/a.txt}\n"
    "      /off: {expires: off, alias: html/a.txt}\n"
    "      /plus: {expires: +2m, alias: html/a.txt}\n"
    "      /minus: {expires: -1, alias: html/a.txt}\n"
    "      /modified: {expires: modified 10y, alias: html/old.txt}\n"
    "      /stale: {expires: modified 1h, alias: html/old.txt}\n"
    "      /daily: {expires: '@15h30m', alias: html/a.txt}\n"
    "      /var: {expires: $arg_e, alias: html/a.txt}\n"
    "      /made: {return: 200 ok}\n"
    "      /wrong: {return: 500}\n";

static const struct row expiry[] = {
    {"R4 inherited", GET("/a.txt"), 200, KEEPS, .has = "Cache-Control: max-age=3600\nExpires: *"},
    {"R4 304", REQ("GET", "/a.txt", "If-None-Match: *\r\n"), 304, KEEPS,
     .has = "Cache-Control: max-age=3600\nExpires: *"},
    {"R4 206", REQ("GET", "/a.txt", "Range: bytes=0-0\r\n"), 206, KEEPS,
     .has = "Cache-Control: max-age=3600\nExpires: *"},
    {"R4 301", GET("/d"), 301, KEEPS, .has = "Cache-Control: max-age=3600"},
    {"R4 not of a 404", GET("/none"), 404, KEEPS, .lacks = "Cache-Control\nExpires"},
    {"R4 not of a 500", GET("/wrong"), 500, 0, .lacks = "Cache-Control\nExpires"},
    {"R4 epoch", GET("/epoch"), 200, KEEPS,
     .has = "Cache-Control: no-cache\nExpires: Thu, 01 Jan 1970 00:00:01 GMT"},
    {"R4 max", GET("/max"), 200, KEEPS,
     .has = "Cache-Control: max-age=315360000\nExpires: Thu, 31 Dec 2037 23:55:55 GMT"},
    {"R4 off", GET("/off"), 200, KEEPS, .lacks = "Cache-Control\nExpires"},
    {"R4 +N", GET("/plus"), 200, KEEPS, .has = "Cache-Control: max-age=120"},
    {"R4 -N", GET("/minus"), 200, KEEPS, .has = "Cache-Control: no-cache\nExpires: *"},
    {"R4 modified, long past", GET("/stale"), 200, KEEPS,
     .has = "Cache-Control: no-cache\nExpires: Sun, 09 Sep 2001 02:46:40 GMT"},
    {"R4 @time", GET("/daily"), 200, KEEPS, .has = "Cache-Control: max-age=*\nExpires: *"},
    {"R4 variable", GET("/var?e=5s"), 200, KEEPS, .has = "Cache-Control: max-age=5"},
    {"R4 variable, no time", GET("/var?e=x"), 200, KEEPS, .lacks = "Cache-Control\nExpires"},
    {"R4 HEAD", HEAD("/a.txt"), 200, KEEPS, .has = "Cache-Control: max-age=3600"},
    {"R4 no file", GET("/made"), 200, KEEPS, .has = "Cache-Control: max-age=3600"},
};

static void start(const char *conf)
{
    server_new();
    server_text(srv, "html/a.txt", "a\n");
    server_text(srv, "html/404.html", "page 404\n");
    server_text(srv, "html/403.txt", "page 403\n");
    server_text(srv, "html/50x.html", "page 50x\n");
    server_text(srv, "html/gone.html", "page gone\n");
    server_text(srv, "html/re.html", "re\n");
    server_text(srv, "html/inside/page.html", "inside\n");
    server_mkdir(srv, "html/d");
    server_up(srv, conf);
}

static int start_pages(void **state)
{
    (void)state;
    start(PAGES);
    return 0;
}

static int start_headers(void **state)
{
    (void)state;
    start(HEADERS);
    return 0;
}

static int start_expires(void **state)
{
    (void)state;
    start(EXPIRES);
    server_text(srv, "html/old.txt", "old\n");
    server_mtime(srv, "html/old.txt", 1000000000, 0);
    return 0;
}

/* R4: Expires is Date and max-age, to the second. */
static void test_expires(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(expiry));
    static const char *const paths[] = {"/a.txt", "/plus", "/var?e=7s", "/daily"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        for (int twice = 0; twice < 2; twice++) {
            struct reply r;
            assert_true(fetch_path(srv->at[0], paths[i], &r));
            int64_t date = reply_date(reply_field(&r, "Date"));
            int64_t expires = reply_date(reply_field(&r, "Expires"));
            int64_t age = strtoll(reply_field(&r, "Cache-Control") + strlen("max-age="), NULL, 10);
            if (expires - date != age || age < 0)
                fail_msg("R4 %s: %lld - %lld, max-age %lld", paths[i], (long long)expires,
                         (long long)date, (long long)age);
            reply_free(&r);
        }
}

static int start_returns(void **state)
{
    (void)state;
    start(RETURNS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    server_free(srv);
    return 0;
}

static void test_pages(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(pages));
    rows_run(srv->at[1], ROWS(builtin));
}

static void test_headers(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(headers));
    rows_run(srv->at[1], ROWS(tokens));
    rows_run(srv->at[2], ROWS(no_tokens));
}

/* 444 in a pipeline: the answers before it come, nothing behind it does. */
static void test_444(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, GET("/ok?x=1") GET("/404text") GET("/444") GET("/ok"));
    for (int i = 0; i < 2; i++) {
        if (!reply_read(&c, &r, false, CLIENT_PATIENCE))
            fail_msg("444: answer %d: %s", i, r.err);
        assert_int_equal(r.status, i == 0 ? 200 : 404);
        reply_free(&r);
    }
    assert_true(client_ends(&c, CLIENT_PATIENCE));
    assert_int_equal(c.n, 0);
    client_close(&c);
}

static void test_returns(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(returns));
    rows_run(srv->at[1], ROWS(server_return));
}

int main(void)
{
    const struct CMUnitTest error_pages[] = {cmocka_unit_test(test_pages), LAST_TESTS};
    const struct CMUnitTest fields[] = {cmocka_unit_test(test_headers), LAST_TESTS};
    const struct CMUnitTest fixed[] = {cmocka_unit_test(test_returns), cmocka_unit_test(test_444),
                                        LAST_TESTS};
    const struct CMUnitTest expires[] = {cmocka_unit_test(test_expires), LAST_TESTS};
    return cmocka_run_group_tests_name("expires", expires, start_expires, end) +
           cmocka_run_group_tests_name("error pages", error_pages, start_pages, end) +
           cmocka_run_group_tests_name("add_header", fields, start_headers, end) +
           cmocka_run_group_tests_name("return", fixed, start_returns, end);
}
