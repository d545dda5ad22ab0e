/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preconditions: behaviours.md H1 to H17, hostile.md 61. Port 0 as shipped, port 1 with
 * if_modified_since exact, port 2 off, port 3 with etag off.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] = "http:\n"
                           "  add_header: Cache-Control max-age=60\n"
                           "  server:\n"
                           "    - {listen: '127.0.0.1:@0@', root: html}\n"
                           "    - {listen: '127.0.0.1:@1@', root: html, if_modified_since: exact}\n"
                           "    - {listen: '127.0.0.1:@2@', root: html, if_modified_since: off}\n"
                           "    - {listen: '127.0.0.1:@3@', root: html, etag: off}\n";

#define MTIME       1000000000 /* Sun, 09 Sep 2001 01:46:40 GMT */
#define SINCE(date) REQ("GET", "/a.txt", "If-Modified-Since: " date "\r\n")
#define SAME        "Sun, 09 Sep 2001 01:46:40 GMT"
#define LATER       "Sun, 09 Sep 2001 01:46:41 GMT"
#define EARLIER     "Sun, 09 Sep 2001 01:46:39 GMT"

static const struct row since[] = {
    {"H7 the same", SINCE(SAME), 304, KEEPS | EMPTY,
     .has = "ETag: *\nCache-Control: max-age=60\nLast-Modified: " SAME},
    {"H7 later", SINCE(LATER), 304, KEEPS | EMPTY},
    {"H7 earlier", SINCE(EARLIER), 200, KEEPS, .body = "a\n"},
    {"H8 invalid", SINCE("yesterday"), 200, KEEPS},
    {"H8 empty", SINCE(""), 200, KEEPS},
    {"H8 junk behind", SINCE(SAME " x"), 200, KEEPS},
    {"H8 junk behind, no blank", SINCE(SAME "x"), 200, KEEPS},
    {"H8 a number", SINCE("1000000000"), 200, KEEPS},
    {"H8 no such day", SINCE("Sun, 99 Sep 2001 01:46:40 GMT"), 200, KEEPS},
    {"H8 no such month", SINCE("Sun, 09 Spt 2001 01:46:40 GMT"), 200, KEEPS},
    {"H8 no such hour", SINCE("Sun, 09 Sep 2001 25:46:40 GMT"), 200, KEEPS},
    {"H8 future", SINCE("Sun, 09 Sep 2096 01:46:40 GMT"), 304, KEEPS, .or_status = 200},
    {"H9 RFC 850", SINCE("Sunday, 09-Sep-01 01:46:40 GMT"), 304, KEEPS | EMPTY},
    {"H9 asctime", SINCE("Sun Sep  9 01:46:40 2001"), 304, KEEPS | EMPTY},
    {"H9 RFC 850, earlier", SINCE("Sunday, 09-Sep-01 01:46:39 GMT"), 200, KEEPS},
    {"H9 asctime, earlier", SINCE("Sun Sep  9 01:46:39 2001"), 200, KEEPS},
    {"H9 2038", REQ("GET", "/2038.txt", "If-Modified-Since: Tue, 19 Jan 2038 03:14:06 GMT\r\n"),
     200, 0},
    {"H14 HEAD", REQ("HEAD", "/a.txt", "If-Modified-Since: " SAME "\r\n"), 304, KEEPS | EMPTY},
    {"H17 redirect", REQ("GET", "/d", "If-Modified-Since: " LATER "\r\n"), 301, KEEPS},
    {"H17 missing", REQ("GET", "/none", "If-Modified-Since: " LATER "\r\n"), 404, KEEPS},
    {"H17 index", REQ("GET", "/", "If-Modified-Since: " LATER "\r\n"), 304, KEEPS | EMPTY},
};

static const struct row exact[] = {
    {"H7 exact: the same", SINCE(SAME), 304, KEEPS | EMPTY},
    {"H7 exact: later", SINCE(LATER), 200, KEEPS},
    {"H7 exact: earlier", SINCE(EARLIER), 200, KEEPS},
};

static const struct row off[] = {
    {"H7 off: the same", SINCE(SAME), 200, KEEPS},
    {"H1 off: * still counts", REQ("GET", "/a.txt", "If-None-Match: *\r\n"), 304, KEEPS | EMPTY},
};

static const struct row no_etag[] = {
    {"etag off", GET("/a.txt"), 200, KEEPS, .lacks = "ETag", .has = "Last-Modified: " SAME},
    {"etag off: date", SINCE(SAME), 304, KEEPS | EMPTY, .lacks = "ETag"},
};

