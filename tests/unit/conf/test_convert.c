/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/convert.c: every type into its field, ranges, numbers of arguments (h126, h131). */
#include "conf/convert.h"

#include "load.h"

struct fields {
    bool on;
    int64_t number;
    int choice;
    struct arg text;
    struct str path;
    struct instances all;
};

static struct arena arena;
static struct diag diag;

/* Converts words given as "a b|c d" and returns the message, "" when it went well. */
static const char *convert(const struct directive *row, const char *text, struct fields *f)
{
    static char message[512];
    struct args_reader r = {&arena, &diag, row->flags};
    struct converter c = {&arena, &diag, STR("/prefix"), STR("/etc/sluice")};
    struct place at = PLACE(STR("http"), str_z(row->name));
    struct instances all = {0};
    struct str rest = str_z(text), piece;
    arena_reset(&arena);
    diag_init(&diag, &arena);
    memset(f, 0, sizeof(*f));
    while (str_split(&rest, '|', &piece)) {
        struct node n = {.kind = NODE_SCALAR, .text = piece, .pos = {"f", 1, 1}};
        assert_true(args_append(&r, &n, &at, &all));
    }
    bool ok = convert_values(&c, row, &all, &at, f);
    assert_int_equal(ok, diag.errors == 0);
    (void)snprintf(message, sizeof(message), STR_FMT,
                   STR_ARG(ok ? STR("") : diag.entries[0].message));
    return message;
}

static const char *const choices[] = {"off", "exact", "before", NULL};
#define FIELD(member) .offset = offsetof(struct fields, member)

static void values(void **state)
{
    (void)state;
    struct fields f;
    struct directive row = {"d", CTYPE_SWITCH, .scopes = SCOPE_HTTP, FIELD(on)};
    assert_string_equal(convert(&row, "yes", &f), "");
    assert_true(f.on);

    row = (struct directive){"d", CTYPE_INT, FIELD(number), .min = 1, .max = 9};
    assert_string_equal(convert(&row, "9", &f), "");
    assert_int_equal(f.number, 9);
    assert_string_equal(convert(&row, "12", &f), "12 is outside 1..9");
    assert_string_equal(convert(&row, "0", &f), "0 is outside 1..9");
    assert_string_equal(convert(&row, "unlimited", &f),
                        "\"unlimited\" is not valid, expected a decimal number");
    row.flags = ROW_UNLIMITED;
    assert_string_equal(convert(&row, "unlimited", &f), "");
    assert_true(f.number == CONF_UNLIMITED);
    row.max = 0;
    assert_string_equal(convert(&row, "1000000", &f), "");
    assert_string_equal(convert(&row, "0", &f), "0 is too small, expected at least 1");
    row.min = 0;
    assert_string_equal(convert(&row, "0", &f), "");

    row = (struct directive){"d", CTYPE_SIZE, FIELD(number), .min = 1024, .max = 1 << 20};
    assert_string_equal(convert(&row, "8k", &f), "");
    assert_int_equal(f.number, 8192);
    assert_string_equal(convert(&row, "2m", &f), "2m is outside 1k..1m");

    row = (struct directive){"d", CTYPE_TIME, FIELD(number), .min = 500, .max = 90000};
    assert_string_equal(convert(&row, "1m", &f), "");
    assert_int_equal(f.number, 60000);
    assert_string_equal(convert(&row, "1h", &f), "1h is outside 500ms..90s");

    row = (struct directive){"d", CTYPE_ENUM, FIELD(choice), .choices = choices};
    assert_string_equal(convert(&row, "before", &f), "");
    assert_int_equal(f.choice, 2);
    assert_string_equal(convert(&row, "exakt", &f), "\"exakt\" is not valid, expected off, exact or "
                                                    "before; did you mean \"exact\"?");
    assert_string_equal(convert(&row, "quite else", &f), "takes 1 argument, found 2");

    row = (struct directive){"d", CTYPE_TEXT, FIELD(text)};
    assert_string_equal(convert(&row, "$host", &f), "");
    assert_string_equal(f.text.text.p, "$host");
    assert_string_equal(convert(&row, "a b", &f), "takes 1 argument, found 2; a value with blanks "
                                                  "goes into a list: [\"a b\"]");
    row.flags = ROW_VERBATIM;
    assert_string_equal(convert(&row, "a b", &f), "");
    assert_string_equal(f.text.text.p, "a b");

    row = (struct directive){"d", CTYPE_SWITCH, FIELD(on)};
    assert_string_equal(convert(&row, " ", &f), "takes 1 argument, found 0");
    row.flags = ROW_BARE;
    assert_string_equal(convert(&row, " ", &f), "");
    assert_true(f.on);
    assert_string_equal(convert(&row, "off", &f), "");
    assert_false(f.on);
}

