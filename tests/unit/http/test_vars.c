/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of variables: finding by name, prefixes, definitions of a configuration, suggestions. */
#include "unit.h"

static bool get_fixed(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)r;
    (void)arg;
    *out = str_z(v->data);
    return true;
}

static void finding(void **state)
{
    struct arena *a = arena_new(4096, 0);
    struct vars vs;
    struct var_ref ref;
    (void)state;
    assert_true(vars_init(&vs, a));
    static const struct {
        const char *name, *found, *arg;
    } rows[] = {
        {"uri", "uri", ""},
        {"URI", "uri", ""},
        {"http_user_agent", "http_", "user_agent"},
        {"sent_http_etag", "sent_http_", "etag"},
        {"arg_http_x", "arg_", "http_x"},
        {"cookie_a", "cookie_", "a"},
        {"HTTP_Host", "http_", "Host"},
        {"https", "https", ""},
        {"args", "args", ""},
        {"request_uri", "request_uri", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(vars_find(&vs, str_z(rows[i].name), &ref));
        assert_string_equal(ref.var->name, rows[i].found);
        assert_str(ref.arg, rows[i].arg);
    }
    static const char *const none[] = {"", "ur", "urii", "http_", "0", "10", "arg", "server"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        assert_false(vars_find(&vs, str_z(none[i]), &ref));
    for (char c = '1'; c <= '9'; c++)
        assert_true(vars_find(&vs, str_make(&c, 1), &ref));
    arena_delete(a);
}

static void defining(void **state)
{
    struct arena *a = arena_new(4096, 0);
    struct vars vs;
    struct var_ref ref;
    struct str out;
    (void)state;
    assert_true(vars_init(&vs, a));
    static const struct var mine = {.name = "mine", .get = get_fixed, .data = "value"};
    static const struct var taken[] = {
        {.name = "uri", .get = get_fixed},     {.name = "URI", .get = get_fixed},
        {.name = "http_x", .get = get_fixed},  {.name = "1", .get = get_fixed},
        {.name = "1st", .get = get_fixed},     {.name = "", .get = get_fixed},
        {.name = "a-b", .get = get_fixed},     {.name = "Mine", .get = get_fixed},
    };
    assert_false(vars_find(&vs, STR("mine"), &ref));
    assert_true(vars_define(&vs, &mine));
    assert_true(vars_find(&vs, STR("mine"), &ref));
    assert_ptr_equal(ref.var, &mine);
    assert_true(var_value(NULL, &ref, &out));
    assert_str(out, "value");
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        assert_false(vars_define(&vs, &taken[i]));
    assert_string_equal(vars_suggest(&vs, STR("mime")), "mine");
    assert_string_equal(vars_suggest(&vs, STR("remote_adr")), "remote_addr");
    assert_null(vars_suggest(&vs, STR("xyzzyxyzzy")));
    arena_delete(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finding), cmocka_unit_test(defining)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
