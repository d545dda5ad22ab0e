/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the file cache share: a cache on a loop with a directory of its own, files to
 * put there, and "requests": a byte that is sent through a socket after a change was made, and
 * looked up from inside the completion of its receive, as a server does.
 */
#ifndef SLUICE_TESTS_UNIT_CACHE_UNIT_H
#define SLUICE_TESTS_UNIT_CACHE_UNIT_H

#include "cache/fcache.h"
#include "lib/ev_harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

struct unit {
    struct ev_env *env;
    struct fcache *cache;
    struct fcache_conf conf;
    char top[64];           /* the test's directory */
    char root[128];         /* the document root */
    unsigned fds;           /* open before the cache was made */
    int pair[2];
    struct ev_op recv;
    struct flookup lookup;
    struct fentry *got;
    bool done;
    uint8_t links;
};

UNUSED static void unit_conf(struct fcache_conf *conf)
{
    fcache_conf_init(conf);
    conf->valid_ms = 600000; /* so that nothing is seen by the passing of time */
    conf->valid_blind_ms = 600000;
}

UNUSED static void unit_looked_up(struct flookup *l)
{
    struct unit *u = container_of(l, struct unit, lookup);
    u->got = l->entry;
    u->done = true;
}

UNUSED static void unit_on_recv(struct ev_op *o)
{
    struct unit *u = o->arg;
    if (o->res <= 0 || o->bytes[o->n - 1] != 'x') /* "x" is a request, anything else is not yet */
        return;
    u->lookup.done = unit_looked_up;
    if (fcache_get(u->cache, &u->lookup) == STATUS_OK)
        unit_looked_up(&u->lookup);
}

UNUSED static void unit_start(struct unit *u, struct ev_env *env, const struct fcache_conf *conf)
{
    *u = (struct unit){.env = env};
    if (conf != NULL)
        u->conf = *conf;
    else
        unit_conf(&u->conf);
    u->fds = ev_open_fds();
    ev_tcp_pair(u->pair);
    snprintf(u->top, sizeof(u->top), "%s/sluice-cache-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(u->top));
    snprintf(u->root, sizeof(u->root), "%s/root", u->top);
    assert_int_equal(mkdir(u->root, 0755), 0);
    u->cache = fcache_new(&env->loop, &u->conf, &log_process);
    assert_non_null(u->cache);
    ev_op_init(env, &u->recv);
    u->recv.hook = unit_on_recv;
    u->recv.arg = u;
    op_recv(&env->loop, &u->recv.op, u->pair[0]);
}

UNUSED static int unit_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* Ends the cache and checks that no descriptor is left over. */
UNUSED static void unit_stop(struct unit *u)
{
    fcache_delete(u->cache);
    ev_cancel_and_wait(u->env, &u->recv);
    ev_op_fini(&u->recv);
    loop_close_fd(&u->env->loop, u->pair[0]);
    close(u->pair[1]);
    EV_UNTIL(u->env, ev_open_fds() == u->fds);
    assert_int_equal(nftw(u->top, unit_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* top "/" name, in one of four buffers used in turn; names that begin with '/' are as they are. */
UNUSED static const char *unit_at(const struct unit *u, const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *to = paths[turn++ % 4];
    snprintf(to, PATH_MAX, "%s%s%s", name[0] == '/' ? "" : u->top, name[0] == '/' ? "" : "/", name);
    return to;
}

/* Writes a file in place, making directories on the way. */
UNUSED static void unit_write(const struct unit *u, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", unit_at(u, name));
    for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

UNUSED static void unit_mkdir(const struct unit *u, const char *name)
{
    assert_int_equal(mkdir(unit_at(u, name), 0755), 0);
}

UNUSED static void unit_link(const struct unit *u, const char *target, const char *name)
{
    assert_int_equal(symlink(target, unit_at(u, name)), 0);
}

/* rename(2) over whatever `to` is. */
UNUSED static void unit_rename(const struct unit *u, const char *from, const char *to)
{
    assert_int_equal(rename(unit_at(u, from), unit_at(u, to)), 0);
}

/* Sets the time of last modification, as `touch -d` does. */
UNUSED static void unit_touch(const struct unit *u, const char *name, int64_t s, long ns)
{
    struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = s, .tv_nsec = ns}};
    assert_int_equal(utimensat(AT_FDCWD, unit_at(u, name), t, AT_SYMLINK_NOFOLLOW), 0);
}

/* Sends a request; unit_answer() gives the entry it gets, referenced. */
UNUSED static void unit_send(struct unit *u, const char *root, const char *path)
{
    u->lookup = (struct flookup){.root = str_z(root), .path = str_z(path), .links = u->links};
    u->done = false;
    u->got = NULL;
    ev_put(u->pair[1], "x", 1);
}

UNUSED static struct fentry *unit_answer(struct unit *u)
{
    EV_UNTIL(u->env, u->done);
    assert_non_null(u->got);
    return u->got;
}

UNUSED static struct fentry *unit_get(struct unit *u, const char *path)
{
    unit_send(u, u->root, path);
    return unit_answer(u);
}

/* All of an entry's content, from memory or its descriptor. */
UNUSED static const char *unit_content(const struct fentry *e)
{
    static char text[4096];
    assert_int_equal(e->kind, FENTRY_FILE);
    assert_true(e->size < sizeof(text));
    if (e->body != NULL)
        memcpy(text, e->body, e->size);
    else
        assert_int_equal(pread(e->fd, text, sizeof(text), 0), e->size);
    text[e->size] = '\0';
    return text;
}

/* A request for the path finds a file with this text. */
#define unit_expect(u, path, text)                                     \
    do {                                                               \
        struct fentry *e_ = unit_get((u), (path));                     \
        if (e_->kind == FENTRY_ERROR)                                  \
            fail_msg("%s: %s", (path), strerror(e_->err));             \
        assert_string_equal(unit_content(e_), (text));                 \
        fentry_put(e_);                                                \
    } while (0)

/* A request for the path fails with this errno. */
#define unit_expect_error(u, path, error)                              \
    do {                                                               \
        struct fentry *e_ = unit_get((u), (path));                     \
        assert_int_equal(e_->kind, FENTRY_ERROR);                      \
        if (e_->err != (error))                                        \
            fail_msg("%s: %s", (path), strerror(e_->err));             \
        fentry_put(e_);                                                \
    } while (0)

#define unit_expect_kind(u, path, what)                                \
    do {                                                               \
        struct fentry *e_ = unit_get((u), (path));                     \
        if (e_->kind == FENTRY_ERROR && (what) != FENTRY_ERROR)        \
            fail_msg("%s: %s", (path), strerror(e_->err));             \
        assert_int_equal(e_->kind, (what));                            \
        assert_int_equal(e_->fd, -1);                                  \
        fentry_put(e_);                                                \
    } while (0)

UNUSED static struct fcache_stats unit_stats(const struct unit *u)
{
    struct fcache_stats s;
    fcache_stats(u->cache, &s);
    return s;
}

#endif
