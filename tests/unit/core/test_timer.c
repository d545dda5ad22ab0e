/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timer wheel against a plain list of expected ticks: each timer that fires must be the first
 * one due in the list, never early, and after an advance nothing due may be left.  Distances range
 * from the past to beyond the top level; callbacks arm and disarm whatever they like.
 */
#include "core/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TOP_TICKS ((uint64_t)1 << 30)

static uint64_t random_state = 99;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void check_wheel(const struct timer_wheel *w)
{
    size_t count = 0;

    for (int level = 0; level < TIMER_LEVELS; level++) {
        for (int slot = 0; slot < TIMER_SLOTS; slot++) {
            const struct list *head = &w->slots[level][slot];
            bool bit = w->occupied[level] >> slot & 1;
            assert_int_equal(bit, !list_empty(head));
            LIST_EACH(it, head)
                count++;
        }
    }
    assert_int_equal(w->count, count);
}

/* The reference: what is armed, and the tick it has to fire at. */
enum { TIMERS = 60 };

static struct {
    struct timer_wheel wheel;
    struct timer timers[TIMERS];
    uint64_t due[TIMERS]; /* 0: not armed */
    uint64_t now;         /* of the advance that is running */
    uint64_t fired;
    unsigned meddling;    /* chance in 16 that a callback arms or disarms others */
} m;

static void model_arm(size_t i, uint64_t at_ms)
{
    uint64_t tick = (at_ms + TIMER_TICK_MS - 1) / TIMER_TICK_MS;

    timer_arm(&m.wheel, &m.timers[i], at_ms);
    m.due[i] = tick > m.wheel.tick ? tick : m.wheel.tick + 1;
    assert_true(timer_armed(&m.timers[i]));
}

static void model_disarm(size_t i)
{
    timer_disarm(&m.wheel, &m.timers[i]);
    m.due[i] = 0;
    assert_false(timer_armed(&m.timers[i]));
}

static uint64_t model_first(void)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < TIMERS; i++) {
        if (m.due[i] != 0 && m.due[i] < first)
            first = m.due[i];
    }
    return first;
}

static uint64_t random_distance(void)
{
    return next_random() >> (63 - next_random() % 37); /* up to 2^37 ms: beyond the top level */
}

static void meddle(uint64_t now)
{
    size_t i = next_random() % TIMERS;

    if (next_random() % 2 == 0)
        model_disarm(i);
    else if (next_random() % 4 == 0)
        model_arm(i, now - next_random() % (now < 50 ? now + 1 : 50)); /* past */
    else
        model_arm(i, now + random_distance() / (1 + next_random() % 8));
}

static void model_fire(struct timer *t, uint64_t now_ms)
{
    size_t i = (size_t)(t - m.timers);

    assert_true(now_ms == m.now);
    assert_false(timer_armed(t));
    assert_true(m.due[i] != 0);
    assert_true(m.due[i] == model_first());
    assert_true(m.due[i] * TIMER_TICK_MS <= now_ms);
    assert_true(m.due[i] == m.wheel.tick);
    m.due[i] = 0;
    m.fired++;
    while (next_random() % 16 < m.meddling)
        meddle(now_ms);
}

static void run_model(uint64_t start_ms, unsigned meddling, unsigned max_shift)
{
    memset(&m, 0, sizeof m);
    m.now = start_ms;
    m.meddling = meddling;
    timer_wheel_init(&m.wheel, start_ms);
    for (size_t i = 0; i < TIMERS; i++)
        timer_init(&m.timers[i], model_fire);
    assert_true(timer_next(&m.wheel) == TIMER_NEVER);

    for (int step = 0; step < 20000; step++) {
        for (unsigned k = next_random() % 4; k != 0; k--)
            meddle(m.now);
        uint64_t first = model_first(), next = timer_next(&m.wheel);
        assert_int_equal(next == TIMER_NEVER, first == UINT64_MAX);
        if (next != TIMER_NEVER) {
            assert_true(next <= first * TIMER_TICK_MS);
            assert_true(next > m.wheel.tick * TIMER_TICK_MS); /* each call gets somewhere */
        }
        if (next != TIMER_NEVER && next > m.now && next_random() % 3 == 0)
            m.now = next; /* as the loop does */
        else if (next_random() % 3 != 0)
            m.now += next_random() >> (64 - 1 - next_random() % max_shift);
        timer_advance(&m.wheel, m.now);
        assert_true(m.wheel.tick == m.now / TIMER_TICK_MS);
        assert_true(model_first() > m.now / TIMER_TICK_MS);
        if (step % 16 == 0)
            check_wheel(&m.wheel);
    }
    assert_true(m.fired > 1000);
}

