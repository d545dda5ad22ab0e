/* SPDX-License-Identifier: BSD-2-Clause */
/* Items by themselves: references, stored heads, the queues and what they give up. */
#include "cache/fentry.h"
#include "unit/cache/unit.h"

static struct fentry *loaded(struct unit *u, const char *path)
{
    char name[64];
    snprintf(name, sizeof(name), "root%s", path);
    unit_write(u, name, path);
    unit_touch(u, name, 1000000000, 0);
    ev_turn_for(u->env, 2);
    return unit_get(u, path);
}

static void heads(struct ev_env *env)
{
    struct unit u;
    int locations[FHEADS_MAX + 4];
    char text[32];
    unit_start(&u, env, NULL);
    struct fentry *e = loaded(&u, "/f");
    assert_null(fentry_head(e, &locations[0], 200, 0));
    for (int i = 0; i < FHEADS_MAX + 4; i++) {
        snprintf(text, sizeof(text), "head %d", i);
        fentry_head_add(e, &locations[i], 200, (uint16_t)(i % 2), str_z(text));
    }
    memset(text, 'x', sizeof(text)); /* they were copied */
    for (int i = 0; i < FHEADS_MAX + 4; i++) {
        const struct fhead *h = fentry_head(e, &locations[i], 200, (uint16_t)(i % 2));
        assert_int_equal(h != NULL, i < FHEADS_MAX);
        if (h == NULL)
            continue;
        snprintf(text, sizeof(text), "head %d", i);
        assert_int_equal(h->n, strlen(text));
        assert_memory_equal(h->bytes, text, h->n);
        assert_null(fentry_head(e, &locations[i], 304, (uint16_t)(i % 2)));
        assert_null(fentry_head(e, &locations[i], 200, 7));
    }
    fentry_put(e);
    fentry_put(NULL);
    unit_stop(&u);
}

/* Room for a body is made by putting out what nobody has asked for again, oldest first. */
static void making_room(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    struct fentry *e[8];
    char name[16];
    unit_conf(&conf);
    conf.memory = 8 * 3;
    unit_start(&u, env, &conf);
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "/f%d", i);
        e[i] = loaded(&u, name);
        assert_non_null(e[i]->body);
    }
    fentry_put(unit_get(&u, "/f0")); /* the oldest, but wanted */
    for (int i = 0; i < 8; i++)
        fentry_put(e[i]);            /* e[i] lives on in the table */
    assert_true(fcache_reserve(u.cache, 6));
    assert_int_equal(unit_stats(&u).memory, 18);
    assert_true(e[0]->cached);
    assert_true(e[7]->cached);
    assert_true(fcache_reserve(u.cache, 24));
    assert_int_equal(unit_stats(&u).memory, 0);
    assert_int_equal(unit_stats(&u).entries, 0);
    assert_false(fcache_reserve(u.cache, 25)); /* never */
    unit_stop(&u);
}

static void descriptors(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    char name[16];
    unit_conf(&conf);
    conf.max_body = 0;
    unit_start(&u, env, &conf);
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof(name), "/f%d", i);
        fentry_put(loaded(&u, name));
    }
    fentry_put(unit_get(&u, "/f0"));
    fentry_put(unit_get(&u, "/none"));
    assert_int_equal(unit_stats(&u).fds, 6);
    assert_int_equal(fcache_free_fds(u.cache, 2), 2);
    assert_int_equal(unit_stats(&u).fds, 4);
    uint64_t hits = unit_stats(&u).hits;
    fentry_put(unit_get(&u, "/f0"));   /* was asked for again: stayed */
    fentry_put(unit_get(&u, "/none")); /* holds none: stayed */
    assert_int_equal(unit_stats(&u).hits, hits + 2);
    assert_int_equal(fcache_free_fds(u.cache, 100), 4);
    assert_int_equal(fcache_free_fds(u.cache, 100), 0);
    unit_stop(&u);
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "heads", .run = heads, .settings = EV_EP},
        {.name = "making_room", .run = making_room, .settings = EV_EP},
        {.name = "descriptors", .run = descriptors, .settings = EV_EP},
    };
    return ev_run_cases("fentry", cases, ARRAY_LEN(cases));
}
