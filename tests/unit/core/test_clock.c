/* SPDX-License-Identifier: BSD-2-Clause */
/* The clocks: they move, they agree with each other and with the kernel's. */
#include "core/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_mono(void **state)
{
    struct timespec ts;

    (void)state;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
    uint64_t before = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    uint64_t a = clock_mono_ns(), ms = clock_mono_ms(), b = clock_mono_ns();
    assert_true(before <= a && a <= b);
    assert_true(a / 1000000 <= ms && ms <= b / 1000000);

    nanosleep(&(struct timespec){0, 3000000}, NULL);
    uint64_t c = clock_mono_ns();
    assert_true(c - b >= 3000000);
    assert_true(c - b < 60000000000u);
}

static void test_wall(void **state)
{
    (void)state;
    time_t before = time(NULL);
    struct timespec ts = clock_wall();
    assert_true(ts.tv_sec >= before - 1); /* time() may lag by a tick */
    assert_true(ts.tv_sec <= before + 60);
    assert_true(ts.tv_nsec >= 0 && ts.tv_nsec < 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mono),
        cmocka_unit_test(test_wall),
    };
    return cmocka_run_group_tests_name("core/clock", tests, NULL, NULL);
}
