/* SPDX-License-Identifier: BSD-2-Clause */
/* Users and the drop of privileges (hostile.md 2c CVE-2013-4559, h104). */
#include "os/priv.h"

#include "unit/os/unit.h"

#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void lookups(void **state)
{
    static const struct {
        const char *user, *group;
        int64_t uid, gid;      /* -1: refused */
        const char *text;
    } rows[] = {
        {"root", NULL, 0, 0, ""},
        {"root", "root", 0, 0, ""},
        {"0", NULL, 0, 0, ""},
        {"54321", NULL, 54321, 54321, ""},       /* no entry: the same number */
        {"54321", "54322", 54321, 54322, ""},
        {"root", "54322", 0, 54322, ""},
        {"nosuchuser", NULL, -1, -1, "there is no user \"nosuchuser\""},
        {"root", "nosuchgroup", -1, -1, "there is no group \"nosuchgroup\""},
        {"4294967295", NULL, -1, -1, "there is no user"},
        {"-1", NULL, -1, -1, "there is no user"},
        {"", NULL, -1, -1, "there is no user"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct priv_identity id;
        struct os_error e = {0, ""};
        enum status st = priv_lookup(rows[i].user, rows[i].group, &id, &e);

        if ((st == STATUS_OK) != (rows[i].uid >= 0))
            fail_msg("%s: %s", rows[i].user, e.text);
        if (st != STATUS_OK) {
            assert_int_equal(st, STATUS_NOTFOUND);
            assert_non_null(strstr(e.text, rows[i].text));
            continue;
        }
        assert_int_equal(id.uid, rows[i].uid);
        assert_int_equal(id.gid, rows[i].gid);
        assert_true(id.group_count >= 1);
    }
}

static void primary_group(void **state)
{
    struct passwd *pw = getpwnam("nobody");
    struct priv_identity id;

    (void)state;
    if (pw == NULL || getgrnam("nobody") != NULL)
        skip();
    assert_int_equal(priv_lookup("nobody", NULL, &id, NULL), STATUS_OK);
    assert_int_equal(id.gid, pw->pw_gid);
}

/* The child's exit code is the number of the first check that failed, 0 for none. */
static int in_child(int (*check)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(check());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static bool status_has(const char *line)
{
    char text[8192];
    int fd = open("/proc/self/status", O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return strstr(text, line) != NULL;
}

static int drop_for_good(void)
{
    struct priv_identity id;
    gid_t groups[4];

    if (priv_lookup("54321", "54322", &id, NULL) != STATUS_OK)
        return 1;
    if (priv_drop(&id, NULL) != STATUS_OK)
        return 2;
    if (getuid() != 54321 || geteuid() != 54321 || getgid() != 54322 || getegid() != 54322)
        return 3;
    if (getgroups(4, groups) != 1 || groups[0] != 54322)
        return 4;
    if (setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0)
        return 5;
    if (!status_has("CapEff:\t0000000000000000") || !status_has("CapPrm:\t0000000000000000") ||
        !status_has("CapInh:\t0000000000000000") || !status_has("CapAmb:\t0000000000000000"))
        return 6;
    if (priv_lock(false, NULL) != STATUS_OK || !status_has("NoNewPrivs:\t1"))
        return 7;
    if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
        return 8;
    if (priv_lock(true, NULL) != STATUS_OK || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1)
        return 9;
    return 0;
}

/* Capabilities survive the change of user when asked for; they must not survive ours. */
static int kept_capabilities(void)
{
    struct priv_identity id;

    if (priv_lookup("54321", NULL, &id, NULL) != STATUS_OK)
        return 1;
    prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (priv_drop(&id, NULL) != STATUS_OK)
        return 2;
    return status_has("CapPrm:\t0000000000000000") ? 0 : 3;
}

static int without_right(void)
{
    struct priv_identity id;
    struct os_error e;

    if (priv_lookup("54321", NULL, &id, NULL) != STATUS_OK || setresuid(65534, 65534, 65534) < 0)
        return 1;
    if (priv_drop(&id, &e) != STATUS_DENIED || e.err != EPERM)
        return 2;
    return strstr(e.text, "setgroups()") != NULL ? 0 : 3;
}

static int to_root(void)
{
    struct priv_identity id;

    if (priv_lookup("root", NULL, &id, NULL) != STATUS_OK)
        return 1;
    return priv_drop(&id, NULL) == STATUS_OK && getuid() == 0 ? 0 : 2;
}

static void drops(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(in_child(drop_for_good), 0);
    assert_int_equal(in_child(kept_capabilities), 0);
    assert_int_equal(in_child(without_right), 0);
    assert_int_equal(in_child(to_root), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups),
        cmocka_unit_test(primary_group),
        cmocka_unit_test(drops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
