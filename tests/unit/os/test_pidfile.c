/* SPDX-License-Identifier: BSD-2-Clause */
/* The pid file: stale, foreign, malformed, a link (hostile.md h94, h119). */
#include "os/pidfile.h"

#include "unit/os/unit.h"

#include <signal.h>
#include <sys/wait.h>

static void content(void **state)
{
    static const struct {
        const char *text;
        pid_t pid;   /* 0: refused */
    } rows[] = {
        {"123\n", 123}, {"123", 123}, {"2147483647\n", INT_MAX}, {"2147483648\n", 0}, {"0\n", 0},
        {"", 0},        {"\n", 0},    {"-5\n", 0},               {"12 \n", 0},        {"12\n\n", 0},
        {"12\n13\n", 0}, {"abc\n", 0}, {"99999999999999999999999999999999999999999999999999999999"
                                        "9999999999999999999\n", 0},
    };
    struct os_error e;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pid_t pid = -1;
        enum status st;

        unit_file("pid", rows[i].text);
        st = pidfile_read(unit_path("pid"), &pid, &e);
        if ((st == STATUS_OK) != (rows[i].pid != 0))
            fail_msg("\"%s\": %d", rows[i].text, (int)st);
        assert_int_equal(pid, rows[i].pid != 0 ? rows[i].pid : -1);
    }
    assert_int_equal(pidfile_read(unit_path("none"), &(pid_t){0}, &e), STATUS_NOTFOUND);
    unit_file("pid", "x");
    assert_int_equal(pidfile_read(unit_path("pid"), &(pid_t){0}, &e), STATUS_INVALID);
    assert_non_null(strstr(e.text, "does not hold a process id"));
}

static void life(void **state)
{
    struct os_error e;
    struct stat st;
    pid_t pid = 0;

    (void)state;
    assert_int_equal(pidfile_write(unit_path("pid"), 4711, &e), STATUS_OK);
    assert_int_equal(pidfile_read(unit_path("pid"), &pid, &e), STATUS_OK);
    assert_int_equal(pid, 4711);
    assert_int_equal(pidfile_retire(unit_path("pid"), &e), STATUS_OK);
    assert_int_equal(stat(unit_path("pid"), &st), -1);
    assert_int_equal(pidfile_read(unit_path("pid.oldbin"), &pid, &e), STATUS_OK);
    assert_int_equal(pidfile_restore(unit_path("pid"), &e), STATUS_OK);
    pidfile_remove(unit_path("pid"), 4712); /* somebody else's */
    assert_int_equal(stat(unit_path("pid"), &st), 0);
    pidfile_remove(unit_path("pid"), 4711);
    assert_int_equal(stat(unit_path("pid"), &st), -1);
    pidfile_remove(unit_path("pid"), 4711);
    assert_int_equal(pidfile_retire(unit_path("pid"), &e), STATUS_NOTFOUND);
    assert_non_null(strstr(e.text, ".oldbin"));
}

static void not_through_links(void **state)
{
    struct os_error e;
    struct stat st;

    (void)state;
    unit_file("precious", "gold");
    assert_int_equal(symlink("precious", unit_path("pid")), 0);
    assert_int_equal(pidfile_write(unit_path("pid"), 4711, &e), STATUS_OK);
    assert_int_equal(stat(unit_path("precious"), &st), 0);
    assert_int_equal(st.st_size, 4);
}

static void running(void **state)
{
    struct os_error e;
    pid_t child, pid;

    (void)state;
    child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    assert_int_equal(pidfile_write(unit_path("pid"), child, &e), STATUS_OK);
    assert_int_equal(pidfile_running(unit_path("pid"), &pid, &e), STATUS_OK);
    assert_int_equal(pid, child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(pidfile_running(unit_path("pid"), &pid, &e), STATUS_NOTFOUND);
    assert_non_null(strstr(e.text, "not a running sluice"));
    assert_int_equal(pidfile_write(unit_path("pid"), getpid(), &e), STATUS_OK);
    assert_int_equal(pidfile_running(unit_path("pid"), &pid, &e), STATUS_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_DIR_TEST(content),
        UNIT_DIR_TEST(life),
        UNIT_DIR_TEST(not_through_links),
        UNIT_DIR_TEST(running),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
