/* SPDX-License-Identifier: BSD-2-Clause */
/* Arenas: alignment, chunks, caps, size sums that overflow, text, cleanups. */
#include "core/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool aligned(const void *p)
{
    return ((uintptr_t)p & 15) == 0;
}

static void test_first_memory(void **state)
{
    char mem[200];
    struct arena a;

    (void)state;
    arena_init(&a, mem + 1, 199, 1024, 0); /* begins unaligned */
    char *p = arena_alloc(&a, 10);
    assert_true(p >= mem && p + 10 <= mem + sizeof mem && aligned(p));
    char *q = arena_bytes(&a, 3);
    assert_ptr_equal(q, p + 10); /* text is packed */
    char *r = arena_alloc(&a, 1);
    assert_true(aligned(r) && r >= q + 3 && r < q + 3 + 16);
    assert_int_equal(a.used, 0);
    assert_non_null(arena_alloc(&a, 190)); /* does not fit: the heap */
    assert_int_equal(a.used, 1024);
    arena_reset(&a);
    assert_int_equal(a.used, 0);
    assert_ptr_equal(arena_alloc(&a, 10), p); /* the caller's memory is used again */
    arena_fini(&a);
}

static void test_chunks(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 256, 0);
    char *p = arena_alloc(&a, 100);
    memset(p, 1, 100);
    assert_int_equal(a.used, 256);
    char *big = arena_alloc(&a, 5000); /* a chunk of its own */
    memset(big, 2, 5000);
    assert_true(aligned(big));
    assert_true(a.used >= 5256 && a.used < 5256 + 64);
    size_t used = a.used;
    char *q = arena_alloc(&a, 100); /* and the current one is still in use */
    assert_int_equal(a.used, used);
    assert_true(q > p && q < p + 256);
    memset(q, 3, 100);
    assert_int_equal(p[99], 1);
    for (int i = 0; i < 100; i++) {
        char *x = arena_alloc(&a, (size_t)i * 3);
        assert_true(aligned(x));
        memset(x, i, (size_t)i * 3);
    }
    assert_int_equal(big[4999], 2);
    assert_false(arena_overflowed(&a));
    arena_fini(&a);
}

static void test_zero_sizes(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 256, 0);
    void *p = arena_alloc(&a, 0), *q = arena_bytes(&a, 0), *r = arena_zalloc(&a, 0);
    void *s = arena_array(&a, 0, 100), *t = arena_array(&a, 100, 0);
    assert_true(p != NULL && q != NULL && r != NULL && s != NULL && t != NULL);
    assert_true(p != q && q != r && r != s && s != t);
    assert_false(arena_overflowed(&a));
    arena_fini(&a);
}

static void test_zeroed(void **state)
{
    struct arena a;
    char mem[256];
    static const char zeros[160];

    (void)state;
    memset(mem, 0xa5, sizeof mem);
    arena_init(&a, mem, sizeof mem, 256, 0);
    assert_memory_equal(arena_zalloc(&a, 40), zeros, 40);
    assert_memory_equal(arena_array(&a, 10, 16), zeros, 160);
    struct pair {
        int a, b;
    } *pair = ARENA_NEW(&a, struct pair);
    assert_int_equal(pair->a | pair->b, 0);
    assert_int_equal(a.used, 0);
    arena_fini(&a);
}

static void test_cap(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 1000, 2500);
    assert_non_null(arena_alloc(&a, 900));
    assert_non_null(arena_alloc(&a, 900));
    assert_int_equal(a.used, 2000);
    assert_null(arena_alloc(&a, 900));
    assert_true(arena_overflowed(&a));
    assert_int_equal(a.used, 2000);
    assert_non_null(arena_alloc(&a, 400)); /* the last chunk is what the cap leaves */
    assert_int_equal(a.used, 2500);
    assert_null(arena_alloc(&a, 200));
    assert_true(arena_overflowed(&a)); /* sticky */
    arena_reset(&a);
    assert_false(arena_overflowed(&a));
    assert_null(arena_alloc(&a, 2500)); /* headers count */
    arena_reset(&a);
    assert_non_null(arena_alloc(&a, 2400));
    assert_true(a.used <= 2500);
    arena_fini(&a);
}

/* Every sum and product of sizes that wraps around is an overflow of the arena. */
static void test_size_overflow(void **state)
{
    struct arena a;
    struct str huge[] = {{"x", SIZE_MAX - 1}, {"y", 1}, {"z", 1}};
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 16,
                                   SIZE_MAX / 2 + 1};

    (void)state;
    arena_init(&a, NULL, 0, 256, 0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        assert_non_null(arena_bytes(&a, 3));
        assert_null(arena_alloc(&a, sizes[i]));
        assert_true(arena_overflowed(&a));
        arena_reset(&a);
        assert_null(arena_bytes(&a, sizes[i]));
        assert_true(arena_overflowed(&a));
        arena_reset(&a);
        assert_null(arena_zalloc(&a, sizes[i]));
        arena_reset(&a);
        assert_null(arena_str(&a, (struct str){"x", sizes[i]}).p);
        assert_true(arena_overflowed(&a));
        arena_reset(&a);
        assert_null(arena_strz(&a, (struct str){"x", sizes[i]}));
        assert_true(arena_overflowed(&a));
        arena_reset(&a);
    }
    assert_null(arena_array(&a, SIZE_MAX / 8 + 1, 8));
    assert_true(arena_overflowed(&a));
    arena_reset(&a);
    assert_null(arena_array(&a, (size_t)1 << 33, (size_t)1 << 33));
    assert_true(arena_overflowed(&a));
    arena_reset(&a);
    assert_null(arena_cat(&a, huge, 3).p);
    assert_true(arena_overflowed(&a));
    arena_reset(&a);
    assert_null(arena_cat(&a, huge, 2).p); /* the sum is SIZE_MAX, its NUL is too much */
    assert_true(arena_overflowed(&a));
    arena_fini(&a);
}

