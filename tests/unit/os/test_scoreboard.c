/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of workers, written in a child and read by its parent. */
#include "os/scoreboard.h"

#include "unit/os/unit.h"

#include <sys/wait.h>

static void told_by_the_worker(void **state)
{
    struct scoreboard s;
    struct score got;
    pid_t pid;

    (void)state;
    assert_true(scoreboard_open(&s, 3));
    assert_int_equal((uintptr_t)&s.v[1] % SCOREBOARD_LINE, 0);
    assert_int_equal(sizeof(s.v[0]) % SCOREBOARD_LINE, 0);
    assert_int_equal(score_read(&s.v[1]).state, SCORE_EMPTY);
    pid = fork();
    if (pid == 0) {
        score_begin(&s.v[1], getpid(), 7, 1000);
        score_state_set(&s.v[1], SCORE_SERVING);
        score_beat(&s.v[1], 2000, 17);
        atomic_fetch_add(&s.v[1].accepted, 5);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    got = score_read(&s.v[1]);
    assert_int_equal(got.pid, pid);
    assert_int_equal(got.state, SCORE_SERVING);
    assert_int_equal(got.generation, 7);
    assert_int_equal(got.heartbeat_ms, 2000);
    assert_int_equal(got.connections, 17);
    assert_int_equal(got.accepted, 5);
    score_begin(&s.v[1], 1, 8, 3000); /* the next one starts afresh */
    got = score_read(&s.v[1]);
    assert_int_equal(got.connections, 0);
    assert_int_equal(got.accepted, 0);
    assert_int_equal(got.state, SCORE_STARTING);
    scoreboard_close(&s);
    scoreboard_close(&s);
}

static void garbage_state(void **state)
{
    struct scoreboard s;

    (void)state;
    assert_true(scoreboard_open(&s, 1));
    memset(s.v, 0xff, sizeof(*s.v));
    assert_int_equal(score_read(s.v).state, SCORE_GONE);
    scoreboard_close(&s);
    assert_string_equal(score_state_name(SCORE_DRAINING), "draining");
    assert_string_equal(score_state_name((enum score_state)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_by_the_worker),
        cmocka_unit_test(garbage_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
