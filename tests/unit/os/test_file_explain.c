/* SPDX-License-Identifier: BSD-2-Clause */
/* Which component of a path keeps the process out (hostile.md h50). */
#include "os/file.h"

#include "unit/os/unit.h"

#include <sys/wait.h>

static const char *explain(const char *path)
{
    static char text[2 * PATH_MAX];
    struct wbuf w = wbuf_make(text, sizeof(text));
    bool found = file_explain(path, &w);

    wbuf_char(&w, '\0');
    assert_int_equal(found, text[0] != '\0');
    return text;
}

static void expect(const char *path, const char *component, const char *says)
{
    char text[PATH_MAX];

    snprintf(text, sizeof(text), "%s/%s %s", unit_dir, component, says);
    assert_string_equal(explain(path), text);
}

static void missing(void **state)
{
    (void)state;
    unit_file("a/f", "x");
    assert_string_equal(explain(unit_path("a/f")), "");
    assert_string_equal(explain("/"), "");
    assert_string_equal(explain(""), "");
    expect(unit_path("a/b/c"), "a/b", "does not exist");
    expect(unit_path("a//g"), "a//g", "does not exist");
    expect(unit_path("a/f/c"), "a/f", "is not a directory");
    assert_int_equal(symlink("nowhere", unit_path("link")), 0);
    expect(unit_path("link/x"), "link", "is a dangling symbolic link");
    assert_int_equal(symlink("loop", unit_path("loop")), 0);
    assert_non_null(strstr(explain(unit_path("loop")), "loop: Too many levels of symbolic links"));
}

/* As nobody, because root is kept out of nothing. */
static void forbidden(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    if (geteuid() != 0)
        skip();
    unit_file("a/b/f", "x");
    assert_int_equal(chmod(unit_dir, 0755), 0);
    pid = fork();
    if (pid == 0) {
        assert_int_equal(chmod(unit_path("a"), 0700), 0);
        assert_int_equal(setresgid(65534, 65534, 65534), 0);
        assert_int_equal(setresuid(65534, 65534, 65534), 0);
        expect(unit_path("a/b/f"), "a", "is 0700 root:root");
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    pid = fork();
    if (pid == 0) {
        assert_int_equal(chmod(unit_path("a"), 0755), 0);
        assert_int_equal(chown(unit_path("a/b/f"), 54321, 54322), 0);
        assert_int_equal(chmod(unit_path("a/b/f"), 0640), 0);
        assert_int_equal(setresgid(65534, 65534, 65534), 0);
        assert_int_equal(setresuid(65534, 65534, 65534), 0);
        expect(unit_path("a/b/f"), "a/b/f", "is 0640 54321:54322");
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_DIR_TEST(missing),
        UNIT_DIR_TEST(forbidden),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
