/* SPDX-License-Identifier: BSD-2-Clause */
/* Templates: what is a variable in a text, what it becomes, escapes, and the faults. */
#include "unit.h"

#include "http/template.h"

static bool compile(struct site *s, struct template *t, const char *text)
{
    return template_compile(t, &s->cy.vars, s->arena, &s->diag, (struct pos){"x.yaml", 3, 5},
                            STR("http.x"), str_z(text));
}

static void values(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http: {server: {listen: 8081, server_name: name}}\n");
    struct fake *f = fake_new(&s);
    f->r.uri = STR("/a");
    f->r.args = STR("x=1&empty=&y=two");
    f->r.captures[0] = STR("all");
    f->r.captures[1] = STR("one");
    f->r.capture_count = 3; /* $2 took no part */
    static const struct {
        const char *text, *want;
        bool literal, constant;
        size_t parts;
    } rows[] = {
        {"", "", true, true, 0},
        {"plain", "plain", true, true, 1},
        {"$uri", "/a", false, false, 1},
        {"${uri}b", "/ab", false, false, 2},
        {"$uri.b", "/a.b", false, false, 2},
        {"$URI", "/a", false, false, 1},               /* names have no case */
        {"$server_name/x", "name/x", false, true, 2},  /* the same for all of a location */
        {"$arg_x-$arg_y", "1-two", false, false, 3},
        {"$arg_none", "", false, false, 1},
        {"<$arg_empty>", "<>", false, false, 3},
        {"$1/$2/$3", "one//", false, false, 5},
        {"$10", "one0", false, false, 2},
        {"${1}0", "one0", false, false, 2},
        {"$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri$uri",
         "/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", false, false, 18},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct template t;
        assert_true(compile(&s, &t, rows[i].text));
        assert_int_equal(t.literal, rows[i].literal);
        assert_int_equal(t.constant, rows[i].constant);
        assert_int_equal(t.count, rows[i].parts);
        assert_str(template_eval(&t, &f->r), rows[i].want);
    }
    fake_free(f);
    site_end(&s);
}

static void escapes(void **state)
{
    struct site s;
    struct template t;
    char mem[256];
    (void)state;
    site_good(&s, "http: {server: {listen: 8081}}\n");
    struct fake *f = fake_new(&s);
    f->r.uri = STR("/\"\n\xff");
    static const struct {
        enum template_escape escape;
        const char *want;
    } rows[] = {
        {TEMPLATE_PLAIN, "\"/\"\n\xff\" -"},
        {TEMPLATE_LOG, "\"/\\x22\\x0A\\xFF\" -"},
        {TEMPLATE_JSON, "\"/\\\"\\n\\u00ff\" -"},
    };
    assert_true(compile(&s, &t, "\"$uri\" $arg_none")); /* what is not variable is not escaped */
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wbuf w = wbuf_make(mem, sizeof(mem) - 1);
        template_write(&t, &f->r, &w, rows[i].escape, STR("-"));
        *w.at = '\0';
        assert_false(w.overflow);
        assert_string_equal(mem, rows[i].want);
    }
    struct wbuf w = wbuf_make(mem, 3); /* too small: said, not overrun */
    template_write(&t, &f->r, &w, TEMPLATE_LOG, STR("-"));
    assert_true(w.overflow);
    fake_free(f);
    site_end(&s);
}

/* Running out of request memory is seen at the arena, never as half a value. */
static void no_memory(void **state)
{
    struct site s;
    struct template t;
    (void)state;
    site_good(&s, "http: {server: {listen: 8081}}\n");
    struct fake *f = fake_new(&s);
    char *big = malloc(1 << 20);
    assert_non_null(big);
    memset(big, 'a', 1 << 20);
    f->r.uri = str_make(big, 1 << 20);
    assert_true(compile(&s, &t, "$uri$uri"));
    struct str v = template_eval(&t, &f->r);
    assert_null(v.p);
    assert_int_equal(v.n, 0);
    assert_true(arena_overflowed(&f->r.mem));
    free(big);
    fake_free(f);
    site_end(&s);
}

static void faults(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"$", "no name of a variable follows the \"$\" at offset 0"},
        {"a$ b", "no name of a variable follows the \"$\" at offset 1"},
        {"a$$b", "at offset 1"},
        {"${uri", "at offset 0"},
        {"${}", "at offset 0"},
        {"$-", "at offset 0"},
        {"$0", "unknown variable $0"},
        {"$urj", "unknown variable $urj, did you mean $uri?"},
        {"$nothing_like_it_at_all", "unknown variable $nothing_like_it_at_all"},
        {"$http_", "unknown variable $http_"},
        {"$arg_", "unknown variable $arg_"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        struct template t;
        struct buf b;
        site_good(&s, "http: {server: {listen: 8081}}\n");
        assert_false(compile(&s, &t, rows[i].text));
        buf_init(&b, 0);
        diag_print(&s.diag, &b);
        buf_char(&b, '\0');
        if (strstr(b.p, rows[i].want) == NULL)
            print_error("%s: %s\n", rows[i].text, b.p);
        assert_non_null(strstr(b.p, rows[i].want));
        assert_non_null(strstr(b.p, "x.yaml:3:5: http.x: "));
        buf_fini(&b);
        site_end(&s);
    }
}

/* All unknown names of one text are reported. */
static void all_faults(void **state)
{
    struct site s;
    struct template t;
    (void)state;
    site_good(&s, "http: {server: {listen: 8081}}\n");
    assert_false(compile(&s, &t, "$qqqqqq1 $uri $qqqqqq2"));
    assert_int_equal(s.diag.errors, 2);
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values), cmocka_unit_test(escapes),    cmocka_unit_test(no_memory),
        cmocka_unit_test(faults), cmocka_unit_test(all_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
