/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes: what was done before a request is sent is seen by it (demands.md D1, hostile.md 42, 47
 * to 49, 54), on every back end; and what happens when events are lost or not to be had.
 */
#include "unit/cache/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>

/* Each row changes something; the request is sent at once. */
enum change {
    WRITE,      /* a: written in place with b */
    RENAME,     /* a to b, over what is there */
    CREATE,     /* a with content b */
    REMOVE,     /* a */
    CHMOD,      /* a to mode `arg` */
    TRUNCATE,   /* a to `arg` bytes */
    APPEND,     /* b to a */
    LINK,       /* a symbolic link: target a, name b, made apart and renamed over */
    MKDIR,      /* a */
    TOUCH,      /* a's time */
    MAPPED      /* first byte of a through a mapping, then closed */
};

struct change_row {
    const char *name;
    const char *path;   /* asked for before and after */
    int before;         /* errno, 0: a file with the text "old" */
    enum change change;
    const char *a, *b;
    int arg;
    const char *after;  /* NULL: `after_err` */
    int after_err;
};

static const struct change_row change_rows[] = {
    {"h49 overwrite", "/f", 0, WRITE, "root/f", "new", 0, "new", 0},
    {"h49 overwrite, another size", "/f", 0, WRITE, "root/f", "longer", 0, "longer", 0},
    {"h47 rename over it", "/f", 0, RENAME, "new", "root/f", 0, "new", 0},
    {"rename over it in one directory", "/f", 0, RENAME, "root/other", "root/f", 0, "other", 0},
    {"rename it away", "/f", 0, RENAME, "root/f", "root/g", 0, NULL, ENOENT},
    {"h48 delete", "/f", 0, REMOVE, "root/f", NULL, 0, NULL, ENOENT},
    {"truncate to nothing", "/f", 0, TRUNCATE, "root/f", NULL, 0, "", 0},
    {"truncate by one", "/f", 0, TRUNCATE, "root/f", NULL, 2, "ol", 0},
    {"append", "/f", 0, APPEND, "root/f", "er", 0, "older", 0},
    {"through a mapping, closed", "/f", 0, MAPPED, "root/f", "O", 0, "Old", 0},
    {"time set", "/f", 0, TOUCH, "root/f", NULL, 0, "old", 0},
    {"create", "/none", ENOENT, CREATE, "root/none", "new", 0, "new", 0},
    {"move in", "/none", ENOENT, RENAME, "new", "root/none", 0, "new", 0},
    {"create in a known directory", "/d/none", ENOENT, CREATE, "root/d/none", "new", 0, "new", 0},
    {"directory appears", "/nodir/f", ENOENT, RENAME, "spare", "root/nodir", 0, "spare", 0},
    {"deep below one that appears", "/nodir/sub/f", ENOENT, RENAME, "spare", "root/nodir", 0,
     "deep", 0},
    {"directory in the file's place", "/f/f", ENOTDIR, REMOVE, "root/f", NULL, 0, NULL, ENOENT},
    {"overwrite in a directory", "/d/e/f", 0, WRITE, "root/d/e/f", "new", 0, "new", 0},
    {"directory renamed", "/d/e/f", 0, RENAME, "root/d/e", "root/d/x", 0, NULL, ENOENT},
    {"directory above renamed", "/d/e/f", 0, RENAME, "root/d", "root/x", 0, NULL, ENOENT},
    {"symlinked directory swapped", "/dl/f", 0, LINK, "spare-in", "root/dl", 0, "spare", 0},
    {"what a link to a directory holds", "/dl/f", 0, WRITE, "root/d/e/f", "new", 0, "new", 0},
    {"the directory a link leads to moved", "/dl/f", 0, RENAME, "root/d", "root/x", 0, NULL,
     ENOENT},
    {"link to a file swapped", "/fl", 0, LINK, "other", "root/fl", 0, "other", 0},
    {"link's target overwritten", "/fl", 0, WRITE, "root/f", "new", 0, "new", 0},
    {"link's target replaced", "/fl", 0, RENAME, "new", "root/f", 0, "new", 0},
    {"link's target removed", "/fl", 0, REMOVE, "root/f", NULL, 0, NULL, ENOENT},
    {"link in the middle of a chain", "/chain", 0, LINK, "other", "root/fl", 0, "other", 0},
    {"link to another directory's file", "/far", 0, WRITE, "root/d/e/f", "new", 0, "new", 0},
    {"target of a dangling link appears", "/dangling", ENOENT, CREATE, "root/nowhere", "new", 0,
     "new", 0},
    {"link that comes to lead outside", "/fl", 0, LINK, "../new", "root/fl", 0, NULL, EXDEV},
    {"directory link that comes to lead outside", "/dl/f", 0, LINK, "../spare", "root/dl", 0, NULL,
     EXDEV},
    {"root moved away", "/f", 0, RENAME, "root", "moved", 0, NULL, ENOENT},
    {"root replaced", "/f", 0, RENAME, "root", "moved", 1, "spare", 0},
};

