/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads: every kind of file, link policies, errors, sizes (hostile.md 41, 43, 44, 50, 52, 56). */
#include "event/fault.h"
#include "unit/cache/unit.h"

#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static void files_and_hits(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/index.html", "hello");
    struct fentry *a = unit_get(&u, "/index.html");
    assert_string_equal(unit_content(a), "hello");
    assert_non_null(a->body);
    assert_int_equal(a->fd, -1); /* the body is in memory */
    assert_true(a->cached && a->young && a->etag_n > 4);
    assert_memory_equal(a->etag, "W/\"", 3);
    struct fentry *b = unit_get(&u, "/index.html");
    assert_ptr_equal(a, b);
    assert_int_equal(unit_stats(&u).hits, 1);
    assert_int_equal(unit_stats(&u).loads, 1);
    assert_int_equal(a->refs, 3);
    fentry_put(a);
    fentry_put(b);
    unit_stop(&u);
}

static void kinds(struct ev_env *env)
{
    struct unit u;
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    unit_start(&u, env, NULL);
    unit_write(&u, "root/dir/file", "x");
    assert_int_equal(mkfifo(unit_at(&u, "root/fifo"), 0644), 0);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/sock", u.root) <
                (int)sizeof(sun.sun_path));
    assert_int_equal(bind(s, (struct sockaddr *)&sun, sizeof(sun)), 0);
    unit_expect_kind(&u, "/dir", FENTRY_DIR);
    unit_expect_kind(&u, "/dir/", FENTRY_DIR);
    unit_expect_kind(&u, "/", FENTRY_DIR);
    unit_expect_kind(&u, "/fifo", FENTRY_OTHER); /* h44: nobody writes to it */
    unit_expect_kind(&u, "/sock", FENTRY_OTHER);
    int w = open(unit_at(&u, "root/fifo"), O_RDWR | O_CLOEXEC);
    unit_expect_kind(&u, "/fifo", FENTRY_OTHER); /* and somebody might */
    close(w);
    if (mknod(unit_at(&u, "root/zero"), S_IFCHR | 0666, makedev(1, 5)) == 0) {
        unit_expect_kind(&u, "/zero", FENTRY_OTHER);
        assert_int_equal(mknod(unit_at(&u, "root/disk"), S_IFBLK | 0666, makedev(7, 0)), 0);
        unit_expect_kind(&u, "/disk", FENTRY_OTHER);
    }
    unit_expect_error(&u, "/dir/file/", ENOTDIR);
    unit_expect_error(&u, "/dir/file/more", ENOTDIR);
    unit_expect_error(&u, "/none", ENOENT);
    unit_expect_error(&u, "/none/none", ENOENT);
    close(s);
    unit_stop(&u);
}

static void sizes(struct ev_env *env)
{
    static const struct {
        const char *name;
        off_t size;
        bool in_memory;
    } rows[] = { /* h52 */
        {"0", 0, true},           {"1", 1, true},          {"4095", 4095, true},
        {"4096", 4096, true},     {"4097", 4097, true},    {"65535", 65535, true},
        {"65536", 65536, true},   {"65537", 65537, false}, {"2g", 1ll << 31, false},
        {"4g1", (1ll << 32) + 1, false},
    };
    struct unit u;
    unit_start(&u, env, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char path[64];
        snprintf(path, sizeof(path), "root/%s", rows[i].name);
        unit_write(&u, path, "");
        assert_int_equal(truncate(unit_at(&u, path), rows[i].size), 0);
        int fd = open(unit_at(&u, path), O_WRONLY | O_CLOEXEC);
        if (rows[i].size > 0)
            assert_int_equal(pwrite(fd, "Z", 1, rows[i].size - 1), 1);
        close(fd);
        struct fentry *e = unit_get(&u, path + 4);
        assert_int_equal(e->kind, FENTRY_FILE);
        assert_int_equal(e->size, rows[i].size);
        assert_int_equal(e->body != NULL, rows[i].in_memory);
        assert_int_equal(e->fd >= 0, !rows[i].in_memory);
        if (e->size > 0) {
            char c = 0;
            if (e->fd >= 0)
                assert_int_equal(pread(e->fd, &c, 1, rows[i].size - 1), 1);
            assert_int_equal(e->fd >= 0 ? c : e->body[e->size - 1], 'Z');
        }
        fentry_put(e);
    }
    assert_int_equal(unit_stats(&u).fds, 3);
    unit_stop(&u);
}

