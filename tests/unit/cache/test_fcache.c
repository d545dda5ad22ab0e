/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache as a whole: coalescing, bounds, eviction under a scan, expiry, cancelling, its end,
 * and running out of descriptors (hostile.md 53, issue 5.1).
 */
#include "unit/cache/unit.h"

#include <sys/resource.h>

/* Lookups made directly, all of them answered before it goes on. */
#define ASKED_MAX 64
struct asked {
    struct flookup l;
    unsigned done;
};

static unsigned asked_open;

static void asked_done(struct flookup *l)
{
    struct asked *a = container_of(l, struct asked, l);
    a->done++;
    asked_open--;
}

static void ask(struct unit *u, struct asked *a, const char *path)
{
    *a = (struct asked){.l = {.root = str_z(u->root), .path = str_z(path), .done = asked_done}};
    asked_open++;
    enum status st = fcache_get(u->cache, &a->l);
    assert_int_equal(a->done, 0); /* never from inside */
    if (st == STATUS_OK)
        asked_open--;
    else
        assert_int_equal(st, STATUS_AGAIN);
}

static struct fentry *get(struct unit *u, const char *path)
{
    struct asked a;
    loop_turn(&u->env->loop, 0); /* events of what the test has just written */
    ask(u, &a, path);
    EV_UNTIL(u->env, asked_open == 0);
    assert_non_null(a.l.entry);
    return a.l.entry;
}

static void coalescing(struct ev_env *env)
{
    struct unit u;
    struct asked asked[ASKED_MAX];
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "x");
    asked_open = 0;
    for (int i = 0; i < ASKED_MAX; i++)
        ask(&u, &asked[i], "/f");
    assert_int_equal(asked_open, ASKED_MAX);
    EV_UNTIL(env, asked_open == 0);
    for (int i = 0; i < ASKED_MAX; i++) {
        assert_int_equal(asked[i].done, 1);
        assert_ptr_equal(asked[i].l.entry, asked[0].l.entry);
    }
    assert_int_equal(asked[0].l.entry->refs, ASKED_MAX + 1);
    for (int i = 0; i < ASKED_MAX; i++)
        fentry_put(asked[i].l.entry);
    struct fcache_stats s = unit_stats(&u);
    assert_int_equal(s.loads, 1);
    assert_int_equal(s.coalesced, ASKED_MAX - 1);
    assert_int_equal(s.misses, ASKED_MAX);
    unit_stop(&u);
}

static void cancelling(struct ev_env *env)
{
    struct unit u;
    struct asked a, b, never = {.done = 0};
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "x");
    asked_open = 0;
    for (int turns = 0; turns < 6; turns++) {
        char path[16];
        snprintf(path, sizeof(path), "/f%d", turns);
        ask(&u, &a, path);
        ask(&u, &b, path);
        for (int i = 0; i < turns; i++)
            loop_turn(&env->loop, 0);
        if (a.done == 0) {
            fcache_cancel(u.cache, &a.l);
            asked_open--;
        }
        fcache_cancel(u.cache, &a.l);
        EV_UNTIL(env, asked_open == 0);
        assert_int_equal(b.done, 1);
        fentry_put(b.l.entry);
        if (a.done != 0)
            fentry_put(a.l.entry);
    }
    fcache_cancel(u.cache, &never.l);
    ask(&u, &a, "/f"); /* nobody is left: the load goes on by itself */
    fcache_cancel(u.cache, &a.l);
    ev_turn_for(env, 20);
    struct fentry *e = get((asked_open = 0, &u), "/f");
    assert_int_equal(e->kind, FENTRY_FILE);
    assert_int_equal(unit_stats(&u).hits, 1);
    fentry_put(e);
    unit_stop(&u);
}

/* The end of the cache while loads are on their way, and entries that outlive it. */
static void ending(struct ev_env *env)
{
    struct unit u;
    struct asked a;
    struct fentry *held[2];
    struct fcache *first = NULL;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "x");
    unit_write(&u, "root/big", "");
    assert_int_equal(truncate(unit_at(&u, "root/big"), 1 << 20), 0);
    first = u.cache;
    for (int turns = 0; turns < 6; turns++) {
        struct fcache *c = fcache_new(&env->loop, &u.conf, &log_process);
        u.cache = c;
        asked_open = 0;
        ask(&u, &a, "/f");
        for (int i = 0; i < turns; i++)
            loop_turn(&env->loop, 0);
        if (a.done == 0)
            fcache_cancel(c, &a.l);
        else
            fentry_put(a.l.entry);
        fcache_delete(c);
    }
    u.cache = fcache_new(&env->loop, &u.conf, &log_process);
    asked_open = 0;
    held[0] = get(&u, "/f");
    held[1] = get(&u, "/big");
    fcache_delete(u.cache);
    u.cache = first;
    assert_string_equal(unit_content(held[0]), "x");
    char byte = 'x';
    assert_int_equal(pread(held[1]->fd, &byte, 1, 77), 1);
    assert_int_equal(byte, 0);
    fentry_put(held[0]);
    fentry_put(held[1]);
    unit_stop(&u);
}

