/* SPDX-License-Identifier: BSD-2-Clause */
/* SLUICE_LISTENERS: written and read back, and everything malformed refused (hostile.md h116). */
#include "os/handover.h"

#include "unit/os/unit.h"

#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void round_trip(void **state)
{
    static const char *const texts[] = {"127.0.0.1:80", "127.0.0.1:80", "[::1]:80",
                                        "unix:/run/a;b=c%d \n.sock"};
    struct handover v[4];
    struct handover_list got;
    struct arena a;
    struct buf b;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(addr_parse(&v[i].addr, str_z(texts[i])));
        v[i].fd = 5 + i;
    }
    buf_init(&b, 0);
    arena_init(&a, NULL, 0, 4096, 0);
    assert_true(handover_encode(&b, v, 4));
    assert_true(str_eq(buf_view(&b), STR("127.0.0.1:80=5;127.0.0.1:80=6;[::1]:80=7;"
                                         "unix:/run/a%3bb%3dc%25d%20%0a.sock=8")));
    assert_int_equal(handover_decode(&a, buf_view(&b), &got), STATUS_OK);
    assert_int_equal(got.n, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(got.v[i].fd, v[i].fd);
        assert_true(addr_equal(&got.v[i].addr, &v[i].addr));
    }
    arena_fini(&a);
    buf_fini(&b);
}

static void refused(void **state)
{
    static const char *const bad[] = {
        ";", "127.0.0.1:80", "127.0.0.1:80=", "=5", "127.0.0.1:80=2", "127.0.0.1:80=-5",
        "127.0.0.1:80=5;", ";127.0.0.1:80=5", "127.0.0.1:80=5;127.0.0.1:81=5",
        "127.0.0.1:80=99999999999", "127.0.0.1:80=2147483648", "127.0.0.1:80=5=6",
        "unix:/x y=5", "unix:/x%2=5", "unix:/x%zz=5", "unix:/x%00=5", "localhost:80=5",
        "127.0.0.1:80=5 ", "127.0.0.1:80=5\n",
        "unix:/" A40 A40 A40 "=5",
    };
    struct handover_list got;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (handover_decode(&a, str_z(bad[i]), &got) != STATUS_INVALID)
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(got.n, 0);
    }
    assert_int_equal(handover_decode(&a, STR(""), &got), STATUS_OK);
    assert_int_equal(got.n, 0);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