static void test_text(void **state)
{
    struct arena a;
    struct str parts[] = {STR("ab"), STR_NONE, STR("cde"), STR("")};

    (void)state;
    arena_init(&a, NULL, 0, 128, 0);
    struct str s = arena_str(&a, STR("hello"));
    assert_true(str_eq(s, STR("hello")));
    assert_int_equal(s.p[5], '\0');
    s = arena_str(&a, STR_NONE);
    assert_non_null(s.p);
    assert_int_equal(s.n, 0);
    assert_int_equal(s.p[0], '\0');
    assert_string_equal(arena_strz(&a, STR("zero")), "zero");
    assert_string_equal(arena_strz(&a, STR_NONE), "");
    s = arena_cat(&a, parts, ARRAY_LEN(parts));
    assert_true(str_eq(s, STR("abcde")));
    assert_int_equal(s.p[5], '\0');
    assert_true(str_eq(arena_cat(&a, NULL, 0), STR("")));
    arena_fini(&a);
}

/* Whatever room the chunk has left, the text is whole. */
static void test_printf(void **state)
{
    struct arena a;

    (void)state;
    for (size_t before = 0; before < 130; before++) {
        arena_init(&a, NULL, 0, 128, 0);
        arena_bytes(&a, before);
        struct str s = arena_printf(&a, "%s=%d", "number", 12345);
        assert_true(str_eq(s, STR("number=12345")));
        assert_int_equal(s.p[s.n], '\0');
        struct str again = arena_printf(&a, "%s", "behind");
        assert_string_equal(again.p, "behind");
        assert_string_equal(s.p, "number=12345");
        arena_fini(&a);
    }
    arena_init(&a, NULL, 0, 128, 0);
    struct str s = arena_printf(&a, "%500s|", "x");
    assert_int_equal(s.n, 501);
    assert_int_equal(s.p[500], '|');
    assert_int_equal(arena_printf(&a, "%s", "").n, 0);
    arena_fini(&a);

    arena_init(&a, NULL, 0, 128, 256);
    assert_null(arena_printf(&a, "%500s", "x").p);
    assert_true(arena_overflowed(&a));
    arena_fini(&a);
}

static char order[16];
static struct arena *in_cleanup;

static void note(void *arg)
{
    strcat(order, arg);
}

static void note_late(void *arg)
{
    static char late[] = "L";

    strcat(order, arg);
    assert_true(arena_on_free(in_cleanup, note, late));
}

static void test_cleanups(void **state)
{
    struct arena a;
    char one[] = "1", two[] = "2", three[] = "3";

    (void)state;
    arena_init(&a, NULL, 0, 128, 0);
    in_cleanup = &a;
    order[0] = '\0';
    assert_true(arena_on_free(&a, note, one));
    assert_true(arena_on_free(&a, note_late, two));
    assert_true(arena_on_free(&a, note, three));
    assert_string_equal(order, "");
    arena_reset(&a);
    assert_string_equal(order, "32L1"); /* newest first, one registered meanwhile included */
    arena_reset(&a);
    assert_string_equal(order, "32L1"); /* once */
    assert_true(arena_on_free(&a, note, one));
    arena_fini(&a);
    assert_string_equal(order, "32L11");

    arena_init(&a, NULL, 0, 128, 8);
    assert_false(arena_on_free(&a, note, one));
    assert_true(arena_overflowed(&a));
    arena_fini(&a);
    assert_string_equal(order, "32L11");
}

static void test_heap_arena(void **state)
{
    char one[] = "H";

    (void)state;
    order[0] = '\0';
    struct arena *a = arena_new(512, 0);
    assert_non_null(a);
    assert_non_null(arena_alloc(a, 1000));
    assert_true(arena_on_free(a, note, one));
    arena_delete(a);
    assert_string_equal(order, "H");
    arena_delete(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_memory), cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_zero_sizes),   cmocka_unit_test(test_zeroed),
        cmocka_unit_test(test_cap),          cmocka_unit_test(test_size_overflow),
        cmocka_unit_test(test_text),         cmocka_unit_test(test_printf),
        cmocka_unit_test(test_cleanups),     cmocka_unit_test(test_heap_arena),
    };
    return cmocka_run_group_tests_name("core/arena", tests, NULL, NULL);
}
