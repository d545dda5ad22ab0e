/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing buffers and fixed writers: growth, limits, and that nothing is written past a failure. */
#include "core/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_append(void **state)
{
    struct buf b;
    char want[6000];

    (void)state;
    buf_init(&b, 0);
    assert_int_equal(buf_view(&b).n, 0);
    for (size_t i = 0; i < sizeof want; i++) {
        want[i] = (char)('a' + i % 26);
        assert_true(buf_char(&b, want[i]));
    }
    assert_int_equal(b.n, sizeof want);
    assert_memory_equal(b.p, want, sizeof want);
    assert_true(buf_str(&b, STR("xyz")));
    assert_true(buf_str(&b, STR_NONE));
    assert_true(buf_append(&b, NULL, 0));
    assert_true(str_ends(buf_view(&b), STR("xyz")));
    buf_fini(&b);
    assert_null(b.p);
    assert_true(buf_str(&b, STR("again")));
    assert_true(str_eq(buf_view(&b), STR("again")));
    buf_fini(&b);
}

static void test_limit(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 10);
    assert_true(buf_str(&b, STR("12345")));
    assert_true(buf_str(&b, STR("67890"))); /* to the byte */
    assert_true(b.room <= 10);
    assert_false(b.failed);
    assert_false(buf_char(&b, 'x'));
    assert_true(b.failed);
    assert_true(str_eq(buf_view(&b), STR("1234567890")));

    buf_consume(&b, 5); /* there is room again, but text is missing already */
    assert_false(buf_char(&b, 'x'));
    assert_true(str_eq(buf_view(&b), STR("67890")));

    buf_fini(&b); /* usable again, with the same limit */
    assert_true(buf_str(&b, STR("1234567890")));
    assert_false(buf_char(&b, 'x'));
    buf_fini(&b);

    buf_init(&b, 100000); /* doubling stops at the limit */
    assert_true(buf_reserve(&b, 70000));
    assert_true(buf_reserve(&b, 100000));
    assert_int_equal(b.room, 100000);
    assert_false(buf_reserve(&b, 100001));
    buf_fini(&b);
}

static void test_impossible_sizes(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 0);
    assert_true(buf_char(&b, 'a'));
    assert_false(buf_reserve(&b, SIZE_MAX));
    assert_true(b.failed);
    assert_true(str_eq(buf_view(&b), STR("a")));
    buf_fini(&b);
    buf_init(&b, SIZE_MAX);
    assert_true(buf_char(&b, 'a'));
    assert_false(buf_reserve(&b, SIZE_MAX - 1));
    buf_fini(&b);
}

static void test_printf(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 0);
    assert_true(buf_printf(&b, "%s", ""));
    assert_int_equal(b.n, 0);
    assert_true(buf_printf(&b, "%d-%s", 42, "x"));
    assert_true(str_eq(buf_view(&b), STR("42-x")));
    for (int width = 1; width < 1500; width += 7) { /* across every growth */
        size_t before = b.n;
        assert_true(buf_printf(&b, "%*d", width, 5));
        assert_int_equal(b.n, before + (size_t)width);
        assert_int_equal(b.p[b.n - 1], '5');
    }
    buf_fini(&b);

    buf_init(&b, 8);
    assert_true(buf_printf(&b, "%d", 12345678));
    assert_false(buf_printf(&b, "%d", 9));
    assert_true(b.failed);
    assert_true(str_eq(buf_view(&b), STR("12345678")));
    buf_fini(&b);
}

static void test_consume(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 0);
    buf_consume(&b, 0);
    buf_str(&b, STR("abcdef"));
    buf_consume(&b, 0);
    buf_consume(&b, 2);
    assert_true(str_eq(buf_view(&b), STR("cdef")));
    buf_str(&b, STR("gh"));
    buf_consume(&b, 6);
    assert_int_equal(b.n, 0);
    buf_fini(&b);
}

static void test_wbuf(void **state)
{
    char *mem = malloc(8); /* the heap, so that a byte too many is seen */

    (void)state;
    assert_non_null(mem);
    struct wbuf w = wbuf_make(mem, 8);
    wbuf_str(&w, STR("abc"));
    wbuf_str(&w, STR_NONE);
    wbuf_char(&w, '-');
    wbuf_dec(&w, 1234);
    assert_false(w.overflow);
    assert_memory_equal(mem, "abc-1234", 8);
    wbuf_str(&w, STR_NONE);
    assert_false(w.overflow);
    wbuf_char(&w, 'x');
    assert_true(w.overflow);

    w = wbuf_make(mem, 8);
    wbuf_str(&w, STR("abcdef"));
    wbuf_dec(&w, 123); /* does not fit: nothing of it, and nothing after it */
    wbuf_char(&w, 'y');
    assert_true(w.overflow);
    assert_int_equal(w.at - mem, 6);
    free(mem);
}

static void test_wbuf_printf(void **state)
{
    (void)state;
    for (size_t room = 0; room < 12; room++) {
        char *mem = malloc(room == 0 ? 1 : room);
        assert_non_null(mem);
        struct wbuf w = wbuf_make(mem, room);
        wbuf_printf(&w, "%s", "");
        assert_false(w.overflow);
        wbuf_printf(&w, "%d/%s", 1234, "ab"); /* seven bytes; all of seven will do */
        assert_int_equal(w.overflow, room < 7);
        assert_int_equal(w.at - mem, room < 7 ? 0 : 7);
        if (room >= 7)
            assert_memory_equal(mem, "1234/ab", 7);
        wbuf_printf(&w, "%s", "");
        assert_int_equal(w.overflow, room < 7);
        free(mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),  cmocka_unit_test(test_limit),
        cmocka_unit_test(test_impossible_sizes), cmocka_unit_test(test_printf),
        cmocka_unit_test(test_consume), cmocka_unit_test(test_wbuf),
        cmocka_unit_test(test_wbuf_printf),
    };
    return cmocka_run_group_tests_name("core/buf", tests, NULL, NULL);
}
