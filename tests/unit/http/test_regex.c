/* SPDX-License-Identifier: BSD-2-Clause */
/* Regular expressions: matching, groups by number and name, limits, faults. */
#include "unit.h"

#include "http/regex.h"

struct bench {
    struct arena *arena;
    struct diag diag;
    struct vars vars;
};

static void begin(struct bench *b)
{
    b->arena = arena_new(4096, 0);
    diag_init(&b->diag, b->arena);
    assert_true(vars_init(&b->vars, b->arena));
}

static struct regex *compile(struct bench *b, const char *pattern, bool nocase)
{
    struct regex_source src = {str_z(pattern), nocase, {"x.yaml", 4, 7}, STR("http.x")};
    return regex_compile(&b->vars, b->arena, &b->diag, &src);
}

static void matching(void **state)
{
    static const struct {
        const char *pattern, *subject;
        bool nocase, want;
    } rows[] = {
        {"a", "xax", false, true},      {"^a", "xax", false, false},   {"A", "xax", false, false},
        {"A", "xax", true, true},       {"", "", false, true},         {"^$", "", false, true},
        {"a$", "a\n", false, false},    {"a.b", "a\nb", false, false}, {"^.$", "\xff", false, true},
        {"^..$", "\xc3\xa4", false, true}, {"\\d+", "12", false, true},
    };
    struct bench b;
    (void)state;
    begin(&b);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct regex *re = compile(&b, rows[i].pattern, rows[i].nocase);
        assert_non_null(re);
        enum regex_result got = regex_match(re, str_z(rows[i].subject), NULL);
        assert_int_equal(got, rows[i].want ? REGEX_YES : REGEX_NO);
    }
    assert_int_equal(regex_match(compile(&b, "^$", false), STR_NONE, NULL), REGEX_YES);
    assert_non_null(strstr(regex_version(), "PCRE2 "));
    arena_delete(b.arena);
}

static void groups(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    struct fake *f = fake_new(NULL);
    struct regex *re = compile(&b, "(a)(b)?(c)(d)?", false);
    assert_int_equal(regex_groups(re), 4);
    assert_int_equal(regex_match(re, STR("xacx"), &f->r), REGEX_YES);
    assert_int_equal(f->r.capture_count, 5);
    assert_str(f->r.captures[0], "ac");
    assert_str(f->r.captures[1], "a");
    assert_null(f->r.captures[2].p);
    assert_str(f->r.captures[3], "c");
    assert_null(f->r.captures[4].p);
    assert_int_equal(regex_match(compile(&b, "z", false), STR("xacx"), &f->r), REGEX_NO);
    assert_str(f->r.captures[1], "a"); /* no match leaves them */
    /* More groups than a request has room for: the first nine count. */
    re = compile(&b, "(1)(2)(3)(4)(5)(6)(7)(8)(9)(?<ten>x)(y)", false);
    assert_int_equal(regex_groups(re), 11);
    assert_int_equal(regex_match(re, STR("123456789xy"), &f->r), REGEX_YES);
    assert_int_equal(f->r.capture_count, REQUEST_CAPTURES);
    assert_str(f->r.captures[9], "9");
    struct var_ref ref;
    struct str out;
    assert_true(vars_find(&b.vars, STR("ten"), &ref));
    assert_true(var_value(&f->r, &ref, &out));
    assert_str(out, "x");
    /* One name in two patterns is one variable: the last match counts. */
    re = compile(&b, "^(?<ten>t+)(?<other>o)?", false);
    assert_int_equal(regex_match(re, STR("tt"), &f->r), REGEX_YES);
    assert_true(var_value(&f->r, &ref, &out));
    assert_str(out, "tt");
    assert_true(vars_find(&b.vars, STR("other"), &ref));
    assert_true(var_value(&f->r, &ref, &out));
    assert_int_equal(out.n, 0);
    fake_free(f);
    arena_delete(b.arena);
}

/* A pattern that would run for ages is given up, and says so. */
static void limits(void **state)
{
    struct bench b;
    char subject[64];
    (void)state;
    begin(&b);
    memset(subject, 'a', sizeof(subject));
    struct regex *re = compile(&b, "^(a+)+$", false); /* doubles with each "a" */
    assert_non_null(re);
    struct log_sink kept = log_main.sinks[0];
    log_main.sinks[0].fd = -1; /* the line is not for the terminal */
    for (size_t n = 4; n < sizeof(subject); n += 4) {
        subject[n] = '!';
        enum regex_result got = regex_match(re, str_make(subject, n + 1), NULL);
        subject[n] = 'a';
        if (n <= 12)
            assert_int_equal(got, REGEX_NO);
        if (n >= 20) /* PCRE2's own limit lets 20 and more pass */
            assert_int_equal(got, REGEX_FAILED);
    }
    log_main.sinks[0] = kept;
    arena_delete(b.arena);
}

static void faults(void **state)
{
    static const char *const bad[] = {"(", "[a", "a{2,1}", "(?<1>a)", "\\", "(?<uri>a)", "*"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct bench b;
        struct buf text;
        begin(&b);
        assert_null(compile(&b, bad[i], false));
        assert_int_equal(b.diag.errors, 1);
        buf_init(&text, 0);
        diag_print(&b.diag, &text);
        buf_char(&text, '\0');
        assert_non_null(strstr(text.p, "x.yaml:4:7: http.x: "));
        buf_fini(&text);
        arena_delete(b.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matching), cmocka_unit_test(groups), cmocka_unit_test(limits),
        cmocka_unit_test(faults),
    };
    if (regex_version() == NULL)
        return 77; /* not built in */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