static void change_files(const struct unit *u)
{
    unit_write(u, "root/f", "old");
    unit_write(u, "root/other", "other");
    unit_write(u, "root/d/e/f", "old");
    unit_write(u, "new", "new");
    unit_write(u, "spare/f", "spare");
    unit_write(u, "spare/sub/f", "deep");
    unit_write(u, "root/spare-in/f", "spare");
    unit_link(u, "d/e", "root/dl");
    unit_link(u, "f", "root/fl");
    unit_link(u, "fl", "root/chain");
    unit_link(u, "d/e/f", "root/far");
    unit_link(u, "nowhere", "root/dangling");
}

static void change_append(const struct unit *u, const char *name, const char *text)
{
    int fd = open(unit_at(u, name), O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void change_mapped(const struct unit *u, const char *name, char c)
{
    int fd = open(unit_at(u, name), O_RDWR | O_CLOEXEC);
    char *p = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    *p = c;
    munmap(p, 1);
    close(fd);
}

static void change_do(const struct unit *u, const struct change_row *r)
{
    switch (r->change) {
    case WRITE:
    case CREATE:
        unit_write(u, r->a, r->b);
        return;
    case RENAME:
        unit_rename(u, r->a, r->b);
        if (r->arg != 0)
            unit_rename(u, "spare", r->a);
        return;
    case REMOVE:
        assert_int_equal(remove(unit_at(u, r->a)), 0);
        return;
    case CHMOD:
        assert_int_equal(chmod(unit_at(u, r->a), (mode_t)r->arg), 0);
        return;
    case TRUNCATE:
        assert_int_equal(truncate(unit_at(u, r->a), r->arg), 0);
        return;
    case APPEND:
        change_append(u, r->a, r->b);
        return;
    case LINK:
        unit_link(u, r->a, "link-to-be");
        unit_rename(u, "link-to-be", r->b);
        return;
    case MKDIR:
        unit_mkdir(u, r->a);
        return;
    case TOUCH:
        unit_touch(u, r->a, 1000000000, 0);
        return;
    case MAPPED:
        change_mapped(u, r->a, r->b[0]);
        return;
    }
}

static void change_one(struct ev_env *env, const struct change_row *r)
{
    struct unit u;
    unit_start(&u, env, NULL);
    change_files(&u);
    for (int i = 0; i < 3; i++) /* loaded, found, found */
        if (r->before == 0)
            unit_expect(&u, r->path, "old");
        else
            unit_expect_error(&u, r->path, r->before);
    if (unit_stats(&u).hits < 2)
        fail_msg("%s: not kept before the change", r->name);
    struct fentry *before = unit_get(&u, r->path);
    change_do(&u, r);
    struct fentry *after = unit_get(&u, r->path);
    if (after->kind == FENTRY_ERROR && after->err != r->after_err)
        fail_msg("%s: %s", r->name, strerror(after->err));
    if (after->kind != FENTRY_ERROR && r->after == NULL)
        fail_msg("%s: still there", r->name);
    if (r->after != NULL && strcmp(unit_content(after), r->after) != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", r->name, unit_content(after), r->after);
    if (r->change == TOUCH)
        assert_int_equal(after->mtime_s, 1000000000);
    if (r->before == 0) {
        assert_string_equal(unit_content(before), "old"); /* of one state, whatever happens */
        assert_false(before->cached);
    }
    assert_ptr_not_equal(before, after);
    fentry_put(before);
    fentry_put(after);
    unit_stop(&u);
}

static void changes(struct ev_env *env)
{
    for (size_t i = 0; i < ARRAY_LEN(change_rows); i++)
        change_one(env, &change_rows[i]);
}

/* Permissions of directories decide as well. */
static void permissions(struct ev_env *env)
{
    struct unit u;
    if (geteuid() != 0)
        return;
    unit_start(&u, env, NULL);
    change_files(&u);
    assert_int_equal(chmod(u.top, 0755), 0);
    assert_int_equal(seteuid(65534), 0);
    unit_expect(&u, "/d/e/f", "old");
    unit_expect(&u, "/f", "old");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(unit_at(&u, "root/d"), 0600), 0);
    assert_int_equal(chmod(unit_at(&u, "root/f"), 0), 0);
    assert_int_equal(seteuid(65534), 0);
    unit_expect_error(&u, "/d/e/f", EACCES);
    unit_expect_error(&u, "/f", EACCES);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(unit_at(&u, "root/d"), 0755), 0);
    assert_int_equal(chmod(unit_at(&u, "root/f"), 0644), 0);
    assert_int_equal(seteuid(65534), 0);
    unit_expect(&u, "/d/e/f", "old");
    unit_expect(&u, "/f", "old");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(u.root, 0), 0); /* the root itself */
    assert_int_equal(seteuid(65534), 0);
    unit_expect_error(&u, "/d/e/f", EACCES);
    unit_expect_error(&u, "/f", EACCES);
    assert_int_equal(seteuid(0), 0);
    unit_stop(&u);
}

