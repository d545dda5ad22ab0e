/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/args.c: which words a value gives, and where each of them stands (config.md 1). */
#include "conf/args.h"

#include "conf/yaml.h"
#include "load.h"

static struct arena arena;
static struct diag diag;

/* The value of "v: ..." as a node; `text` is all of a file. */
static const struct node *value_of(const char *text)
{
    struct yaml_limits limits = {0};
    struct node *root;
    struct source *s = source_from_text(&arena, "f", str_z(text));
    assert_non_null(s);
    assert_int_equal(yaml_read(&arena, &diag, s, &limits, &root), STATUS_OK);
    return root->entries[0].value;
}

/* "3:word 7:word|..." with columns; only the first line counts its columns from 1. */
static void check(const char *yaml, unsigned flags, const char *want)
{
    struct args_reader r = {&arena, &diag, flags};
    struct place at = PLACE(STR("http"), STR("v"));
    struct instances all = {0};
    char got[512];
    struct wbuf w = wbuf_make(got, sizeof(got) - 1);
    arena_init(&arena, NULL, 0, 4096, 0);
    diag_init(&diag, &arena);
    bool ok = args_append(&r, value_of(yaml), &at, &all);
    for (size_t i = 0; i < all.n && ok; i++) {
        wbuf_printf(&w, "%s", i > 0 ? "|" : "");
        for (size_t k = 0; k < all.v[i].n; k++) {
            const struct arg *a = &all.v[i].v[k];
            wbuf_printf(&w, "%s%u:" STR_FMT, k > 0 ? " " : "", a->pos.column, STR_ARG(a->text));
            assert_int_equal(a->text.p[a->text.n], '\0');
        }
    }
    if (!ok)
        wbuf_printf(&w, "%u: " STR_FMT ": " STR_FMT, diag.entries[0].pos.column,
                    STR_ARG(diag.entries[0].path), STR_ARG(diag.entries[0].message));
    *w.at = '\0';
    if (strcmp(got, want) != 0)
        fail_msg("%s\nfound    %s\nexpected %s", yaml, got, want);
    arena_fini(&arena);
}

static void words(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        unsigned flags;
        const char *want;
    } cases[] = {
        {"v: a", 0, "4:a"},
        {"v: a b  c", 0, "4:a 6:b 9:c"},
        {"v: 'a b'", 0, "5:a 7:b"},
        {"v: \"a b\"", 0, "5:a 7:b"},
        {"v: \"a\\tb\"", 0, "4:a 4:b"},            /* escaped: no columns, the scalar's place */
        {"v: 'it''s b'", 0, "4:it's 4:b"},
        {"v: 'a \"b c\"'", 0, "5:a 7:b c"},
        {"v: a\n  b", 0, "4:a 4:b"},
        {"v: >\n  a b\n", 0, "4:a 4:b"},
        {"v: [c a\nb d]", ROW_REPEATABLE, "5:c 5:a 5:b 5:d"}, /* as long as in the file, but folded */
        {"v:", 0, ""}, {"v: ~", 0, ""}, {"v: ''", 0, ""}, {"v: '  '", 0, ""},
        {"v: [a, b c, 'd \"e']", 0, "5:a 8:b c 13:d \"e"},  /* verbatim */
        {"v: []", 0, ""},
        {"v: ['']", 0, "5:"},
        {"v: a b", ROW_VERBATIM, "4:a b"},
        {"v: '\"a\\ b'", ROW_VERBATIM, "4:\"a\\ b"},
        {"v: [a, ' b', c]", ROW_VERBATIM, "4:a bc"},
        {"v: a b", ROW_REPEATABLE, "4:a 6:b"},
        {"v: [a b, c]", ROW_REPEATABLE, "5:a 7:b|10:c"},
        {"v: [[a b, c], d e]", ROW_REPEATABLE, "6:a b 11:c|15:d 17:e"},
        {"v: []", ROW_REPEATABLE, ""},
        {"v: [[]]", ROW_REPEATABLE, ""},
        {"v:", ROW_REPEATABLE, ""},
        {"v: {a: b}", 0, "4: http.v: expected a value or a list, found a map"},
        {"v: [a, {b: c}]", 0,
         "8: http.v: expected a single value in the list of arguments, found a map"},
        {"v: [a, ~]", 0,
         "8: http.v: expected a single value in the list of arguments, found nothing"},
        {"v: [[a]]", 0, "5: http.v: expected a single value in the list of arguments, found a list"},
        {"v: [a, {b: c}]", ROW_REPEATABLE,
         "8: http.v[1]: expected a value or a list, found a map"},
        {"v: [a, ~]", ROW_REPEATABLE, "8: http.v[1]: expected a value in the list, found nothing"},
        {"v: [a, [[b]]]", ROW_REPEATABLE,
         "9: http.v[1]: expected a single value in the list of arguments, found a list"},
        {"v: a \"b", 0, "6: http.v: cannot be split into words, expected a closing quote"},
        {"v: a \"b\"c", 0,
         "9: http.v: cannot be split into words, expected a blank behind the closing quote"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(cases[i].yaml, cases[i].flags, cases[i].want);
}

static void append(void **state)
{
    (void)state;
    struct args_reader r = {&arena, &diag, ROW_REPEATABLE};
    struct place at = PLACE(STR(""), STR("v"));
    struct instances all = {0};
    arena_init(&arena, NULL, 0, 4096, 0);
    diag_init(&diag, &arena);
    for (unsigned i = 0; i < 100; i++) {
        assert_true(args_append(&r, value_of("v: [a b, c]"), &at, &all));
        assert_int_equal(all.n, 2 * (i + 1));
    }
    for (size_t i = 0; i < all.n; i++)
        assert_int_equal(all.v[i].n, i % 2 == 0 ? 2 : 1);
    arena_fini(&arena);
}

static void places(void **state)
{
    (void)state;
    static const struct {
        struct place at;
        const char *want;
    } cases[] = {
        {{STR_INIT(""), STR_INIT("pid"), {NULL, 0}, -1}, "pid"},
        {{STR_INIT("http"), STR_INIT("root"), {NULL, 0}, -1}, "http.root"},
        {{STR_INIT("http"), STR_INIT("server"), {NULL, 0}, 0}, "http.server[0]"},
        {{STR_INIT("http"), STR_INIT("types"), STR_INIT("a/b"), -1}, "http.types[\"a/b\"]"},
        {{STR_INIT("http"), STR_INIT("map"), STR_INIT("$a $b"), 3}, "http.map[\"$a $b\"][3]"},
        {{STR_INIT("http"), {NULL, 0}, {NULL, 0}, -1}, "http"},
    };
    arena_init(&arena, NULL, 0, 4096, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_true(str_eq(place_text(&arena, &cases[i].at), str_z(cases[i].want)));
    arena_fini(&arena);
}

static void equal(void **state)
{
    (void)state;
    struct arg v[] = {{.text = STR("a")}, {.text = STR("b")}, {.text = STR("ab")}};
    struct args ab = {v, 2, {0}}, a = {v, 1, {0}}, whole = {v + 2, 1, {0}}, none = {0};
    assert_true(args_equal(&ab, &ab));
    assert_true(args_equal(&none, &none));
    assert_false(args_equal(&ab, &a));
    assert_false(args_equal(&ab, &whole));
    assert_false(args_equal(&a, &whole));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(append),
        cmocka_unit_test(places),
        cmocka_unit_test(equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
