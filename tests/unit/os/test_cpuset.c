/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU lists and affinity. */
#include "os/cpuset.h"

#include "unit/os/unit.h"

#include <sched.h>
#include <sys/wait.h>

static void lists(void **state)
{
    static const struct {
        const char *text;
        const char *canonical;   /* NULL: refused */
        int count;
    } rows[] = {
        {"0", "0", 1},         {"0-3,8", "0-3,8", 5}, {"8,0-3\n", "0-3,8", 5}, {"", "", 0},
        {"\n", "", 0},         {"3,2,1", "1-3", 3},   {"0-127", "0-127", 128}, {" 1 ", "1", 1},
        {"4095", "4095", 1},   {"4096", NULL, 0},     {"0-4096", NULL, 0},     {"3-1", NULL, 0},
        {"1,", NULL, 0},       {",1", NULL, 0},       {"1,,2", NULL, 0},       {"a", NULL, 0},
        {"1-", NULL, 0},       {"-1", NULL, 0},       {"1-2-3", NULL, 0},      {"0x1", NULL, 0},
        {"63-64", "63-64", 2}, {"99999999999999999999", NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[256];
        struct wbuf w = wbuf_make(text, sizeof(text));
        struct cpuset s;
        bool ok = cpuset_parse(str_z(rows[i].text), &s);

        if (ok != (rows[i].canonical != NULL))
            fail_msg("\"%s\"", rows[i].text);
        if (!ok)
            continue;
        cpuset_write(&s, &w);
        wbuf_char(&w, '\0');
        assert_string_equal(text, rows[i].canonical);
        assert_int_equal(cpuset_count(&s), rows[i].count);
    }
}

static void walking(void **state)
{
    static const int expect[] = {0, 63, 64, 200, 4095};
    struct cpuset s, other;
    size_t n = 0;

    (void)state;
    assert_true(cpuset_parse(STR("0,63,64,200,4095"), &s));
    CPUSET_EACH (cpu, &s)
        assert_int_equal(cpu, expect[n++]);
    assert_int_equal(n, 5);
    assert_true(cpuset_has(&s, 64));
    assert_false(cpuset_has(&s, 65));
    assert_false(cpuset_has(&s, -1));
    assert_false(cpuset_has(&s, 4096));
    assert_true(cpuset_parse(STR("1-100"), &other));
    cpuset_keep(&s, &other);
    assert_int_equal(cpuset_count(&s), 2);
    cpuset_remove(&s, 63);
    assert_int_equal(cpuset_next(&s, -1), 64);
}

static void binding(void **state)
{
    struct cpuset all, one = {{0}}, got;
    int cpu;

    (void)state;
    assert_int_equal(cpuset_affinity(&all), STATUS_OK);
    cpu = cpuset_next(&all, -1);
    assert_true(cpu >= 0);
    cpuset_add(&one, cpu);
    assert_int_equal(cpuset_bind(&one), STATUS_OK);
    assert_int_equal(cpuset_affinity(&got), STATUS_OK);
    assert_memory_equal(&got, &one, sizeof(one));
    assert_int_equal(sched_getcpu(), cpu);
    assert_int_equal(cpuset_bind(&all), STATUS_OK);
    memset(&one, 0, sizeof(one));
    assert_int_equal(cpuset_bind(&one), STATUS_INVALID); /* no CPU at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(walking),
        cmocka_unit_test(binding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
