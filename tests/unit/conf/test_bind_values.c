/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/bind_values.c: plain, repeatable and keyed directives, from one place or several. */
#include "conf/bind.h"

#include "load.h"

static void keyed(void **state)
{
    (void)state;
    struct loaded *l = load_good("http:\n"
                                 "  types:\n"
                                 "    text/html: html htm\n"
                                 "    image/png: [png]\n"
                                 "  map:\n"
                                 "    $a  $b: {default: x, '~^y': z}\n"
                                 "  log_format:\n"
                                 "    long: ['$a \"', '$b\\n']\n"
                                 "    short: $a  $b\n");
    struct http_conf *c = CONF(http_of(l), http);
    assert_int_equal(c->types.n, 2);
    assert_string_equal(c->types.v[0].key.v[0].text.p, "text/html");
    assert_string_equal(words_of(&c->types.v[0].values), "html htm");
    assert_string_equal(words_of(&c->types.v[1].values), "png");
    assert_int_equal(c->types.v[1].pos.line, 4);
    assert_int_equal(c->types.v[1].pos.column, 5);
    assert_int_equal(c->map.n, 1);
    assert_int_equal(c->map.v[0].key.n, 2);
    assert_string_equal(c->map.v[0].key.v[1].text.p, "$b");
    assert_int_equal(c->map.v[0].values.n, 0);
    assert_true(str_eq(node_get(c->map.v[0].node, STR("~^y"))->text, STR("z")));
    assert_string_equal(words_of(&c->log_format.v[0].values), "$a \"$b\\n");
    assert_string_equal(words_of(&c->log_format.v[1].values), "$a  $b");
    unload(l);
}

static void repeatables(void **state)
{
    (void)state;
    struct loaded *l = load_good("http:\n"
                                 "  error_page: 404 /404.html\n"
                                 "  access_log: []\n"
                                 "  server:\n"
                                 "    error_page: [404 /a, [500, 502, /b c], '403 \"/d e\"']\n"
                                 "    ssl_certificate: [rsa.pem, /ec.pem]\n");
    assert_string_equal(words_of(&CONF(http_of(l), http)->error_page), "404 /404.html");
    assert_int_equal(CONF(http_of(l), http)->access_log.n, 0);
    struct http_conf *c = CONF(server_of(l, 0), http);
    assert_int_equal(c->error_page.n, 3);
    assert_string_equal(words_of(&c->error_page), "404 /a|500 502 /b c|403 /d e");
    assert_int_equal(c->error_page.v[1].n, 3);
    assert_int_equal(c->error_page.v[2].n, 2);
    char want[256];
    (void)snprintf(want, sizeof(want), "%s/rsa.pem|/ec.pem", scratch_dir);
    assert_string_equal(words_of(&c->certificates), want);
    unload(l);
}

/* What may stand in several places is joined in order; -g replaces, or adds to what is keyed. */
static void joined(void **state)
{
    (void)state;
    put_text("more.inc", "types: {image/png: png}\nerror_page: ['404 /b', '500 /c']\n");
    struct loaded *l = load_text_with("http:\n"
                                      "  types: {text/html: html}\n"
                                      "  error_page: 403 /a\n"
                                      "  include: more.inc\n"
                                      "  server: {types: {text/css: css}}\n",
                                      "http: {types: {text/html: htm, a/b: c}}");
    assert_int_equal(l->status, STATUS_OK);
    struct http_conf *c = CONF(http_of(l), http);
    assert_string_equal(words_of(&c->error_page), "403 /a|404 /b|500 /c");
    assert_int_equal(c->types.n, 3);
    assert_string_equal(words_of(&c->types.v[0].values), "htm");
    assert_string_equal(words_of(&c->types.v[1].values), "png");
    assert_string_equal(words_of(&c->types.v[2].values), "c");
    unload(l);
    l = load_text_with("http: {error_page: [403 /a, 404 /b]}\n", "http: {error_page: 500 /c}");
    assert_string_equal(words_of(&CONF(http_of(l), http)->error_page), "500 /c");
    unload(l);
}

static void refused(void **state)
{
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"http: {types: a}\n",
         "main.yaml:1:15: http.types: expected a map, as in {KEY: value}, found a single value\n"
         "    http: {types: a}\n                  ^\n"},
        {"http: {types: [a/b: c]}\n",
         "main.yaml:1:15: http.types: expected a map, as in {KEY: value}, found a list\n"
         "    http: {types: [a/b: c]}\n                  ^\n"},
        {"http: {log_format: {\"\": x}}\n",
         "main.yaml:1:21: http.log_format[\"\"]: an empty key, expected a name\n"
         "    http: {log_format: {\"\": x}}\n                        ^\n"},
        {"http:\n  map:\n    $a $b: {x: y}\n    $a  $b: {x: z}\n",
         "main.yaml:4:5: http.map[\"$a  $b\"]: given twice, the first time in line 3\n"
         "    $a  $b: {x: z}\n    ^\n"},
        {"include: once.inc\nhttp: {root: /a}\n", "main.yaml:2:8: http.root: given twice"},
    };
    (void)state;
    put_text("once.inc", "http: {root: /b}\n");
    for (size_t i = 0; i < ARRAY_LEN(cases) - 1; i++)
        assert_string_equal(report_of(cases[i].yaml), cases[i].want);
    /* The same plain directive in a file and in one that it includes names both. */
    const char *both = report_of(cases[ARRAY_LEN(cases) - 1].yaml);
    if (strstr(both, "http.root: given twice, the first time in ") == NULL)
        fail_msg("%s", both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keyed),
        cmocka_unit_test(repeatables),
        cmocka_unit_test(joined),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
