/* SPDX-License-Identifier: BSD-2-Clause */
/* CHECK: says what broke and where, then aborts; the macros beside it. */
#include "core/check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct outer {
    int before;
    int member;
};

/* Runs check_failed in a child and returns what it wrote. */
static size_t failing_child(const char *cond, char *text, size_t room)
{
    int fds[2];
    size_t n = 0;
    int status;

    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        dup2(fds[1], STDERR_FILENO);
        check_failed(cond, "some/file.c", 42);
    }
    close(fds[1]);
    for (ssize_t got; (got = read(fds[0], text + n, room - 1 - n)) > 0;)
        n += (size_t)got;
    close(fds[0]);
    text[n] = '\0';
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    return n;
}

static void test_message(void **state)
{
    char text[2048];

    (void)state;
    failing_child("a == b", text, sizeof text);
    assert_string_equal(text, "sluice: broken invariant: a == b at some/file.c:42\n");
}

static void test_long_condition(void **state)
{
    char cond[1500], text[2048];

    (void)state;
    memset(cond, 'x', sizeof cond - 1);
    cond[sizeof cond - 1] = '\0';
    size_t n = failing_child(cond, text, sizeof text);
    assert_int_equal(n, 511);
    assert_int_equal(text[n - 1], '\n');
    assert_int_equal(text[n - 2], 'x');
}

static void test_macros(void **state)
{
    struct outer o = {0, 0};
    int four[4] = {0};
    int calls = 0;

    (void)state;
    CHECK(++calls == 1); /* evaluated once, and passes */
    assert_int_equal(calls, 1);
    assert_ptr_equal(container_of(&o.member, struct outer, member), &o);
    assert_int_equal(ARRAY_LEN(four), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_long_condition),
        cmocka_unit_test(test_macros),
    };
    return cmocka_run_group_tests_name("core/check", tests, NULL, NULL);
}
