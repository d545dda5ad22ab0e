/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directory redirects and index files: behaviours.md N1 to N6, O1 to O5, F6, E7, hostile.md 36
 * and 37. Port 0 as shipped, port 1 with absolute_redirect.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] = "http:\n"
                           "  server:\n"
                           "    - listen: 127.0.0.1:@0@\n"
                           "      root: html\n"
                           "      location:\n"
                           "        /al/: {alias: other/}\n"
                           "        /list/: {index: [none.html, second.html, index.html]}\n"
                           "        /abs/: {index: [none.html, /re.html]}\n"
                           "        /loop/: {index: /loop/}\n"
                           "        /dirindex/: {index: [sub, index.html]}\n"
                           "        /onlydir/: {index: sub}\n"
                           "        /fifoindex/: {index: fifo}\n"
                           "        /linkindex/: {index: link}\n"
                           "    - listen: ['127.0.0.1:@1@', '[::1]:@1@']\n"
                           "      server_name: named.example\n"
                           "      root: html\n"
                           "      absolute_redirect: on\n";

static const struct row redirects[] = {
    {"N1 plain", GET("/d"), 301, KEEPS, .has = "Location: /d/\nContent-Type: text/html*",
     .body_has = "<"},
    {"N1 deeper", GET("/d/e"), 301, KEEPS, .has = "Location: /d/e/"},
    {"N1 HTTP/1.0", "GET /d HTTP/1.0\r\n\r\n", 301, CLOSES, .has = "Location: /d/"},
    {"N2 query", GET("/d?a=b&c=%20d"), 301, KEEPS, .has = "Location: /d/?a=b&c=%20d"},
    {"N2 empty query", GET("/d?"), 301, KEEPS, .has = "Location: /d/*"},
    {"N3 space", GET("/s%20p"), 301, KEEPS, .has = "Location: /s%20p/"},
    {"N3 quotes and brackets", GET("/%22%3C%3E%5C%5E%60%7B%7C%7D"), 301, KEEPS,
     .has = "Location: /%22%3C%3E%5C%5E%60%7B%7C%7D/"},
    {"N3 % # ?", GET("/%25%23%3F"), 301, KEEPS, .has = "Location: /%25%23%3F/"},
    {"N3 UTF-8", GET("/%C3%A4"), 301, KEEPS, .has = "Location: /%C3%A4/"},
    {"N3 CR LF (h37)", GET("/d%0d%0aX:1"), 301, KEEPS, .has = "Location: /d%0D%0AX:1/",
     .lacks = "X"},
    {"N3 ESC", GET("/%1b"), 301, KEEPS, .has = "Location: /%1B/"},
    {"E7 CR LF in the query", GET("/d?%0d%0aX:1"), 301, KEEPS, .has = "Location: /d/?%0d%0aX:1",
     .lacks = "X"},
    {"N5 symbolic link", GET("/link"), 301, KEEPS, .has = "Location: /link/"},
    {"N5 alias", GET("/al/sub"), 301, KEEPS, .has = "Location: /al/sub/"},
    {"N6 HEAD", HEAD("/d"), 301, KEEPS, .has = "Location: /d/"},
    {"F6 //evil", GET("//d?x"), 301, KEEPS, .has = "Location: /d/?x"},
    {"N1 unreadable below", GET("/d/none"), 404, KEEPS},
};

static const struct row indexes[] = {
    {"O1 /", GET("/"), 200, KEEPS, .body = "index\n",
     .has = "Content-Type: text/html*\nETag: *\nLast-Modified: *"},
    {"O1 in order", GET("/list/"), 200, KEEPS, .body = "second\n"},
    {"O2 none", GET("/d/"), 403, KEEPS},
    {"O3 no directory", GET("/nx/"), 404, KEEPS},
    {"O3 file as directory", GET("/index.html/"), 404, KEEPS},
    {"O3 mode 000", GET("/locked/"), 403, KEEPS},
    {"O3 mode 000, inside", GET("/locked/x"), 403, KEEPS},
    {"O4 a directory named so", GET("/dirindex/"), 200, 0, .or_status = 403},
    {"O4 only a directory named so (h36)", GET("/onlydir/"), 403, KEEPS, .or_status = 301},
    {"O4 a FIFO named so", GET("/fifoindex/"), 403, KEEPS, .or_status = 404},
    {"O4 a link named so", GET("/linkindex/"), 200, KEEPS, .body = "index\n"},
    {"O4 loop", GET("/loop/"), 500, 0},
    {"O5 absolute index", GET("/abs/"), 200, KEEPS, .body = "re\n"},
    {"O1 HEAD", HEAD("/"), 200, KEEPS, .has = "Content-Length: 6"},
    {"O1 query", GET("/?x"), 200, KEEPS, .body = "index\n"},
    {"O1 alias", GET("/al/"), 200, KEEPS, .body = "other\n"},
};

