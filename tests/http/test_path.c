/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From target to file: behaviours.md E1 to E11, F1 to F6, hostile.md 25 to 35 and 39. Port 0 as
 * shipped, port 1 with merge_slashes off, port 2 with hidden_files allow. What lies outside of
 * the root carries a mark that must never be seen.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

#define CANARY "CANARY-7f3a"

static const char CONF[] = "http:\n"
                           "  server:\n"
                           "    - {listen: '127.0.0.1:@0@', root: html}\n"
                           "    - {listen: '127.0.0.1:@1@', root: html, merge_slashes: off}\n"
                           "    - {listen: '127.0.0.1:@2@', root: html, hidden_files: allow}\n";

#define B .body = "a/b.txt\n"
#define I .body = "index.html\n"

static const struct row decoding[] = {
    {"E1 escape of a letter", GET("/%69ndex.html"), 200, KEEPS, I},
    {"E1 upper and lower case hex", GET("/k%4b%4B"), 200, KEEPS, .body = "kKK\n"},
    {"E1 decoded once", GET("/%2561"), 200, KEEPS, .body = "%61\n"},
    {"E1 decoded once, h25", GET("/%252e%252e/secret.txt"), 404, KEEPS},
    {"E2 %", GET("/%"), 400, CLOSES},
    {"E2 %1", GET("/%1"), 400, CLOSES},
    {"E2 %zz", GET("/%zz"), 400, CLOSES},
    {"E2 %4 at the end (h30)", GET("/a/b.txt%4"), 400, CLOSES},
    {"E2 %%32%65 (h25)", GET("/%%32%65%%32%65/secret.txt"), 400, CLOSES},
    {"E2 %u002e", GET("/%u002e"), 400, CLOSES},
    {"E3 %00 (h29)", GET("/a/b.txt%00"), 400, CLOSES},
    {"E3 %00 in front", GET("/%00/a/b.txt"), 400, CLOSES},
    {"E3 %00.html", GET("/a/b.txt%00.html"), 400, CLOSES},
    {"h25 /..%00/", GET("/..%00/secret.txt"), 400, CLOSES},
    {"E5 %2f (h26)", GET("/a%2fb.txt"), 400, 0, .or_status = 404},
    {"E5 %2F", GET("/a%2Fb.txt"), 400, 0, .or_status = 404},
    {"E5 ..%2f", GET("/a/..%2f..%2fsecret.txt"), 400, 0, .or_status = 404, .body_lacks = CANARY},
    {"E6 %5c", GET("/a%5cb.txt"), 404, KEEPS},
    {"E6 ..%5c", GET("/a/..%5c..%5csecret.txt"), 404, KEEPS},
    {"E6 raw back-slash (h27)", GET("/a\\b.txt"), 404, 0, .or_status = 400},
    {"E6 a name with a back-slash", GET("/back%5cslash"), 200, KEEPS, .body = "back\\slash\n"},
    {"E7 %0d%0a", GET("/a%0d%0aX-Injected:1"), 404, KEEPS, .lacks = "X-Injected"},
    {"E8 %c0%af (h28)", GET("/a%c0%afb.txt"), 404, KEEPS},
    {"E8 %c0%ae", GET("/%c0%ae%c0%ae/secret.txt"), 404, KEEPS},
    {"E8 %e0%80%ae", GET("/%e0%80%ae/x"), 404, KEEPS},
    {"E8 surrogates", GET("/%ed%a0%80"), 404, KEEPS},
    {"E8 U+2215", GET("/a%e2%88%95b.txt"), 404, KEEPS},
    {"E8 U+FF0F", GET("/a%ef%bc%8fb.txt"), 404, KEEPS},
    {"E9 ?", GET("/a%3fb"), 200, KEEPS, .body = "a?b\n"},
    {"E9 #", GET("/a%23b"), 200, KEEPS, .body = "a#b\n"},
    {"E9 %", GET("/%25"), 200, KEEPS, .body = "%\n"},
    {"E9 space", GET("/a%20b"), 200, KEEPS, .body = "a b\n"},
    {"E9 UTF-8", GET("/%C3%a4"), 200, KEEPS, .body = "\303\244\n"},
    {"E9 + is no space", GET("/a+b"), 404, KEEPS},
    {"h39 newline in a name", GET("/new%0aline"), 200, KEEPS, .body = "new\nline\n"},
    {"h39 quote in a name", GET("/q%22uote"), 200, KEEPS, .body = "q\"uote\n"},
    {"h39 < in a name", GET("/%3Cb%3E"), 200, KEEPS, .body = "<b>\n"},
    {"h39 invalid UTF-8 in a name", GET("/%ff%fe"), 200, KEEPS, .body = "\377\376\n"},
    {"E10 query of dots", GET("/a/b.txt?../../secret.txt"), 200, KEEPS, B},
    {"E10 query with ?", GET("/a/b.txt??a=%zz"), 200, KEEPS, B},
    {"E10 empty query", GET("/a/b.txt?"), 200, KEEPS, B},
    {"E11 file as directory", GET("/index.html/"), 404, KEEPS},
    {"E11 below a file", GET("/index.html/x"), 404, KEEPS},
    {"h33 trailing dot", GET("/a/b.txt."), 404, KEEPS},
    {"h33 trailing space", GET("/a/b.txt%20"), 404, KEEPS},
    {"h33 trailing slash", GET("/a/b.txt/"), 404, KEEPS},
    {"h33 semicolon", GET("/a/b.txt;x"), 404, KEEPS},
};