static void bounds(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    char name[32], big[3000];
    unit_conf(&conf);
    conf.max_entries = 100;
    conf.memory = 100000;
    conf.max_body = 2000;
    unit_start(&u, env, &conf);
    asked_open = 0;
    memset(big, 'b', sizeof(big));
    for (int i = 0; i < 400; i++) { /* bodies, descriptors and absences in turn */
        snprintf(name, sizeof(name), "root/%d", i);
        big[i % 2 == 0 ? 1999 : 2999] = '\0';
        if (i % 4 != 3)
            unit_write(&u, name, big);
        big[1999] = 'b';
        fentry_put(get(&u, name + 4));
        struct fcache_stats s = unit_stats(&u);
        assert_true(s.entries <= 100);
        assert_true(s.memory <= 100000);
        assert_true(s.fds <= 100);
    }
    assert_true(unit_stats(&u).memory > 30000);
    assert_true(unit_stats(&u).evicted > 200);
    unit_stop(&u);
}

/* A body that is in use cannot make room: files are served from descriptors meanwhile. */
static void memory_in_use(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    struct fentry *held[8];
    char name[32], text[1001];
    unit_conf(&conf);
    conf.memory = 4500;
    unit_start(&u, env, &conf);
    asked_open = 0;
    memset(text, 't', sizeof(text));
    text[1000] = '\0';
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "root/%d", i);
        unit_write(&u, name, text);
        held[i] = get(&u, name + 4);
        assert_int_equal(held[i]->body != NULL, i < 4);
        assert_int_equal(held[i]->fd >= 0, i >= 4);
        assert_true(unit_stats(&u).memory <= 4500);
    }
    for (int i = 0; i < 8; i++) {
        assert_string_equal(unit_content(held[i]), text);
        fentry_put(held[i]);
    }
    unit_stop(&u);
}

/* h53: what is asked for all the time survives any number of files that are asked for once. */
static void scanning(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    struct fentry *hot[50];
    char name[32];
    unit_conf(&conf);
    conf.max_entries = 200;
    unit_start(&u, env, &conf);
    asked_open = 0;
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "root/hot%d", i);
        unit_write(&u, name, "hot");
        unit_touch(&u, name, 1000000000, 0); /* not young: no second load because of that */
        hot[i] = get(&u, name + 4);
        fentry_put(get(&u, name + 4));
    }
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "root/cold%d", i);
        if (i < 500)
            unit_write(&u, name, "cold");
        fentry_put(get(&u, name + 4));
        if (i % 300 == 0) /* hot means that they are asked for now and then */
            for (int k = 0; k < 50; k++) {
                snprintf(name, sizeof(name), "/hot%d", k);
                struct fentry *e = get(&u, name);
                assert_ptr_equal(e, hot[k]);
                fentry_put(e);
            }
    }
    for (int i = 0; i < 50; i++) {
        assert_true(hot[i]->cached);
        fentry_put(hot[i]);
    }
    assert_true(unit_stats(&u).evicted >= 2800);
    unit_stop(&u);
}

/* What was put out as a newcomer and comes back is no newcomer. */
static void coming_back(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    char name[32];
    unit_conf(&conf);
    conf.max_entries = 50;
    unit_start(&u, env, &conf);
    asked_open = 0;
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof(name), "/none%d", i);
        fentry_put(get(&u, name));
    }
    struct fentry *back[8];
    unsigned stayed = 0;
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "/none%d", i);
        back[i] = get(&u, name);
    }
    for (int i = 60; i < 160; i++) {
        snprintf(name, sizeof(name), "/none%d", i);
        fentry_put(get(&u, name));
    }
    for (int i = 0; i < 8; i++) {
        stayed += back[i]->cached;
        fentry_put(back[i]);
    }
    assert_true(stayed >= 5); /* some are forgotten by chance */
    unit_stop(&u);
}

