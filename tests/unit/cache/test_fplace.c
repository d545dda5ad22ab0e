/* SPDX-License-Identifier: BSD-2-Clause */
/* Places: shared by what lies in them, made once, gone with the last that needs them. */
#include "cache/fwatch.h"
#include "unit/cache/unit.h"

static void shared_and_released(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    char name[64];
    unit_conf(&conf);
    conf.inactive_ms = 100;
    unit_start(&u, env, &conf);
    unit_write(&u, "root/top", "x");
    fentry_put(unit_get(&u, "/top"));
    uint32_t base = unit_stats(&u).watches;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "root/a/b/c/f%d", i);
        unit_write(&u, name, "x");
        fentry_put(unit_get(&u, name + 4));
    }
    assert_int_equal(unit_stats(&u).watches, base + 3);
    for (int i = 0; i < 30; i++) { /* /top stays in use, the rest does not */
        fentry_put(unit_get(&u, "/top"));
        ev_turn_for(env, 10);
    }
    assert_int_equal(unit_stats(&u).entries, 1);
    assert_int_equal(unit_stats(&u).watches, base);
    unit_stop(&u);
}

/* What is dropped high up goes all the way down, and comes back on demand. */
static void dropped_with_all_below(struct ev_env *env)
{
    static const char *const names[] = {"root/a/f", "root/a/b/f", "root/a/b/c/f", "root/a/d/f",
                                        "root/e/f"};
    struct unit u;
    struct fentry *e[ARRAY_LEN(names)];
    unit_start(&u, env, NULL);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unit_write(&u, names[i], "x");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        e[i] = unit_get(&u, names[i] + 4);
    uint32_t watches = unit_stats(&u).watches;
    unit_rename(&u, "root/a", "root/z");
    unit_expect(&u, "/e/f", "x");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_int_equal(e[i]->cached, i == ARRAY_LEN(names) - 1);
        fentry_put(e[i]);
    }
    assert_int_equal(unit_stats(&u).watches, watches - 4);
    unit_rename(&u, "root/z", "root/a");
    unit_expect(&u, "/a/b/c/f", "x"); /* the way down to one file */
    unit_expect(&u, "/e/f", "x");
    assert_int_equal(unit_stats(&u).watches, watches - 1);
    unit_rename(&u, "root/a/b/c", "root/c");
    unit_expect(&u, "/e/f", "x");
    assert_int_equal(unit_stats(&u).watches, watches - 4); /* nor what led only there */
    unit_rename(&u, "root/c", "root/a/b/c");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unit_expect(&u, names[i] + 4, "x");
    assert_int_equal(unit_stats(&u).watches, watches);
    unit_stop(&u);
}

/* Two spellings of one directory share its watch, and each hears of a change. */
static void two_spellings(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/real/f", "old");
    unit_link(&u, "real", "root/alias");
    unit_expect(&u, "/real/f", "old");
    uint32_t watches = unit_stats(&u).watches;
    unit_expect(&u, "/alias/f", "old");
    unit_expect(&u, "//real//f", "old");
    assert_int_equal(unit_stats(&u).watches, watches);
    unit_write(&u, "root/real/f", "new");
    unit_expect(&u, "/alias/f", "new");
    unit_expect(&u, "/real/f", "new");
    unit_expect(&u, "//real//f", "new");
    unit_stop(&u);
}

/* A directory that is removed and made again is another one. */
static void made_again(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    for (int i = 0; i < 10; i++) {
        unit_write(&u, "root/d/f", "old");
        unit_expect(&u, "/d/f", "old");
        assert_int_equal(unlink(unit_at(&u, "root/d/f")), 0);
        assert_int_equal(rmdir(unit_at(&u, "root/d")), 0);
        unit_expect_error(&u, "/d/f", ENOENT);
        unit_write(&u, "root/d/f", "new");
        unit_expect(&u, "/d/f", "new");
        unit_write(&u, "root/d/f", "newer");
        unit_expect(&u, "/d/f", "newer");
    }
    unit_stop(&u);
}

/* A directory that becomes a link, and back. */
static void link_and_back(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/d/f", "dir");
    unit_write(&u, "root/e/f", "other");
    for (int i = 0; i < 4; i++) {
        unit_expect(&u, "/d/f", "dir");
        unit_rename(&u, "root/d", "root/aside");
        unit_link(&u, "e", "root/d");
        unit_expect(&u, "/d/f", "other");
        unit_write(&u, "root/e/f", "again");
        unit_expect(&u, "/d/f", "again");
        unit_write(&u, "root/e/f", "other");
        unit_expect(&u, "/d/f", "other");
        assert_int_equal(unlink(unit_at(&u, "root/d")), 0);
        unit_expect_error(&u, "/d/f", ENOENT);
        unit_rename(&u, "root/aside", "root/d");
    }
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "shared_and_released", .run = shared_and_released, .settings = EV_EP},
        {.name = "dropped_with_all_below", .run = dropped_with_all_below},
        {.name = "two_spellings", .run = two_spellings},
        {.name = "made_again", .run = made_again},
        {.name = "link_and_back", .run = link_and_back},
    };
    return ev_run_cases("fplace", cases, ARRAY_LEN(cases));
}
