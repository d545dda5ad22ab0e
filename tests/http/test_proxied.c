/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen proxy_protocol (behaviours.md V6): port 1 takes PROXY headers, and answers with what they
 * said.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@0@', root: html}\n"
    "    - listen: '127.0.0.1:@1@ proxy_protocol'\n"
    "      root: html\n"
    "      location:\n"
    "        /who: {return: [200, '$proxy_protocol_addr $proxy_protocol_port"
    " $proxy_protocol_server_addr $proxy_protocol_server_port $remote_addr']}\n";

#define V1     "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n"
#define V1_6   "PROXY TCP6 2001:db8::7 2001:db8::1 4711 443\r\n"
#define V2     "\r\n\r\n\0\r\nQUIT\n"
#define V2_4   V2 "\x21\x11\x00\x0c\xc0\x00\x02\x07\xc6\x33\x64\x01\x12\x67\x01\xbb"
#define LOCAL  V2 "\x20\x00\x00\x00"
#define CLIENT "192.0.2.7 4711 198.51.100.1 443 127.0.0.1"

static const struct row rows[] = {
    {"V6 v1", V1 GET("/who"), 200, 0, .body = CLIENT},
    {"V6 v1, IPv6", V1_6 GET("/who"), 200, 0,
     .body = "2001:db8::7 4711 2001:db8::1 443 127.0.0.1"},
    {"V6 v1, unknown", "PROXY UNKNOWN\r\n" GET("/who"), 200, 0, .body = "    127.0.0.1"},
    {"V6 v2", BYTES(V2_4 GET("/who")), .status = 200, .body = CLIENT},
    {"V6 v2, local", BYTES(LOCAL GET("/who")), .status = 200, .body = "    127.0.0.1"},
    {"V6 two requests", V1 GET("/who") GET("/who"), 200, 0, .body = CLIENT, .then = {200}},
    {"V6 none", GET("/who"), 0, RESET_OK},
    {"V6 malformed", "PROXY TCP4 192.0.2.7\r\n" GET("/who"), 0, RESET_OK},
    {"V6 bad address", "PROXY TCP4 192.0.2.777 198.51.100.1 1 2\r\n" GET("/who"), 0, RESET_OK},
    {"V6 never ends", "PROXY TCP4 192.0.2.7 198.51.100.1 4711 44333333333333333333333333333333333333"
                      "3333333333333333333333333333333333333333333333333333333333333333", 0,
     RESET_OK},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[1], ROWS(rows));
}

static void test_bytewise(void **state)
{
    (void)state;
    rows_run_bytewise(srv->at[1], rows, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bytewise),
        LAST_TESTS,
    };
    server_new();
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("PROXY protocol", tests, NULL, NULL);
}
