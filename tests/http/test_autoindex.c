/* SPDX-License-Identifier: BSD-2-Clause */
/* Listings of directories: behaviours.md P1 to P6, O2, O3; demands.md D41. */
#include "lib/rows.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  gzip: off\n"
    "  log_not_found: off\n"
    "  server:\n"
    "    - listen: '127.0.0.1:@0@'\n"
    "      root: html\n"
    "      autoindex: on\n"
    "      location:\n"
    "        /off/: {autoindex: off}\n"
    "        /names/: {autoindex_exact_size: off}\n"
    "        /packed/: {alias: html/names/, gzip: on}\n"
    "        /json/: {alias: html/names/, autoindex_format: json}\n"
    "        /jsonp/: {alias: html/names/, autoindex_format: jsonp}\n"
    "        /xml/: {alias: html/names/, autoindex_format: xml}\n"
    "        /all/: {alias: html/names/, hidden_files: allow}\n"
    "        /nolinks/: {alias: html/names/, disable_symlinks: on}\n"
    "        /free/: {alias: html/names/, disable_symlinks: off}\n"
    "        /moved: {rewrite: '^ /names/ last'}\n"
    "    - {listen: '127.0.0.1:@1@', root: html/empty, autoindex: on}\n";

/* Names that mean something to URLs, to HTML, to terminals or to nobody. */
static const struct {
    const char *name, *link, *text;
} names[] = {
    {"plain.txt", "plain.txt", "plain.txt"},
    {"a b", "a%20b", "a b"},
    {"<i>.html", "%3Ci%3E.html", "&lt;i&gt;.html"},
    {"a&b;c", "a&amp;b;c", "a&amp;b;c"},
    {"it's", "it&#39;s", "it&#39;s"},
    {"say\"so\"", "say%22so%22", "say&quot;so&quot;"},
    {"a:b.txt", "./a:b.txt", "a:b.txt"},
    {"javascript:x", "./javascript:x", "javascript:x"},
    {"100%", "100%25", "100%"},
    {"%20", "%2520", "%20"},
    {"h#a", "h%23a", "h#a"},
    {"what?x", "what%3Fx", "what?x"},
    {"back\\slash", "back%5Cslash", "back\\slash"},
    {"new\nline", "new%0Aline", "new\xe2\x90\x8aline"},
    {"esc\x1b[1m", "esc%1B%5B1m", "esc\xe2\x90\x9b[1m"},
    {"\xc3\xbcn\xc3\xaf", "%C3%BCn%C3%AF", "\xc3\xbcn\xc3\xaf"},
    {"bad\xff", "bad%FF", "bad\xef\xbf\xbd"},
};

