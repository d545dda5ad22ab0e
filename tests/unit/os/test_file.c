/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading and writing of the server's own files (hostile.md h93, h119, h128). */
#include "os/file.h"

#include "unit/os/unit.h"

static void reads_whole(void **state)
{
    static char big[100000];
    struct os_error e;
    struct stat st;
    struct buf b;

    (void)state;
    memset(big, 'x', sizeof(big) - 1);
    unit_file("big", big);
    unit_file("empty", "");
    buf_init(&b, 0);
    buf_str(&b, STR("kept:"));
    assert_int_equal(file_read(unit_path("big"), sizeof(big), &b, &st, &e), STATUS_OK);
    assert_int_equal(b.n, 5 + 99999);
    assert_int_equal(st.st_size, 99999);
    assert_memory_equal(b.p, "kept:xxx", 8);
    assert_int_equal(file_read(unit_path("big"), 99999, &b, NULL, &e), STATUS_OK);
    assert_int_equal(b.n, 5 + 2 * 99999);
    b.n = 0;
    assert_int_equal(file_read(unit_path("empty"), 0, &b, NULL, &e), STATUS_OK);
    assert_int_equal(b.n, 0);
    assert_int_equal(file_read("/proc/self/status", 1 << 20, &b, NULL, &e), STATUS_OK);
    assert_true(b.n > 100); /* although its size is said to be 0 */
    buf_fini(&b);
}

static void refuses(void **state)
{
    struct os_error e;
    struct buf b;

    (void)state;
    unit_file("f", "12345");
    assert_int_equal(mkfifo(unit_path("fifo"), 0600), 0);
    buf_init(&b, 0);
    assert_int_equal(file_read(unit_path("f"), 4, &b, NULL, &e), STATUS_LIMIT);
    assert_non_null(strstr(e.text, "larger than 4 bytes"));
    assert_int_equal(file_read("/proc/self/status", 10, &b, NULL, &e), STATUS_LIMIT);
    assert_int_equal(file_read(unit_path("none"), 10, &b, NULL, &e), STATUS_NOTFOUND);
    assert_int_equal(e.err, ENOENT);
    assert_int_equal(file_read(unit_dir, 10, &b, NULL, &e), STATUS_INVALID);
    assert_non_null(strstr(e.text, "is a directory"));
    alarm(5); /* a FIFO must not make it wait */
    assert_int_equal(file_read(unit_path("fifo"), 10, &b, NULL, &e), STATUS_INVALID);
    assert_int_equal(file_read("/dev/zero", 10, &b, NULL, &e), STATUS_INVALID);
    alarm(0);
    assert_int_equal(b.n, 0);
    buf_fini(&b);
    buf_init(&b, 3);
    assert_int_equal(file_read(unit_path("f"), 10, &b, NULL, &e), STATUS_NOMEM);
    buf_fini(&b);
}

static void expect_content(const char *name, const char *text)
{
    struct buf b;

    buf_init(&b, 0);
    assert_int_equal(file_read(unit_path(name), 100, &b, NULL, NULL), STATUS_OK);
    assert_true(str_eq(buf_view(&b), str_z(text)));
    buf_fini(&b);
}

static int count_entries(const char *path, const struct stat *st, int kind, struct FTW *ftw);
static int entries;

static int count_entries(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)kind;
    (void)ftw;
    entries++;
    return 0;
}

static void writes(void **state)
{
    struct os_error e;
    struct stat st;
    mode_t old = umask(077);

    (void)state;
    assert_int_equal(file_write(unit_path("p"), STR("one\n"), 0644, &e), STATUS_OK);
    umask(old);
    assert_int_equal(stat(unit_path("p"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    expect_content("p", "one\n");

    /* Not through a link: its target stays as it is. */
    unit_file("precious", "gold");
    assert_int_equal(symlink(unit_path("precious"), unit_path("link")), 0);
    assert_int_equal(file_write(unit_path("link"), STR("two\n"), 0600, &e), STATUS_OK);
    expect_content("precious", "gold");
    expect_content("link", "two\n");
    assert_int_equal(lstat(unit_path("link"), &st), 0);
    assert_true(S_ISREG(st.st_mode));

    assert_int_equal(mkdir(unit_path("d"), 0755), 0);
    assert_int_not_equal(file_write(unit_path("d"), STR("x"), 0600, &e), STATUS_OK);
    assert_non_null(strstr(e.text, "rename()"));
    assert_int_equal(file_write(unit_path("none/p"), STR("x"), 0600, &e), STATUS_NOTFOUND);
    nftw(unit_dir, count_entries, 8, FTW_PHYS);
    assert_int_equal(entries, 5); /* the directory and its four: no temporary file is left */
}

static void makes_parents(void **state)
{
    struct os_error e;
    struct stat st;

    (void)state;
    assert_int_equal(file_make_parent(unit_path("a/b/c/log"), 0750, &e), STATUS_OK);
    assert_int_equal(stat(unit_path("a/b/c"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_int_equal(stat(unit_path("a/b/c/log"), &st), -1);
    assert_int_equal(file_make_parent(unit_path("a/b/c/log"), 0750, &e), STATUS_OK);
    assert_int_equal(file_make_parent("/x", 0750, &e), STATUS_OK);
    assert_int_equal(file_make_parent("x", 0750, &e), STATUS_OK);
    unit_file("f", "");
    assert_int_not_equal(file_make_parent(unit_path("f/log"), 0750, &e), STATUS_OK);
    assert_non_null(strstr(e.text, "mkdir()"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_DIR_TEST(reads_whole),
        UNIT_DIR_TEST(refuses),
        UNIT_DIR_TEST(writes),
        UNIT_DIR_TEST(makes_parents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
