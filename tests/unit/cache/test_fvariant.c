/* SPDX-License-Identifier: BSD-2-Clause */
/* Encoded forms of entries: made once, held within the memory of the cache, given up in time. */
#include "cache/fentry.h"
#include "cache/fvariant.h"
#include "proto/accept.h"
#include "unit/cache/unit.h"

struct asked {
    struct fvariant_ask ask;
    unsigned done;
};

static void on_done(struct fvariant_ask *a)
{
    container_of(a, struct asked, ask)->done++;
}

static void ask_init(struct asked *a, uint8_t level)
{
    *a = (struct asked){.ask = {.coding = level == FGZIP_UNZIP ? CODING_IDENTITY : CODING_GZIP,
                                .level = level, .done = on_done}};
    list_init(&a->ask.link);
}

/* A file of n bytes that shrink (or, with seed, do not). */
static struct fentry *loaded(struct unit *u, const char *path, size_t n, uint64_t seed)
{
    char name[64], *text = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + (seed != 0 ? 1442695040888963407u : 0);
        text[i] = seed != 0 ? (char)(1 + (seed >> 33) % 255) : (char)('a' + i * i % 13);
    }
    text[n] = '\0';
    snprintf(name, sizeof(name), "root%s", path);
    unit_write(u, name, text);
    unit_touch(u, name, 1000000000, 0);
    free(text);
    ev_turn_for(u->env, 2);
    return unit_get(u, path);
}

static struct fentry *wait_for(struct unit *u, struct asked *a)
{
    EV_UNTIL(u->env, a->done == 1);
    return a->ask.entry;
}

static void made_once(struct ev_env *env)
{
    struct unit u;
    struct asked a[3], later;
    unit_start(&u, env, NULL);
    struct fentry *e = loaded(&u, "/f", 50000, 0);
    uint64_t before = unit_stats(&u).memory;
    for (size_t i = 0; i < 3; i++) {
        ask_init(&a[i], 6);
        assert_int_equal(fvariant_get(e, &a[i].ask), STATUS_AGAIN);
    }
    struct fentry *v = wait_for(&u, &a[0]);
    assert_ptr_equal(wait_for(&u, &a[1]), v);
    assert_ptr_equal(wait_for(&u, &a[2]), v);
    assert_int_equal(a[0].ask.status, STATUS_OK);
    ask_init(&later, 6);
    assert_int_equal(fvariant_get(e, &later.ask), STATUS_OK);
    assert_ptr_equal(later.ask.entry, v);
    assert_ptr_equal(fvariant_held(e, CODING_GZIP, 6), v);
    assert_null(fvariant_held(e, CODING_GZIP, 9));
    assert_int_equal(v->refs, 5); /* four here, one of the file's entry */
    assert_true(v->size < 50000 && v->body != NULL && v->fd == -1);
    assert_int_equal(unit_stats(&u).memory, before + v->size);
    assert_memory_equal(v->etag, "\"3b9aca00-0-c350-gz6\"", v->etag_n);
    assert_memory_equal(v->last_modified, e->last_modified, sizeof(e->last_modified));
    for (size_t i = 0; i < 4; i++)
        fentry_put(v);
    fentry_put(e);
    unit_stop(&u);
}

/* Another level is another form; both go with the file's entry, and its memory. */
static void levels(struct ev_env *env)
{
    struct unit u;
    struct asked one, nine;
    unit_start(&u, env, NULL);
    struct fentry *e = loaded(&u, "/f", 50000, 0);
    ask_init(&one, 1);
    ask_init(&nine, 9);
    assert_int_equal(fvariant_get(e, &one.ask), STATUS_AGAIN);
    assert_int_equal(fvariant_get(e, &nine.ask), STATUS_AGAIN);
    struct fentry *v1 = wait_for(&u, &one), *v9 = wait_for(&u, &nine);
    assert_ptr_not_equal(v1, v9);
    assert_true(v9->size < v1->size);
    fentry_put(v1);
    fentry_put(e);
    unit_write(&u, "root/f", "another");
    struct fentry *fresh = unit_get(&u, "/f");
    assert_null(fresh->variants);
    assert_int_equal(unit_stats(&u).memory, 7 + v9->size); /* which is still in use */
    fentry_put(v9);
    assert_int_equal(unit_stats(&u).memory, 7);
    fentry_put(fresh);
    unit_stop(&u);
}

static void unzipped(struct ev_env *env)
{
    struct unit u;
    struct asked a, b, c;
    unit_start(&u, env, NULL);
    struct fentry *e = loaded(&u, "/f", 50000, 0);
    ask_init(&a, 6);
    assert_int_equal(fvariant_get(e, &a.ask), STATUS_AGAIN);
    struct fentry *v = wait_for(&u, &a);
    FILE *f = fopen(unit_at(&u, "root/f.gz"), "w");
    assert_int_equal(fwrite(v->body, 1, v->size, f), v->size);
    fclose(f);
    struct fentry *gz = unit_get(&u, "/f.gz");
    assert_true(fgzip_magic(fentry_first(gz)));
    ask_init(&b, FGZIP_UNZIP);
    assert_int_equal(fvariant_get(gz, &b.ask), STATUS_AGAIN);
    struct fentry *back = wait_for(&u, &b);
    assert_non_null(back);
    assert_int_equal(back->size, 50000);
    assert_memory_equal(back->body, e->body, 50000);
    ask_init(&c, FGZIP_UNZIP);
    assert_int_equal(fvariant_get(e, &c.ask), STATUS_AGAIN); /* is none */
    assert_null(wait_for(&u, &c));
    assert_int_equal(c.ask.status, STATUS_NOTFOUND);
    fentry_put(back);
    fentry_put(gz);
    fentry_put(v);
    fentry_put(e);
    unit_stop(&u);
}

