/* SPDX-License-Identifier: BSD-2-Clause */
/* try_files and spa: demands.md D3, D10, D12; config.md "files". */
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
    "    - listen: '127.0.0.1:@0@'\n"
    "      root: html\n"
    "      location:\n"
    "        /t/: {try_files: $uri $uri/ $uri.html =404}\n"
    "        /shell/: {try_files: '$uri /a.txt?from=$uri'}\n"
    "        /named/: {try_files: [$uri, '@other']}\n"
    "        '@other': {return: 200 other}\n"
    "        /gone/: {try_files: $uri =410}\n"
    "        /alias/: {alias: html/t/, try_files: $uri =404}\n"
    "        /out/: {try_files: /../../$arg_f =404}\n"
    "        /loop/: {try_files: $uri /loop/again}\n"
    "    - {listen: '127.0.0.1:@1@', root: html/app, spa: index.html}\n";

static const struct row tries[] = {
    {"try_files file", GET("/t/f.txt"), 200, KEEPS, .body = "f\n"},
    {"try_files directory", GET("/t/d"), 200, KEEPS, .body = "index\n"},
    {"try_files third", GET("/t/clean"), 200, KEEPS, .has = "Content-Type: text/html*",
     .body = "clean\n"},
    {"try_files status", GET("/t/none"), 404, KEEPS},
    {"try_files fallback", GET("/shell/x"), 200, KEEPS, .body = "a\n"},
    {"try_files named", GET("/named/x"), 200, KEEPS, .body = "other"},
    {"try_files other status", GET("/gone/x"), 410, KEEPS},
    {"D10 alias", GET("/alias/f.txt"), 200, KEEPS, .body = "f\n"},
    {"D10 alias, missing", GET("/alias/none"), 404, KEEPS},
    {"h25 variables do not climb", GET("/out/?f=secret"), 404, KEEPS, .body_lacks = "CANARY"},
    {"try_files loop", GET("/loop/x"), 500, CLOSES},
    {"try_files HEAD", HEAD("/t/f.txt"), 200, KEEPS | EMPTY, .has = "Content-Length: 2"},
    {"try_files POST", REQ("POST", "/t/f.txt", "Content-Length: 0\r\n"), 405, KEEPS},
};

#define NAVIGATE "Sec-Fetch-Mode: navigate\r\n"
#define HTML     "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n"

static const struct row spa[] = {
    {"D3 file", GET("/app.js"), 200, KEEPS, .body = "js\n", .lacks = "Cache-Control"},
    {"D3 shell itself", GET("/index.html"), 200, KEEPS, .has = "Cache-Control: no-cache"},
    {"D3 navigation", REQ("GET", "/users/7", NAVIGATE), 200, KEEPS,
     .has = "Cache-Control: no-cache\nContent-Type: text/html*", .body = "shell\n"},
    {"D3 navigation by Accept", REQ("GET", "/users/7", HTML), 200, KEEPS, .body = "shell\n"},
    {"D3 HEAD", REQ("HEAD", "/users/7", NAVIGATE), 200, KEEPS | EMPTY},
    {"D3 missing asset", REQ("GET", "/old.1a2b.js", NAVIGATE), 404, KEEPS,
     .has = "Cache-Control: no-store"},
    {"D3 missing, no navigation", REQ("GET", "/users/7", "Sec-Fetch-Mode: cors\r\n" HTML), 404,
     KEEPS, .has = "Cache-Control: no-store"},
    {"D3 missing, nothing said", GET("/users/7"), 404, KEEPS, .has = "Cache-Control: no-store"},
    {"D3 any type", REQ("GET", "/users/7", "Accept: */*\r\n"), 404, KEEPS},
    {"D3 hidden", REQ("GET", "/.env", NAVIGATE), 404, KEEPS},
    {"D3 POST", REQ("POST", "/users/7", NAVIGATE "Content-Length: 0\r\n"), 405, KEEPS},
};

static void test_try_files(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(tries));
}

static void test_spa(void **state)
{
    (void)state;
    rows_run(srv->at[1], ROWS(spa));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_try_files), cmocka_unit_test(test_spa), LAST_TESTS,
    };
    server_new();
    server_mkdir(srv, "html/t/d");
    server_mkdir(srv, "html/app");
    server_text(srv, "html/a.txt", "a\n");
    server_text(srv, "html/t/f.txt", "f\n");
    server_text(srv, "html/t/clean.html", "clean\n");
    server_text(srv, "html/t/d/index.html", "index\n");
    server_text(srv, "secret", "CANARY\n");
    server_text(srv, "html/app/index.html", "shell\n");
    server_text(srv, "html/app/app.js", "js\n");
    server_text(srv, "html/app/probe.txt", "probe\n");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("try_files, spa", tests, NULL, NULL);
}