/* Nothing but what a change concerns is loaded again. */
static void only_what_changed(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    change_files(&u);
    const char *paths[] = {"/f", "/other", "/d/e/f", "/nothing", "/d/e/nothing"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        fentry_put(unit_get(&u, paths[i]));
    uint64_t loads = unit_stats(&u).loads;
    unit_write(&u, "root/d/e/new", "x");
    unit_write(&u, "root/new", "x");
    unit_write(&u, "unrelated", "x");
    unit_write(&u, "root/other", "x");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        fentry_put(unit_get(&u, paths[i]));
    assert_int_equal(unit_stats(&u).loads, loads + 1);
    unit_stop(&u);
}

/* A directory's own attributes say nothing about its files: looked at again, not read again. */
static void unchanged_files_are_kept(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/d/f", "x");
    unit_touch(&u, "root/d/f", 1000000000, 0);
    ev_turn_for(env, 1050); /* until equal times prove something */
    struct fentry *a = unit_get(&u, "/d/f");
    unit_touch(&u, "root/d", 1000000000, 0);
    struct fentry *b = unit_get(&u, "/d/f");
    assert_ptr_equal(a, b);
    assert_int_equal(unit_stats(&u).rechecked, 1);
    assert_true(b->cached);
    fentry_put(b);
    assert_int_equal(chmod(unit_at(&u, "root/d/f"), 0600), 0);
    b = unit_get(&u, "/d/f");
    assert_ptr_not_equal(a, b);
    assert_int_equal(b->mode & 0777, 0600);
    fentry_put(a);
    fentry_put(b);
    unit_write(&u, "root/d/f", "y"); /* the watches moved along with the kept entry */
    unit_expect(&u, "/d/f", "y");
    unit_stop(&u);
}

/* A change between the request that started a load and one that joins it. */
static void joining_after_a_change(struct ev_env *env)
{
    struct unit u;
    struct fentry *first;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "old");
    unit_write(&u, "new", "new");
    unit_expect_error(&u, "/x", ENOENT); /* the directory is known */
    struct unit other = {.env = env};
    for (int i = 0; i < 50; i++) {
        other.done = false;
        other.lookup = (struct flookup){
            .root = str_z(u.root), .path = STR("/f"), .done = unit_looked_up};
        unit_write(&u, "root/f", "old");
        while (fcache_get(u.cache, &other.lookup) == STATUS_OK) { /* until the event is in */
            fentry_put(other.lookup.entry);
            loop_turn(&env->loop, 0);
        }
        for (int turns = 0; turns < i % 5; turns++) /* at each step of the load */
            loop_turn(&env->loop, 0);
        unit_write(&u, "new", "new");
        unit_rename(&u, "new", "root/f");
        unit_expect(&u, "/f", "new");
        EV_UNTIL(env, other.done);
        first = other.got;
        assert_true(strcmp(unit_content(first), "old") == 0 ||
                    strcmp(unit_content(first), "new") == 0);
        fentry_put(first);
        unit_expect(&u, "/f", "new");
    }
    unit_stop(&u);
}

