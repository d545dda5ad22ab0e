/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * set_real_ip_from, real_ip_header, real_ip_recursive (features.md 106), and their variables.
 * Port 0 trusts 127.0.0.1 and some networks behind it, port 1 does so by PROXY headers, port 2
 * trusts nobody who is there; a Unix socket is trusted by "unix:".
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

#define SAYS "add_header: ['A \"$remote_addr|$remote_port|$realip_remote_addr\" always']"
#define TRUSTED "[127.0.0.1, 10.0.0.0/8, '2001:db8:1::/48']"

static const char CONF[] =
    "http:\n"
    "  log_format: {own: '$remote_addr $realip_remote_addr $request_uri'}\n"
    "  access_log: logs/access.log own flush=10ms\n"
    "  server:\n"
    "    - listen: '127.0.0.1:@0@'\n"
    "      root: html\n"
    "      set_real_ip_from: " TRUSTED "\n"
    "      " SAYS "\n"
    "      rewrite: ['^/rewritten$ /who?$remote_addr']\n"
    "      location:\n"
    "        /who: {return: [200, '$remote_addr $args']}\n"
    "        /port: {return: [200, '$realip_remote_port']}\n"
    "        /binary: {return: [200, '$binary_remote_addr']}\n"
    "        /one/: {real_ip_header: X-Forwarded-For}\n"
    "        /all/: {real_ip_header: X-Forwarded-For, real_ip_recursive: on}\n"
    "        /own/: {real_ip_header: CF-Connecting-IP}\n"
    "        /nobody/: {set_real_ip_from: 192.0.2.1}\n"
    "        /proxy/: {real_ip_header: proxy_protocol}\n"
    "        /limited/: {access: [allow 203.0.113.0/24, 'allow 2001:db8:2::/48', deny all]}\n"
    "        /moved/: {try_files: $uri.none /all/f}\n"
    "    - listen: '127.0.0.1:@1@ proxy_protocol'\n"
    "      root: html\n"
    "      set_real_ip_from: " TRUSTED "\n"
    "      real_ip_header: proxy_protocol\n"
    "      " SAYS "\n"
    "      location:\n"
    "        /nobody/: {}\n"
    "        /limited/: {access: [allow 203.0.113.0/24, deny all]}\n"
    "    - listen: '127.0.0.1:@2@ proxy_protocol'\n"
    "      root: html\n"
    "      set_real_ip_from: [192.0.2.0/24, 'unix:']\n"
    "      real_ip_header: proxy_protocol\n"
    "      " SAYS "\n"
    "    - listen: 'unix:@DIR@/logs/s'\n"
    "      root: html\n"
    "      set_real_ip_from: 'unix:'\n"
    "      " SAYS "\n";

static const char *const dirs[] = {"one",   "all",     "own",   "nobody",
                                   "proxy", "limited", "moved"};

#define XFF(value)  "X-Forwarded-For: " value "\r\n"
#define REAL(value) "X-Real-IP: " value "\r\n"
/* What is asked for, with what fields, and the "A:" that comes back. */
#define SEEN(name, target, fields, addr)                                                          \
    {"106 " name, REQ("GET", target, fields), 200, KEEPS, .has = "A: " addr "|127.0.0.1"}
#define NOT_MOVED(name, target, fields)                                                           \
    {"106 " name, REQ("GET", target, fields), 200, KEEPS, .has = "A: 127.0.0.1|*"}