static void test_redirects(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(redirects));
}

static void test_indexes(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(indexes));
}

/* N4: the absolute form. */
static void test_absolute(void **state)
{
    (void)state;
    char v6[32];
    snprintf(v6, sizeof(v6), "[::1]:%d", srv->port[1]);
    char *host = text_of("Location: http://h.example:%d/d/?q", srv->port[1]);
    char *six = text_of("Location: http://[::1]:%d/d/", srv->port[1]);
    char *addr = text_of("Location: http://127.0.0.1:%d/d/", srv->port[1]);
    struct row rows[] = {
        {"N4 Host", "GET /d?q HTTP/1.1\r\nHost: h.example\r\n\r\n", 301, KEEPS, .has = host},
        {"N4 Host with port", "GET /d?q HTTP/1.1\r\nHost: h.example:1234\r\n\r\n", 301, KEEPS,
         .has = host},
        {"N4 no Host", "GET /d HTTP/1.0\r\n\r\n", 301, CLOSES, .has = addr},
    };
    struct row row6[] = {
        {"N4 IPv6", "GET /d HTTP/1.1\r\nHost: [::1]\r\n\r\n", 301, KEEPS, .has = six},
        {"N4 IPv6, no Host", "GET /d HTTP/1.0\r\n\r\n", 301, CLOSES, .has = six},
    };
    rows_run(srv->at[1], ROWS(rows));
    rows_run(v6, ROWS(row6));
    free(host);
    free(six);
    free(addr);
}

/* h37: a redirect of a target as long as can be. */
static void test_long(void **state)
{
    (void)state;
    char *query = repeat('"', 0), *fill = repeat('q', 7900);
    char *request = text_of("GET /d?%s%s HTTP/1.1\r\nHost: a\r\n\r\n", fill, query);
    char *want = text_of("Location: /d/?%s", fill);
    struct row row = {"h37 7,900 bytes of query", request, 301, KEEPS, .has = want};
    rows_run(srv->at[0], &row, 1);
    free(query);
    free(fill);
    free(request);
    free(want);
}

int main(void)
{
    static const char *const dirs[] = {
        "d/e",         "s p",  "\"<>\\^`{|}", "%#?",       "\303\244",
        "d\r\nX:1",    "\033", "fifoindex",   "linkindex", "dirindex/sub",
        "onlydir/sub", "loop", "abs",         "list",      "locked",
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_redirects),
        cmocka_unit_test(test_indexes),
        cmocka_unit_test(test_absolute),
        cmocka_unit_test(test_long),
        LAST_TESTS,
    };
    server_new();
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        char *rel = text_of("html/%s", dirs[i]);
        server_mkdir(srv, rel);
        free(rel);
    }
    server_text(srv, "html/index.html", "index\n");
    server_text(srv, "html/re.html", "re\n");
    server_text(srv, "html/list/second.html", "second\n");
    server_text(srv, "html/list/index.html", "third\n");
    server_text(srv, "html/dirindex/index.html", "dirindex\n");
    server_text(srv, "other/index.html", "other\n");
    server_mkdir(srv, "other/sub");
    server_fifo(srv, "html/fifoindex/fifo");
    server_link(srv, "html/linkindex/link", "../index.html");
    server_link(srv, "html/link", "d");
    assert_int_equal(chmod(server_path(srv, "html/locked"), 0), 0);
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("redirects and indexes", tests, NULL, NULL);
}