/*
 * A change between two pieces of what a connection sends, all before the loop looks. (With SQPOLL
 * the pieces are received while the turn runs, and either answer is right.)
 */
static void change_in_the_middle(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    for (int i = 0; i < 20; i++) {
        unit_write(&u, "root/f", "old");
        unit_expect(&u, "/f", "old");
        unit_expect(&u, "/f", "old");
        ev_put(u.pair[1], "-", 1);
        unit_write(&u, "root/f", "new");
        unit_expect(&u, "/f", "new");
    }
    unit_stop(&u);
}

static void lost_events(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "old");
    unit_write(&u, "root/d/f", "old");
    unit_expect(&u, "/f", "old");
    unit_expect(&u, "/d/f", "old");
    unit_expect_error(&u, "/none", ENOENT);
    int max = 16384;
    FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
    if (f != NULL) {
        assert_int_equal(fscanf(f, "%d", &max), 1);
        fclose(f);
    }
    for (int i = 0; i < max / 2 + 10; i++) { /* no two alike in a row: they would be joined */
        unit_touch(&u, "root/f", i, 0);
        unit_touch(&u, "root/d", i, 0);
        if (i == max / 2)
            unit_write(&u, "root/f", "lost");
    }
    unit_write(&u, "root/f", "new");
    unit_write(&u, "root/none", "new");
    unit_rename(&u, "root/d", "root/e");
    unit_write(&u, "root/d/f", "new");
    unit_expect(&u, "/f", "new");
    unit_expect(&u, "/none", "new");
    unit_expect(&u, "/d/f", "new");
    unit_expect(&u, "/d/f", "new");
    unit_write(&u, "root/d/f", "newer"); /* and events work again */
    unit_expect(&u, "/d/f", "newer");
    unit_stop(&u);
}

/* Without events the short time limit holds, and no watch is made. */
static void without_events(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    unit_conf(&conf);
    conf.events = false;
    conf.valid_blind_ms = 100;
    unit_start(&u, env, &conf);
    unit_write(&u, "root/f", "old");
    unit_expect(&u, "/f", "old");
    unit_expect_error(&u, "/none", ENOENT);
    assert_int_equal(unit_stats(&u).watches, 0);
    unit_write(&u, "root/f", "new");
    unit_write(&u, "root/none", "new");
    unit_expect(&u, "/f", "old"); /* that is what it means */
    ev_turn_for(env, 110);
    unit_expect(&u, "/f", "new");
    unit_expect(&u, "/none", "new");
    unit_stop(&u);
}

