/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing arrays: elements keep their values over moves, new ones are zeroed, the cap is met. */
#include "core/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct item {
    int number;
    char text[20];
};

static void test_push(void **state)
{
    static const struct item zero;
    struct arena a;
    VEC(struct item) items = {0};

    (void)state;
    arena_init(&a, NULL, 0, 1024, 0);
    for (int i = 0; i < 1000; i++) {
        struct item *it = vec_push(&items, &a);
        assert_non_null(it);
        assert_ptr_equal(it, &items.v[i]);
        assert_memory_equal(it, &zero, sizeof zero);
        it->number = i;
        it->text[19] = 'x';
    }
    assert_int_equal(items.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items.v[i].number, i);

    items.n -= 10; /* an element that was dropped comes back zeroed */
    struct item *it = vec_push(&items, &a);
    assert_memory_equal(it, &zero, sizeof zero);
    arena_fini(&a);
}

static void test_pointers(void **state)
{
    struct arena a;
    VEC(const char *) names = {0};

    (void)state;
    arena_init(&a, NULL, 0, 256, 0);
    for (int i = 0; i < 50; i++)
        *vec_push(&names, &a) = i % 2 != 0 ? "odd" : "even";
    assert_string_equal(names.v[49], "odd");
    assert_string_equal(names.v[0], "even");
    arena_fini(&a);
}

static void test_overflow(void **state)
{
    struct arena a;
    VEC(struct item) items = {0};
    size_t pushed = 0;

    (void)state;
    arena_init(&a, NULL, 0, 256, 4096);
    while (vec_push(&items, &a) != NULL)
        items.v[pushed].number = (int)pushed, pushed++;
    assert_true(arena_overflowed(&a));
    assert_true(pushed >= 8);
    assert_int_equal(items.n, pushed); /* what was there is still there */
    for (size_t i = 0; i < pushed; i++)
        assert_int_equal(items.v[i].number, i);
    arena_fini(&a);

    void *v = NULL;
    size_t n = SIZE_MAX / 2 + 1, room = n;
    arena_init(&a, NULL, 0, 256, 0);
    assert_false(vec_grow(&a, &v, &n, &room, 1));
    assert_true(arena_overflowed(&a));
    assert_int_equal(n, SIZE_MAX / 2 + 1);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests_name("core/vec", tests, NULL, NULL);
}