static const struct row dots[] = {
    {"E4 %2e%2e/", GET("/%2e%2e/secret.txt"), 400, CLOSES},
    {"E4 %2E%2E", GET("/a/%2E%2E/%2E%2e/secret.txt"), 400, CLOSES},
    {"E4 .%2e/", GET("/.%2e/secret.txt"), 400, CLOSES},
    {"E4 %2e.", GET("/%2e./secret.txt"), 400, CLOSES},
    {"E4 inside the root", GET("/a/%2e%2e/index.html"), 200, KEEPS, I},
    {"F1 /a/./b", GET("/a/./b.txt"), 200, KEEPS, B},
    {"F1 /a/../b", GET("/a/../index.html"), 200, KEEPS, I},
    {"F1 /a/.", GET("/a/."), 200, KEEPS, .body = "a/index.html\n"},
    {"F1 /a/..", GET("/a/.."), 200, KEEPS, I},
    {"F1 /a/c/../..", GET("/a/c/../.."), 200, KEEPS, I},
    {"F1 /.", GET("/."), 200, KEEPS, I},
    {"F1 many dots", GET("/././a/./../a/././b.txt"), 200, KEEPS, B},
    {"F2 /..", GET("/.."), 400, CLOSES},
    {"F2 /../", GET("/../"), 400, CLOSES},
    {"F2 /a/../../x", GET("/a/../../secret.txt"), 400, CLOSES},
    {"F2 /../html/index.html", GET("/../html/index.html"), 400, CLOSES},
    {"F2 //..", GET("//../secret.txt"), 400, CLOSES},
    {"F2 /x/../.. missing directory", GET("/x/../../secret.txt"), 400, CLOSES},
    {"F3 /a/..?q", GET("/a/..?q"), 200, KEEPS, I},
    {"F4 ...", GET("/.../"), 404, KEEPS},
    {"F4 do..ts.txt", GET("/do..ts.txt"), 200, KEEPS, .body = "do..ts.txt\n"},
    {"F4 name.", GET("/name."), 200, KEEPS, .body = "name.\n"},
    {"h25 ..;", GET("/..;/secret.txt"), 404, KEEPS},
    {"h25 .. in the middle", GET("/a/b..c/../b.txt"), 200, KEEPS, B},
    {"F5 //a///b", GET("//a///b.txt"), 200, KEEPS, B},
    {"F5 slash runs are one segment", GET("/a//../a/b.txt"), 200, KEEPS, B},
    {"F5 /a//../b.txt", GET("/a//../b.txt"), 404, KEEPS},
    {"F5 // is /", GET("//"), 200, KEEPS, I},
    {"F6 no redirect to a host", GET("//evil.example/.."), 200, KEEPS, I},
    {"F6 //evil.example", GET("//evil.example"), 404, KEEPS, .lacks = "Location"},
    {"F6 //d", GET("//d"), 301, KEEPS, .has = "Location: /d/"},
    {"F6 /./d", GET("/./d"), 301, KEEPS, .has = "Location: /d/"},
    {"F6 /%5cevil", GET("/%5cevil.example/.."), 200, KEEPS, I},
    {"h35 /etc/passwd", GET("/etc/passwd"), 404, KEEPS},
    {"h35 //etc/passwd", GET("//etc/passwd"), 404, KEEPS},
    {"h35 /proc/self/environ", GET("/proc/self/environ"), 404, KEEPS},
    {"h35 /dev/fd/3", GET("/dev/fd/3"), 404, KEEPS},
};