/* What each policy makes of each kind of link; 0: the file is served. */
static void links(struct ev_env *env)
{
    static const struct {
        const char *path;
        int beneath, follow, none;
    } rows[] = { /* h41 */
        {"/plain", 0, 0, 0},
        {"/inside", 0, 0, ELOOP},
        {"/inside-absolute", 0, 0, ELOOP},
        {"/out-and-in", 0, 0, ELOOP},
        {"/outside", EXDEV, 0, ELOOP},
        {"/outside-absolute", EXDEV, 0, ELOOP},
        {"/twin", EXDEV, 0, ELOOP},
        {"/outside-none", EXDEV, ENOENT, ELOOP},
        {"/dangling", ENOENT, ENOENT, ELOOP},
        {"/loop", ELOOP, ELOOP, ELOOP},
        {"/linkdir/file", 0, 0, ELOOP},
        {"/up/secret", EXDEV, 0, ELOOP},
        {"/slash/etc/passwd", EXDEV, 0, ELOOP},
        {"/dir/back", 0, 0, ELOOP},
        {"/chain40", 0, 0, ELOOP},
        {"/chain41", ELOOP, ELOOP, ELOOP},
        {"/magic", EXDEV, ELOOP, ELOOP},
    };
    struct unit u;
    char name[32], to[128];
    unit_start(&u, env, NULL);
    unit_write(&u, "root/plain", "ok");
    unit_write(&u, "root/dir/file", "ok");
    unit_write(&u, "secret", "canary");
    unit_write(&u, "root-twin/file", "canary");
    unit_link(&u, "plain", "root/inside");
    assert_true(snprintf(to, sizeof(to), "%s/plain", u.root) < (int)sizeof(to));
    unit_link(&u, to, "root/inside-absolute");
    unit_link(&u, "../root/plain", "root/out-and-in");
    unit_link(&u, "../secret", "root/outside");
    unit_link(&u, unit_at(&u, "secret"), "root/outside-absolute");
    unit_link(&u, "../root-twin/file", "root/twin");
    unit_link(&u, "../no-such-file", "root/outside-none");
    unit_link(&u, "nowhere", "root/dangling");
    unit_link(&u, "loop", "root/loop");
    unit_link(&u, "dir", "root/linkdir");
    unit_link(&u, "..", "root/up");
    unit_link(&u, "/", "root/slash");
    unit_link(&u, "../plain", "root/dir/back");
    unit_link(&u, "/proc/self/exe", "root/magic");
    unit_link(&u, "plain", "root/chain1");
    for (int i = 2; i <= 41; i++) {
        snprintf(name, sizeof(name), "root/chain%d", i);
        snprintf(to, sizeof(to), "chain%d", i - 1);
        unit_link(&u, to, name);
    }
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            int want[] = {rows[i].beneath, rows[i].follow, rows[i].none};
            for (u.links = FLINKS_BENEATH; u.links <= FLINKS_NONE; u.links++) {
                struct fentry *e = unit_get(&u, rows[i].path);
                int err = e->kind == FENTRY_ERROR ? e->err : 0;
                if (err != want[u.links])
                    fail_msg("%s, policy %d: %s", rows[i].path, u.links, strerror(err));
                if (err == 0 && u.links != FLINKS_FOLLOW)
                    assert_string_equal(unit_content(e), "ok");
                fentry_put(e);
            }
        }
    unit_stop(&u);
}