/* D15: what is not worth it, or does not fit, is found out once. */
static void not_held(struct ev_env *env)
{
    struct unit u;
    struct asked a;
    struct fcache_conf conf;
    unit_conf(&conf);
    conf.memory = 800000; /* of which a form may take 100,000 */
    unit_start(&u, env, &conf);
    struct fentry *noise = loaded(&u, "/noise", 20000, 5);
    struct fentry *large = loaded(&u, "/large", 200000, 0);
    struct fentry *empty = loaded(&u, "/empty", 0, 0);
    ask_init(&a, 6);
    assert_int_equal(fvariant_get(large, &a.ask), STATUS_LIMIT);
    assert_int_equal(fvariant_get(empty, &a.ask), STATUS_NOTFOUND);
    uint64_t before = unit_stats(&u).memory;
    assert_int_equal(fvariant_get(noise, &a.ask), STATUS_AGAIN);
    assert_null(wait_for(&u, &a));
    assert_int_equal(a.ask.status, STATUS_NOTFOUND);
    assert_int_equal(fvariant_get(noise, &a.ask), STATUS_NOTFOUND);
    assert_int_equal(unit_stats(&u).memory, before);
    fentry_put(noise);
    fentry_put(large);
    fentry_put(empty);
    unit_stop(&u);
}

/* Larger than bodies are held: read from its descriptor; changed while that went on, it is no use. */
static void from_the_file(struct ev_env *env)
{
    struct unit u;
    struct asked a, b;
    unit_start(&u, env, NULL);
    struct fentry *e = loaded(&u, "/f", 300000, 0);
    assert_null(e->body);
    ask_init(&a, 6);
    assert_int_equal(fvariant_get(e, &a.ask), STATUS_AGAIN);
    struct fentry *v = wait_for(&u, &a);
    assert_non_null(v);
    fentry_put(v);
    fentry_put(e);
    e = loaded(&u, "/g", 300000, 0);
    ask_init(&b, 6);
    assert_int_equal(fvariant_get(e, &b.ask), STATUS_AGAIN);
    int fd = open(unit_at(&u, "root/g"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "X", 1, 299999), 1);
    close(fd);
    assert_null(wait_for(&u, &b));
    assert_null(e->variants);
    fentry_put(e);
    unit_stop(&u);
}

/* Who goes is not called; the job goes on for the next. The cache ends with jobs under way. */
static void cancelled(struct ev_env *env)
{
    struct unit u;
    struct asked a, b;
    unit_start(&u, env, NULL);
    struct fentry *e = loaded(&u, "/f", 60000, 0);
    ask_init(&a, 6);
    ask_init(&b, 6);
    assert_int_equal(fvariant_get(e, &a.ask), STATUS_AGAIN);
    fvariant_cancel(&a.ask);
    fvariant_cancel(&a.ask);
    EV_UNTIL(env, e->variants != NULL);
    assert_int_equal(a.done, 0);
    struct fentry *large = loaded(&u, "/large", 300000, 0);
    assert_int_equal(fvariant_get(large, &b.ask), STATUS_AGAIN);
    fvariant_cancel(&b.ask);
    fentry_put(large);
    fentry_put(e);
    unit_stop(&u);
}

/* As many as there may be: memory stays within its bound. */
static void bounded(struct ev_env *env)
{
    struct unit u;
    struct fcache_conf conf;
    char path[16];
    unit_conf(&conf);
    conf.memory = 400000;
    unit_start(&u, env, &conf);
    for (int i = 0; i < 40; i++) {
        struct asked a;
        snprintf(path, sizeof(path), "/f%d", i);
        struct fentry *e = loaded(&u, path, 40000, 0);
        ask_init(&a, 1);
        enum status st = fvariant_get(e, &a.ask);
        if (st == STATUS_AGAIN)
            fentry_put(wait_for(&u, &a));
        fentry_put(e);
        assert_true(unit_stats(&u).memory <= conf.memory);
    }
    unit_stop(&u);
}

static void suffixes(struct ev_env *env)
{
    char text[FVARIANT_SUFFIX];
    (void)env;
    assert_true(str_eq(fvariant_suffix(CODING_GZIP, 6, text), STR("-gz6")));
    assert_true(str_eq(fvariant_suffix(CODING_IDENTITY, FGZIP_UNZIP, text), STR("-id")));
}

int main(void)
{
    static const struct ev_case cases[] = {
        {.name = "made once", .run = made_once},
        {.name = "levels", .run = levels, .settings = EV_EP},
        {.name = "unzipped", .run = unzipped, .settings = EV_EP},
        {.name = "not held", .run = not_held, .settings = EV_EP},
        {.name = "from the file", .run = from_the_file},
        {.name = "cancelled", .run = cancelled},
        {.name = "bounded", .run = bounded, .settings = EV_EP},
        {.name = "suffixes", .run = suffixes, .settings = EV_EP},
    };
    return ev_run_cases("fvariant", cases, ARRAY_LEN(cases));
}
