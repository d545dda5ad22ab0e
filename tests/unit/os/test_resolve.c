/* SPDX-License-Identifier: BSD-2-Clause */
/* Names to addresses: what needs no network. */
#include "os/resolve.h"

#include "unit/os/unit.h"

static void numeric(void **state)
{
    static const struct {
        const char *host;
        int family;
        const char *text;   /* NULL: not found */
    } rows[] = {
        {"127.0.0.1", AF_UNSPEC, "127.0.0.1:80"}, {"127.0.0.1", AF_INET, "127.0.0.1:80"},
        {"127.0.0.1", AF_INET6, NULL},            {"::1", AF_UNSPEC, "[::1]:80"},
        {"[::1]", AF_INET6, "[::1]:80"},          {"", AF_UNSPEC, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[ADDR_TEXT_MAX];
        struct addr_list list;
        struct os_error e;
        struct arena a;
        enum status st;

        arena_init(&a, NULL, 0, 4096, 0);
        st = resolve_host(&a, str_z(rows[i].host), 80, rows[i].family, &list, &e);
        if (rows[i].text == NULL) {
            assert_int_not_equal(st, STATUS_OK);
            assert_int_equal(list.n, 0);
            assert_non_null(strstr(e.text, "cannot resolve"));
        } else {
            assert_int_equal(st, STATUS_OK);
            assert_int_equal(list.n, 1);
            addr_format(&list.v[0], text);
            assert_string_equal(text, rows[i].text);
        }
        arena_fini(&a);
    }
}

static void localhost(void **state)
{
    struct addr_list list;
    struct os_error e;
    struct arena a;

    (void)state;
    /* A root that debootstrap made has none, and the name is in no other place. */
    if (access("/etc/hosts", R_OK) != 0)
        skip();
    arena_init(&a, NULL, 0, 4096, 0);
    assert_int_equal(resolve_host(&a, STR("localhost"), 81, AF_INET, &list, &e), STATUS_OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(addr_port(&list.v[0]), 81);
    assert_int_equal(resolve_host(&a, STR("local\0host"), 81, AF_INET, &list, &e), STATUS_NOTFOUND);
    arena_fini(&a);
}

static void out_of_memory(void **state)
{
    struct addr_list list;
    struct os_error e;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 1);
    assert_int_equal(resolve_host(&a, STR("127.0.0.1"), 1, AF_INET, &list, &e), STATUS_NOMEM);
    assert_int_equal(resolve_host(&a, STR("localhost"), 1, AF_INET, &list, &e), STATUS_NOMEM);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numeric),
        cmocka_unit_test(localhost),
        cmocka_unit_test(out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
