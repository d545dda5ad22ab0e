/* SPDX-License-Identifier: BSD-2-Clause */
/* T7: the arithmetic of limit_req, against a model in exact fractions and by hand. */
#include "../../../modules/limit_req/bucket.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
/* behind the headers it needs */
#include <cmocka.h>

/* Requests at given times: the excess each is judged by; all of them are counted. */
static const struct {
    const char *name;
    uint64_t rate;
    struct {
        uint64_t at, want;
    } step[8];
} rows[] = {
    {"T7 the first is free, the next are not", 1000, {{5000, 0}, {5000, 1000}, {5000, 2000}}},
    {"T7 one a second", 1000, {{0, 0}, {1000, 0}, {2000, 0}, {2500, 500}, {3500, 500}}},
    {"T7 it leaks", 1000, {{0, 0}, {0, 1000}, {500, 1500}, {1500, 1500}, {9000, 0}, {9001, 999}}},
    {"T7 2r/m", 33, {{0, 0}, {0, 1000}, {10000, 1670}, {61000, 987}}},
    {"T7 the clock stands", 1000, {{1000, 0}, {1000, 1000}}},
    {"T7 another worker's clock is behind", 1000, {{1000, 0}, {990, 1000}, {1000, 2000}, {1010, 2990}}},
    {"T7 a long time, a high rate", BUCKET_RATE_MAX,
     {{0, 0}, {UINT64_MAX / 2, 0}, {UINT64_MAX / 2, 1000}, {UINT64_MAX / 2 + 1, 0}}},
    {"T7 a long time, a low rate", 1, {{0, 0}, {0, 1000}, {999, 2000}, {1999, 2999}, {UINT64_MAX / 2, 0}}},
};

static void by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bucket b = {0};
        for (size_t k = 0; k < 8 && (k == 0 || rows[i].step[k].at != 0 || rows[i].step[k].want != 0); k++) {
            uint64_t got = bucket_excess(&b, rows[i].rate, rows[i].step[k].at);
            if (got != rows[i].step[k].want)
                fail_msg("%s, step %zu: %llu", rows[i].name, k, (unsigned long long)got);
            bucket_count(&b, got, rows[i].step[k].at);
        }
    }
}

/* Refused requests are not counted, so however many come, the rate is what passes. */
static void rate_of_passing(void **state)
{
    static const uint64_t rates[] = {16, 33, 1000, 7000, 1000000};
    (void)state;
    srand(1);
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct bucket b = {0};
        uint64_t burst = i * 5000, now = 12345, passed = 0, start = now;
        for (int k = 0; k < 200000; k++) {
            now += (uint64_t)(rand() % 8);
            uint64_t excess = bucket_excess(&b, rates[i], now);
            if (excess > burst)
                continue;
            bucket_count(&b, excess, now);
            passed++;
        }
        double most = (double)(now - start) / 1000 * (double)rates[i] / 1000 + (double)burst / 1000 + 1;
        /* Fractions of 1/1000 are dropped at each request that passes, always to its favour or not. */
        if ((double)passed > most * 1.01 + 1 || (rates[i] < 100000 && (double)passed < most * 0.95 - 2))
            fail_msg("rate %llu: %llu passed, %.1f expected", (unsigned long long)rates[i],
                     (unsigned long long)passed, most);
    }
}

static void waits(void **state)
{
    static const struct {
        uint64_t excess, allowed, rate, want;
    } w[] = {
        {0, 0, 1000, 0},       {1000, 0, 1000, 1000}, {1000, 1000, 1000, 0}, {1001, 1000, 1000, 1},
        {5000, 2000, 10000, 300}, {1, 0, 3, 334},     {1000, 0, 16, 62500},
        {BUCKET_BURST_MAX + 1000, 0, 1, (BUCKET_BURST_MAX + 1000) * 1000},
        {BUCKET_BURST_MAX, 0, BUCKET_RATE_MAX, 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++)
        assert_int_equal(bucket_wait(w[i].excess, w[i].allowed, w[i].rate), w[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(rate_of_passing),
        cmocka_unit_test(waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
