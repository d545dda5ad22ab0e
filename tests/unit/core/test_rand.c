/* SPDX-License-Identifier: BSD-2-Clause */
/* Random bytes: they differ from call to call, across batches and from parent to child. */
#include "core/rand.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void test_distinct(void **state)
{
    enum { COUNT = 20000 };
    static uint64_t v[COUNT];
    unsigned long ones = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        v[i] = rand_u64();
        ones += (unsigned)__builtin_popcountll(v[i]);
    }
    assert_true(ones > COUNT * 32ul - 6000); /* the standard deviation is 566 */
    assert_true(ones < COUNT * 32ul + 6000);
    qsort(v, COUNT, sizeof v[0], compare_u64);
    for (int i = 1; i < COUNT; i++)
        assert_true(v[i] != v[i - 1]);
}

/* Every length is filled to its end and not beyond, also one larger than a batch. */
static void test_lengths(void **state)
{
    static const size_t lengths[] = {0, 1, 7, 16, 33, 4087, 4088, 4089, 10000};

    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        size_t n = lengths[k];
        unsigned char *p = malloc(n + 8);
        assert_non_null(p);
        bool first = n == 0, last = n == 0;
        memset(p, 0, n + 8);
        for (int i = 0; i < 20; i++) { /* 20 zeros in a row do not happen */
            rand_bytes(p, n);
            first = first || p[0] != 0;
            last = last || p[n - 1] != 0;
        }
        assert_true(first && last);
        for (size_t i = n; i < n + 8; i++)
            assert_int_equal(p[i], 0);
        free(p);
    }
}

static void test_fork(void **state)
{
    int fds[2], status;
    uint64_t mine[8], theirs[8];

    (void)state;
    rand_u64(); /* there is a batch, and it is not used up */
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        rand_bytes(theirs, sizeof theirs);
        _exit(write(fds[1], theirs, sizeof theirs) == sizeof theirs ? 0 : 1);
    }
    rand_bytes(mine, sizeof mine);
    assert_int_equal(read(fds[0], theirs, sizeof theirs), sizeof theirs);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 8; k++)
            assert_true(mine[i] != theirs[k]);
        assert_true(theirs[i] != 0);
    }
    close(fds[0]);
    close(fds[1]);
}

static void test_errno(void **state)
{
    (void)state;
    errno = ENOTDIR;
    for (int i = 0; i < 1000; i++)
        rand_u64();
    assert_int_equal(errno, ENOTDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distinct),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_errno),
    };
    return cmocka_run_group_tests_name("core/rand", tests, NULL, NULL);
}