/* The user has no inotify instance left: said once, and the short time limit holds. */
static void no_inotify_to_be_had(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    int fds[1024], n = 0;
    enum log_level level = log_main.level;
    if (geteuid() != 0)
        return;
    unit_conf(&conf);
    unit_start(&u, env, &conf);
    struct fcache *with_events = u.cache;
    conf.valid_blind_ms = 50;
    assert_int_equal(seteuid(65533), 0); /* one who has none yet */
    while (n < (int)ARRAY_LEN(fds) && (fds[n] = inotify_init1(IN_CLOEXEC)) >= 0)
        n++;
    log_main.level = LEVEL_EMERG;
    u.cache = fcache_new(&env->loop, &conf, &log_process);
    log_main.level = level;
    assert_int_equal(seteuid(0), 0);
    if (n < (int)ARRAY_LEN(fds)) {
        unit_write(&u, "root/f", "old");
        unit_expect(&u, "/f", "old");
        assert_int_equal(unit_stats(&u).watches, 0);
        unit_write(&u, "root/f", "new");
        ev_turn_for(env, 60);
        unit_expect(&u, "/f", "new");
    }
    while (n > 0)
        close(fds[--n]);
    fcache_delete(u.cache);
    u.cache = with_events;
    unit_stop(&u);
}

/* h42, h47: replaced in a tight loop; whatever is seen is whole, and the last state is found. */
struct storm {
    const struct unit *u;
    atomic_int stop;
    unsigned count;
};

static void *storm_run(void *arg)
{
    struct storm *s = arg;
    char text[3001];
    while (!atomic_load(&s->stop)) {
        memset(text, 'a' + (int)(s->count % 26), sizeof(text) - 1);
        text[1000 + s->count % 2000] = '\0';
        unit_write(s->u, "fresh", text);
        unit_rename(s->u, "fresh", "root/f");
        if (s->count % 3 == 0) {
            unit_link(s->u, s->count % 2 == 0 ? "one" : "../outside", "swap");
            unit_rename(s->u, "swap", "root/dl");
        }
        s->count++;
    }
    return NULL;
}

static void storms(struct ev_env *env)
{
    struct unit u;
    struct storm s = {.u = &u};
    pthread_t thread;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "a");
    unit_write(&u, "root/one/x", "inside");
    unit_write(&u, "outside/x", "canary");
    unit_link(&u, "one", "root/dl");
    assert_int_equal(pthread_create(&thread, NULL, storm_run, &s), 0);
    uint64_t end = ev_now_ms() + 400;
    while (ev_now_ms() < end) {
        struct fentry *e = unit_get(&u, "/f");
        const char *text = unit_content(e);
        for (size_t i = 1; i < e->size; i++)
            assert_int_equal(text[i], text[0]);
        fentry_put(e);
        e = unit_get(&u, "/dl/x");
        if (e->kind == FENTRY_FILE)
            assert_string_equal(unit_content(e), "inside");
        else
            assert_int_equal(e->err, EXDEV);
        fentry_put(e);
    }
    atomic_store(&s.stop, 1);
    pthread_join(thread, NULL);
    assert_true(s.count > 10);
    unit_write(&u, "root/f", "last");
    unit_expect(&u, "/f", "last");
    unit_stop(&u);
}

