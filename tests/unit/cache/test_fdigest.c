/* SPDX-License-Identifier: BSD-2-Clause */
/* Content tags of entries (D5): one job for all who ask, none for what changes meanwhile. */
#include "cache/fdigest.h"
#include "cache/fentry.h"
#include "unit/cache/unit.h"

struct asked {
    struct fdigest_ask ask;
    unsigned done;
};

static void on_done(struct fdigest_ask *a)
{
    container_of(a, struct asked, ask)->done++;
}

static void ask_init(struct asked *a)
{
    *a = (struct asked){.ask = {.done = on_done}};
    list_init(&a->ask.link);
}

static struct fentry *loaded(struct unit *u, const char *path, size_t n)
{
    char name[64], *text = malloc(n + 1);
    memset(text, 'x', n);
    text[n] = '\0';
    snprintf(name, sizeof(name), "root%s", path);
    unit_write(u, name, text);
    unit_touch(u, name, 1000000000, 0);
    free(text);
    ev_turn_for(u->env, 2);
    return unit_get(u, path);
}

/* From memory at once, from the file by the helper: the same tag for the same bytes. */
static void made(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    struct asked a[3];
    unit_conf(&conf);
    conf.max_body = 70000;
    unit_start(&u, env, &conf);
    struct fentry *held = loaded(&u, "/held", 70000);
    ask_init(&a[0]);
    assert_int_equal(fdigest_text(held).n, 0);
    assert_int_equal(fdigest_get(held, &a[0].ask), STATUS_OK);
    assert_int_equal(fdigest_text(held).n, FDIGEST_LEN);
    struct fentry *e = loaded(&u, "/large", 70001), *empty = loaded(&u, "/empty", 0);
    for (size_t i = 0; i < 3; i++) {
        ask_init(&a[i]);
        assert_int_equal(fdigest_get(e, &a[i].ask), STATUS_AGAIN);
    }
    fdigest_cancel(&a[2].ask);
    EV_UNTIL(env, a[0].done + a[1].done == 2);
    assert_int_equal(a[2].done, 0);
    assert_int_equal(fdigest_text(e).n, FDIGEST_LEN);
    assert_false(str_eq(fdigest_text(e), fdigest_text(held)));
    assert_int_equal(truncate(unit_at(&u, "root/large"), 70000), 0);
    unit_touch(&u, "root/large", 1000000001, 0);
    struct fentry *cut = unit_get(&u, "/large");
    ask_init(&a[0]);
    assert_int_equal(fdigest_get(cut, &a[0].ask), STATUS_OK);
    assert_true(str_eq(fdigest_text(cut), fdigest_text(held)));
    assert_int_equal(fdigest_get(empty, &a[0].ask), STATUS_OK);
    assert_false(str_eq(fdigest_text(empty), fdigest_text(held)));
    fentry_put(cut);
    fentry_put(empty);
    fentry_put(e);
    fentry_put(held);
    unit_stop(&u);
}

static void changed(struct ev_env *env)
{
    struct unit u;
    struct asked a;
    unit_start(&u, env, NULL);
    struct fentry *e = loaded(&u, "/f", 100000);
    assert_int_equal(truncate(unit_at(&u, "root/f"), 90000), 0); /* the entry is of what was */
    ask_init(&a);
    assert_int_equal(fdigest_get(e, &a.ask), STATUS_BUSY);
    assert_int_equal(fdigest_text(e).n, 0);
    fentry_put(e);
    unit_stop(&u);
}

/* Nobody waits for a large one; the cache may end while it is read. */
static void large(struct ev_env *env)
{
    struct unit u;
    struct asked a;
    unit_start(&u, env, NULL);
    unit_write(&u, "root/f", "");
    assert_int_equal(truncate(unit_at(&u, "root/f"), 9 << 20), 0);
    ev_turn_for(u.env, 2);
    struct fentry *e = unit_get(&u, "/f");
    ask_init(&a);
    assert_int_equal(fdigest_get(e, &a.ask), STATUS_BUSY);
    EV_UNTIL(env, fdigest_text(e).n == FDIGEST_LEN);
    fentry_put(e);
    assert_int_equal(truncate(unit_at(&u, "root/f"), 99 << 20), 0);
    e = unit_get(&u, "/f");
    assert_int_equal(fdigest_get(e, &a.ask), STATUS_BUSY);
    fentry_put(e);
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "made", .run = made},
        {.name = "changed", .run = changed, .settings = EV_EP},
        {.name = "large", .run = large, .settings = EV_EP},
    };
    return ev_run_cases("fdigest", cases, ARRAY_LEN(cases));
}