static const struct row rows[] = {
    {"P6 html", GET("/names/"), 200, KEEPS,
     .has = "Content-Type: text/html; charset=utf-8\nTransfer-Encoding: chunked",
     .lacks = "ETag\nLast-Modified\nContent-Length\nAccept-Ranges",
     .body_has = "<title>Index of /names/</title>"},
    {"P6 HEAD", HEAD("/names/"), 200, KEEPS | EMPTY,
     .has = "Content-Type: text/html; charset=utf-8\nTransfer-Encoding: chunked",
     .lacks = "ETag\nLast-Modified"},
    {"P3 a directory ends in a slash", GET("/names/"), 200, KEEPS,
     .body_has = "<a href=\"sub/\">sub/</a>"},
    {"P3 so does a link to one", GET("/names/"), 200, KEEPS,
     .body_has = "<a href=\"tosub/\">tosub/</a>"},
    {"P3 hidden names are not there", GET("/names/"), 200, KEEPS, .body_lacks = ".hidden"},
    {"P3 hidden names where they are served", GET("/all/"), 200, KEEPS,
     .body_has = "<a href=\".hidden\">.hidden</a>"},
    {"P5 a link to nowhere", GET("/names/"), 200, KEEPS, .body_has = "<span>dangling</span>"},
    {"P5 a link out of the root", GET("/names/"), 200, KEEPS, .body_has = "<span>out</span>"},
    {"a link out of the root that may be followed", GET("/free/"), 200, KEEPS,
     .body_has = "<a href=\"out\">out</a>"},
    {"the page of a nasty path has its name escaped", GET("/na%22m&e%3C/"), 200, KEEPS,
     .body_has = "<title>Index of /na&quot;m&amp;e&lt;/</title>"},
    {"links that may not be followed", GET("/nolinks/"), 200, KEEPS,
     .body_has = "<span>tosub</span>"},
    {"what is not served is no link", GET("/names/"), 200, KEEPS,
     .body_has = "<span>fifo</span>"},
    {"the way up", GET("/names/"), 200, KEEPS, .body_has = "<a href=\"../\">../</a>"},
    {"no way up from the top", REQ("GET", "/", ""), 200, KEEPS, .body_lacks = "../"},
    {"D41 links that sort are not to be followed", GET("/names/"), 200, KEEPS,
     .body_has = "rel=\"nofollow\" href=\"?C=S&amp;O=A\""},
    {"exact size", GET("/all/"), 200, KEEPS, .body_has = "<td>2048</td>"},
    {"size for people", GET("/names/"), 200, KEEPS, .body_has = "<td>2.0 KiB</td>"},
    {"an internal redirect: links are below it", GET("/moved"), 200, KEEPS,
     .body_has = "<base href=\"/names/\">"},
    {"an index file is preferred", GET("/indexed/"), 200, KEEPS, .body = "index\n"},
    {"O2 off", GET("/off/"), 403, KEEPS},
    {"O3 not there", GET("/none/"), 404, KEEPS},
    {"O3 a file", GET("/names/plain.txt/"), 404, KEEPS},
    {"O3 not to be read", GET("/closed/"), 403, KEEPS},
    {"N1 without a slash", GET("/names"), 301, KEEPS, .has = "Location: /names/"},
    {"G2 POST", REQ("POST", "/names/", "Content-Length: 0\r\n"), 405, KEEPS},
    {"HTTP/1.0", "GET /names/ HTTP/1.0\r\n\r\n", 200, CLOSES, .lacks = "Transfer-Encoding",
     .body_has = "</html>\n"},
    {"compressed", REQ("GET", "/packed/", "Accept-Encoding: gzip\r\n"), 200, KEEPS,
     .has = "Content-Encoding: gzip\nVary: Accept-Encoding"},
    {"json", GET("/json/"), 200, KEEPS, .has = "Content-Type: application/json*"},
    {"jsonp", GET("/jsonp/?callback=a.b1"), 200, KEEPS,
     .has = "Content-Type: application/javascript*", .body_has = "\na.b1([\n"},
    {"jsonp, no callback", GET("/jsonp/"), 200, KEEPS, .has = "Content-Type: application/json*"},
    {"jsonp, no identifier", GET("/jsonp/?callback=alert(1)"), 200, KEEPS,
     .has = "Content-Type: application/json*", .body_lacks = "alert"},
    {"xml", GET("/xml/"), 200, KEEPS, .has = "Content-Type: text/xml; charset=utf-8"},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(rows));
    struct row empty = {"an empty directory", GET("/"), 200, KEEPS,
                        .body_has = "<p>0 directories, 1 file</p>"};
    rows_run(srv->at[1], &empty, 1);
}

/* P1, P2: each name is in the page, escaped; its link leads to the file of that name. */
static void test_names(void **state)
{
    (void)state;
    char *page = ask_body(GET("/names/"), 200);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *line = text_of("<a href=\"%s\">%s</a>", names[i].link, names[i].text);
        if (strstr(page, line) == NULL)
            fail_msg("%s is not in the page", line);
        free(line);
    }
    /* P4: a name of 255 bytes is whole, in its link and as text */
    char *longest = repeat('l', 255), *line = text_of("<a href=\"%s\" title=", longest);
    assert_non_null(strstr(page, line));
    free(longest);
    free(line);
    free(page);
    static const struct row links[] = {
        {"P1 &amp;", GET("/names/a&b;c"), 200, KEEPS, .body = "a&b;c"},
        {"P1 %", GET("/names/100%25"), 200, KEEPS, .body = "100%"},
        {"P1 LF", GET("/names/new%0Aline"), 200, KEEPS, .body = "new\nline"},
        {"P1 not UTF-8", GET("/names/bad%FF"), 200, KEEPS, .body = "bad\xff"},
    };
    rows_run(srv->at[0], ROWS(links));
}

