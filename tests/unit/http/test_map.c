/* SPDX-License-Identifier: BSD-2-Clause */
/* map: words, wildcards, regexes, defaults; groups; use before definition; the faults. */
#include "unit.h"

#include "http/template.h"

static void check(struct site *s, struct fake *f, const char *text, const char *want)
{
    struct template t;
    assert_true(template_compile(&t, &s->cy.vars, s->arena, &s->diag, (struct pos){0}, STR_NONE,
                                 str_z(text)));
    struct str got = template_eval(&t, &f->r);
    if (!str_eq(got, str_z(want)))
        print_error("%s of " STR_FMT "\n", text, STR_ARG(f->r.uri));
    assert_str(got, want);
}

static void lookups(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n"
                  "  server: {listen: 8081, root: /srv/$kind}\n" /* above the definition */
                  "  map:\n"
                  "    $uri $kind:\n"
                  "      default: other $uri\n"
                  "      word: w o r d\n"
                  "      \"\": nothing\n"
                  "      \\default: escaped\n"
                  "      \\~tilde: tilde\n"
                  "      ~^/n/(.)(?<rest>.*): $1+$rest\n"
                  "      ~*^/N: nocase\n"
                  "      ~^/n: never\n"
                  "      \"*.x\": no wildcard\n"
                  "    $host $names:\n"
                  "      hostnames:\n"
                  "      volatile:\n"
                  "      a.test: exact\n"
                  "      \"*.a.test\": leading\n"
                  "      .b.test: both\n"
                  "      \"www.*\": trailing\n"
                  "      \"~^re\": regex\n"
                  "    x$kind $chain: {default: \"<$kind>\"}\n");
    struct fake *f = fake_new(&s);
    static const struct {
        const char *uri, *kind;
    } rows[] = {
        {"word", "w o r d"}, {"WORD", "w o r d"}, {"", "nothing"}, {"default", "escaped"},
        {"~tilde", "tilde"}, {"/n/ab", "a+b"}, {"/N/ab", "nocase"}, {"/n", "nocase"},
        {"y.x", "other y.x"}, {"*.x", "no wildcard"}, {"hostnames", "other hostnames"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char chain[64];
        f->r.uri = str_z(rows[i].uri);
        check(&s, f, "$kind", rows[i].kind);
        snprintf(chain, sizeof(chain), "<%s>", rows[i].kind);
        check(&s, f, "$chain", chain);
    }
    static const struct {
        const char *host, *names;
    } hosts[] = {
        {"a.test", "exact"}, {"x.a.test", "leading"}, {"b.test", "both"}, {"x.b.test", "both"},
        {"www.c", "trailing"}, {"www.a.test", "leading"}, {"re.x", "regex"}, {"none", ""},
        {"a.test.", "exact"},
    };
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        f->r.host = str_z(hosts[i].host);
        check(&s, f, "$names", hosts[i].names);
    }
    /* The groups of whoever asks are left alone. */
    f->r.uri = STR("/n/ab");
    f->r.captures[1] = STR("mine");
    f->r.capture_count = 2;
    check(&s, f, "$kind $1", "a+b mine");
    fake_free(f);
    site_end(&s);
}

static void constant(void **state)
{
    struct site s;
    struct var_ref ref;
    (void)state;
    site_good(&s, "http:\n  server: {listen: 8081}\n"
                  "  map: {$server_name $same: {a: b}, $uri $differs: {a: b}}\n");
    assert_true(vars_find(&s.cy.vars, STR("same"), &ref));
    assert_true(ref.var->constant);
    assert_true(vars_find(&s.cy.vars, STR("differs"), &ref));
    assert_false(ref.var->constant);
    site_end(&s);
}

static void faults(void **state)
{
    static const struct {
        const char *map, *want;
    } rows[] = {
        {"{$uri: {a: b}}", ":3:9: http: map: expected a source and a variable in the key"},
        {"{$uri name: {a: b}}", "expected a variable to define as the second word"},
        {"{$uri $a $b: {a: b}}", "expected a source and a variable in the key"},
        {"{$uri $a: b}", "expected a map of values"},
        {"{$uri $host: {a: b}}", "$host cannot be defined: the name is taken"},
        {"{$uri $http_x: {a: b}}", "$http_x cannot be defined"},
        {"{$uri $a-b: {a: b}}", "$a-b cannot be defined"},
        {"{$uri $a: {x: 1}, $host $a: {y: 1}}", "$a cannot be defined: the name is taken"},
        {"{$urj $a: {x: 1}}", "unknown variable $urj, did you mean $uri?"},
        {"{$uri $a: {x: $urj}}", "http.map[\"x\"]: unknown variable $urj"},
        {"{$uri $a: {x: [1, 2]}}", "http.map[\"x\"]: expected a value, found a list"},
        {"{$uri $a: {x: 1, X: 2}}", "http.map[\"X\"]: stands here twice"},
        {"{$uri $a: {\"~(\": 1}}", "is not a regular expression"},
        {"{$uri $a: {include: x}}", "a map cannot include"},
        {"{$a $a: {x: 1}}", "map: the value of $a depends on itself"},
        {"{$uri $a: {x: $b}, $uri $b: {default: y$c}, $a $c: {x: 1}}", "depends on itself"},
        {"{$uri $a: {\"~(?<uri>x)\": 1}}", "the group \"uri\" cannot be a variable"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char yaml[512];
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  server: {listen: 8081}\n  map: %s\n", rows[i].map);
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, rows[i].want) == NULL)
            print_error("%swant: %s\n got: %s\n", yaml, rows[i].want, s.report.p);
        assert_false(s.good);
        assert_non_null(strstr(s.report.p, rows[i].want));
        site_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups), cmocka_unit_test(constant), cmocka_unit_test(faults)};
    if (regex_version() == NULL)
        return 77; /* patterns are everywhere in it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
