/* SPDX-License-Identifier: BSD-2-Clause */
/* Password files in memory: found by name, stand-ins for those who are not there, limits. */
#include "../http/unit.h"

#include "../../../modules/auth_basic/auth_table.c"

static struct auth_table *table_of(const char *text)
{
    bool too_many;
    struct auth_table *t = auth_table_new(strdup(text), strlen(text), &too_many);
    assert_non_null(t);
    assert_false(too_many);
    return t;
}

static void finds(void **state)
{
    (void)state;
    struct auth_table *t = table_of("# users\n"
                                    "a:{PLAIN}1\n"
                                    "none of them\n"
                                    "b:{SHA}2\n"
                                    "a:{PLAIN}3\n"
                                    "open:secret\n"
                                    ":x\n"
                                    "locked:*\n");
    assert_str(auth_table_find(t, STR("a"))->hash, "{PLAIN}1");
    assert_str(auth_table_find(t, STR("b"))->hash, "{SHA}2");
    assert_null(auth_table_find(t, STR("A")));
    assert_null(auth_table_find(t, STR("")));
    assert_null(auth_table_find(t, STR("open")));   /* in the clear: nobody's */
    assert_null(auth_table_find(t, STR("locked")));
    assert_int_equal(t->usable_count, 2);
    assert_int_equal(t->bad, 2);
    assert_int_equal(t->first_bad, 3);
    assert_int_equal(t->unknown, 2);
    assert_int_equal(t->first_unknown, 6);
    auth_table_delete(t);
    auth_table_delete(NULL);
}

static void stands_in(void **state)
{
    (void)state;
    struct auth_table *t = table_of("a:{PLAIN}1\nb:{PLAIN}2\nc:{PLAIN}3\nd:plain\n");
    unsigned seen[3] = {0};
    for (unsigned i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof(name), "nobody%u", i);
        const struct htpasswd_entry *e = auth_table_stand_in(t, str_z(name));
        assert_ptr_equal(e, auth_table_stand_in(t, str_z(name)));
        assert_int_not_equal(e->kind, HTPASSWD_UNKNOWN);
        seen[e->user.p[0] - 'a']++;
    }
    assert_true(seen[0] > 50 && seen[1] > 50 && seen[2] > 50);
    auth_table_delete(t);
    t = table_of("a:plain\n");
    assert_null(auth_table_stand_in(t, STR("x")));
    auth_table_delete(t);
    t = table_of("");
    assert_null(auth_table_stand_in(t, STR("x")));
    assert_null(auth_table_find(t, STR("x")));
    auth_table_delete(t);
}

static void limits(void **state)
{
    (void)state;
    for (unsigned n = AUTH_LINES_MAX - 1; n <= AUTH_LINES_MAX + 1; n++) {
        char *text = malloc(n * 16), *at = text;
        bool too_many;
        for (unsigned i = 0; i < n; i++)
            at += sprintf(at, "u%u:{PLAIN}x\n", i);
        struct auth_table *t = auth_table_new(text, (size_t)(at - text), &too_many);
        assert_int_equal(too_many, n > AUTH_LINES_MAX);
        assert_int_equal(t == NULL, n > AUTH_LINES_MAX);
        if (t != NULL)
            assert_int_equal(t->usable_count, n);
        auth_table_delete(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),
        cmocka_unit_test(stands_in),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests_name("modules/auth_basic/auth_table", tests, NULL, NULL);
}
