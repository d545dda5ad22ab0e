/* SPDX-License-Identifier: BSD-2-Clause */
/* Walking paths name by name: the same results as the kernel's, owners, what lies inside what. */
#include "cache/fwatch.h"
#include "unit/cache/unit.h"

static int walk_to(const struct unit *u, const char *path, bool owner)
{
    struct fwalk how = {.owner = owner};
    int start = open(u->top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fwalk(&how, start, path);
}

static void as_the_kernel_does(struct ev_env *env)
{
    static const char *const paths[] = {
        "root", "root/", "root/a", "root//a///b", "root/a/b/f", "root/./a/../a/b/f", "root/f",
        "root/none", "root/none/x", "root/f/x", "root/l", "root/l/f", "root/up", "root/up/a",
        "root/abs", "root/abs/f", "root/slash", "root/slash/", "root/slash/proc", "root/loop",
        "root/loop/x", "root/chain40", "root/chain41", "root/dots/f", "root/dangling", "", ".",
        "..", "../..", "root/l/../f",
    };
    struct unit u;
    char name[32], to[128];
    unit_start(&u, env, NULL);
    unit_write(&u, "root/a/b/f", "x");
    unit_write(&u, "root/f", "x");
    unit_link(&u, "a/b", "root/l");
    unit_link(&u, "..", "root/up");
    unit_link(&u, unit_at(&u, "root/a/b"), "root/abs");
    unit_link(&u, "/", "root/slash");
    unit_link(&u, "loop", "root/loop");
    unit_link(&u, "./a/../a//b/.", "root/dots");
    unit_link(&u, "nowhere", "root/dangling");
    unit_link(&u, "f", "root/chain1");
    for (int i = 2; i <= 41; i++) {
        snprintf(name, sizeof(name), "root/chain%d", i);
        snprintf(to, sizeof(to), "chain%d", i - 1);
        unit_link(&u, to, name);
    }
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct stat want, got;
        int err = stat(unit_at(&u, paths[i]), &want) == 0 ? 0 : -errno;
        int fd = walk_to(&u, paths[i], false);
        if ((fd < 0 ? fd : 0) != err)
            fail_msg("%s: %d instead of %d", paths[i], fd, err);
        if (fd >= 0) {
            assert_int_equal(fstat(fd, &got), 0);
            assert_int_equal(got.st_ino, want.st_ino);
            assert_int_equal(got.st_dev, want.st_dev);
            close(fd);
        }
    }
    unit_stop(&u);
}

static void too_long(struct ev_env *env)
{
    struct unit u;
    char path[2 * PATH_MAX];
    unit_start(&u, env, NULL);
    memset(path, '/', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(walk_to(&u, path, false), -ENAMETOOLONG);
    memset(path, 'x', NAME_MAX + 1);
    path[NAME_MAX + 1] = '\0';
    assert_int_equal(walk_to(&u, path, false), -ENAMETOOLONG);
    /* Each link makes the rest longer than there is room for. */
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(path + i, "./", 2);
    snprintf(path + 4000, sizeof(path) - 4000, "grow");
    unit_link(&u, path, "root/grow");
    unit_link(&u, path, "grow");
    memset(path, '/', 4090);
    memcpy(path, "grow/", 5);
    path[4090] = '\0';
    int err = walk_to(&u, path, false);
    assert_true(err == -ELOOP || err == -ENAMETOOLONG);
    unit_stop(&u);
}

static void inside(struct ev_env *env)
{
    static const struct {
        const char *root, *path;
        bool inside;
    } rows[] = {
        {"root", "root", true},       {"root", "root/f", true},      {"root", "root-twin/f", false},
        {"root", "f", false},         {"root/a", "root/f", false},   {"/", "f", true},
        {"/", "/", true},             {"root", "/", false},          {"root", "root/a", true},
    };
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "x");
    unit_mkdir(&u, "root/a");
    unit_write(&u, "root-twin/f", "x");
    unit_write(&u, "f", "x");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int root = open(unit_at(&u, rows[i].root), O_PATH | O_CLOEXEC);
        int fd = open(unit_at(&u, rows[i].path), O_PATH | O_CLOEXEC);
        assert_true(root >= 0 && fd >= 0);
        if (fwalk_inside(root, fd) != rows[i].inside)
            fail_msg("%s in %s", rows[i].path, rows[i].root);
        close(root);
        close(fd);
    }
    assert_false(fwalk_inside(-1, -1));
    unit_stop(&u);
}

static void owners(struct ev_env *env)
{
    static const struct {
        const char *path;
        bool fine;
    } rows[] = {
        {"root/plain", true},     {"root/mine", true},        {"root/theirs", false},
        {"root/their/f", false},  {"root/theirs2", true},     {"root/via", false},
        {"root/dir/f", true},     {"root/ends-here", true},   {"root/theirs-slash", false},
    };
    struct unit u;
    if (geteuid() != 0)
        return;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/plain", "x");
    unit_write(&u, "root/dir/f", "x");
    unit_write(&u, "root/given", "x");
    assert_int_equal(chown(unit_at(&u, "root/given"), 99, 99), 0);
    unit_link(&u, "plain", "root/mine");
    unit_link(&u, "plain", "root/theirs");
    unit_link(&u, "dir", "root/their");
    unit_link(&u, "given", "root/theirs2");
    unit_link(&u, "theirs", "root/via");
    unit_link(&u, "dir/", "root/ends-here");
    unit_link(&u, "/", "root/theirs-slash");
    const char *given[] = {"root/theirs", "root/their", "root/theirs2", "root/theirs-slash"};
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        assert_int_equal(lchown(unit_at(&u, given[i]), 99, 99), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = walk_to(&u, rows[i].path, true);
        if (fd != -ELOOP && fd < 0)
            fail_msg("%s: %s", rows[i].path, strerror(-fd));
        if ((fd >= 0) != rows[i].fine)
            fail_msg("%s", rows[i].path);
        if (fd >= 0)
            close(fd);
    }
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "as_the_kernel_does", .run = as_the_kernel_does, .settings = EV_EP},
        {.name = "too_long", .run = too_long, .settings = EV_EP},
        {.name = "inside", .run = inside, .settings = EV_EP},
        {.name = "owners", .run = owners, .settings = EV_EP},
    };
    return ev_run_cases("fwalk", cases, ARRAY_LEN(cases));
}