#define MATCH(fields) REQ("GET", "/a.txt", fields "\r\n")
#define RANGE         "\r\nRange: bytes=0-0"

/* H10 to H12, H14: those that say 412, and who comes before whom. */
static const struct row match[] = {
    {"H10 *", MATCH("If-Match: *"), 200, KEEPS, .body = "a\n"},
    {"H10 other", MATCH("If-Match: \"x\""), 412, KEEPS, .lacks = "Accept-Ranges"},
    {"H10 list without it", MATCH("If-Match: \"x\", \"y\""), 412, KEEPS},
    {"H10 quoted *", MATCH("If-Match: \"*\""), 412, KEEPS},
    {"H10 no tag", MATCH("If-Match: abc"), 412, KEEPS},
    {"H10 empty", MATCH("If-Match:"), 412, KEEPS, .or_status = 200},
    {"H10 missing file", REQ("GET", "/none", "If-Match: *\r\n"), 404, KEEPS},
    {"H11 the same", MATCH("If-Unmodified-Since: " SAME), 200, KEEPS},
    {"H11 later", MATCH("If-Unmodified-Since: " LATER), 200, KEEPS},
    {"H11 earlier", MATCH("If-Unmodified-Since: " EARLIER), 412, KEEPS},
    {"H11 invalid", MATCH("If-Unmodified-Since: yesterday"), 200, KEEPS},
    {"H11 empty", MATCH("If-Unmodified-Since:"), 200, KEEPS},
    {"H11 RFC 850, earlier", MATCH("If-Unmodified-Since: Sunday, 09-Sep-01 01:46:39 GMT"), 412,
     KEEPS},
    {"H11 ignored beside If-Match",
     MATCH("If-Match: *\r\nIf-Unmodified-Since: " EARLIER), 200, KEEPS},
    {"H12 If-Match before If-None-Match", MATCH("If-Match: \"x\"\r\nIf-None-Match: *"), 412,
     KEEPS},
    {"H12 both hold, then 304", MATCH("If-Match: *\r\nIf-None-Match: *"), 304, KEEPS | EMPTY},
    {"H12 If-Unmodified-Since before If-None-Match",
     MATCH("If-Unmodified-Since: " EARLIER "\r\nIf-None-Match: *"), 412, KEEPS},
    {"H12 If-Unmodified-Since before If-Modified-Since",
     MATCH("If-Unmodified-Since: " EARLIER "\r\nIf-Modified-Since: " SAME), 412, KEEPS},
    {"H12 not modified, both dates",
     MATCH("If-Unmodified-Since: " SAME "\r\nIf-Modified-Since: " SAME), 304, KEEPS | EMPTY},
    {"H12 412 before a range", MATCH("If-Match: \"x\"" RANGE), 412, KEEPS,
     .lacks = "Content-Range"},
    {"H12 304 before a range", MATCH("If-Modified-Since: " SAME RANGE), 304, KEEPS | EMPTY},
    {"H12 then the range", MATCH("If-Match: *" RANGE), 206, KEEPS, .body = "a"},
    {"H14 412, HEAD", REQ("HEAD", "/a.txt", "If-Match: \"x\"\r\n"), 412, KEEPS | EMPTY},
    {"H14 412, HEAD, date",
     REQ("HEAD", "/a.txt", "If-Unmodified-Since: " EARLIER "\r\n"), 412, KEEPS | EMPTY},
    {"H17 412 not of a redirect", REQ("GET", "/d", "If-Match: \"x\"\r\n"), 301, KEEPS},
    {"h61 year 0", SINCE("Sun, 01 Jan 0000 00:00:00 GMT"), 200, KEEPS},
    {"h61 two-digit year", SINCE("Sun, 09 Sep 01 01:46:40 GMT"), 200, KEEPS},
    {"h61 year 9999", SINCE("Fri, 31 Dec 9999 23:59:59 GMT"), 304, KEEPS, .or_status = 200},
    {"h61 year 10000", SINCE("Sat, 01 Jan 10000 00:00:00 GMT"), 200, KEEPS},
    {"h61 leap second", SINCE("Sun, 31 Dec 2000 23:59:60 GMT"), 200, KEEPS},
    {"h61 30 February", SINCE("Sat, 30 Feb 2002 00:00:00 GMT"), 200, KEEPS},
};

static void test_since(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(since));
    rows_run(srv->at[1], ROWS(exact));
    rows_run(srv->at[2], ROWS(off));
    rows_run(srv->at[3], ROWS(no_etag));
}

static void test_match(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(match));
}

