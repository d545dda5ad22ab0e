/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared memory zones: states by key, order of use, what a reload keeps, two processes at once, and
 * a process that is killed wherever it stands.
 */
#include "unit.h"

#include "http/zone.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

struct tally {
    uint64_t count;
};

static const struct zone_kind kind = {"test", sizeof(struct tally)};
static const struct zone_kind other_kind = {"other", sizeof(struct tally)};

static void begin(struct site *s)
{
    *s = (struct site){.arena = arena_new(1 << 16, 0)};
    diag_init(&s->diag, s->arena);
    buf_init(&s->report, 0);
    s->cy = (struct cycle_http){.arena = s->arena, .diag = &s->diag};
}

static struct zone *define(struct site *s, struct str name, uint64_t size, struct str key,
                           const struct zone_kind *k)
{
    struct zone def = {.name = name, .kind = k, .size = size, .key = key};
    return zone_define(&s->cy, STR("http"), &def);
}

static struct zone *open_one(struct site *s, uint64_t size)
{
    begin(s);
    struct zone *z = define(s, STR("one"), size, STR("$k"), &kind);
    assert_non_null(z);
    assert_true(zones_open(&s->cy, NULL, &s->report));
    return z;
}

static void end(struct site *s)
{
    zones_close(&s->cy);
    site_end(s);
}

static struct sip id_of(const struct zone *z, unsigned i)
{
    char key[16];
    return zone_id(z, str_make(key, (size_t)snprintf(key, sizeof(key), "%u", i)));
}

/* The list in order of use is as long as the zone says, and each of its states is found by its id. */
static size_t walk(struct zone *z, unsigned keys)
{
    size_t found = 0;
    for (unsigned i = 0; i < keys; i++)
        for (void *s = zone_get(z, id_of(z, i)); s != NULL; s = zone_next(z, s))
            found++;
    assert_int_equal(found, zone_used(z));
    return found;
}

static void parse(void **state)
{
    static const struct {
        const char *text, *name;
        uint64_t size;
    } rows[] = {
        {"one:10m", "one", 10u << 20}, {"a:b:64k", NULL, 0}, {"one:32k", "one", 32768},
        {"one:31k", NULL, 0},          {"one:", NULL, 0},    {"one", NULL, 0},
        {":10m", NULL, 0},             {"", NULL, 0},        {"one:-1", NULL, 0},
        {"one:8000000g", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str name;
        uint64_t size = 0;
        const char *why = NULL;
        bool good = zone_parse(str_z(rows[i].text), &name, &size, &why);
        if (good != (rows[i].size != 0) || size != rows[i].size || (!good && why == NULL))
            fail_msg("%s: %d %llu", rows[i].text, good, (unsigned long long)size);
        if (good)
            assert_str(name, rows[i].name);
    }
}

static void names(void **state)
{
    struct site s;
    (void)state;
    begin(&s);
    struct zone *z = define(&s, STR("one"), 32768, STR("$k"), &kind);
    assert_non_null(z);
    assert_null(define(&s, STR("one"), 65536, STR("$k"), &other_kind));
    diag_print(&s.diag, &s.report);
    buf_char(&s.report, '\0');
    assert_non_null(strstr(s.report.p, "the zone \"one\" exists already, for test"));
    assert_ptr_equal(zone_find(&s.cy, STR("one"), &kind), z);
    assert_null(zone_find(&s.cy, STR("one"), &other_kind));
    assert_null(zone_find(&s.cy, STR("two"), &kind));
    end(&s);
}

static void states(void **state)
{
    struct site s;
    (void)state;
    struct zone *z = open_one(&s, 32768);
    uint32_t room = zone_room(z);
    assert_true(room > 400 && room < 1024); /* 40 bytes each and a bucket */
    zone_lock(z);
    assert_null(zone_oldest(z));
    assert_null(zone_get(z, id_of(z, 1)));
    for (unsigned i = 0; i < room; i++) {
        struct tally *t = zone_add(z, id_of(z, i));
        assert_non_null(t);
        assert_int_equal(t->count, 0);
        t->count = i;
    }
    assert_null(zone_add(z, id_of(z, room)));
    assert_int_equal(walk(z, room), room);
    for (unsigned i = 0; i < room; i++)
        assert_int_equal(((struct tally *)zone_get(z, id_of(z, i)))->count, i);
    assert_int_equal(((struct tally *)zone_oldest(z))->count, 0);
    zone_touch(z, zone_oldest(z));
    assert_int_equal(((struct tally *)zone_oldest(z))->count, 1);
    zone_touch(z, zone_get(z, id_of(z, 2))); /* out of the middle */
    zone_remove(z, zone_oldest(z));
    assert_int_equal(((struct tally *)zone_oldest(z))->count, 3);
    struct tally *again = zone_add(z, id_of(z, 5)); /* a second one of an id */
    assert_int_equal(again->count, 0);
    again->count = 77;
    const struct tally *first = zone_get(z, id_of(z, 5));
    const struct tally *second = zone_next(z, first);
    assert_int_equal(first->count + second->count, 82);
    assert_null(zone_next(z, second));
    assert_int_equal(walk(z, room), room);
    while (zone_oldest(z) != NULL)
        zone_remove(z, zone_oldest(z));
    assert_int_equal(zone_used(z), 0);
    zone_unlock(z);
    end(&s);
}

static bool is_odd(const void *state, void *arg)
{
    (void)arg;
    return ((const struct tally *)state)->count % 2 == 1;
}

static void sweep(void **state)
{
    struct site s;
    (void)state;
    struct zone *z = open_one(&s, 65536);
    zone_lock(z);
    for (unsigned i = 0; i < 501; i++)
        ((struct tally *)zone_add(z, id_of(z, i)))->count = i;
    zone_sweep(z, is_odd, NULL);
    assert_int_equal(walk(z, 501), 251);
    assert_null(zone_get(z, id_of(z, 7)));
    assert_non_null(zone_get(z, id_of(z, 8)));
    zone_unlock(z);
    end(&s);
}

/* T8: a zone of the same name, kind, size and key is kept over a reload; any other one is not. */
static void reload(void **state)
{
    static const struct {
        uint64_t size;
        const char *key;
        const struct zone_kind *kind;
        bool kept;
    } rows[] = {
        {65536, "$k", &kind, true},
        {65536, "$k$l", &kind, false},
        {131072, "$k", &kind, false},
        {65536, "$k", &other_kind, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site old, new;
        struct zone *z = open_one(&old, 65536);
        zone_lock(z);
        ((struct tally *)zone_add(z, id_of(z, 1)))->count = 42;
        zone_unlock(z);
        begin(&new);
        struct zone *y = define(&new, STR("one"), rows[i].size, str_z(rows[i].key), rows[i].kind);
        assert_non_null(define(&new, STR("two"), 32768, STR("$k"), &kind));
        assert_true(zones_open(&new.cy, &old.cy, &new.report));
        buf_char(&new.report, '\0');
        assert_int_equal(strstr(new.report.p, "\"one\" is another one") == NULL, rows[i].kept);
        end(&old);
        zone_lock(y);
        const struct tally *t = zone_get(y, id_of(y, 1));
        assert_int_equal(t != NULL && t->count == 42, rows[i].kept);
        zone_unlock(y);
        end(&new);
    }
}

#define KEYS 50
#define ROUNDS 10000

/* Counts, adds, touches and removes: all that a worker does. `from` is taken by itself alone. */
static void hammer(struct zone *z, unsigned rounds, unsigned seed)
{
    for (unsigned i = 0; i < rounds; i++) {
        zone_lock(z);
        struct sip id = id_of(z, i % KEYS);
        struct tally *t = zone_get(z, id);
        if (t == NULL)
            t = zone_add(z, id);
        t->count++;
        zone_touch(z, t);
        struct sip own = id_of(z, 1000 + seed);
        if ((t = zone_get(z, own)) != NULL)
            zone_remove(z, t);
        else
            zone_add(z, own);
        zone_unlock(z);
    }
}

static pid_t start(struct zone *z, unsigned rounds, unsigned seed)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        hammer(z, rounds, seed);
        _exit(0);
    }
    return pid;
}