static void test_model(void **state)
{
    (void)state;
    run_model(0, 0, 12);
    run_model(0, 4, 12);
    run_model(1, 8, 8);
    run_model(123456789, 4, 20);
    run_model(TOP_TICKS * TIMER_TICK_MS - 5000, 4, 16); /* over the edge of the top level */
    run_model(TOP_TICKS * TIMER_TICK_MS * 7 - 1, 4, 36);
}

static unsigned fired;
static uint64_t fired_at;

static void count_fire(struct timer *t, uint64_t now_ms)
{
    (void)t;
    fired++;
    fired_at = now_ms;
}

/* One timer, looked at every millisecond: never early, at most one tick late. */
static void test_precision(void **state)
{
    static struct timer_wheel w;
    struct timer t;

    (void)state;
    for (uint64_t start = 0; start < 9; start++) {
        for (uint64_t after = 0; after < 600; after += 1 + after / 50) {
            timer_wheel_init(&w, start);
            timer_init(&t, count_fire);
            fired = 0;
            timer_arm(&w, &t, start + after);
            for (uint64_t now = start; fired == 0; now++)
                timer_advance(&w, now);
            assert_true(fired_at >= start + after);
            assert_true(fired_at <= start + after + TIMER_TICK_MS);
            assert_int_equal(w.count, 0);
        }
    }
}

/* A loop that sleeps until timer_next each time: how often it wakes for one timer far away. */
static void test_far(void **state)
{
    static struct timer_wheel w;
    static const uint64_t ticks[] = {1, 63, 64, 65, 4095, 4096, 4097, TOP_TICKS - 1, TOP_TICKS,
                                     TOP_TICKS + 1, 5 * TOP_TICKS + 12345};

    (void)state;
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        for (uint64_t start = 0; start < 3 * TOP_TICKS; start += TOP_TICKS / 3 + 17) {
            struct timer t;
            unsigned wakes = 0;
            timer_wheel_init(&w, start * TIMER_TICK_MS);
            timer_init(&t, count_fire);
            fired = 0;
            timer_arm(&w, &t, (start + ticks[i]) * TIMER_TICK_MS);
            while (timer_next(&w) != TIMER_NEVER) {
                timer_advance(&w, timer_next(&w));
                wakes++;
            }
            assert_int_equal(fired, 1);
            assert_true(fired_at == (start + ticks[i]) * TIMER_TICK_MS);
            assert_true(wakes <= 12);
        }
    }
}

static void test_arm_again(void **state)
{
    static struct timer_wheel w;
    struct timer t;

    (void)state;
    timer_wheel_init(&w, 1000);
    timer_init(&t, count_fire);
    timer_disarm(&w, &t); /* not armed: fine */
    fired = 0;
    timer_arm(&w, &t, 2000);
    timer_arm(&w, &t, 3000);
    assert_int_equal(w.count, 1);
    timer_advance(&w, 2500);
    assert_int_equal(fired, 0);
    timer_advance(&w, 2400); /* a clock that goes back changes nothing */
    assert_true(w.tick == 2500 / TIMER_TICK_MS);
    timer_advance(&w, 3000);
    assert_int_equal(fired, 1);
    timer_arm(&w, &t, 5000);
    timer_arm(&w, &t, TIMER_NEVER);
    assert_false(timer_armed(&t));
    assert_true(timer_next(&w) == TIMER_NEVER);
    timer_arm(&w, &t, TIMER_NEVER - 1); /* absurdly far, but a time */
    assert_true(timer_armed(&t));
    timer_advance(&w, 1u << 31);
    assert_int_equal(fired, 1);
    timer_disarm(&w, &t);
    check_wheel(&w);
}

static struct timer_wheel pair_wheel;
static struct timer pair[3];

static void disarm_rest(struct timer *t, uint64_t now_ms)
{
    (void)now_ms;
    fired++;
    for (size_t i = 0; i < 3; i++) {
        if (&pair[i] != t)
            timer_disarm(&pair_wheel, &pair[i]);
    }
}

static void rearm_self(struct timer *t, uint64_t now_ms)
{
    fired++;
    timer_arm(&pair_wheel, t, now_ms);
}