/* h61: tags by the thousand, as many as a field holds, and more. */
static void test_many_tags(void **state)
{
    (void)state;
    char *tag = ask_field(GET("/a.txt"), 200, "ETag"), *list = malloc(100000), *at = list;
    for (int i = 0; i < 1900; i++)
        at += sprintf(at, "\"%x\",", (unsigned)i % 15);
    char *hit = text_of(REQ("GET", "/a.txt", "If-None-Match: %s%s\r\n"), list, tag);
    char *miss = text_of(REQ("GET", "/a.txt", "If-None-Match: %s\"x\"\r\n"), list);
    for (int i = 0; i < 8100; i++)
        at += sprintf(at, "\"%x\",", (unsigned)i % 15);
    char *more = text_of(REQ("GET", "/a.txt", "If-None-Match: %s%s\r\n"), list, tag);
    struct row rows[] = {
        {"h61 1,900 tags, the last one", hit, 304, KEEPS | EMPTY},
        {"h61 1,900 tags, none", miss, 200, KEEPS, .body = "a\n"},
        {"h61 10,000 tags", more, 431, CLOSES | RESET_OK},
    };
    rows_run(srv->at[0], ROWS(rows));
    free(tag);
    free(list);
    free(hit);
    free(miss);
    free(more);
}

/* One If-None-Match row; %s in the fields stands for the tag of /a.txt. */
static void tag_row(const char *name, const char *fields, int status)
{
    char *tag = ask_field(GET("/a.txt"), 200, "ETag"), *filled, *request;
    assert_non_null(tag);
    const char *hole = strstr(fields, "%s");
    if (hole != NULL)
        filled = text_of("%.*s%s%s", (int)(hole - fields), fields, tag, hole + 2);
    else
        filled = strdup(fields);
    request = text_of("GET /a.txt HTTP/1.1\r\nHost: localhost\r\n%s\r\n", filled);
    struct row row = {name, request, status, KEEPS | (status == 304 ? EMPTY : 0u)};
    if (status == 304)
        row.has = "ETag: *\nCache-Control: max-age=60";
    else if (status == 200)
        row.body = "a\n";
    rows_run(srv->at[0], &row, 1);
    free(tag);
    free(filled);
    free(request);
}

static void test_tags(void **state)
{
    (void)state;
    static const struct {
        const char *name, *fields;
        int status;
    } rows[] = {
        {"H1 equal", "If-None-Match: %s\r\n", 304},
        {"H1 other", "If-None-Match: \"x\"\r\n", 200},
        {"H2 weak", "If-None-Match: W/%s\r\n", 304},
        {"H2 w/ is not W/", "If-None-Match: w/%s\r\n", 200},
        {"H3 list", "If-None-Match: \"x\", %s, \"y\"\r\n", 304},
        {"H3 tabs, empty members", "If-None-Match: ,\t,\"x\",,\t%s ,\r\n", 304},
        {"H3 weak in a list", "If-None-Match: W/\"x\",W/%s\r\n", 304},
        {"H3 no match in a list", "If-None-Match: \"x\", W/\"y\"\r\n", 200},
        {"H3 two lines", "If-None-Match: \"x\"\r\nIf-None-Match: %s\r\n", 304},
        {"H3 comma in a tag", "If-None-Match: \"x,y\", %s\r\n", 304},
        {"H4 *", "If-None-Match: *\r\n", 304},
        {"H4 quoted *", "If-None-Match: \"*\"\r\n", 200},
        {"H5 unquoted", "If-None-Match: abc\r\n", 200},
        {"H5 open quote", "If-None-Match: \"abc\r\n", 200},
        {"H5 empty", "If-None-Match:\r\n", 200},
        {"H10 If-Match, equal", "If-Match: %s\r\n", 200},
        {"H10 If-Match, in a list", "If-Match: \"x\",\t%s\r\n", 200},
        {"H10 If-Match, two lines", "If-Match: \"x\"\r\nIf-Match: %s\r\n", 200},
        {"H10 If-Match, weak", "If-Match: W/%s\r\n", 412},
        {"H12 both name it", "If-Match: %s\r\nIf-None-Match: \"x\"\r\n", 200},
        {"H6 match, old date", "If-None-Match: %s\r\nIf-Modified-Since: " EARLIER "\r\n", 304},
        {"H6 no match, new date", "If-None-Match: \"x\"\r\nIf-Modified-Since: " LATER "\r\n", 200},
        {"H6 * and old date", "If-Modified-Since: " EARLIER "\r\nIf-None-Match: *\r\n", 304},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        tag_row(rows[i].name, rows[i].fields, rows[i].status);
}

/* H13: a 304 has what the 200 has of these; a length, if any, is the 200's. */
static void test_304_fields(void **state)
{
    (void)state;
    static const char *const same[] = {"ETag", "Cache-Control", "Expires", "Vary",
                                       "Content-Location"};
    struct reply full, none;
    assert_true(fetch(srv->at[0], GET("/a.txt"), &full));
    assert_true(fetch(srv->at[0], REQ("GET", "/a.txt", "If-None-Match: *\r\n"), &none));
    assert_int_equal(none.status, 304);
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        const char *a = reply_field(&full, same[i]), *b = reply_field(&none, same[i]);
        if ((a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0))
            fail_msg("%s: %s in the 200, %s in the 304", same[i], a != NULL ? a : "none",
                     b != NULL ? b : "none");
    }
    if (none.has_length)
        assert_int_equal(none.length, full.length);
    reply_free(&full);
    reply_free(&none);
}