static const struct row unmerged[] = {
    {"F5 off: ..  removes one empty segment", GET("/a//../b.txt"), 200, KEEPS, B},
    {"F5 off: plain", GET("/a/b.txt"), 200, KEEPS, B},
    {"F5 off: /a/../", GET("/a/../index.html"), 200, KEEPS, I},
    {"F5 off: //.. is the root", GET("//../index.html"), 200, KEEPS, I},
    {"F5 off: above the root", GET("//../../secret.txt"), 400, CLOSES},
    {"F6 off: no redirect to a host", GET("//d"), 301, KEEPS, .has = "Location: /d/"},
};

static const struct row hidden[] = {
    {"S8 .htpasswd (h34)", GET("/.htpasswd"), 404, KEEPS, .body_lacks = "hidden"},
    {"S8 .git/config", GET("/.git/config"), 404, KEEPS, .body_lacks = "hidden"},
    {"S8 .git", GET("/.git"), 404, KEEPS},
    {"S8 .git/", GET("/.git/"), 404, KEEPS},
    {"S8 deeper", GET("/a/.hidden"), 404, KEEPS, .body_lacks = "hidden"},
    {"S8 escaped dot", GET("/%2ehtpasswd"), 404, KEEPS, .body_lacks = "hidden"},
    {"S8 behind dot segments", GET("/a/../.htpasswd"), 404, KEEPS, .body_lacks = "hidden"},
    {"S8 behind two slashes", GET("//.htpasswd"), 404, KEEPS, .body_lacks = "hidden"},
    {"S8 .well-known", GET("/.well-known/acme"), 200, KEEPS, .body = ".well-known/acme\n"},
    {"S8 hidden in .well-known", GET("/.well-known/.x"), 404, KEEPS},
    {"S8 .well-known not at the top", GET("/a/.well-known/x"), 404, KEEPS},
    {"S8 .well-knownx", GET("/.well-knownx/x"), 404, KEEPS},
};

static const struct row shown[] = {
    {"S8 allow: .htpasswd", GET("/.htpasswd"), 200, KEEPS, .body = "hidden\n"},
    {"S8 allow: .git/config", GET("/.git/config"), 200, KEEPS, .body = "hidden\n"},
    {"S8 allow: ... ", GET("/..."), 200, KEEPS, .body = "...\n"},
};

static void test_decoding(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(decoding));
}

static void test_dots(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(dots));
    rows_run(srv->at[1], ROWS(unmerged));
}

static void test_hidden(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(hidden));
    rows_run(srv->at[2], ROWS(shown));
}

