/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/diag.c: collecting, ordering, printing, suggesting (config.md 4). */
#include "conf/diag.h"

#include "core/check.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>

static struct arena arena;
static struct diag diag;
static const char *line_text;

static struct str one_line(void *arg, const struct pos *pos)
{
    (void)arg;
    (void)pos;
    return str_z(line_text);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0, 4096, 0);
    diag_init(&diag, &arena);
    line_text = "";
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

static void check_report(const char *want)
{
    struct buf b;
    buf_init(&b, 0);
    diag_print(&diag, &b);
    buf_char(&b, '\0');
    assert_string_equal(b.p, want);
    buf_fini(&b);
}

static void formats(void **state)
{
    (void)state;
    diag.source_line = one_line;
    line_text = "    gzip_comp_level: 12";
    diag_error(&diag, (struct pos){"a.yaml", 14, 22}, STR("http.server[0].gzip_comp_level"),
               "%d is outside %d..%d", 12, 1, 9);
    diag_warn(&diag, (struct pos){"a.yaml", 15, 1}, STR_NONE, "odd");
    diag_error(&diag, (struct pos){"b.yaml", 0, 0}, STR_NONE, "the file is UTF-16");
    diag_error(&diag, (struct pos){NULL, 0, 0}, STR("x"), "no place");
    assert_int_equal(diag.errors, 3);
    assert_int_equal(diag.warnings, 1);
    check_report("a.yaml:14:22: http.server[0].gzip_comp_level: 12 is outside 1..9\n"
                 "    gzip_comp_level: 12\n"
                 "                     ^\n"
                 "a.yaml:15:1: warning: odd\n"
                 "        gzip_comp_level: 12\n"
                 "    ^\n"
                 "b.yaml: the file is UTF-16\n"
                 "x: no place\n");
}

/* By file as first met, inside a file by place; the same fault once. */
static void order(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        unsigned line, column;
        const char *text;
    } in[] = {
        {"b", 9, 1, "1"}, {"a", 2, 5, "2"}, {"b", 3, 1, "3"}, {"a", 2, 4, "4"},
        {"a", 2, 5, "2"}, {"a", 2, 5, "other"}, {"b", 9, 1, "1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(in); i++)
        diag_error(&diag, (struct pos){in[i].file, in[i].line, in[i].column}, STR_NONE, "%s",
                   in[i].text);
    assert_int_equal(diag.errors, 5);
    check_report("b:3:1: 3\nb:9:1: 1\na:2:4: 4\na:2:5: 2\na:2:5: other\n");
}

static void many(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= DIAG_MAX + 7; i++) {
        diag_error(&diag, (struct pos){"a", i, 1}, STR_NONE, "e");
        diag_warn(&diag, (struct pos){"a", i, 2}, STR_NONE, "w");
        diag_warn(&diag, (struct pos){"b", i, 2}, STR_NONE, "w");
    }
    assert_int_equal(diag.errors, DIAG_MAX + 7);
    assert_int_equal(diag.warnings, 2 * (DIAG_MAX + 7));
    assert_int_equal(diag.count, 2 * DIAG_MAX);
    struct buf b;
    buf_init(&b, 0);
    diag_print(&diag, &b);
    assert_true(str_find(buf_view(&b), STR("a:50:1: e\n")) >= 0);
    assert_true(str_find(buf_view(&b), STR("a:51:")) < 0);
    assert_true(str_ends(buf_view(&b), STR("\n7 more errors are not shown\n"
                                              "64 more warnings are not shown\n")));
    buf_fini(&b);
}

