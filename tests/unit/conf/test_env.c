/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/env.c: ${env:NAME} and its default (config.md 2). */
#include "conf/env.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>

static void expand(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* want NULL: refused, at and why */
        size_t at;
        const char *why;
    } cases[] = {
        {"${env:SLUICE_A}", "one", 0, NULL},
        {"x${env:SLUICE_A}y${env:SLUICE_B}z", "xoneytwo wordsz", 0, NULL},
        {"${env:SLUICE_A}${env:SLUICE_A}", "oneone", 0, NULL},
        {"${env:SLUICE_A:-d}", "one", 0, NULL},
        {"${env:SLUICE_UNSET:-d e}", "d e", 0, NULL},
        {"${env:SLUICE_UNSET:-}", "", 0, NULL},
        {"${env:SLUICE_UNSET:-a:-b}", "a:-b", 0, NULL},
        {"${env:SLUICE_EMPTY:-d}", "d", 0, NULL},
        {"[${env:SLUICE_EMPTY}]", "[]", 0, NULL},
        {"${env:SLUICE_REF}", "${env:SLUICE_A}", 0, NULL}, /* not looked at again */
        {"$env ${name} ${env:SLUICE_A}", "$env ${name} one", 0, NULL},
        {"ab${env:SLUICE_UNSET}", NULL, 2,
         "the environment variable SLUICE_UNSET is not set; ${env:SLUICE_UNSET:-default} gives a "
         "default"},
        {"${env:SLUICE_A} ${env:A", NULL, 16, "\"${env:\" without a closing \"}\""},
        {"${env:SLUICE_UNSET:-${env:SLUICE_A}}", NULL, 0,
         "a reference inside of a default, expected plain text"},
        {"${env:}", NULL, 0, "\"\" is not the name of an environment variable"},
        {"${env:1A}", NULL, 0, "\"1A\" is not the name of an environment variable"},
        {"${env: A}", NULL, 0, "\" A\" is not the name of an environment variable"},
        {"${env:A-b}", NULL, 0, "\"A-b\" is not the name of an environment variable"},
        {"${env:A=b:-c}", NULL, 0, "\"A=b\" is not the name of an environment variable"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct str out = STR_NONE, why = STR_NONE;
        size_t at = 99;
        arena_init(&a, NULL, 0, 4096, 0);
        assert_true(env_refers(str_z(cases[i].text)));
        bool ok = env_expand(&a, str_z(cases[i].text), &out, &at, &why);
        if (ok != (cases[i].want != NULL))
            fail_msg("\"%s\": %d", cases[i].text, ok);
        if (ok) {
            assert_string_equal(out.p, cases[i].want);
            assert_int_equal(out.n, strlen(cases[i].want));
        } else {
            assert_int_equal(at, cases[i].at);
            assert_string_equal(why.p, cases[i].why);
        }
        arena_fini(&a);
    }
}

static void refers(void **state)
{
    (void)state;
    assert_false(env_refers(STR("")));
    assert_false(env_refers(STR("$env:A ${envA} ${ env:A} {env:A}")));
    assert_true(env_refers(STR("${env:")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expand),
        cmocka_unit_test(refers),
    };
    (void)setenv("SLUICE_A", "one", 1);
    (void)setenv("SLUICE_B", "two words", 1);
    (void)setenv("SLUICE_EMPTY", "", 1);
    (void)setenv("SLUICE_REF", "${env:SLUICE_A}", 1);
    (void)unsetenv("SLUICE_UNSET");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
