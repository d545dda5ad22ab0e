/* SPDX-License-Identifier: BSD-2-Clause */
/* The string table, against a plain array that is searched from one end to the other. */
#include "core/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static int values[64];

static void test_basics(void **state)
{
    struct arena a;
    struct map m;

    (void)state;
    arena_init(&a, NULL, 0, 1024, 0);
    map_init(&m, &a, false);
    assert_null(map_get(&m, STR("a")));
    assert_int_equal(map_add(&m, STR("a"), &values[0]), STATUS_OK);
    assert_int_equal(map_add(&m, STR("a"), &values[1]), STATUS_EXISTS);
    assert_ptr_equal(map_get(&m, STR("a")), &values[0]);
    assert_int_equal(map_set(&m, STR("a"), &values[2]), STATUS_OK);
    assert_ptr_equal(map_get(&m, STR("a")), &values[2]);
    assert_int_equal(m.count, 1);
    assert_null(map_get(&m, STR("A")));
    assert_int_equal(map_set(&m, STR_NONE, &values[3]), STATUS_OK); /* the empty key is a key */
    assert_ptr_equal(map_get(&m, STR("")), &values[3]);
    assert_int_equal(map_add(&m, STR("a\0"), &values[4]), STATUS_OK);
    assert_ptr_equal(map_get(&m, STR("a\0")), &values[4]);
    assert_ptr_equal(map_get(&m, STR("a")), &values[2]);
    assert_int_equal(m.count, 3);
    arena_fini(&a);
}

static void test_nocase(void **state)
{
    struct arena a;
    struct map m;

    (void)state;
    arena_init(&a, NULL, 0, 1024, 0);
    map_init(&m, &a, true);
    assert_int_equal(map_add(&m, STR("Content-Type"), &values[0]), STATUS_OK);
    assert_int_equal(map_add(&m, STR("content-type"), &values[1]), STATUS_EXISTS);
    assert_ptr_equal(map_get(&m, STR("CONTENT-TYPE")), &values[0]);
    assert_null(map_get(&m, STR("content\rtype")));
    arena_fini(&a);
}

static void test_nomem(void **state)
{
    static char keys[4096][8];
    struct arena a;
    struct map m;
    size_t n = 0;
    enum status st = STATUS_OK;

    (void)state;
    arena_init(&a, NULL, 0, 1024, 16384);
    map_init(&m, &a, false);
    while (n < 4096) {
        struct str key = {keys[n], (size_t)snprintf(keys[n], sizeof keys[n], "%zu", n)};
        st = map_add(&m, key, &values[n % 64]);
        if (st != STATUS_OK)
            break;
        n++;
    }
    assert_int_equal(st, STATUS_NOMEM);
    assert_true(arena_overflowed(&a));
    assert_int_equal(m.count, n);
    for (size_t i = 0; i < n; i++) /* what was there is still found */
        assert_ptr_equal(map_get(&m, str_z(keys[i])), &values[i % 64]);
    assert_null(map_get(&m, str_z(keys[n])));
    assert_int_equal(map_set(&m, str_z(keys[0]), &values[9]), STATUS_OK); /* needs no memory */
    arena_fini(&a);
}

struct model {
    struct str key;
    void *value;
};

static struct model *model_find(struct model *rows, size_t n, struct str key, bool nocase)
{
    for (size_t i = 0; i < n; i++) {
        if (nocase ? str_eq_nocase(rows[i].key, key) : str_eq(rows[i].key, key))
            return &rows[i];
    }
    return NULL;
}

static void run_random(bool nocase)
{
    enum { ROUNDS = 6000 };
    static struct model rows[ROUNDS];
    size_t count = 0;
    struct arena a;
    struct map m;
    uint64_t r = 42;

    arena_init(&a, NULL, 0, 4096, 0);
    map_init(&m, &a, nocase);
    for (int round = 0; round < ROUNDS; round++) {
        char text[6];
        r = r * 6364136223846793005u + 1442695040888963407u;
        size_t n = r >> 60 & 3;
        for (size_t i = 0; i < n; i++)
            text[i] = "aAbBcCdDeEfFgG@`"[r >> (20 + 4 * i) & 15];
        struct str key = {text, n};
        void *value = &values[r >> 40 & 63];
        struct model *row = model_find(rows, count, key, nocase);
        assert_ptr_equal(map_get(&m, key), row == NULL ? NULL : row->value);
        if ((r >> 50 & 3) == 0)
            continue;
        bool replace = r >> 52 & 1;
        struct str kept = arena_str(&a, key);
        enum status st = replace ? map_set(&m, kept, value) : map_add(&m, kept, value);
        assert_int_equal(st, row != NULL && !replace ? STATUS_EXISTS : STATUS_OK);
        if (row == NULL)
            rows[count++] = (struct model){kept, value};
        else if (replace)
            row->value = value;
        assert_int_equal(m.count, count);
    }
    assert_true(count > 200);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(map_get(&m, rows[i].key), rows[i].value);
    arena_fini(&a);
}

static void test_random(void **state)
{
    (void)state;
    run_random(false);
    run_random(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basics),
        cmocka_unit_test(test_nocase),
        cmocka_unit_test(test_nomem),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("core/map", tests, NULL, NULL);
}
