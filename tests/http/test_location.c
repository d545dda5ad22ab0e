/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which server and which location answers (config.md 3, behaviours.md C8, hostile.md 38): names
 * exact, by wildcard, by expression, default; locations exact, by prefix, ^~, by expression,
 * nested; root and alias; inheritance.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  add_header: X-Who none\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@2@', server_name: first.example, return: 200 first}\n"
    "    - {listen: '127.0.0.1:@2@ default_server', return: 200 default}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: exact.example www.exact.example, return: 200 "
    "exact}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: '*.example', return: 200 short}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: '*.long.example', return: 200 long}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: 'tail.*', return: 200 tail}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: 'tail.long.*', return: 200 longtail}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: '~^r(?<n>\\d+)\\.test$', return: '200 \"re "
    "$n\"'}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: '~^r.*\\.test$', return: 200 re2}\n"
    "    - {listen: '127.0.0.1:@2@', server_name: .dotted.test, return: 200 dotted}\n"
    "    - {listen: '127.0.0.1:@1@', server_name: one.example, return: 200 one}\n"
    "    - {listen: '127.0.0.1:@1@', server_name: two.example, return: 200 two}\n"
    "    - listen: 127.0.0.1:@0@\n"
    "      server_name: localhost\n"
    "      root: html\n"
    "      location:\n"
    "        /: {return: 200 slash}\n"
    "        /probe.txt: {}\n"
    "        = /exact: {return: 200 exact}\n"
    "        /exact: {return: 200 prefix-exact}\n"
    "        /a/: {return: 200 a}\n"
    "        /a/b/: {return: 200 ab}\n"
    "        ^~ /img/: {return: 200 img}\n"
    "        '~ \\.php$': {return: 200 php}\n"
    "        '~* \\.(gif|jpg)$': {return: '200 \"pic $1\"'}\n"
    "        '~ \\.gif$': {return: 200 never}\n"
    "        '~ ^/re/(?<tail>.*)$': {return: '200 \"tail $tail\"'}\n"
    "        /x: {return: 200 x}\n"
    "        '\"/sp ace/\"': {return: 200 space}\n"
    "        = /: {return: 200 only}\n"
    "        /nest/:\n"
    "          location:\n"
    "            /nest/deep/: {return: 200 deep}\n"
    "            '~ \\.php$': {return: 200 nestphp}\n"
    "          add_header: X-Who nest\n"
    "          return: 200 nest\n"
    "    - listen: 127.0.0.1:@3@\n"
    "      server_name: localhost\n"
    "      root: html\n"
    "      index: one.html\n"
    "      location:\n"
    "        /img: {alias: pics}\n"
    "        /later: {alias: later.txt}\n"
    "        /slash/: {alias: pics/}\n"
    "        /file: {alias: pics/p.txt}\n"
    "        = /exact.txt: {alias: pics/p.txt}\n"
    "        '~ ^/m/(.*)$': {alias: pics/$1}\n"
    "        /rooted/: {root: other}\n"
    "        /v/: {root: hosts/$host}\n"
    "        /idx/: {index: two.html}\n"
    "    - listen: unix:@DIR@/s.sock\n"
    "      root: html\n"
    "    - {listen: '[::1]:@4@', root: html}\n";

#define NAME(host) "GET / HTTP/1.1\r\nHost: " host "\r\n\r\n"