static const struct row rows[] = {
    SEEN("X-Real-IP", "/f", REAL("203.0.113.7"), "203.0.113.7|"),
    SEEN("X-Real-IP with a port", "/f", REAL("203.0.113.7:4711"), "203.0.113.7|4711"),
    SEEN("X-Real-IP, IPv6", "/f", REAL("2001:DB8::7"), "2001:db8::7|"),
    SEEN("X-Real-IP, brackets", "/f", REAL("[2001:db8::7]"), "2001:db8::7|"),
    SEEN("X-Real-IP, brackets and port", "/f", REAL("[2001:db8::7]:80"), "2001:db8::7|80"),
    SEEN("mapped", "/f", REAL("::ffff:203.0.113.7"), "203.0.113.7|"),
    SEEN("two lines, the last", "/f", REAL("203.0.113.7") REAL("203.0.113.8"), "203.0.113.8|"),
    NOT_MOVED("nothing said", "/f", ""),
    NOT_MOVED("empty", "/f", REAL("")),
    NOT_MOVED("commas", "/f", REAL(", ,")),
    NOT_MOVED("a name", "/f", REAL("localhost")),
    NOT_MOVED("a zone", "/f", REAL("fe80::1%lo")),
    NOT_MOVED("a socket", "/f", REAL("unix:/x")),
    NOT_MOVED("unknown", "/f", REAL("unknown")),
    NOT_MOVED("port 0", "/f", REAL("203.0.113.7:0")),
    NOT_MOVED("port too high", "/f", REAL("203.0.113.7:65536")),
    NOT_MOVED("no number", "/f", REAL("203.0.113.7:x")),
    NOT_MOVED("half a bracket", "/f", REAL("[2001:db8::7")),
    NOT_MOVED("bytes", "/f", REAL("\xff\xfe")),
    NOT_MOVED("another header", "/f", XFF("203.0.113.7")),
    SEEN("X-Forwarded-For, the last", "/one/f", XFF("203.0.113.1, 203.0.113.2"), "203.0.113.2|"),
    SEEN("the last, though trusted", "/one/f", XFF("203.0.113.1, 10.1.1.1"), "10.1.1.1|"),
    SEEN("the last line", "/one/f", XFF("203.0.113.1") XFF("203.0.113.2"), "203.0.113.2|"),
    SEEN("no commas", "/one/f", XFF("203.0.113.1 203.0.113.2"), "203.0.113.2|"),
    SEEN("comma at the end", "/one/f", XFF("203.0.113.1,"), "203.0.113.1|"),
    SEEN("recursive", "/all/f", XFF("203.0.113.1, 203.0.113.2, 10.1.1.1, 10.2.2.2"),
         "203.0.113.2|"),
    SEEN("recursive, IPv6 among them", "/all/f", XFF("203.0.113.2, 2001:db8:1::9, 10.2.2.2"),
         "203.0.113.2|"),
    SEEN("recursive over lines", "/all/f", XFF("203.0.113.2,10.1.1.1") XFF("10.2.2.2"),
         "203.0.113.2|"),
    SEEN("recursive, all trusted", "/all/f", XFF("10.3.3.3, 10.1.1.1"), "10.3.3.3|"),
    SEEN("recursive, garbage ends it", "/all/f", XFF("203.0.113.2, unknown, 10.1.1.1"),
         "10.1.1.1|"),
    SEEN("recursive, what a client made up", "/all/f", XFF("127.0.0.1, 203.0.113.2"),
         "203.0.113.2|"),
    SEEN("recursive, one", "/all/f", XFF("203.0.113.2:99"), "203.0.113.2|99"),
    NOT_MOVED("recursive, garbage at once", "/all/f", XFF("203.0.113.2, unknown")),
    SEEN("a header of one's own", "/own/f", "cf-connecting-ip: 203.0.113.7\r\n", "203.0.113.7|"),
    NOT_MOVED("a peer that is not trusted", "/nobody/x", ""),
    NOT_MOVED("no PROXY header", "/proxy/f", ""),
    {"106 before rewrite", REQ("GET", "/rewritten", REAL("203.0.113.7")), 200, KEEPS,
     .body = "203.0.113.7 203.0.113.7"},
    {"106 access, allowed", REQ("GET", "/limited/f", REAL("203.0.113.7")), 200, KEEPS},
    {"106 access, IPv6", REQ("GET", "/limited/f", REAL("2001:db8:2::1")), 200, KEEPS},
    {"106 access, denied", REQ("GET", "/limited/f", REAL("192.0.2.1")), 403, KEEPS},
    {"106 access, the proxy itself", GET("/limited/f"), 403, KEEPS},
    {"106 binary", REQ("GET", "/binary", REAL("65.66.67.68")), 200, KEEPS, .body = "ABCD"},
    SEEN("over a redirect", "/moved/x", REAL("203.0.113.7") XFF("198.51.100.1"), "203.0.113.7|"),
};

