/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roots: releases that are swapped under a symbolic link anywhere on the root's path (demands.md
 * D2, hostile.md 54), several roots side by side, roots that come and go.
 */
#include "unit/cache/unit.h"

/* Makes `link` lead to `target` by a rename, as deployment tools do. */
static void swap(const struct unit *u, const char *target, const char *link)
{
    unit_link(u, target, "link-to-be");
    unit_rename(u, "link-to-be", link);
}

static void expect(struct unit *u, const char *root, const char *path, const char *text, int err)
{
    char full[PATH_MAX];
    snprintf(full, sizeof(full), "%s", unit_at(u, root));
    unit_send(u, full, path);
    struct fentry *e = unit_answer(u);
    if (text == NULL) {
        assert_int_equal(e->kind, FENTRY_ERROR);
        assert_int_equal(e->err, err);
    } else {
        assert_string_equal(unit_content(e), text);
    }
    fentry_put(e);
}

static void releases(const struct unit *u)
{
    unit_write(u, "releases/1/index", "one");
    unit_write(u, "releases/1/only1", "one");
    unit_write(u, "releases/1/sub/f", "one");
    unit_write(u, "releases/2/index", "two");
    unit_write(u, "releases/2/sub/f", "two");
    unit_link(u, "releases/1", "current");
}

static void release_swap(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    releases(&u);
    for (int i = 0; i < 5; i++) {
        for (int n = 0; n < 2; n++) {
            expect(&u, "current", "/index", "one", 0);
            expect(&u, "current", "/sub/f", "one", 0);
            expect(&u, "current", "/only1", "one", 0);
        }
        swap(&u, "releases/2", "current");
        for (int n = 0; n < 2; n++) {
            expect(&u, "current", "/sub/f", "two", 0);
            expect(&u, "current", "/index", "two", 0);
            expect(&u, "current", "/only1", NULL, ENOENT);
        }
        swap(&u, "releases/1", "current");
    }
    assert_true(unit_stats(&u).hits >= 20);
    unit_stop(&u);
}

/* Links above links: each of them may be swapped. */
static void link_chains(struct ev_env *env)
{
    struct unit u;
    char absolute[PATH_MAX];
    unit_start(&u, env, NULL);
    releases(&u);
    unit_link(&u, "current", "live");
    unit_mkdir(&u, "sites");
    snprintf(absolute, sizeof(absolute), "%s", unit_at(&u, "live"));
    unit_link(&u, absolute, "sites/www");
    expect(&u, "sites/www", "/index", "one", 0);
    expect(&u, "sites/www", "/index", "one", 0);
    swap(&u, "releases/2", "current");
    expect(&u, "sites/www", "/index", "two", 0);
    swap(&u, "releases/1", "live");
    expect(&u, "sites/www", "/index", "one", 0);
    swap(&u, "../releases/2", "sites/www");
    expect(&u, "sites/www", "/index", "two", 0);
    unit_rename(&u, "sites", "places"); /* a plain directory on the way */
    expect(&u, "sites/www", "/index", NULL, ENOENT);
    unit_rename(&u, "places", "sites");
    expect(&u, "sites/www", "/index", "two", 0);
    unit_rename(&u, "releases", "old"); /* what the link leads through */
    expect(&u, "sites/www", "/index", NULL, ENOENT);
    unit_stop(&u);
}

/* Neither a neighbour of the root nor a link that leads to the same place costs a reload. */
static void neighbours(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    releases(&u);
    expect(&u, "current", "/index", "one", 0);
    uint64_t loads = unit_stats(&u).loads;
    unit_mkdir(&u, "releases/3");
    unit_write(&u, "releases/2/index", "two again");
    unit_write(&u, "other", "x");
    expect(&u, "current", "/index", "one", 0);
    assert_int_equal(unit_stats(&u).loads, loads);
    struct fcache_stats before = unit_stats(&u);
    swap(&u, "./releases/1", "current"); /* another link, the same directory */
    expect(&u, "current", "/index", "one", 0);
    assert_int_equal(unit_stats(&u).invalidated, before.invalidated);
    unit_stop(&u);
}