/* Lower layers of an overlay change without events: the short limit; the upper one is watched. */
static void overlays(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    char options[512];
    unit_conf(&conf);
    conf.valid_blind_ms = 150;
    unit_start(&u, env, &conf);
    unit_mkdir(&u, "upper");
    unit_mkdir(&u, "work");
    unit_write(&u, "lower/f", "old");
    unit_write(&u, "lower/g", "old");
    unit_write(&u, "root/plain", "old");
    unit_mkdir(&u, "root/m");
    snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", u.top,
             u.top, u.top);
    if (mount("overlay", unit_at(&u, "root/m"), "overlay", 0, options) == 0) {
        unit_expect(&u, "/m/f", "old");
        unit_expect(&u, "/m/g", "old");
        unit_expect_error(&u, "/m/none", ENOENT);
        unit_expect(&u, "/plain", "old");
        unit_write(&u, "root/m/f", "new"); /* through the overlay: an event */
        unit_expect(&u, "/m/f", "new");
        ev_turn_for(env, 1050); /* so that times tell */
        unit_expect_error(&u, "/m/none", ENOENT);
        uint64_t loads = unit_stats(&u).loads;
        ev_turn_for(env, 160);
        unit_expect_error(&u, "/m/none", ENOENT);
        assert_int_equal(unit_stats(&u).loads, loads + 1); /* absence is not trusted either */
        unit_expect(&u, "/m/g", "old");
        unit_write(&u, "lower/g", "new!"); /* behind its back */
        ev_turn_for(env, 160);
        unit_expect(&u, "/m/g", "new!");
        ev_turn_for(env, 20);
        assert_int_equal(umount2(unit_at(&u, "root/m"), MNT_DETACH), 0);
    }
    unit_stop(&u);
}

/* h54: a file system that is unmounted under the cache. */
static void unmounting(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    unit_mkdir(&u, "root/m");
    if (mount("none", unit_at(&u, "root/m"), "tmpfs", 0, NULL) == 0) {
        unit_write(&u, "root/m/f", "mounted");
        unit_link(&u, "m/f", "root/link");
        unit_expect(&u, "/m/f", "mounted");
        unit_expect(&u, "/link", "mounted");
        ev_turn_for(env, 5); /* closes are carried out */
        assert_int_equal(umount2(unit_at(&u, "root/m"), 0), 0); /* nothing of ours holds it */
        unit_expect_error(&u, "/m/f", ENOENT);
        unit_expect_error(&u, "/link", ENOENT);
    }
    unit_stop(&u);
}

/* Nothing is said when one is mounted: the time limit finds it, and does not trust the watches. */
static void mounting(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    unit_conf(&conf);
    conf.valid_ms = 1500;
    conf.valid_blind_ms = 100;
    unit_start(&u, env, &conf);
    unit_write(&u, "root/m/f", "under");
    unit_touch(&u, "root/m/f", 1000000000, 0);
    unit_expect(&u, "/m/f", "under");
    if (mount("none", unit_at(&u, "root/m"), "tmpfs", 0, NULL) == 0) {
        unit_write(&u, "root/m/f", "over");
        unit_touch(&u, "root/m/f", 1000000000, 0);
        ev_turn_for(env, 1510);
        unit_expect(&u, "/m/f", "over");
        unit_write(&u, "root/m/f", "changed");
        ev_turn_for(env, 110);
        unit_expect(&u, "/m/f", "changed");
        ev_turn_for(env, 5);
        assert_int_equal(umount2(unit_at(&u, "root/m"), MNT_DETACH), 0);
    }
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "changes", .run = changes},
        {.name = "permissions", .run = permissions, .settings = EV_RING | EV_EP},
        {.name = "only_what_changed", .run = only_what_changed},
        {.name = "unchanged_files_are_kept", .run = unchanged_files_are_kept},
        {.name = "joining_after_a_change", .run = joining_after_a_change},
        {.name = "change_in_the_middle", .run = change_in_the_middle, .settings = EV_RING | EV_EP},
        {.name = "lost_events", .run = lost_events},
        {.name = "without_events", .run = without_events},
        {.name = "no_inotify_to_be_had", .run = no_inotify_to_be_had},
        {.name = "storms", .run = storms},
        {.name = "overlays", .run = overlays},
        {.name = "mounting", .run = mounting, .settings = EV_RING | EV_EP},
        {.name = "unmounting", .run = unmounting},
    };
    return ev_run_cases("fwatch", cases, ARRAY_LEN(cases));
}
