/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Content-Type and charset: behaviours.md R1, R2, R6, R7. Port 0 as shipped, port 1 with types of
 * its own, port 2 with a charset of its own, port 3 with charset off.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@0@', root: html}\n"
    "    - listen: 127.0.0.1:@1@\n"
    "      root: html\n"
    "      default_type: text/x-unknown\n"
    "      types: {application/x-own: own other, text/x-css: css}\n"
    "    - {listen: '127.0.0.1:@2@', root: html, charset: koi8-r, charset_types: [text/css,"
    " application/json]}\n"
    "    - {listen: '127.0.0.1:@3@', root: html, charset: off}\n";

#define TYPE(value) .has = "Content-Type: " value

static const struct row shipped[] = {
    {"R1 html", GET("/a.html"), 200, KEEPS, TYPE("text/html; charset=utf-8")},
    {"R1 htm", GET("/a.htm"), 200, KEEPS, TYPE("text/html; charset=utf-8")},
    {"R1 HTML", GET("/a.HTML"), 200, KEEPS, TYPE("text/html; charset=utf-8")},
    {"R1 txt", GET("/a.txt"), 200, KEEPS, TYPE("text/plain; charset=utf-8")},
    {"R1 css", GET("/a.css"), 200, KEEPS, TYPE("text/css; charset=utf-8")},
    {"R1 js", GET("/a.js"), 200, KEEPS, TYPE("text/javascript; charset=utf-8")},
    {"R1 mjs", GET("/a.mjs"), 200, KEEPS, TYPE("text/javascript; charset=utf-8")},
    {"R1 json", GET("/a.json"), 200, KEEPS, TYPE("application/json*")},
    {"R1 svg", GET("/a.svg"), 200, KEEPS, TYPE("image/svg+xml*")},
    {"R2 png has none", GET("/a.png"), 200, KEEPS, TYPE("image/png")},
    {"R1 JPG", GET("/a.JPG"), 200, KEEPS, TYPE("image/jpeg")},
    {"R1 webp", GET("/a.webp"), 200, KEEPS, TYPE("image/webp")},
    {"R1 avif", GET("/a.avif"), 200, KEEPS, TYPE("image/avif")},
    {"R1 woff2", GET("/a.woff2"), 200, KEEPS, TYPE("font/woff2")},
    {"R1 wasm", GET("/a.wasm"), 200, KEEPS, TYPE("application/wasm")},
    {"R1 pdf", GET("/a.pdf"), 200, KEEPS, TYPE("application/pdf")},
    {"R1 mp4", GET("/a.mp4"), 200, KEEPS, TYPE("video/mp4")},
    {"R1 zip", GET("/a.zip"), 200, KEEPS, TYPE("application/zip")},
    {"R1 xml", GET("/a.xml"), 200, KEEPS, .has = "Content-Type: *", .lacks = "X"},
    {"R1 webmanifest", GET("/a.webmanifest"), 200, KEEPS, TYPE("application/manifest+json*")},
    {"R1 unknown", GET("/a.unknown"), 200, KEEPS, TYPE("application/octet-stream")},
    {"R1 none", GET("/none"), 200, KEEPS, TYPE("application/octet-stream")},
    {"R1 last extension", GET("/a.png.html"), 200, KEEPS, TYPE("text/html; charset=utf-8")},
    {"R1 dot at the end", GET("/a.html."), 200, KEEPS, TYPE("application/octet-stream")},
    {"R1 dot only in the directory", GET("/d.html/none"), 200, KEEPS,
     TYPE("application/octet-stream")},
    {"J12 tar.gz", GET("/a.tar.gz"), 200, KEEPS, TYPE("application/gzip"),
     .lacks = "Content-Encoding"},
    {"R7 empty file", GET("/empty.html"), 200, KEEPS | EMPTY, TYPE("text/html; charset=utf-8")},
};

static const struct row own[] = {
    {"R1 own type", GET("/a.own"), 200, KEEPS, TYPE("application/x-own")},
    {"R1 own type, second extension", GET("/a.other"), 200, KEEPS, TYPE("application/x-own")},
    {"R1 an extension moves", GET("/a.css"), 200, KEEPS, TYPE("text/x-css*")},
    {"R1 the table stays", GET("/a.html"), 200, KEEPS, TYPE("text/html; charset=utf-8")},
    {"R1 own default", GET("/a.unknown"), 200, KEEPS, TYPE("text/x-unknown*")},
};

static const struct row koi8[] = {
    {"R2 own charset, html", GET("/a.html"), 200, KEEPS, TYPE("text/html; charset=koi8-r")},
    {"R2 own charset, listed", GET("/a.json"), 200, KEEPS,
     TYPE("application/json; charset=koi8-r")},
    {"R2 own charset, css", GET("/a.css"), 200, KEEPS, TYPE("text/css; charset=koi8-r")},
    {"R2 own charset, not listed", GET("/a.txt"), 200, KEEPS, TYPE("text/plain")},
    {"R2 own charset, image", GET("/a.png"), 200, KEEPS, TYPE("image/png")},
};

static const struct row off[] = {
    {"R2 off", GET("/a.html"), 200, KEEPS, TYPE("text/html")},
    {"R2 off, txt", GET("/a.txt"), 200, KEEPS, TYPE("text/plain")},
};

static void test_types(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(shipped));
    rows_run(srv->at[1], ROWS(own));
}

static void test_charset(void **state)
{
    (void)state;
    rows_run(srv->at[2], ROWS(koi8));
    rows_run(srv->at[3], ROWS(off));
}

int main(void)
{
    static const char *const names[] = {
        "a.html", "a.htm",      "a.HTML",  "a.txt",       "a.css",    "a.js",          "a.mjs",
        "a.json", "a.svg",      "a.png",   "a.JPG",       "a.webp",   "a.avif",        "a.woff2",
        "a.wasm", "a.pdf",      "a.mp4",   "a.zip",       "a.xml",    "a.webmanifest", "a.unknown",
        "none",   "a.png.html", "a.html.", "d.html/none", "a.tar.gz", "a.own",         "a.other",
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_charset),
        LAST_TESTS,
    };
    server_new();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *rel = text_of("html/%s", names[i]);
        server_text(srv, rel, "x\n");
        free(rel);
    }
    server_text(srv, "html/empty.html", "");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("content types", tests, NULL, NULL);
}
