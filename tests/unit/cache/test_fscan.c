/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans: directories and the names in them, found as lookups find them (behaviours.md S1, S2, P5;
 * hostile.md 41, 42): every link policy, errors, and scans that nobody wants any more.
 */
#include "cache/fscan.h"
#include "unit/cache/unit.h"

#include <errno.h>

struct scan {
    struct fscan scan;
    int err;
    bool done;
};

static void on_done(struct fscan *f, int err)
{
    struct scan *s = container_of(f, struct scan, scan);
    assert_false(s->done);
    s->done = true;
    s->err = err;
}

static int scan_open(struct unit *u, struct scan *s, const char *root, const char *path,
                     enum flinks links)
{
    s->done = false;
    assert_true(fscan_open(&s->scan, u->cache, str_z(root), str_z(path), links, on_done));
    assert_false(s->done); /* never from inside */
    EV_UNTIL(u->env, s->done);
    assert_true(s->err != 0 || s->scan.fd >= 0);
    return s->err;
}

static void expect_open(struct unit *u, const char *path, enum flinks links, int want)
{
    struct scan s;
    int err = scan_open(u, &s, u->root, path, links);
    if (err != want)
        fail_msg("%s, links %d: %d (%s), expected %d", path, links, err, strerror(err), want);
    fscan_close(&s.scan);
    fscan_close(&s.scan);
}

/* Two trees: root/ has d/f, out/ is beside it; links of every kind. */
static void fill(struct unit *u)
{
    unit_write(u, "root/d/f", "four");
    unit_write(u, "out/secret", "secret");
    unit_link(u, "d", "root/in");
    unit_link(u, unit_at(u, "root/d"), "root/absolute");
    unit_link(u, "../out", "root/away");
    unit_link(u, unit_at(u, "out"), "root/far");
    unit_link(u, "loop", "root/loop");
    unit_link(u, "nowhere", "root/dangling");
    unit_link(u, "f", "root/d/link");
    unit_link(u, "../../out/secret", "root/d/leak");
    unit_link(u, "nowhere", "root/d/dangling");
    unit_link(u, "..", "root/d/up");
}

static void directories(struct ev_env *env)
{
    static const struct {
        const char *path;
        int want[4]; /* BENEATH, FOLLOW, NONE, OWNER */
    } rows[] = {
        {"/", {0, 0, 0, 0}},
        {"/d/", {0, 0, 0, 0}},
        {"/d", {0, 0, 0, 0}},
        {"/in/", {0, 0, ELOOP, 0}},
        {"/absolute/", {0, 0, ELOOP, 0}},
        {"/away/", {EXDEV, 0, ELOOP, 0}},
        {"/far/", {EXDEV, 0, ELOOP, 0}},
        {"/far/none/", {EXDEV, ENOENT, ELOOP, ENOENT}},
        {"/loop/", {ELOOP, ELOOP, ELOOP, ELOOP}},
        {"/dangling/", {ENOENT, ENOENT, ELOOP, ENOENT}},
        {"/none/", {ENOENT, ENOENT, ENOENT, ENOENT}},
        {"/d/f/", {ENOTDIR, ENOTDIR, ENOTDIR, ENOTDIR}},
    };
    static const enum flinks links[] = {FLINKS_BENEATH, FLINKS_FOLLOW, FLINKS_NONE, FLINKS_OWNER};
    struct unit u;
    unit_start(&u, env, NULL);
    fill(&u);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(links); k++)
            expect_open(&u, rows[i].path, links[k], rows[i].want[k]);
    struct scan s;
    assert_int_equal(scan_open(&u, &s, unit_at(&u, "none"), "/", FLINKS_BENEATH), ENOENT);
    fscan_close(&s.scan);
    unit_stop(&u);
}

/* What fscan_stat says: 'd'irectory, 'f'ile, 'l'ink. */
static char kind_of(const struct scan *s, const char *name)
{
    struct stat st;
    if (fscan_stat(&s->scan, name, &st) != 0)
        return '-';
    return S_ISDIR(st.st_mode) ? 'd' : S_ISREG(st.st_mode) ? 'f' : S_ISLNK(st.st_mode) ? 'l' : '?';
}