static const struct row names[] = {
    {"C8 first", NAME("first.example"), 200, 0, .body = "first"},
    {"C8 exact", NAME("exact.example"), 200, 0, .body = "exact"},
    {"C8 exact before wildcard", NAME("www.exact.example"), 200, 0, .body = "exact"},
    {"C8 case and port", NAME("EXACT.Example:99"), 200, 0, .body = "exact"},
    {"C8 wildcard", NAME("x.example"), 200, 0, .body = "short"},
    {"C8 wildcard, two labels", NAME("y.x.example"), 200, 0, .body = "short"},
    {"C8 longest wildcard", NAME("y.long.example"), 200, 0, .body = "long"},
    {"C8 the wildcard needs a label", NAME("long.example"), 200, 0, .body = "short"},
    {"C8 trailing wildcard", NAME("tail.org"), 200, 0, .body = "tail"},
    {"C8 longest trailing wildcard", NAME("tail.long.org"), 200, 0, .body = "longtail"},
    {"C8 leading before trailing", NAME("tail.example"), 200, 0, .body = "short"},
    {"C8 expression", NAME("r42.test"), 200, 0, .body = "re 42"},
    {"C8 first expression", NAME("rx.test"), 200, 0, .body = "re2"},
    {"C8 .name: itself", NAME("dotted.test"), 200, 0, .body = "dotted"},
    {"C8 .name: below", NAME("a.dotted.test"), 200, 0, .body = "dotted"},
    {"C8 default", NAME("other.test"), 200, 0, .body = "default"},
    {"C8 no Host", "GET / HTTP/1.0\r\n\r\n", 200, 0, .body = "default"},
};

static const struct row no_default[] = {
    {"C11 first server of the address", NAME("three.example"), 200, 0, .body = "one"},
    {"C11 second", NAME("two.example"), 200, 0, .body = "two"},
    {"C11 a name of another address", NAME("exact.example"), 200, 0, .body = "one"},
};

static const struct row locations[] = {
    {"/", GET("/other"), 200, KEEPS, .body = "slash"},
    {"= /", GET("/"), 200, KEEPS, .body = "only"},
    {"= /, query", GET("/?a"), 200, KEEPS, .body = "only"},
    {"exact", GET("/exact"), 200, KEEPS, .body = "exact"},
    {"exact is exact", GET("/exact/"), 200, KEEPS, .body = "prefix-exact"},
    {"prefix", GET("/a/x"), 200, KEEPS, .body = "a"},
    {"longest prefix", GET("/a/b/x"), 200, KEEPS, .body = "ab"},
    {"prefix is case sensitive", GET("/A/x"), 200, KEEPS, .body = "slash"},
    {"prefix without its slash", GET("/a"), 301, KEEPS, .has = "Location: /a/"},
    {"deeper prefix without its slash", GET("/a/b"), 301, KEEPS, .has = "Location: /a/b/"},
    {"prefix without its slash, query", GET("/a?q=1"), 301, KEEPS, .has = "Location: /a/?q=1"},
    {"expression beats prefix", GET("/a/x.php"), 200, KEEPS, .body = "php"},
    {"^~ beats expression", GET("/img/x.gif"), 200, KEEPS, .body = "img"},
    {"any case", GET("/x.GIF"), 200, KEEPS, .body = "pic GIF"},
    {"case sensitive", GET("/x.PHP"), 200, KEEPS, .body = "x"},
    {"file order", GET("/x.gif"), 200, KEEPS, .body = "pic gif"},
    {"named group", GET("/re/a/b"), 200, KEEPS, .body = "tail a/b"},
    {"expression sees the decoded path", GET("/x%2Ephp"), 200, KEEPS, .body = "php"},
    {"expression does not see the query", GET("/other?x.php"), 200, KEEPS, .body = "slash"},
    {"key with a blank", GET("/sp%20ace/x"), 200, KEEPS, .body = "space", .or_status = 200},
    {"nested: outer", GET("/nest/x"), 200, KEEPS, .body = "nest", .has = "X-Who: nest"},
    {"nested: deep", GET("/nest/deep/x"), 200, KEEPS, .body = "deep", .has = "X-Who: nest"},
    {"nested: expression", GET("/nest/x.php"), 200, KEEPS, .body = "nestphp"},
    {"dots before the choice", GET("/a/../x"), 200, KEEPS, .body = "x"},
};