/* Timers of the same tick: the first to fire takes the others out. */
static void test_same_tick(void **state)
{
    (void)state;
    for (uint64_t at = 1004; at < 100000; at = at * 3 / TIMER_TICK_MS * TIMER_TICK_MS) {
        timer_wheel_init(&pair_wheel, 1000);
        fired = 0;
        for (size_t i = 0; i < 3; i++) {
            timer_init(&pair[i], disarm_rest);
            timer_arm(&pair_wheel, &pair[i], at);
        }
        timer_advance(&pair_wheel, at);
        assert_int_equal(fired, 1);
        assert_int_equal(pair_wheel.count, 0);
    }

    /* One that arms itself for "now" fires once per tick, not for ever. */
    timer_wheel_init(&pair_wheel, 1000);
    timer_init(&pair[0], rearm_self);
    fired = 0;
    timer_arm(&pair_wheel, &pair[0], 1000);
    timer_advance(&pair_wheel, 1000 + TIMER_TICK_MS);
    assert_int_equal(fired, 1);
    timer_advance(&pair_wheel, 1000 + TIMER_TICK_MS);
    assert_int_equal(fired, 1);
    timer_advance(&pair_wheel, 1000 + 2 * TIMER_TICK_MS);
    assert_int_equal(fired, 2);
}

static unsigned expired;
static uint64_t expired_at;

static void count_expired(struct deadline *d, uint64_t now_ms)
{
    assert_true(d->at == TIMER_NEVER);
    expired++;
    expired_at = now_ms;
}

static void test_deadline(void **state)
{
    static struct timer_wheel w;
    struct deadline d;

    (void)state;
    timer_wheel_init(&w, 1000);
    deadline_init(&d, &w, count_expired);
    expired = 0;
    deadline_set(&d, 2000);
    for (uint64_t now = 1000; now < 9000; now += 10) { /* moved all the time: never expires */
        uint64_t armed = d.timer.when;
        deadline_set(&d, now + 1000);
        assert_true(d.timer.when == armed); /* and each move was a store */
        timer_advance(&w, now);
        assert_int_equal(expired, 0);
        assert_int_equal(w.count, 1);
    }
    timer_advance(&w, 9988);
    assert_int_equal(expired, 0);
    timer_advance(&w, 9992);
    assert_int_equal(expired, 1);
    assert_int_equal(w.count, 0);

    deadline_set(&d, 20000);
    deadline_set(&d, 11001); /* sooner */
    timer_advance(&w, 11000);
    assert_int_equal(expired, 1);
    timer_advance(&w, 11004);
    assert_int_equal(expired, 2);
    assert_true(expired_at == 11004);

    deadline_set(&d, 12000);
    deadline_clear(&d);
    timer_advance(&w, 30000);
    assert_int_equal(expired, 2);
    assert_int_equal(w.count, 0); /* the entry is gone with the time it was due */

    deadline_set(&d, 31000);
    deadline_clear(&d);
    deadline_set(&d, 32000); /* set again before the old entry came due */
    timer_advance(&w, 31500);
    assert_int_equal(expired, 2);
    timer_advance(&w, 32000);
    assert_int_equal(expired, 3);

    deadline_set(&d, TIMER_NEVER);
    assert_int_equal(w.count, 0);
    deadline_set(&d, 40000);
    deadline_set(&d, TIMER_NEVER);
    timer_advance(&w, 50000);
    assert_int_equal(expired, 3);

    deadline_set(&d, 60000);
    deadline_fini(&d);
    assert_int_equal(w.count, 0);
    timer_advance(&w, 70000);
    assert_int_equal(expired, 3);
}

static void free_expired(struct deadline *d, uint64_t now_ms)
{
    (void)now_ms;
    expired++;
    deadline_fini(d);
    free(d);
}

static void test_deadline_freed(void **state)
{
    static struct timer_wheel w;

    (void)state;
    timer_wheel_init(&w, 1000);
    expired = 0;
    for (int i = 0; i < 10; i++) {
        struct deadline *d = malloc(sizeof *d);
        assert_non_null(d);
        deadline_init(d, &w, free_expired);
        deadline_set(d, 2000);
    }
    timer_advance(&w, 3000);
    assert_int_equal(expired, 10);
    check_wheel(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),     cmocka_unit_test(test_precision),
        cmocka_unit_test(test_far),       cmocka_unit_test(test_arm_again),
        cmocka_unit_test(test_same_tick), cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_deadline_freed),
    };
    return cmocka_run_group_tests_name("core/timer", tests, NULL, NULL);
}