static void links_by_owner(struct ev_env *env)
{
    static const struct {
        const char *path;
        int err;
    } rows[] = {
        {"/plain", 0},        {"/mine", 0},      {"/theirs", ELOOP},      {"/their-dir/file", ELOOP},
        {"/good-dir/file", 0}, {"/chain", ELOOP}, {"/their-own", 0},       {"/dangling", ENOENT},
        {"/loop", ELOOP},     {"/outside", 0},   {"/through-dot", 0},     {"/none", ENOENT},
    };
    struct unit u;
    if (geteuid() != 0) /* only root can give files away */
        return;
    unit_start(&u, env, NULL);
    u.links = FLINKS_OWNER;
    unit_write(&u, "root/plain", "ok");
    unit_write(&u, "root/dir/file", "ok");
    unit_write(&u, "root/their-file", "ok");
    unit_write(&u, "shared", "ok");
    assert_int_equal(chown(unit_at(&u, "root/their-file"), 1234, 1234), 0);
    unit_link(&u, "plain", "root/mine");
    unit_link(&u, "plain", "root/theirs");
    unit_link(&u, "dir", "root/their-dir");
    unit_link(&u, "dir", "root/good-dir");
    unit_link(&u, "theirs", "root/chain");
    unit_link(&u, "their-file", "root/their-own");
    unit_link(&u, "nowhere", "root/dangling");
    unit_link(&u, "loop", "root/loop");
    unit_link(&u, "../shared", "root/outside");
    unit_link(&u, "./dir/../plain", "root/through-dot");
    const char *given[] = {"root/theirs", "root/their-dir", "root/their-own"};
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        assert_int_equal(lchown(unit_at(&u, given[i]), 1234, 1234), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fentry *e = unit_get(&u, rows[i].path);
        int err = e->kind == FENTRY_ERROR ? e->err : 0;
        if (err != rows[i].err)
            fail_msg("%s: %s", rows[i].path, strerror(err));
        fentry_put(e);
    }
    unit_stop(&u);
}

static void long_and_odd_names(struct ev_env *env)
{
    struct unit u;
    char path[PATH_MAX + 16];
    unit_start(&u, env, NULL);
    unit_write(&u, "root/a/b", "ok");
    memset(path, 'n', sizeof(path));
    path[0] = '/';
    path[NAME_MAX + 2] = '\0';
    unit_expect_error(&u, path, ENAMETOOLONG);
    unit_expect_error(&u, path, ENAMETOOLONG);
    path[NAME_MAX + 2] = 'n';
    path[PATH_MAX + 8] = '\0';
    unit_expect_error(&u, path, ENAMETOOLONG);
    unit_expect(&u, "//a///b", "ok");
    unit_expect_error(&u, "/\377\1\n", ENOENT);
    struct flookup l = {.root = str_z(u.root), .path = {"/a/b\0x", 6}};
    assert_int_equal(fcache_get(u.cache, &l), STATUS_OK);
    assert_int_equal(l.entry->err, ENOENT);
    fentry_put(l.entry);
    unit_stop(&u);
}

/* h50; root may read everything, so this takes another user's eyes (SQPOLL keeps its creator's). */
static void no_permission(struct ev_env *env)
{
    struct unit u;
    if (geteuid() != 0)
        return;
    unit_start(&u, env, NULL);
    assert_int_equal(chmod(u.top, 0755), 0);
    unit_write(&u, "root/secret", "canary");
    unit_write(&u, "root/dir/file", "canary");
    unit_write(&u, "root/hall/file", "ok");
    assert_int_equal(chmod(unit_at(&u, "root/secret"), 0), 0);
    assert_int_equal(chmod(unit_at(&u, "root/dir"), 0), 0);
    assert_int_equal(chmod(unit_at(&u, "root/hall"), 0711), 0); /* cannot be watched */
    assert_int_equal(seteuid(65534), 0);
    unit_expect_error(&u, "/secret", EACCES);
    unit_expect_error(&u, "/dir/file", EACCES);
    unit_expect_error(&u, "/dir/none", EACCES);
    unit_expect(&u, "/hall/file", "ok");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(unit_at(&u, "root/secret"), 0644), 0);
    unit_expect(&u, "/secret", "canary");
    unit_stop(&u);
}

/* h56: served, and a change through the other name is seen. */
static void hard_links(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "elsewhere", "one");
    assert_int_equal(link(unit_at(&u, "elsewhere"), unit_at(&u, "root/file")), 0);
    unit_expect_error(&u, "/none", ENOENT); /* the directory is known by now */
    unit_expect(&u, "/file", "one");
    unit_expect(&u, "/file", "one");
    assert_int_equal(unit_stats(&u).hits, 1);
    unit_write(&u, "elsewhere", "two");
    unit_expect(&u, "/file", "two");
    unit_stop(&u);
}

static void roots_that_are_not_there(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "plain", "x");
    char root[160];
    snprintf(root, sizeof(root), "%s/none", u.top);
    for (int i = 0; i < 2; i++) {
        unit_send(&u, root, "/x");
        struct fentry *e = unit_answer(&u);
        assert_int_equal(e->err, ENOENT);
        fentry_put(e);
    }
    snprintf(root, sizeof(root), "%s/plain", u.top);
    unit_send(&u, root, "/x");
    struct fentry *e = unit_answer(&u);
    assert_int_equal(e->err, ENOTDIR);
    fentry_put(e);
    unit_stop(&u);
}

