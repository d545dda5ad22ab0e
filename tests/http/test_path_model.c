/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random targets against a small model of what a path means (hostile.md 40): the answer must be
 * the one the model gives. The seed is printed; $SLUICE_SEED repeats a run.
 */
#include "lib/rows.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

#define ROUNDS 6000

static const char *const files[] = {
    "/index.html", "/a/index.html", "/a/a", "/a/b/a", "/a/b/index.html", "/b/a", "/a\\b", "/b/..a",
};

static const char *const dirs[] = {"/a", "/a/b", "/b"};

static const char *const parts[] = {
    "/",          "/",   "/",      "/",   "a",   "a",   "b",   "b",     ".",  "..",
    "..",         "%2e", "%2E%2e", "%61", "%62", "//",  "/./", "/../",  "\\", "%5c",
    "index.html", "..a", "%",      "%2",  "%2f", "%00", "?",   "?/../", "x",
};

static unsigned long long seed;

static unsigned dice(unsigned n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % n;
}

static int hex(char c)
{
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
                                        : -1;
}

/* Decodes up to '?'; false for a bad escape, NUL or an encoded slash. */
static bool decode(const char *s, char *out)
{
    for (; *s != '\0' && *s != '?'; s++) {
        int c = (unsigned char)*s;
        if (c == '%') {
            int hi = hex(s[1]), lo = hi < 0 ? -1 : hex(s[2]);
            if (lo < 0)
                return false;
            c = hi * 16 + lo;
            s += 2;
            if (c == 0 || c == '/')
                return false;
        }
        *out++ = (char)c;
    }
    *out = '\0';
    return true;
}

/* Resolves segments; false above the root. A directory keeps its slash. */
static bool resolve(const char *s, char *out)
{
    size_t n = 0;
    bool slash = true;
    while (*s != '\0') {
        s += strspn(s, "/");
        size_t len = strcspn(s, "/");
        bool dot = len == 1 && s[0] == '.', up = len == 2 && s[0] == '.' && s[1] == '.';
        slash = len == 0 || dot || up;
        if (up) {
            if (n == 0)
                return false;
            while (out[--n] != '/')
                continue;
        } else if (!dot && len > 0) {
            out[n++] = '/';
            memcpy(out + n, s, len);
            n += len;
        }
        s += len;
        if (*s == '/')
            slash = true;
    }
    if (slash || n == 0)
        out[n++] = '/';
    out[n] = '\0';
    return true;
}

static bool listed(const char *const *list, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i], path) == 0)
            return true;
    }
    return false;
}

/* The status the model gives; *file is the file served, if one is. */
static int model(const char *target, char *file)
{
    char path[1024];
    file[0] = '\0';
    if (!decode(target, path) || !resolve(path, file))
        return 400;
    if (strstr(file, "/.") != NULL)
        return 404;
    size_t n = strlen(file);
    if (listed(dirs, 3, file))
        return 301;
    if (file[n - 1] == '/') {
        file[n - 1] = '\0';
        bool is_dir = n == 1 || listed(dirs, 3, file);
        strcat(file, "/index.html");
        if (!is_dir)
            return 404;
        return listed(files, 8, file) ? 200 : 403;
    }
    return listed(files, 8, file) ? 200 : 404;
}

static void test_random(void **state)
{
    (void)state;
    struct client c = {.fd = -1};
    size_t failed = 0, seen[6] = {0};
    for (int i = 0; i < ROUNDS && failed < 10; i++) {
        char target[1024] = "/", request[1200], file[1024];
        for (unsigned n = dice(9); n > 0; n--)
            strcat(target, parts[dice(sizeof(parts) / sizeof(parts[0]))]);
        int want = model(target, file);
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target);
        if (c.fd < 0)
            assert_true(client_open(&c, srv->at[0]));
        struct reply r;
        client_sendz(&c, request);
        bool ok = reply_read(&c, &r, false, CLIENT_PATIENCE);
        bool raw = strcspn(target, "\\") < strcspn(target, "?"); /* no legal target: 400 is right */
        if (ok && r.status != want)
            ok = (raw || strstr(target, "%2f") != NULL) && (r.status == 400 || want == 400) &&
                 r.status >= 400;
        if (ok && r.status == 200)
            ok = strlen(r.body) == strlen(file) + 1 && strncmp(r.body, file, strlen(file)) == 0;
        seen[r.status / 100 % 6]++;
        if (!ok) {
            print_error("%s: %d %s \"%.40s\", wanted %d %s\n", target, r.status, r.err,
                        r.body != NULL ? r.body : "", want, file);
            failed++;
        }
        bool close_it = !ok || !r.keeps;
        reply_free(&r);
        if (close_it)
            client_close(&c);
    }
    client_close(&c);
    assert_int_equal(failed, 0);
    assert_true(seen[2] > 100 && seen[3] > 20 && seen[4] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), LAST_TESTS};
    const char *given = getenv("SLUICE_SEED");
    seed = given != NULL ? strtoull(given, NULL, 10) : (unsigned long long)now_ms();
    printf("SLUICE_SEED=%llu\n", seed);
    server_new();
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char *rel = text_of("html%s", files[i]), *text = text_of("%s\n", files[i]);
        server_text(srv, rel, text);
        free(rel);
        free(text);
    }
    server_up(srv, "http: {server: {listen: '127.0.0.1:@0@', root: html}}\n");
    return cmocka_run_group_tests_name("path model", tests, NULL, NULL);
}