/* Lines and messages hold what the file holds: nothing of it may reach a terminal raw. */
static void hostile_text(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        unsigned column;
        const char *shown;
    } cases[] = {
        {"a: \033[31mred", 4, "    a: ?[31mred\n       ^\n"},
        {"a:\tb", 4, "    a: b\n       ^\n"},
        {"\t\ta: b", 6, "    a: b\n       ^\n"},
        {"ä: b", 5, "    ä: b\n       ^\n"},
        {"\xc3\xa4\xff\xc3: b", 7, "    ä??: b\n         ^\n"},
        {"\xc2\x9b \xed\xa0\x80 x", 8, "    ?? ??? x\n           ^\n"},
        {"a: b", 5, "    a: b\n        ^\n"},
        {"a: b", 4000, "    a: b\n        ^\n"},
    };
    diag.source_line = one_line;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char want[256];
        diag.count = diag.errors = 0;
        line_text = cases[i].line;
        diag_error(&diag, (struct pos){"f", 1, cases[i].column}, STR_NONE, "x");
        (void)snprintf(want, sizeof(want), "f:1:%u: x\n%s", cases[i].column, cases[i].shown);
        check_report(want);
    }
    diag.count = diag.errors = 0;
    diag.source_line = NULL;
    diag_error(&diag, (struct pos){"f", 1, 1}, STR("p\nq"), "a\nb\033c\x7f");
    check_report("f:1:1: p?q: a?b?c?\n");
}

static void long_text(void **state)
{
    (void)state;
    static char line[5001];
    memset(line, 'x', 5000);
    memcpy(line + 3000, "HERE", 4);
    diag.source_line = one_line;
    line_text = line;
    diag_error(&diag, (struct pos){"f", 1, 3001}, STR_NONE, "%s", line);
    struct buf b;
    buf_init(&b, 0);
    diag_print(&diag, &b);
    assert_true(b.n < 1000);
    ssize_t here = str_find(buf_view(&b), STR("HERE"));
    ssize_t caret = str_find(buf_view(&b), STR("^"));
    assert_true(here > 0 && caret > here);
    ssize_t start = str_rchr(str_head(buf_view(&b), (size_t)here), '\n');
    ssize_t caret_start = str_rchr(str_head(buf_view(&b), (size_t)caret), '\n');
    assert_int_equal(here - start, caret - caret_start);
    buf_fini(&b);

    struct str cut = diag_excerpt(&diag, str_z(line));
    assert_true(cut.n < 70 && str_ends(cut, STR("...")));
    assert_true(str_eq(diag_excerpt(&diag, STR("short")), STR("short")));
    char umlauts[101]; /* 60 bytes would end inside a character */
    for (size_t i = 0; i < 50; i++)
        memcpy(umlauts + 1 + 2 * i, "\xc3\xa4", 2);
    umlauts[0] = 'a';
    cut = diag_excerpt(&diag, str_make(umlauts, sizeof(umlauts)));
    assert_int_equal(cut.n, 59 + 3);
}

static void suggest(void **state)
{
    (void)state;
    static const char *const names[] = {"listen",    "location", "root",          "index",
                                        "server",    "use",      "server_tokens", "server_name",
                                        "error_log", "error_page"};
    static const struct {
        const char *word, *want;
    } cases[] = {
        {"lisen", "listen"}, {"lsiten", "listen"}, {"LISTEN", "listen"}, {"rooot", "root"},
        {"idnex", "index"}, {"serverr", "server"}, {"server_token", "server_tokens"},
        {"servername", "server_name"}, {"errorlog", "error_log"}, {"eror_page", "error_page"},
        {"us", "use"}, {"location_", "location"}, {"", NULL}, {"x", NULL}, {"frobnicate", NULL},
        {"abc", NULL}, {"proxy_pass", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = diag_suggest(str_z(cases[i].word), names, ARRAY_LEN(names));
        if (cases[i].want == NULL ? got != NULL
                                  : got == NULL || strcmp(got, cases[i].want) != 0)
            fail_msg("\"%s\": %s", cases[i].word, got == NULL ? "none" : got);
    }
    char longest[2000];
    memset(longest, 'a', sizeof(longest));
    assert_null(diag_suggest(str_make(longest, sizeof(longest)), names, ARRAY_LEN(names)));
    assert_null(diag_suggest(STR("a"), NULL, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(formats), TEST(order), TEST(many), TEST(hostile_text), TEST(long_text),
        TEST(suggest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