/* E11, h31, h32: long components, long paths, many slashes. */
static void test_long(void **state)
{
    (void)state;
    static const struct {
        const char *name, *before;
        char fill;
        size_t n;
        int status;
    } path[] = {
        {"h32 255 bytes", "", 'n', 255, 200},      {"h32 256 bytes", "", 'n', 256, 404},
        {"E11 1,000 bytes", "", 'n', 1000, 404},   {"E11 4,095 bytes", "", 'n', 4094, 404},
        {"h31 7,000 slashes", "", '/', 7000, 200}, {"E11 7,000 bytes", "", 'n', 7000, 404},
    };
    for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
        char *fill = repeat(path[i].fill, path[i].n);
        char *request = text_of("GET /%s HTTP/1.1\r\nHost: a\r\n\r\n", fill);
        struct row row = {path[i].name, request, path[i].status, KEEPS};
        rows_run(srv->at[0], &row, 1);
        free(fill);
        free(request);
    }
    static const size_t total[] = {4000, 4094, 4095, 4096, 4097, 7000};
    for (size_t i = 0; i < sizeof(total) / sizeof(total[0]); i++) {
        char *fill = repeat('a', total[i]), *name = text_of("h32 path of %zu", total[i]);
        for (size_t k = 0; k < total[i]; k += 2)
            fill[k] = '/';
        char *request = text_of("GET %s HTTP/1.1\r\nHost: a\r\n\r\n", fill);
        struct row row = {name, request, 404, KEEPS};
        rows_run(srv->at[0], &row, 1);
        free(fill);
        free(name);
        free(request);
    }
}

/* hostile.md 2b: dots and slashes in every spelling and depth never show what is outside. */
static void test_traversal(void **state)
{
    (void)state;
    static const char *const dot[] = {".", "%2e", "%2E", "%252e", "%%32%65", "%c0%ae"};
    static const char *const slash[] = {"/", "%2f", "%5c", "\\", "//", "/./"};
    size_t failed = 0;
    for (size_t a = 0; a < 6; a++) {
        for (size_t b = 0; b < 6; b++) {
            for (size_t k = 0; k < 6; k++) {
                for (int depth = 1; depth <= 12; depth += 1 + depth / 3) {
                    char path[2048] = "/a/c";
                    for (int d = 0; d < depth; d++) {
                        strcat(path, slash[k]);
                        strcat(path, dot[a]);
                        strcat(path, dot[b]);
                    }
                    strcat(path, slash[k]);
                    strcat(path, "secret.txt");
                    struct reply r;
                    bool ok = fetch_path(srv->at[0], path, &r) && r.status >= 400 &&
                              r.status <= 404 && strstr(r.body, CANARY) == NULL;
                    if (!ok && failed++ < 10)
                        print_error("%s: %d %s\n", path, r.status, r.err);
                    reply_free(&r);
                }
            }
        }
    }
    assert_int_equal(failed, 0);
}

static void put(const char *name)
{
    char *rel = text_of("html/%s", name), *text = text_of("%s\n", name);
    server_text(srv, rel, text);
    free(rel);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),  cmocka_unit_test(test_dots),
        cmocka_unit_test(test_hidden),    cmocka_unit_test(test_long),
        cmocka_unit_test(test_traversal), LAST_TESTS,
    };
    static const char *const names[] = {
        "index.html", "a/b.txt",     "a/index.html", "a/c/x",   "kKK",
        "%61",        "back\\slash", "a?b",          "a#b",     "%",
        "a b",        "\303\244",    "new\nline",    "q\"uote", "<b>",
        "\377\376",   "do..ts.txt",  "name.",        "...",     ".well-known/acme",
        "d/x",
    };
    server_new();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put(names[i]);
    char *longest = repeat('n', 255);
    put(longest);
    free(longest);
    server_text(srv, "secret.txt", CANARY "\n");
    server_text(srv, "html/.htpasswd", "hidden\n");
    server_text(srv, "html/.git/config", "hidden\n");
    server_text(srv, "html/a/.hidden", "hidden\n");
    server_text(srv, "html/.well-known/.x", "hidden\n");
    server_text(srv, "html/a/.well-known/x", "hidden\n");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
