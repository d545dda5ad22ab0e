/* SPDX-License-Identifier: BSD-2-Clause */
/* The roll of workers: who has left is known to have, in every process, also when his seat is taken. */
#include "os/roll.h"

#include "unit/os/unit.h"

#include <sys/wait.h>

static void come_and_go(void **state)
{
    struct roll r;
    struct roll_entry a, b, c, nobody = {0, 0};

    (void)state;
    assert_true(roll_open(&r));
    assert_false(roll_has(&r, nobody));
    assert_true(roll_enter(&r, &a));
    assert_true(roll_enter(&r, &b));
    assert_false(roll_same(a, b));
    assert_true(roll_has(&r, a) && roll_has(&r, b));
    struct roll_entry old = a;
    assert_int_equal(roll_departures(&r), 0);
    roll_leave(&r, &a);
    roll_leave(&r, &a); /* nobody leaves twice */
    assert_int_equal(roll_departures(&r), 1);
    assert_false(roll_has(&r, old));
    assert_false(roll_has(&r, a));
    assert_true(roll_has(&r, b));
    assert_true(roll_enter(&r, &c));
    assert_int_equal(c.seat, old.seat); /* the seat is used again, its former holder stays away */
    assert_true(roll_has(&r, c));
    assert_false(roll_has(&r, old));
    assert_false(roll_has(&r, (struct roll_entry){ROLL_SEATS, 0})); /* what a worker may have written */
    roll_close(&r);
    roll_close(&r);
    assert_true(roll_has(&r, old)); /* without a roll */
}

static void all_seats(void **state)
{
    struct roll r;
    struct roll_entry e, last;
    uint32_t n = 0;

    (void)state;
    assert_true(roll_open(&r));
    while (roll_enter(&r, &e)) {
        last = e;
        n++;
    }
    assert_int_equal(n, ROLL_SEATS - 1);
    assert_int_equal(e.seat, 0);
    roll_leave(&r, &last);
    assert_true(roll_enter(&r, &e));
    assert_false(roll_enter(&r, &e));
    roll_close(&r);
}

static void seen_by_others(void **state)
{
    struct roll r;
    struct roll_entry e, mine;
    int there[2], go[2], status;
    char byte;

    (void)state;
    assert_true(roll_open(&r));
    assert_true(roll_enter(&r, &e));
    mine = e;
    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool before = roll_has(&r, mine);
        if (write(there[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(2);
        _exit(before && !roll_has(&r, mine) ? 0 : 1);
    }
    assert_int_equal(read(there[0], &byte, 1), 1);
    roll_leave(&r, &e);
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(go[i]);
    }
    roll_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_and_go),
        cmocka_unit_test(all_seats),
        cmocka_unit_test(seen_by_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