static void validators(struct ev_env *env)
{
    static const struct {
        int64_t mtime;
        const char *date; /* NULL: now */
        bool young;
    } rows[] = { /* h55 */
        {0, "Thu, 01 Jan 1970 00:00:00 GMT", false},
        {-86400, "Wed, 31 Dec 1969 00:00:00 GMT", false},
        {784111777, "Sun, 06 Nov 1994 08:49:37 GMT", false},
        {253402300799, NULL, false}, /* 9999 */
        {4102444800, NULL, false},   /* 2100 */
    };
    struct unit u;
    char tags[ARRAY_LEN(rows)][64];
    unit_start(&u, env, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unit_write(&u, "root/file", "same");
        unit_touch(&u, "root/file", rows[i].mtime, 0);
        struct stat st;
        assert_int_equal(stat(unit_at(&u, "root/file"), &st), 0);
        if (st.st_mtim.tv_sec != rows[i].mtime) /* the file system knows no such time */
            continue;
        struct fentry *e = unit_get(&u, "/file");
        assert_int_equal(e->mtime_s, rows[i].mtime);
        assert_int_equal(e->young, rows[i].young);
        assert_int_equal(e->etag[0], '"');
        if (rows[i].date != NULL)
            assert_memory_equal(e->last_modified, rows[i].date, 29);
        else
            assert_null(memmem(e->last_modified, 29, " 9999", 5));
        assert_true(rows[i].date != NULL || memmem(e->last_modified, 29, " 2100", 5) == NULL);
        snprintf(tags[i], sizeof(tags[i]), "%.*s", e->etag_n, e->etag);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tags[i], tags[j]);
        fentry_put(e);
    }
    unit_stop(&u);
}

/* A young file gets a strong tag as soon as it is old enough, without being asked for by events. */
static void young_files_grow_up(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/file", "x");
    struct fentry *a = unit_get(&u, "/file");
    assert_true(a->young);
    fentry_put(a);
    ev_turn_for(env, 1050);
    struct fentry *b = unit_get(&u, "/file");
    assert_false(b->young);
    assert_int_equal(b->etag[0], '"');
    fentry_put(b);
    struct fentry *c = unit_get(&u, "/file");
    assert_int_equal(unit_stats(&u).loads, 2);
    assert_int_equal(unit_stats(&u).entries, 1); /* one took the other's place */
    fentry_put(c);
    unit_stop(&u);
}

static void bypassing(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/file", "x");
    for (int i = 0; i < 3; i++) {
        u.lookup = (struct flookup){.root = str_z(u.root), .path = STR("/file"), .bypass = true,
                                    .done = unit_looked_up};
        u.done = false;
        assert_int_equal(fcache_get(u.cache, &u.lookup), STATUS_AGAIN);
        struct fentry *e = unit_answer(&u);
        assert_int_equal(e->size, 1);
        assert_true(e->fd >= 0 && !e->cached && e->body == NULL);
        fentry_put(e);
    }
    assert_int_equal(unit_stats(&u).entries, 0);
    assert_int_equal(unit_stats(&u).fds, 0);
    unit_stop(&u);
}

static void switched_off(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    unit_conf(&conf);
    conf.max_entries = 0;
    unit_start(&u, env, &conf);
    unit_write(&u, "root/file", "one");
    unit_expect(&u, "/file", "one");
    unit_write(&u, "root/file", "two");
    unit_expect(&u, "/file", "two");
    assert_int_equal(unit_stats(&u).hits + unit_stats(&u).entries + unit_stats(&u).watches, 0);
    unit_stop(&u);
}

