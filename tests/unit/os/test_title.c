/* SPDX-License-Identifier: BSD-2-Clause */
/* What ps shows, and an environment that survives it (hostile.md h103). */
#include "os/title.h"

#include "unit/os/unit.h"

#include <sys/wait.h>

/* The first string of /proc/self/cmdline; nothing of the old ones may follow it. */
static const char *cmdline(void)
{
    static char text[4096];
    int fd = open("/proc/self/cmdline", O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    text[n > 0 ? n : 0] = '\0';
    for (ssize_t i = (ssize_t)strlen(text); i < n; i++)
        assert_int_equal(text[i], '\0');
    return text;
}

static const char *comm(void)
{
    static char text[32];
    int fd = open("/proc/self/comm", O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    text[n > 0 ? n - 1 : 0] = '\0';
    return text;
}

static void shown(void **state)
{
    const char *home = getenv("SLUICE_TEST_TITLE");

    (void)state;
    assert_string_equal(home, "kept");
    title_set("sluice-w3", "worker process %d", 3);
    assert_string_equal(cmdline(), "sluice: worker process 3");
    assert_string_equal(comm(), "sluice-w3");
    title_set(NULL, "%s", "w");
    assert_string_equal(cmdline(), "sluice: w");
    assert_string_equal(comm(), "sluice-w3");
    assert_string_equal(getenv("SLUICE_TEST_TITLE"), "kept");
    assert_int_equal(setenv("SLUICE_TEST_OTHER", "x", 1), 0);
    assert_string_equal(getenv("SLUICE_TEST_OTHER"), "x");
    assert_non_null(program_invocation_name);
    assert_non_null(strstr(program_invocation_name, "test_title"));
}

static void longer_than_the_room(void **state)
{
    static char text[1 << 16];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    title_set(NULL, "%s", text);
    assert_memory_equal(cmdline(), "sluice: xxxx", 12);
    assert_string_equal(getenv("SLUICE_TEST_TITLE"), "kept");
}

int main(int argc, char **argv)
{
    static char other[] = "an-argument-that-would-show";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown),
        cmocka_unit_test(longer_than_the_room),
    };

    title_set(NULL, "before title_init nothing happens");
    if (getenv("SLUICE_TEST_TITLE") == NULL) {
        setenv("SLUICE_TEST_TITLE", "kept", 1); /* part of the strings the kernel laid out */
        execv("/proc/self/exe", (char *[]){argv[0], other, other, other, NULL});
        return 1;
    }
    title_init(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