static void end_well(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static uint64_t total(struct zone *z)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        const struct tally *t = zone_get(z, id_of(z, i));
        sum += t != NULL ? t->count : 0;
    }
    return sum;
}

static void two_processes(void **state)
{
    struct site s;
    (void)state;
    struct zone *z = open_one(&s, 65536);
    pid_t a = start(z, ROUNDS, 1), b = start(z, ROUNDS, 2);
    end_well(a);
    end_well(b);
    zone_lock(z);
    assert_int_equal(total(z), 2 * ROUNDS);
    assert_int_equal(zone_used(z), KEYS); /* each removed its own as often as it added it */
    assert_int_equal(zone_mended(z), 0);
    zone_unlock(z);
    end(&s);
}

/* Dies with the lock, the lists torn: the next one mends them, nothing that was there is lost. */
static void dies_with_the_lock(void **state)
{
    struct site s;
    int status;
    (void)state;
    struct zone *z = open_one(&s, 65536);
    hammer(z, 2 * KEYS, 1);
    pid_t pid = fork();
    if (pid == 0) {
        zone_lock(z);
        zone_add(z, id_of(z, 5000));
        kill(getpid(), SIGKILL);
        pause();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    zone_lock(z);
    assert_int_equal(zone_mended(z), 1);
    assert_int_equal(total(z), 2 * KEYS);
    assert_non_null(zone_get(z, id_of(z, 5000)));
    zone_remove(z, zone_get(z, id_of(z, 5000)));
    assert_int_equal(walk(z, 2000), zone_used(z));
    zone_unlock(z);
    hammer(z, 2 * KEYS, 1);
    zone_lock(z);
    assert_int_equal(zone_mended(z), 1);
    zone_unlock(z);
    end(&s);
}

/* Killed anywhere, over and over, beside one that goes on and must not notice. */
static void killed_anywhere(void **state)
{
    struct site s;
    (void)state;
    struct zone *z = open_one(&s, 65536);
    pid_t steady = start(z, ROUNDS, 1);
    for (unsigned i = 0; i < 60; i++) {
        int status;
        pid_t victim = start(z, UINT32_MAX, 2);
        for (unsigned k = 0; k < 1 + i * 7 % 40; k++)
            sched_yield();
        usleep(i % 5 * 300);
        kill(victim, SIGKILL);
        assert_int_equal(waitpid(victim, &status, 0), victim);
        assert_true(WIFSIGNALED(status));
        zone_lock(z);
        size_t used = walk(z, 2000);
        assert_true(used >= 1 && used <= KEYS + 2);
        zone_unlock(z);
    }
    end_well(steady);
    zone_lock(z);
    assert_true(total(z) >= ROUNDS);
    print_message("mended %u times\n", zone_mended(z));
    zone_unlock(z);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse),
        cmocka_unit_test(names),
        cmocka_unit_test(states),
        cmocka_unit_test(sweep),
        cmocka_unit_test(reload),
        cmocka_unit_test(two_processes),
        cmocka_unit_test(dies_with_the_lock),
        cmocka_unit_test(killed_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