/* What the back end may answer at each step of a load; nothing of it stays. */
static void faults(struct ev_env *env)
{
    static const struct {
        const char *spec;
        int err;        /* of the lookup that meets it, 0: none */
    } rows[] = {
        /* In a cold cache: 1, 2 the root, 3, 4 the path (both again, with watches), 5 the file. */
        {"open:1:EIO", 0},            {"open:2:EIO", EIO},        {"open:3:EIO", 0},
        {"open:4:EIO", EIO},          {"open:5:EIO", EIO},        {"open:1:EINTR", 0},
        {"open:2:EINTR", 0},          {"open:3:EINTR", 0},        {"open:4:EAGAIN", 0},
        {"open:5:EINTR", 0},          {"open:3+:EAGAIN", EAGAIN}, {"open:2:EMFILE", EMFILE},
        {"open:4:ENFILE", ENFILE},    {"open:5:EMFILE", EMFILE},  {"open:5:ENOMEM", ENOMEM},
        {"open:5:ELOOP", 0},          {"read:1:EIO", EIO},        {"read:1:ESTALE", ESTALE},
        {"read:1:EINTR", 0},          {"read:1:EAGAIN", 0},       {"read:1:short:3", 0},
        {"read:1+:short:1", 0},       {"read:2:EIO", 0},          {"open:1:dup", 0},
        {"open:3:dup,open:5:dup", 0}, {"read:1:dup", 0},          {"poll:1:EIO", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct unit u;
        char why[128];
        enum log_level level = log_main.level;
        log_main.level = LEVEL_EMERG;
        env->loop.fault = ev_fault_parse(rows[i].spec, why, sizeof(why));
        assert_non_null(env->loop.fault);
        unit_start(&u, env, NULL);
        unit_write(&u, "root/f", "the whole of it");
        struct fentry *e = unit_get(&u, "/f");
        int err = e->kind == FENTRY_ERROR ? e->err : 0;
        if (err != rows[i].err)
            fail_msg("%s: %s", rows[i].spec, strerror(err));
        if (err == 0)
            assert_string_equal(unit_content(e), "the whole of it");
        else
            assert_false(e->cached);
        fentry_put(e);
        ev_fault_free(env->loop.fault);
        env->loop.fault = NULL;
        unit_expect(&u, "/f", "the whole of it");
        unit_write(&u, "root/f", "another");
        unit_expect(&u, "/f", "another");
        unit_stop(&u);
        log_main.level = level;
    }
}

/* h49: overwritten between two reads of its body; what is answered is of one state. */
static void changed_while_read(struct ev_env *env)
{
    struct unit u;
    char why[128];
    unsigned mixed = 0;
    unit_start(&u, env, NULL);
    for (int turns = 0; turns < 12; turns++) {
        unit_write(&u, "root/f", "the whole of it");
        unit_touch(&u, "root/f", 1000000000, 0);
        ev_turn_for(env, 5);
        env->loop.fault = ev_fault_parse("read:1:short:3", why, sizeof(why));
        u.done = false;
        u.lookup = (struct flookup){
            .root = str_z(u.root), .path = STR("/f"), .done = unit_looked_up};
        assert_int_equal(fcache_get(u.cache, &u.lookup), STATUS_AGAIN);
        for (int i = 0; i < turns && !u.done; i++)
            loop_turn(&env->loop, 0);
        unit_write(&u, "root/f", "THE WHOLE OF IT");
        struct fentry *e = unit_answer(&u);
        const char *text = unit_content(e);
        mixed += strcmp(text, "the whole of it") != 0 && strcmp(text, "THE WHOLE OF IT") != 0;
        fentry_put(e);
        ev_fault_free(env->loop.fault);
        env->loop.fault = NULL;
        unit_expect(&u, "/f", "THE WHOLE OF IT");
    }
    assert_int_equal(mixed, 0);
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "files_and_hits", .run = files_and_hits},
        {.name = "kinds", .run = kinds},
        {.name = "sizes", .run = sizes},
        {.name = "links", .run = links},
        {.name = "links_by_owner", .run = links_by_owner},
        {.name = "long_and_odd_names", .run = long_and_odd_names},
        {.name = "no_permission", .run = no_permission, .settings = EV_RING | EV_EP},
        {.name = "hard_links", .run = hard_links},
        {.name = "roots_that_are_not_there", .run = roots_that_are_not_there},
        {.name = "validators", .run = validators},
        {.name = "young_files_grow_up", .run = young_files_grow_up},
        {.name = "bypassing", .run = bypassing},
        {.name = "switched_off", .run = switched_off},
        {.name = "faults", .run = faults},
        {.name = "changed_while_read", .run = changed_while_read},
    };
    return ev_run_cases("fload", cases, ARRAY_LEN(cases));
}