/* Sorted on the server; directories first. */
static void test_order(void **state)
{
    static const struct {
        const char *query, *order;
    } orders[] = {
        {"", "dir1/ dir2/ b c d"},         {"?C=N&O=A", "dir1/ dir2/ b c d"},
        {"?C=N&O=D", "dir2/ dir1/ d c b"}, {"?C=S&O=A", "dir1/ dir2/ d b c"},
        {"?C=S;O=D", "dir1/ dir2/ c b d"}, {"?C=M&O=A", "dir1/ dir2/ c d b"},
        {"?C=M&O=D", "dir2/ dir1/ b d c"}, {"?C=X&O=Y", "dir1/ dir2/ b c d"},
        {"?x=1&C=M&C=N", "dir1/ dir2/ c d b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        char *request = text_of("GET /order/%s HTTP/1.1\r\nHost: a\r\n\r\n", orders[i].query);
        char *page = ask_body(request, 200), got[64] = "";
        for (const char *p = strstr(page, "../</a>"); (p = strstr(p, "<td><a href=\"")) != NULL;) {
            p += strlen("<td><a href=\"");
            size_t n = strlen(got);
            snprintf(got + n, sizeof(got) - n, "%s%.*s", n > 0 ? " " : "", (int)strcspn(p, "\""), p);
        }
        if (strcmp(got, orders[i].order) != 0)
            fail_msg("%s: %s, wanted %s", orders[i].query, got, orders[i].order);
        free(request);
        free(page);
    }
}

/* P5: programs can read it. */
static void test_data(void **state)
{
    (void)state;
    static const char *const checks[] = {
        "import json, sys\n"
        "d = {e[\"name\"]: e for e in json.load(open(sys.argv[1], encoding=\"utf-8\"))}\n"
        "assert d[\"plain.txt\"][\"size\"] == 9 and d[\"plain.txt\"][\"type\"] == \"file\", d\n"
        "assert d[\"plain.txt\"][\"mtime\"] == \"Sun, 09 Sep 2001 01:46:40 GMT\", d\n"
        "assert d[\"sub\"][\"type\"] == \"directory\" and d[\"dangling\"][\"type\"] == \"other\"\n"
        "assert \"new\\nline\" in d and chr(34).join([\"say\", \"so\", \"\"]) in d\n",
        "import xml.etree.ElementTree as E, sys\n"
        "d = {e.text: e for e in E.parse(sys.argv[1]).getroot()}\n"
        "assert d[\"plain.txt\"].get(\"size\") == \"9\", d\n"
        "assert d[\"plain.txt\"].get(\"mtime\") == \"2001-09-09T01:46:40Z\", d\n"
        "assert d[\"sub\"].tag == \"directory\" and \"new\\nline\" in d\n",
    };
    static const char *const requests[] = {GET("/json/"), GET("/xml/")};
    for (int i = 0; i < 2; i++) {
        char *body = ask_body(requests[i], 200);
        server_text(srv, "logs/listing", body);
        server_text(srv, "logs/check.py", checks[i]);
        char *command = text_of("python3 %s/logs/check.py %s/logs/listing", srv->dir, srv->dir);
        assert_int_equal(system(command), 0);
        free(command);
        free(body);
    }
}

/* How many other requests are answered before the answer to this one begins. */
static int answered_between(const char *request)
{
    struct client slow, quick;
    struct reply r;
    int n = 0;
    assert_true(client_open(&slow, srv->at[0]) && client_open(&quick, srv->at[0]));
    assert_true(client_sendz(&slow, request));
    for (struct pollfd p = {.fd = slow.fd, .events = POLLIN}; poll(&p, 1, 0) == 0; n++) {
        assert_true(client_sendz(&quick, PROBE));
        assert_true(reply_read(&quick, &r, false, CLIENT_PATIENCE));
        assert_int_equal(r.status, 200);
        reply_free(&r);
    }
    assert_true(reply_read(&slow, &r, request[0] == 'H', 2 * CLIENT_PATIENCE));
    assert_int_equal(r.status, 200);
    reply_free(&r);
    client_close(&quick);
    client_close(&slow);
    return n;
}

/*
 * P6: 20,000 names. Others are served while they are read and sorted, not just while the directory
 * is opened, which is all that HEAD does. A busy machine may leave few turns to the client: a few
 * tries.
 */
static void test_huge(void **state)
{
    (void)state;
    char *page = ask_body(GET("/huge/"), 200);
    assert_non_null(strstr(page, "<a href=\"n00000\">"));
    assert_non_null(strstr(page, "<a href=\"n19999\">"));
    assert_non_null(strstr(page, "<p>0 directories, 20000 files</p>"));
    free(page);
    int most = 0;
    for (int i = 0; i < 5 && most < 10; i++) {
        int more = answered_between(GET("/huge/")) - answered_between(HEAD("/huge/"));
        most = more > most ? more : most;
    }
    if (most < 10)
        fail_msg("only %d requests were answered while a directory was read", most);
}

/* Directories that the worker holds open to read them. */
static size_t directories_open(void)
{
    pid_t pid[SERVER_WORKERS];
    char *command;
    size_t n = 0;
    assert_int_equal(server_workers(srv, pid, SERVER_WORKERS), 1);
    command = text_of("ls -l /proc/%d/fd > %s/logs/fds 2>&1", (int)pid[0], srv->dir);
    assert_int_equal(system(command), 0);
    char *all = server_read(srv, "logs/fds");
    n = count_text(all, "html/huge");
    free(all);
    free(command);
    return n;
}

/* Clients that go while the directory is opened, read or sent leave nothing behind. */
static void test_aborts(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct client c;
        assert_true(client_open_rcvbuf(&c, srv->at[0], 4096));
        client_sendz(&c, GET("/huge/"));
        sleep_ms(i * 4);
        if (i % 4 != 0)
            client_abort(&c);
        else
            client_close(&c);
    }
    for (int i = 0; i < 2; i++) { /* half way through the page */
        struct client c;
        struct reply r;
        assert_true(client_open_rcvbuf(&c, srv->at[0], 4096));
        client_sendz(&c, GET("/huge/"));
        assert_true(reply_read_head(&c, &r, false, 2 * CLIENT_PATIENCE));
        assert_int_equal(r.status, 200);
        reply_free(&r);
        client_abort(&c);
    }
    for (int i = 0; i < 100 && directories_open() > 0; i++)
        sleep_ms(50);
    assert_int_equal(directories_open(), 0);
}