static void thousands(struct ev_env *env)
{
    struct unit u;
    char name[64];
    unit_start(&u, env, NULL);
    asked_open = 0;
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "root/%d/%d/f%d", i % 7, i % 50, i);
        unit_write(&u, name, name);
        fentry_put(get(&u, name + 4));
    }
    struct fcache_stats s = unit_stats(&u);
    assert_int_equal(s.entries, 3000);
    assert_int_equal(s.fds, 0);
    assert_true(s.watches <= 7 + 350 + 8);
    for (int i = 0; i < 3000; i += 7) {
        snprintf(name, sizeof(name), "root/%d/%d/f%d", i % 7, i % 50, i);
        struct fentry *e = get(&u, name + 4);
        assert_string_equal(unit_content(e), name);
        fentry_put(e);
    }
    unit_rename(&u, "root/0", "root/00");
    ev_turn_for(env, 30);
    for (int i = 0; i < 3000; i += 7) {
        snprintf(name, sizeof(name), "/%d/%d/f%d", i % 7, i % 50, i);
        struct fentry *e = get(&u, name);
        assert_int_equal(e->err, ENOENT);
        fentry_put(e);
    }
    unit_stop(&u);
}

/* What nobody asks for goes, and its descriptors and watches with it. */
static void inactivity(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    unit_conf(&conf);
    conf.inactive_ms = 160;
    conf.max_body = 0;
    unit_start(&u, env, &conf);
    asked_open = 0;
    unit_write(&u, "root/dir/used", "x");
    unit_write(&u, "root/idle/idle", "x");
    fentry_put(get(&u, "/idle/idle"));
    for (int i = 0; i < 20; i++) {
        fentry_put(get(&u, "/dir/used"));
        ev_turn_for(env, 20);
    }
    assert_int_equal(unit_stats(&u).entries, 1);
    assert_int_equal(unit_stats(&u).fds, 1);
    assert_true(unit_stats(&u).hits >= 18);
    uint32_t watches = unit_stats(&u).watches;
    ev_turn_for(env, 600);
    assert_int_equal(unit_stats(&u).entries, 0);
    assert_int_equal(unit_stats(&u).fds, 0);
    assert_true(watches > 0);
    assert_int_equal(unit_stats(&u).watches, 0); /* the root went as well */
    fentry_put(get(&u, "/dir/used"));
    unit_stop(&u);
}

static void errors_not_kept(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    unit_conf(&conf);
    conf.errors = false;
    unit_start(&u, env, &conf);
    asked_open = 0;
    for (int i = 0; i < 3; i++) {
        struct fentry *e = get(&u, "/none");
        assert_int_equal(e->err, ENOENT);
        assert_false(e->cached);
        fentry_put(e);
    }
    assert_int_equal(unit_stats(&u).loads, 3);
    assert_int_equal(unit_stats(&u).entries, 0);
    unit_stop(&u);
}

/* No descriptor left: the cache gives some of its own up; with none, an error that is not kept. */
static void out_of_descriptors(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    struct rlimit lim, low;
    char name[32];
    int taken[64], n = 0;
    unit_conf(&conf);
    conf.max_body = 0;
    unit_start(&u, env, &conf);
    asked_open = 0;
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "root/%d", i);
        unit_write(&u, name, "x");
        if (i < 9)
            fentry_put(get(&u, name + 4));
    }
    assert_int_equal(unit_stats(&u).fds, 9);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &lim), 0);
    low = lim;
    low.rlim_cur = (rlim_t)ev_open_fds() + 8;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    while (n < 64 && (taken[n] = dup(0)) >= 0)
        n++;
    struct fentry *e = get(&u, "/9");
    assert_int_equal(e->kind == FENTRY_ERROR ? e->err : 0, 0);
    assert_true(unit_stats(&u).fds < 9);
    fentry_put(e);
    ev_turn_for(env, 10);
    while (n < 64 && (taken[n] = dup(0)) >= 0)
        n++;
    fcache_delete(u.cache); /* one that has nothing to give up */
    ev_turn_for(env, 10);
    conf.events = false;
    u.cache = fcache_new(&env->loop, &conf, &log_process);
    while (n < 64 && (taken[n] = dup(0)) >= 0)
        n++;
    e = get(&u, "/9");
    assert_int_equal(e->kind, FENTRY_ERROR);
    assert_int_equal(e->err, EMFILE);
    assert_false(e->cached);
    fentry_put(e);
    while (n > 0)
        close(taken[--n]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lim), 0);
    e = get(&u, "/9");
    assert_int_equal(e->kind, FENTRY_FILE);
    fentry_put(e);
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "coalescing", .run = coalescing},
        {.name = "cancelling", .run = cancelling},
        {.name = "ending", .run = ending},
        {.name = "bounds", .run = bounds},
        {.name = "memory_in_use", .run = memory_in_use},
        {.name = "scanning", .run = scanning},
        {.name = "coming_back", .run = coming_back},
        {.name = "thousands", .run = thousands},
        {.name = "inactivity", .run = inactivity},
        {.name = "errors_not_kept", .run = errors_not_kept},
        {.name = "out_of_descriptors", .run = out_of_descriptors},
    };
    return ev_run_cases("fcache", cases, ARRAY_LEN(cases));
}
