/* SPDX-License-Identifier: BSD-2-Clause */
/* Log files in friendly and unfriendly directories (hostile.md 2c CVE-2016-1247, h93, h115). */
#include "os/logfile.h"
#include "os/fd.h"

#include "unit/os/unit.h"

static int open_log(const char *name)
{
    struct os_error e;
    int fd;

    if (logfile_open(unit_path(name), LOGFILE_NO_GROUP, &fd, &e) != STATUS_OK)
        fail_msg("%s: %s", e.text, strerror(e.err));
    return fd;
}

static off_t size_of(const char *name)
{
    struct stat st;

    return stat(unit_path(name), &st) < 0 ? -1 : st.st_size;
}

static void appends(void **state)
{
    struct stat st;
    mode_t old = umask(0);
    int fd = open_log("l");

    (void)state;
    umask(old);
    assert_int_equal(write(fd, "abc\n", 4), 4);
    close(fd);
    fd = open_log("l");
    assert_int_equal(write(fd, "def\n", 4), 4);
    assert_int_equal(size_of("l"), 8);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_GETFL) & (O_APPEND | O_NONBLOCK), O_APPEND);
    close(fd);
}

static void group_of_new_files_only(void **state)
{
    struct os_error e;
    struct stat st;
    int fd;

    (void)state;
    if (geteuid() != 0)
        skip();
    unit_file("old", "");
    assert_int_equal(logfile_open(unit_path("old"), 65534, &fd, &e), STATUS_OK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_gid, getegid());
    close(fd);
    assert_int_equal(logfile_open(unit_path("new"), 65534, &fd, &e), STATUS_OK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_gid, 65534);
    assert_int_equal(st.st_uid, 0);
    close(fd);
}

static void links(void **state)
{
    struct os_error e;
    int fd;

    (void)state;
    unit_file("target", "gold");
    assert_int_equal(symlink("target", unit_path("l")), 0);
    fd = open_log("l"); /* nobody but us can have put it there */
    assert_int_equal(write(fd, "!", 1), 1);
    close(fd);
    assert_int_equal(size_of("target"), 5);
    assert_int_equal(link(unit_path("target"), unit_path("hard")), 0);
    close(open_log("hard"));

    assert_int_equal(chmod(unit_dir, 01777), 0);
    assert_int_equal(logfile_open(unit_path("l"), LOGFILE_NO_GROUP, &fd, &e), STATUS_DENIED);
    assert_int_equal(fd, -1);
    assert_non_null(strstr(e.text, "symbolic link"));
    assert_int_equal(logfile_open(unit_path("hard"), LOGFILE_NO_GROUP, &fd, &e), STATUS_DENIED);
    assert_int_equal(fd, -1);
    assert_non_null(strstr(e.text, "another name"));
    close(open_log("plain"));

    assert_int_equal(chmod(unit_dir, 0700), 0);
    if (geteuid() == 0) { /* a directory of the worker's user, as in CVE-2016-1247 */
        assert_int_equal(chown(unit_dir, 65534, 65534), 0);
        assert_int_equal(logfile_open(unit_path("l"), LOGFILE_NO_GROUP, &fd, &e), STATUS_DENIED);
    }
    assert_int_equal(size_of("target"), 5);
}

static void failures(void **state)
{
    struct os_error e;
    int fd;

    (void)state;
    assert_int_equal(logfile_open(unit_path("no/l"), LOGFILE_NO_GROUP, &fd, &e), STATUS_NOTFOUND);
    assert_non_null(strstr(e.text, "directory of"));
    assert_int_equal(symlink("no/where", unit_path("dangling")), 0);
    assert_int_equal(logfile_open(unit_path("dangling"), LOGFILE_NO_GROUP, &fd, &e),
                     STATUS_NOTFOUND);
    assert_int_equal(fd, -1);
    assert_int_not_equal(logfile_open(unit_dir, LOGFILE_NO_GROUP, &fd, &e), STATUS_OK);
    assert_int_equal(fd, -1);
}

static void fifo_never_waits(void **state)
{
    static char text[1 << 17];
    size_t done;
    int fd, reader;

    (void)state;
    alarm(10);
    assert_int_equal(mkfifo(unit_path("l"), 0600), 0);
    fd = open_log("l");
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(fd_write_all(fd, text, sizeof(text), &done), STATUS_AGAIN);
    reader = open(unit_path("l"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_true(read(reader, text, sizeof(text)) > 0);
    assert_int_equal(fd_write_all(fd, "again", 5, NULL), STATUS_OK);
    close(reader);
    close(fd);
    alarm(0);
}

static void rotation(void **state)
{
    struct os_error e;
    int fd = open_log("l"), copy = dup(fd), number = fd;

    (void)state;
    assert_false(logfile_moved(unit_path("l"), fd));
    assert_int_equal(rename(unit_path("l"), unit_path("l.1")), 0);
    assert_true(logfile_moved(unit_path("l"), fd));
    assert_int_equal(logfile_reopen(unit_path("l"), LOGFILE_NO_GROUP, fd, &e), STATUS_OK);
    assert_int_equal(fd, number);
    assert_false(logfile_moved(unit_path("l"), fd));
    assert_int_equal(write(fd, "new", 3), 3);
    assert_int_equal(write(copy, "old!", 4), 4);
    assert_int_equal(size_of("l"), 3);
    assert_int_equal(size_of("l.1"), 4);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);

    /* Cannot be opened any more: the old file is kept. */
    assert_int_equal(unlink(unit_path("l")), 0);
    assert_int_equal(mkdir(unit_path("l"), 0755), 0);
    assert_true(logfile_moved(unit_path("l"), fd));
    assert_int_not_equal(logfile_reopen(unit_path("l"), LOGFILE_NO_GROUP, fd, &e), STATUS_OK);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    close(copy);
    assert_true(logfile_moved(unit_path("l"), -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_DIR_TEST(appends),  UNIT_DIR_TEST(group_of_new_files_only),
        UNIT_DIR_TEST(links),    UNIT_DIR_TEST(failures),
        UNIT_DIR_TEST(fifo_never_waits), UNIT_DIR_TEST(rotation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
