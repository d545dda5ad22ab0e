/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of names: order, interruptible sorting, memory given back to the last byte. */
#include "../../../modules/autoindex/autoindex_list.h"

#include "core/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct list_budget budget;

static void add(struct name_list *l, const char *name, enum list_type type, uint64_t size, int64_t t)
{
    assert_int_equal(name_list_add(l, str_z(name), type, size, t), STATUS_OK);
}

static void check_order(struct name_list *l, enum list_key key, bool descending, const char *want)
{
    char got[128] = "";
    struct list_order order = {.key = (uint8_t)key, .descending = descending};
    assert_int_equal(name_list_sort(l, order), STATUS_OK);
    while (!name_list_sort_step(l, 1)) /* as slowly as can be */
        ;
    for (size_t i = 0; i < l->n; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%.*s ", l->v[i]->n, l->v[i]->name);
    assert_string_equal(got, want);
}

static void orders(void **state)
{
    struct name_list l;
    (void)state;
    budget = (struct list_budget){.max = 1 << 20};
    name_list_init(&l, &budget);
    check_order(&l, LIST_NAME, false, "");
    add(&l, "b", LIST_FILE, 5, 3);
    check_order(&l, LIST_SIZE, true, "b ");
    add(&l, "a", LIST_FILE, 9, 1);
    add(&l, "Z", LIST_DIR, 7, 9);
    add(&l, "c", LIST_OTHER, 5, 1);
    add(&l, "aa", LIST_FILE, 9, 2);
    check_order(&l, LIST_NAME, false, "Z a aa b c ");
    check_order(&l, LIST_NAME, true, "Z c b aa a ");
    check_order(&l, LIST_SIZE, false, "Z b c a aa ");
    check_order(&l, LIST_SIZE, true, "Z a aa b c ");
    check_order(&l, LIST_TIME, false, "Z a c aa b ");
    check_order(&l, LIST_TIME, true, "Z b aa a c ");
    name_list_fini(&l);
    name_list_fini(&l);
    assert_int_equal(budget.used, 0);
}

/* Any number of entries, any stride: each is there once, in order. */
static void sizes(void **state)
{
    static const size_t counts[] = {1, 2, 3, 7, 8, 9, 1000, 4097};
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(counts); k++) {
        struct name_list l;
        char name[24];
        name_list_init(&l, &budget);
        for (size_t i = 0; i < counts[k]; i++) {
            snprintf(name, sizeof(name), "%05zu", i * 7919 % counts[k]);
            add(&l, name, LIST_FILE, 0, 0);
        }
        assert_int_equal(name_list_sort(&l, (struct list_order){.key = LIST_NAME}), STATUS_OK);
        while (!name_list_sort_step(&l, 100))
            ;
        for (size_t i = 1; i < counts[k]; i++)
            assert_true(memcmp(l.v[i - 1]->name, l.v[i]->name, 5) <= 0);
        name_list_fini(&l);
        assert_int_equal(budget.used, 0);
    }
}

static void bounds(void **state)
{
    struct name_list one, two;
    char name[256];
    enum status st = STATUS_OK;
    (void)state;
    memset(name, 'x', sizeof(name));
    budget = (struct list_budget){.max = 200000};
    name_list_init(&one, &budget);
    name_list_init(&two, &budget);
    for (int i = 0; i < 100 && st == STATUS_OK; i++) /* what each may have */
        st = name_list_add(&two, str_make(name, 20), LIST_FILE, 0, 0);
    assert_int_equal(st, STATUS_OK);
    assert_int_equal(budget.used, 0);
    while (st == STATUS_OK)
        st = name_list_add(&one, str_make(name, 255), LIST_FILE, 0, 0);
    assert_int_equal(st, STATUS_BUSY);
    assert_true(budget.used <= budget.max);
    name_list_fini(&one);
    name_list_fini(&two);
    budget = (struct list_budget){.max = SIZE_MAX / 2};
    for (st = STATUS_OK; st == STATUS_OK;)
        st = name_list_add(&one, str_make(name, 1), LIST_FILE, 0, 0);
    assert_int_equal(st, STATUS_LIMIT);
    assert_int_equal(one.n, LIST_ENTRIES_MAX);
    name_list_fini(&one);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(sizes),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