static void paths(void **state)
{
    (void)state;
    struct fields f;
    struct directive row = {"d", CTYPE_PATH, FIELD(path)};
    static const struct {
        const char *text, *want, *conf; /* want NULL: conf is what was expected */
    } cases[] = {
        {"/a/b", "/a/b", "/a/b"},
        {"a", "/prefix/a", "/etc/sluice/a"},
        {"../a", "/prefix/../a", "/etc/sluice/../a"},
        {"a~", "/prefix/a~", "/etc/sluice/a~"},
        {"~", NULL, "\"~\" is not valid, expected the whole path, ~ is not replaced"},
        {"~/a", NULL, "\"~/a\" is not valid, expected the whole path, ~ is not replaced"},
        {"$HOME/a", NULL, "\"$HOME/a\" is not valid, expected a path without variables"},
        {"\"\"", NULL, "\"\" is not valid, expected the name of a file or directory"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        row.type = CTYPE_PATH;
        const char *message = convert(&row, cases[i].text, &f);
        assert_string_equal(message, cases[i].want == NULL ? cases[i].conf : "");
        if (cases[i].want == NULL)
            continue;
        assert_string_equal(f.path.p, cases[i].want);
        row.type = CTYPE_CONF_PATH;
        assert_string_equal(convert(&row, cases[i].text, &f), "");
        assert_string_equal(f.path.p, cases[i].conf);
    }
}

static void repeatable(void **state)
{
    (void)state;
    struct fields f;
    struct directive row = {"d", CTYPE_CONF_PATH, FIELD(all), .flags = ROW_REPEATABLE};
    assert_string_equal(convert(&row, "a|/b", &f), "");
    assert_string_equal(words_of(&f.all), "/etc/sluice/a|/b");
    assert_string_equal(convert(&row, "a|b c|~", &f), "takes 1 argument, found 2; a value with "
                                                      "blanks goes into a list: [\"a b\"]");
    assert_int_equal(diag.errors, 2); /* all of them */
    assert_true(str_eq(diag.entries[1].path, STR("http.d[2]")));
    row.type = CTYPE_INT;
    assert_string_equal(convert(&row, "1|x", &f),
                        "\"x\" is not valid, expected a decimal number");
}

static void arity(void **state)
{
    (void)state;
    static const struct {
        int64_t min, max;
        const char *text, *want;
    } cases[] = {
        {0, 0, "", ""}, {0, 0, "a b c", ""}, {1, 2, "a", ""}, {1, 2, "a b", ""},
        {1, 2, "", "takes 1 to 2 arguments, found 0"},
        {1, 2, "a b c", "takes 1 to 2 arguments, found 3"},
        {2, 2, "a", "takes 2 arguments, found 1"},
        {1, 1, "a b", "takes 1 argument, found 2"},
        {2, 0, "a", "takes at least 2 arguments, found 1"},
        {2, 0, "a b c d", ""},
        {0, 2, "", ""}, {0, 2, "a b c", "takes at most 2 arguments, found 3"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fields f;
        struct directive row = {"d", CTYPE_ARGS, FIELD(all), .min = cases[i].min,
                                .max = cases[i].max};
        assert_string_equal(convert(&row, cases[i].text[0] == '\0' ? " " : cases[i].text, &f),
                            cases[i].want);
    }
}

static bool no_odd(struct diag *d, struct str path, const struct directive *row,
                   const struct args *args, void *conf)
{
    const struct fields *f = conf;
    assert_string_equal(row->name, "d");
    assert_int_equal(f->number, 4); /* the value is stored already */
    diag_error(d, args->pos, path, "checked " STR_FMT, STR_ARG(args->v[0].text));
    return false;
}

static void own_check(void **state)
{
    (void)state;
    struct fields f;
    struct directive row = {"d", CTYPE_INT, FIELD(number), .check = no_odd};
    assert_string_equal(convert(&row, "4", &f), "checked 4");
    assert_true(str_eq(diag.entries[0].path, STR("http.d")));
    assert_string_equal(convert(&row, "x", &f), "\"x\" is not valid, expected a decimal number");
    assert_int_equal(diag.errors, 1); /* not asked about a bad value */
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0, 4096, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values), cmocka_unit_test(paths),     cmocka_unit_test(repeatable),
        cmocka_unit_test(arity),  cmocka_unit_test(own_check),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