static void make_names(void)
{
    char rel[512];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(rel, sizeof(rel), "html/names/%s", names[i].name);
        server_text(srv, rel, names[i].name);
        server_mtime(srv, rel, 1000000000, 0);
    }
    char *longest = repeat('l', 255);
    snprintf(rel, sizeof(rel), "html/names/%s", longest);
    free(longest);
    server_text(srv, rel, "x");
    server_text(srv, "html/names/.hidden", "x");
    server_fill(srv, "html/names/two.bin", 2048);
    server_mkdir(srv, "html/names/sub");
    server_link(srv, "html/names/tosub", "sub");
    server_link(srv, "html/names/dangling", "nowhere");
    server_link(srv, "html/names/out", "/etc/hostname");
    server_fifo(srv, "html/names/fifo");
}

static void make_files(void)
{
    static const struct {
        const char *rel, *text;
        int64_t mtime;
    } order[] = {{"html/order/b", "12", 30}, {"html/order/c", "123", 10}, {"html/order/d", "1", 20}};
    make_names();
    server_mkdir(srv, "html/order/dir1");
    server_mkdir(srv, "html/order/dir2");
    for (size_t i = 0; i < 3; i++) {
        server_text(srv, order[i].rel, order[i].text);
        server_mtime(srv, order[i].rel, 1000000000 + order[i].mtime, 0);
    }
    server_mtime(srv, "html/order/dir1", 1000000000, 0);
    server_mtime(srv, "html/order/dir2", 1000000001, 0);
    server_text(srv, "html/indexed/index.html", "index\n");
    server_mkdir(srv, "html/na\"m&e<");
    server_mkdir(srv, "html/off");
    server_mkdir(srv, "html/closed");
    assert_int_equal(chmod(server_path(srv, "html/closed"), 0), 0);
    server_text(srv, "html/empty/probe.txt", "probe\n");
    server_mkdir(srv, "html/huge");
    int dir = open(server_path(srv, "html/huge"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 20000; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%05d", i);
        int fd = openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        assert_true(fd >= 0);
        close(fd);
    }
    close(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),  cmocka_unit_test(test_names), cmocka_unit_test(test_order),
        cmocka_unit_test(test_data),  cmocka_unit_test(test_huge),  cmocka_unit_test(test_aborts),
        LAST_TESTS,
    };
    srv = server_new();
    make_files();
    srv->rss_slack_kb = 16384;
    server_up(srv, CONF);
    int failed = cmocka_run_group_tests_name("listings", tests, NULL, NULL);
    return failed;
}
