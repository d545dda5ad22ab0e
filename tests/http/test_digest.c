/* SPDX-License-Identifier: BSD-2-Clause */
/* etag: content (demands.md D5): tags that depend on the bytes alone. */
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
    "  etag: content\n"
    "  server:\n"
    "    - listen: '127.0.0.1:@0@'\n"
    "      root: html\n"
    "      location:\n"
    "        /pre/: {precompressed: br}\n"
    "        /time/: {etag: on}\n"
    "        /off/: {etag: off}\n";

#define OLD INT64_C(1000000000)

static char *tag_of(const char *path, const char *fields)
{
    char *request = text_of("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, fields);
    char *tag = ask_field(request, 200, "ETag");
    free(request);
    return tag;
}

static void check_same(const char *a, const char *b, const char *fields, bool same)
{
    char *one = tag_of(a, fields), *two = tag_of(b, fields);
    assert_non_null(one);
    assert_non_null(two);
    if ((strcmp(one, two) == 0) != same)
        fail_msg("%s has %s, %s has %s", a, one, b, two);
    free(one);
    free(two);
}

/* Times do not matter, nor whether the file is held in memory; the last byte does. */
static void test_content(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"/a.txt", "/same.txt", true},   {"/a.txt", "/other.txt", false},
        {"/big.txt", "/big2.txt", true}, {"/big.txt", "/big3.txt", false},
        {"/a.txt", "/time/a.txt", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (int k = 0; k < 2; k++)
            check_same(pairs[i].a, pairs[i].b, "", pairs[i].same);
    check_same("/a.txt", "/same.txt", "Accept-Encoding: gzip\r\n", true);
    char *tag = tag_of("/a.txt", ""), *gz = tag_of("/a.txt", "Accept-Encoding: gzip\r\n");
    assert_int_equal(strlen(tag), 34);
    assert_int_equal(strlen(gz), 38);
    assert_memory_equal(tag, gz, 33);
    assert_string_equal(gz + 33, "-gz6\"");
    free(tag);
    free(gz);
    assert_null(tag_of("/off/a.txt", ""));
}

/* H15: the same size and the same time, other bytes: another tag. */
static void test_change(void **state)
{
    (void)state;
    server_text(srv, "html/edit.txt", "first\n");
    server_mtime(srv, "html/edit.txt", OLD, 0);
    char *one = tag_of("/edit.txt", "");
    server_text(srv, "html/edit.txt", "other\n");
    server_mtime(srv, "html/edit.txt", OLD, 0);
    char *two = tag_of("/edit.txt", "");
    assert_string_not_equal(one, two);
    server_text(srv, "html/edit.txt", "first\n"); /* written again: what clients hold is good */
    char *three = tag_of("/edit.txt", "");
    assert_string_equal(one, three);
    assert_int_equal(one[0], '"'); /* never weak */
    char *request = text_of("GET /edit.txt HTTP/1.1\r\nHost: a\r\nIf-None-Match: %s\r\n\r\n", one);
    free(ask_field(request, 304, "ETag"));
    free(request);
    request = text_of("GET /edit.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nIf-Range: %s\r\n\r\n",
                      one);
    free(ask_body(request, 206));
    free(request);
    free(one);
    free(two);
    free(three);
}

/* So large a file is not waited for: it has a tag a little later. */
static void test_large(void **state)
{
    (void)state;
    char *tag = tag_of("/large.bin", "");
    int64_t until = now_ms() + CLIENT_PATIENCE;
    while (tag == NULL && now_ms() < until) {
        sleep_ms(20);
        char *head = ask_field(HEAD("/large.bin"), 200, "ETag");
        tag = head;
    }
    assert_non_null(tag);
    assert_int_equal(strlen(tag), 34);
    free(tag);
}

static void test_beside(void **state)
{
    (void)state;
    char *plain = tag_of("/pre/a.txt", ""), *br = tag_of("/pre/a.txt", "Accept-Encoding: br\r\n");
    assert_memory_equal(plain, br, 33);
    assert_memory_equal(br + 33, "-br-3b9aca00-0-3\"", 17);
    char *request = text_of("GET /pre/a.txt HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br\r\n"
                            "If-None-Match: %s\r\n\r\n", plain);
    free(ask_field(request, 304, "ETag"));
    free(request);
    free(plain);
    free(br);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content), cmocka_unit_test(test_change),
        cmocka_unit_test(test_large),   cmocka_unit_test(test_beside),
        LAST_TESTS,
    };
    static const char *const texts[] = {"a.txt", "same.txt", "time/a.txt", "off/a.txt", "pre/a.txt"};
    char rel[64], *text = repeat('a', 5000);
    srv = server_new();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        snprintf(rel, sizeof(rel), "html/%s", texts[i]);
        server_text(srv, rel, text);
        server_mtime(srv, rel, OLD + (int64_t)i, 0);
    }
    text[4999] = 'b';
    server_text(srv, "html/other.txt", text);
    free(text);
    server_text(srv, "html/pre/a.txt.br", "BR\n");
    server_mtime(srv, "html/pre/a.txt.br", OLD, 0);
    server_mtime(srv, "html/pre/a.txt", OLD, 0);
    text = repeat('c', 200000);
    server_text(srv, "html/big.txt", text);
    server_text(srv, "html/big2.txt", text);
    text[199999] = 'd';
    server_text(srv, "html/big3.txt", text);
    free(text);
    server_fill(srv, "html/large.bin", UINT64_C(9) << 20);
    srv->rss_slack_kb = 2048;
    server_up(srv, CONF);
    srv->others_slack = 1; /* what wakes the loop when a digest is made */
    return cmocka_run_group_tests_name("content tags", tests, NULL, NULL);
}