#define PROXY4 "PROXY TCP4 203.0.113.7 198.51.100.1 4711 443\r\n"
#define PROXY6 "PROXY TCP6 2001:db8::7 2001:db8::1 4711 443\r\n"

static const struct row proxied[] = {
    {"106 PROXY", PROXY4 GET("/f"), 200, 0, .has = "A: 203.0.113.7|4711|127.0.0.1"},
    {"106 PROXY, IPv6", PROXY6 GET("/f"), 200, 0, .has = "A: 2001:db8::7|4711|127.0.0.1"},
    {"106 PROXY, unknown", "PROXY UNKNOWN\r\n" GET("/f"), 200, 0, .has = "A: 127.0.0.1|*"},
    {"106 PROXY, access", PROXY4 GET("/limited/f"), 200, 0},
    {"106 PROXY, access denied", PROXY6 GET("/limited/f"), 403, 0},
    {"106 PROXY, headers do not count", PROXY4 REQ("GET", "/f", REAL("192.0.2.1")), 200, 0,
     .has = "A: 203.0.113.7|4711|127.0.0.1"},
};

static const struct row untrusted[] = {
    {"106 PROXY, not trusted", PROXY4 GET("/f"), 200, 0, .has = "A: 127.0.0.1|*"},
};

static const struct row local[] = {
    {"106 unix:", REQ("GET", "/f", REAL("203.0.113.7")), 200, 0, .has = "A: 203.0.113.7||unix:"},
    {"106 unix:, nothing said", GET("/f"), 200, 0, .has = "A: unix:||unix:"},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(rows));
}

static void test_proxied(void **state)
{
    (void)state;
    rows_run(srv->at[1], ROWS(proxied));
    rows_run(srv->at[2], ROWS(untrusted));
}

static void test_unix(void **state)
{
    (void)state;
    char *at = text_of("unix:%s", server_path(srv, "logs/s"));
    rows_run(at, ROWS(local));
    free(at);
}

/* One connection of a proxy, several clients. */
static void test_per_request(void **state)
{
    static const char *const addrs[] = {"203.0.113.1", "", "203.0.113.2"};
    struct client c;
    (void)state;
    assert_true(client_open(&c, srv->at[0]));
    for (size_t i = 0; i < 3; i++) {
        struct reply r;
        char *send = text_of("GET /who HTTP/1.1\r\nHost: localhost\r\nX-Real-IP: %s\r\n\r\n", addrs[i]);
        assert_true(client_sendz(&c, send));
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        char *want = text_of("%s ", addrs[i][0] != '\0' ? addrs[i] : "127.0.0.1");
        assert_string_equal(r.body, want);
        free(want);
        free(send);
        reply_free(&r);
    }
    client_close(&c);
}

static void test_port(void **state)
{
    (void)state;
    char *port = ask_body(REQ("GET", "/port", REAL("203.0.113.7:1") "Connection: close\r\n"), 200);
    assert_true(atoi(port) > 1);
    free(port);
}

static void test_logs(void **state)
{
    struct reply r;
    (void)state;
    assert_true(fetch(srv->at[0], REQ("GET", "/limited/log", REAL("192.0.2.77") "Connection: close\r\n"), &r));
    assert_int_equal(r.status, 403);
    reply_free(&r);
    assert_true(server_wait_text(srv, "logs/access.log", "192.0.2.77 127.0.0.1 /limited/log\n", 5000));
    char *log = server_read(srv, "logs/error.log");
    assert_non_null(strstr(log, "access forbidden by rule, client: 192.0.2.77, request:"));
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_proxied), cmocka_unit_test(test_unix),
        cmocka_unit_test(test_per_request), cmocka_unit_test(test_port),    cmocka_unit_test(test_logs),
        LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/f", "file");
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        char *path = text_of("html/%s", dirs[i]), *file = text_of("%s/f", path);
        server_mkdir(srv, path);
        server_text(srv, file, "file");
        free(path);
        free(file);
    }
    server_text(srv, "html/nobody/x", "file");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("real addresses", tests, NULL, NULL);
}