static char *tag_of(const char *path)
{
    char *request = text_of("GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
    char *tag = ask_field(request, 200, "ETag");
    free(request);
    assert_non_null(tag);
    return tag;
}

/* H15, S6, h47, h49, h55: every way of changing a file changes its tag. */
static void test_tag_changes(void **state)
{
    (void)state;
    static const char *const how[] = {"rewritten in place", "same size, same second",
                                      "renamed over", "time set back", "longer"};
    for (int k = 0; k < 5; k++) {
        server_text(srv, "html/t.txt", "one\n");
        server_mtime(srv, "html/t.txt", MTIME, 5000);
        char *before = NULL, *after = NULL;
        for (int i = 0; i < 40; i++, sleep_ms(50)) { /* until the cache has seen it */
            free(before);
            before = tag_of("/t.txt");
            char *body = ask_body(GET("/t.txt"), 200);
            bool fresh = strcmp(body, "one\n") == 0;
            free(body);
            if (fresh && i > 1)
                break;
        }
        if (k == 0) {
            server_text(srv, "html/t.txt", "two\n");
        } else if (k == 1) {
            server_text(srv, "html/t.txt", "two\n");
            server_mtime(srv, "html/t.txt", MTIME, 6000);
        } else if (k == 2) {
            server_text(srv, "html/t.new", "two\n");
            server_mtime(srv, "html/t.new", MTIME, 7000);
            assert_int_equal(rename(server_path(srv, "html/t.new"), server_path(srv, "html/t.txt")),
                             0);
        } else if (k == 3) {
            server_text(srv, "html/t.txt", "two\n");
            server_mtime(srv, "html/t.txt", MTIME - 1000, 5000);
        } else {
            server_text(srv, "html/t.txt", "two and more\n");
            server_mtime(srv, "html/t.txt", MTIME, 5000);
        }
        bool changed = false;
        for (int i = 0; i < 60 && !changed; i++, sleep_ms(50)) {
            free(after);
            after = tag_of("/t.txt");
            changed = strcmp(before, after) != 0;
        }
        if (!changed)
            fail_msg("H15 %s: the tag stays %s", how[k], before);
        char *body = ask_body(GET("/t.txt"), 200);
        assert_int_equal(strncmp(body, "two", 3), 0);
        free(body);
        free(before);
        free(after);
    }
}

/* H16, h55: a file from the future is not dated later than now; odd times are served. */
static void test_odd_times(void **state)
{
    (void)state;
    static const int64_t times[] = {0, -1000000, 253402300799, 4102444800, 2147483647, 2147483648};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char *rel = text_of("html/time%zu.txt", i), *path = text_of("/time%zu.txt", i);
        server_text(srv, rel, "t\n");
        server_mtime(srv, rel, times[i], 0);
        struct reply r;
        if (!fetch_path(srv->at[0], path, &r) || r.status != 200)
            fail_msg("h55 mtime %lld: %d %s", (long long)times[i], r.status, r.err);
        reply_free(&r);
        free(rel);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_since),      cmocka_unit_test(test_tags),
        cmocka_unit_test(test_match),      cmocka_unit_test(test_many_tags),
        cmocka_unit_test(test_304_fields), cmocka_unit_test(test_tag_changes),
        cmocka_unit_test(test_odd_times),  LAST_TESTS,
    };
    server_new();
    server_text(srv, "html/a.txt", "a\n");
    server_mtime(srv, "html/a.txt", MTIME, 123456789);
    server_text(srv, "html/2038.txt", "2038\n");
    server_mtime(srv, "html/2038.txt", 2147483647, 0);
    server_text(srv, "html/index.html", "index\n");
    server_mtime(srv, "html/index.html", MTIME, 0);
    server_mkdir(srv, "html/d");
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("conditional requests", tests, NULL, NULL);
}