static void names(struct ev_env *env)
{
    static const struct {
        enum flinks links;
        const char *path, *name;
        char want;
    } rows[] = {
        {FLINKS_BENEATH, "/d/", "f", 'f'},     {FLINKS_BENEATH, "/d", "link", 'f'},
        {FLINKS_BENEATH, "/d/", "leak", 'l'},  {FLINKS_BENEATH, "/d/", "up", 'd'},
        {FLINKS_BENEATH, "/", "absolute", 'd'}, {FLINKS_BENEATH, "/", "far", 'l'},
        {FLINKS_BENEATH, "/", "loop", 'l'},    {FLINKS_BENEATH, "/", "dangling", 'l'},
        {FLINKS_BENEATH, "/in/", "link", 'f'}, {FLINKS_BENEATH, "/d/", "none", '-'},
        {FLINKS_FOLLOW, "/d/", "leak", 'f'},   {FLINKS_FOLLOW, "/", "far", 'd'},
        {FLINKS_FOLLOW, "/", "dangling", 'l'}, {FLINKS_FOLLOW, "/far/", "secret", 'f'},
        {FLINKS_NONE, "/d/", "link", 'l'},     {FLINKS_NONE, "/d/", "f", 'f'},
        {FLINKS_OWNER, "/d/", "link", 'f'},    {FLINKS_OWNER, "/", "dangling", 'l'},
    };
    struct unit u;
    struct stat st;
    unit_start(&u, env, NULL);
    fill(&u);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct scan s;
        assert_int_equal(scan_open(&u, &s, u.root, rows[i].path, rows[i].links), 0);
        for (int twice = 0; twice < 2; twice++) { /* the path is as it was */
            char got = kind_of(&s, rows[i].name);
            if (got != rows[i].want)
                fail_msg("%s%s: %c, expected %c", rows[i].path, rows[i].name, got, rows[i].want);
        }
        fscan_close(&s.scan);
    }
    struct scan s;
    char name[FSCAN_NAME_MAX + 2];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(scan_open(&u, &s, u.root, "/d/", FLINKS_BENEATH), 0);
    assert_int_equal(fscan_stat(&s.scan, name, &st), ENAMETOOLONG);
    assert_int_equal(fscan_stat(&s.scan, "none", &st), ENOENT);
    fscan_close(&s.scan);
    unit_stop(&u);
}

/* if_not_owner: a link to what somebody else owns is not followed. */
static void owners(struct ev_env *env)
{
    struct unit u;
    struct scan s;
    unit_start(&u, env, NULL);
    fill(&u);
    unit_write(&u, "root/theirs/file", "x");
    unit_link(&u, "theirs", "root/mine");
    unit_link(&u, "../theirs/file", "root/d/other");
    if (chown(unit_at(&u, "root/theirs"), 1234, 1234) == 0 &&
        chown(unit_at(&u, "root/theirs/file"), 1234, 1234) == 0) {
        expect_open(&u, "/theirs/", FLINKS_OWNER, 0);
        expect_open(&u, "/mine/", FLINKS_OWNER, ELOOP);
        assert_int_equal(scan_open(&u, &s, u.root, "/d/", FLINKS_OWNER), 0);
        assert_int_equal(kind_of(&s, "other"), 'l');
        fscan_close(&s.scan);
    }
    unit_stop(&u);
}

/* Cancelled at once, or while it is at work: done comes all the same, and nothing stays open. */
static void cancelled(struct ev_env *env)
{
    struct unit u;
    unit_start(&u, env, NULL);
    fill(&u);
    for (int turns = 0; turns < 4; turns++) {
        struct scan s = {.done = false};
        assert_true(fscan_open(&s.scan, u.cache, str_z(u.root), STR("/in/"), FLINKS_BENEATH,
                               on_done));
        for (int i = 0; i < turns && !s.done; i++)
            loop_turn(&env->loop, env->loop.now_ms + 1000);
        if (!s.done)
            fscan_cancel(&s.scan);
        EV_UNTIL(env, s.done);
        assert_true(s.err == ECANCELED || (s.err == 0 && turns > 0));
        fscan_close(&s.scan);
    }
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "directories", .run = directories},
        {.name = "names", .run = names},
        {.name = "owners", .run = owners},
        {.name = "cancelled", .run = cancelled},
    };
    return ev_run_cases("fscan", cases, ARRAY_LEN(cases));
}
