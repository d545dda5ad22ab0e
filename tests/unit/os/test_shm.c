/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory shared over fork. */
#include "os/shm.h"

#include "unit/os/unit.h"

#include <sys/wait.h>

static void shared_over_fork(void **state)
{
    unsigned char *p = shm_alloc(100000);
    int status;
    pid_t pid;

    (void)state;
    assert_non_null(p);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(p[i], 0);
    pid = fork();
    if (pid == 0) {
        p[99999] = 42;
        shm_free(p, 100000);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(p[99999], 42); /* its unmapping is not ours */
    shm_free(p, 100000);
    shm_free(NULL, 1);
}

static void refused(void **state)
{
    (void)state;
    assert_null(shm_alloc(0));
    assert_int_equal(errno, EINVAL);
    assert_null(shm_alloc(SIZE_MAX / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_over_fork),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
