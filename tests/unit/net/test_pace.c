/* SPDX-License-Identifier: BSD-2-Clause */
/* T8: the arithmetic of rates, and a transfer played through with it at many rates. */
#include "net/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* behind the headers it needs */
#include <cmocka.h>

static void by_hand(void **state)
{
    (void)state;
    struct pace p = {.lead = 100, .from = 300, .rate = 1000};
    uint64_t limit;
    assert_int_equal(pace_limit(&p, 50, 7000), 300);  /* what is in front goes, time has not begun */
    assert_false(p.begun);
    assert_int_equal(pace_limit(&p, 100, 8000), 350); /* one step ahead */
    assert_int_equal(pace_limit(&p, 350, 8000), 350);
    assert_int_equal(pace_limit(&p, 350, 8010), 360);
    assert_int_equal(pace_limit(&p, 350, 9000), 1350);
    assert_false(pace_due(&p, 350, 9000, 8010, &limit));
    assert_true(pace_due(&p, 350, 9000, 8050, &limit));
    assert_int_equal(limit, 400);
    assert_true(pace_due(&p, 350, 10, 8010, &limit)); /* all that is left */
    assert_int_equal(pace_next_ms(&p, 350, 9000), 8050);
    assert_int_equal(pace_next_ms(&p, 350, 10), 8010);
    assert_int_equal(pace_next_ms(&p, 200, 9000), 8000); /* not at what counts yet */
    assert_true(pace_is_moot(1000, 50));
    assert_false(pace_is_moot(1000, 51));
    assert_true(pace_is_moot(1, 0));
    assert_false(pace_is_moot(1, 1));
}

/*
 * Sends `size` bytes as a connection does: all it may, then a wait until pace_next_ms, rounded up as
 * timers are. The time it takes is right, and so is the number of waits.
 */
static void play(uint64_t rate, uint64_t size, uint64_t start)
{
    struct pace p = {.lead = 5, .from = 205, .rate = rate};
    uint64_t now = start, sent = 5, end = 205 + size, limit = 0, waits = 0;
    while (sent < end) {
        if (pace_due(&p, sent, end - sent, now, &limit)) {
            assert_true(limit > sent);
            sent = limit < end ? limit : end;
            continue;
        }
        uint64_t next = pace_next_ms(&p, sent, end - sent);
        assert_true(next > now); /* or it would spin */
        now = next + (uint64_t)(rand() % 5);
        waits++;
    }
    double took = (double)(now - start) / 1000, want = (double)size / (double)rate;
    double step = (double)PACE_STEP_MS / 1000, unit = 1.0 / (double)rate;
    if (took < want - step - unit - 0.002 || took > want + 0.02 + unit)
        fail_msg("%llu bytes at %llu/s took %f s, not %f", (unsigned long long)size,
                 (unsigned long long)rate, took, want);
    if (waits > (uint64_t)(want / step * (rate < 1000 ? 2 : 1)) + 2) /* whole bytes */
        fail_msg("%llu bytes at %llu/s: %llu waits", (unsigned long long)size,
                 (unsigned long long)rate, (unsigned long long)waits);
}

static void transfers(void **state)
{
    static const uint64_t rates[] = {1, 3, 19, 20, 21, 1000, 4096, 99999, 1u << 20, UINT64_C(1) << 33, PACE_RATE_MAX};
    (void)state;
    srand(1);
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        for (uint64_t tenths = 1; tenths < 300; tenths += 13)
            play(rates[i], rates[i] * tenths / 10 + tenths, UINT64_C(1) << (tenths % 40));
}

/* A client that took nothing for a while may catch up: the rate is an average. */
static void catches_up(void **state)
{
    (void)state;
    struct pace p = {.lead = 0, .from = 0, .rate = 1000};
    uint64_t limit;
    assert_true(pace_due(&p, 0, 100000, 1000, &limit));
    assert_int_equal(limit, 50);
    assert_true(pace_due(&p, 50, 100000, 11000, &limit));
    assert_int_equal(limit, 10050);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(transfers),
        cmocka_unit_test(catches_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