static void several_roots(struct ev_env *env)
{
    struct unit u;
    char root[32], text[32];
    unit_start(&u, env, NULL);
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < 300; i++) {
            snprintf(root, sizeof(root), "site%d", i);
            snprintf(text, sizeof(text), "site%d/f", i);
            if (n == 0) {
                unit_write(&u, text, text);
                unit_touch(&u, text, 1000000000, 0); /* young ones are rechecked */
            }
            expect(&u, root, "/f", text, 0);
        }
    assert_true(unit_stats(&u).hits >= 590);
    unit_write(&u, "site7/f", "changed");
    expect(&u, "site7", "/f", "changed", 0);
    expect(&u, "site8", "/f", "site8/f", 0);
    unit_stop(&u);
}

static void root_comes_and_goes(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    expect(&u, "deep/er/site", "/f", NULL, ENOENT);
    expect(&u, "deep/er/site", "/f", NULL, ENOENT);
    unit_write(&u, "spare/site/f", "here");
    unit_mkdir(&u, "deep");
    expect(&u, "deep/er/site", "/f", NULL, ENOENT);
    unit_rename(&u, "spare", "deep/er");
    expect(&u, "deep/er/site", "/f", "here", 0);
    unit_rename(&u, "deep/er/site", "site");
    expect(&u, "deep/er/site", "/f", NULL, ENOENT);
    unit_write(&u, "deep/er/site", "a file");
    expect(&u, "deep/er/site", "/f", NULL, ENOTDIR);
    unit_stop(&u);
}

/* Old releases are let go: neither a descriptor nor a watch of theirs is left. */
static void old_releases_are_let_go(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    unit_conf(&conf);
    conf.max_body = 0;
    unit_start(&u, env, &conf);
    releases(&u);
    expect(&u, "current", "/index", "one", 0);
    unsigned fds = ev_open_fds();
    uint32_t watches = unit_stats(&u).watches;
    for (int i = 0; i < 40; i++) {
        swap(&u, i % 2 == 0 ? "releases/2" : "releases/1", "current");
        expect(&u, "current", "/index", i % 2 == 0 ? "two" : "one", 0);
    }
    EV_UNTIL(env, ev_open_fds() == fds);
    assert_int_equal(unit_stats(&u).watches, watches);
    assert_int_equal(unit_stats(&u).entries, 1);
    unit_stop(&u);
}

/* A root whose parent cannot be read cannot be watched: the time limit finds the swap. */
static void unreadable_parent(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    if (geteuid() != 0)
        return;
    unit_conf(&conf);
    conf.valid_blind_ms = 60;
    unit_start(&u, env, &conf);
    releases(&u);
    assert_int_equal(chmod(u.top, 0711), 0);
    assert_int_equal(seteuid(65534), 0);
    expect(&u, "current", "/index", "one", 0);
    expect(&u, "current", "/index", "one", 0);
    assert_int_equal(seteuid(0), 0);
    swap(&u, "releases/2", "current");
    assert_int_equal(seteuid(65534), 0);
    ev_turn_for(env, 70);
    expect(&u, "current", "/index", "two", 0);
    assert_int_equal(seteuid(0), 0);
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "release_swap", .run = release_swap},
        {.name = "link_chains", .run = link_chains},
        {.name = "neighbours", .run = neighbours},
        {.name = "several_roots", .run = several_roots},
        {.name = "root_comes_and_goes", .run = root_comes_and_goes},
        {.name = "old_releases_are_let_go", .run = old_releases_are_let_go},
        {.name = "unreadable_parent", .run = unreadable_parent, .settings = EV_RING | EV_EP},
    };
    return ev_run_cases("fdir", cases, ARRAY_LEN(cases));
}