static const struct row mapping[] = {
    {"h38 alias", GET("/img/p.txt"), 200, KEEPS, .body = "picture\n"},
    {"h38 /imgX", GET("/imgX/p.txt"), 404, KEEPS},
    {"h38 /img..", GET("/img../secret.txt"), 404, KEEPS, .body_lacks = "CANARY"},
    {"h38 /img../x", GET("/img../pics/p.txt"), 404, KEEPS},
    {"h38 /img%2e%2e/", GET("/img%2e%2e/secret.txt"), 404, KEEPS, .body_lacks = "CANARY"},
    {"h38 /img..%2f", GET("/img..%2fsecret.txt"), 400, 0, .or_status = 404, .body_lacks = "CANARY"},
    {"h38 .txt glued", GET("/imgp.txt"), 404, KEEPS},
    {"alias with slash", GET("/slash/p.txt"), 200, KEEPS, .body = "picture\n"},
    {"alias of a file", GET("/file"), 200, KEEPS, .body = "picture\n"},
    {"alias of a file that was not there at the start", GET("/later"), 200, KEEPS,
     .body = "later\n"},
    {"alias, the directory without its slash", GET("/img"), 301, KEEPS, .has = "Location: /img/"},
    {"alias with slash, without it", GET("/slash"), 301, KEEPS, .has = "Location: /slash/"},
    {"alias of an exact path", GET("/exact.txt"), 200, KEEPS, .body = "picture\n",
     .has = "Content-Type: text/plain*"},
    {"alias by expression", GET("/m/p.txt"), 200, KEEPS, .body = "picture\n"},
    {"alias by expression does not leave", GET("/m/..%2f..%2fsecret.txt"), 400, 0, .or_status = 404,
     .body_lacks = "CANARY"},
    {"alias, link out", GET("/img/out"), 403, KEEPS, .body_lacks = "CANARY"},
    {"root of a location", GET("/rooted/r.txt"), 200, KEEPS, .body = "rooted\n"},
    {"root with a variable", "GET /v/v.txt HTTP/1.1\r\nHost: h.example\r\n\r\n", 200, KEEPS,
     .body = "h.example\n"},
    {"root with a variable, unknown", "GET /v/v.txt HTTP/1.1\r\nHost: i.example\r\n\r\n", 404,
     KEEPS},
    {"index inherited", GET("/inherit/"), 200, KEEPS, .body = "one\n"},
    {"index replaced", GET("/idx/"), 200, KEEPS, .body = "two\n"},
};

static void test_names(void **state)
{
    (void)state;
    rows_run(srv->at[2], ROWS(names));
    rows_run(srv->at[1], ROWS(no_default));
}

static void test_locations(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(locations));
}

static void test_mapping(void **state)
{
    (void)state;
    rows_run(srv->at[3], ROWS(mapping));
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct row row[] = {{"V5 other address", PROBE, 200, KEEPS, .body = "probe\n"}};
    char *unix_at = text_of("unix:%s/s.sock", srv->dir), *v6 = text_of("[::1]:%d", srv->port[4]);
    rows_run(unix_at, ROWS(row));
    rows_run(v6, ROWS(row));
    free(unix_at);
    free(v6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_mapping),
        cmocka_unit_test(test_addresses),
        LAST_TESTS,
    };
    server_new();
    server_text(srv, "secret.txt", "CANARY\n");
    server_text(srv, "pics/p.txt", "picture\n");
    server_link(srv, "pics/out", "../secret.txt");
    server_text(srv, "other/rooted/r.txt", "rooted\n");
    server_text(srv, "hosts/h.example/v/v.txt", "h.example\n");
    server_text(srv, "html/inherit/one.html", "one\n");
    server_text(srv, "html/idx/one.html", "one\n");
    server_text(srv, "html/idx/two.html", "two\n");
    server_up(srv, CONF);
    server_text(srv, "later.txt", "later\n");
    return cmocka_run_group_tests_name("servers and locations", tests, NULL, NULL);
}
