/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a zone: buckets of chains, a list in order of use, a list of free cells.  Places are
 * numbers that begin with 1, so that memory that has never been touched is an empty table, and a
 * zone takes as many pages as it has had states.
 *
 * What a dead worker left half done is told from the cells: one that is `live` has its id and a
 * state.  All lists can be made anew from that; the order of use is lost then, which costs no more
 * than that other states give way first.
 *
 * The sizes of things are kept in private memory, and places are checked, so that a worker gone mad
 * does not lead the others out of the zone.
 */
#include "http/zone.h"

#include "conf/value.h"
#include "core/rand.h"
#include "core/vec.h"
#include "http/site.h"
#include "os/shm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ZONE_SIZE_MAX (INT64_C(1) << 40)
#define STATE_MAX 64

struct cell {
    struct sip id;
    uint32_t live;
    uint32_t next;              /* in the bucket, or among the free */
    uint32_t older, newer;
    char state[];
};

struct shared {
    pthread_mutex_t lock;
    uint64_t secret[2];
    uint32_t used;
    uint32_t touched;           /* cells that were ever used: the first ones */
    uint32_t free;
    uint32_t oldest, newest;
    uint32_t mended;
    uint32_t buckets[];         /* then the cells */
};

struct zone_memory {
    struct shared *shared;
    char *cells;
    uint32_t room, mask, cell_size;
    size_t size;
    unsigned refs;              /* cycles of this process */
};

/* ---- configuration ---- */

struct zone *zone_find(const struct cycle_http *cy, struct str name, const struct zone_kind *kind)
{
    for (size_t i = 0; i < cy->zone_count; i++)
        if (cy->zones[i]->kind == kind && str_eq(cy->zones[i]->name, name))
            return cy->zones[i];
    return NULL;
}

struct zone *zone_define(struct cycle_http *cy, struct str path, const struct zone *def)
{
    CHECK(def->kind->state_size <= STATE_MAX && def->kind->state_size % 8 == 0);
    for (size_t i = 0; i < cy->zone_count; i++) {
        if (!str_eq(cy->zones[i]->name, def->name))
            continue;
        diag_error(cy->diag, def->pos, path, "the zone \"" STR_FMT "\" exists already, for %s",
                   STR_ARG(def->name), cy->zones[i]->kind->name);
        return NULL;
    }
    struct zone *z = ARENA_NEW(cy->arena, struct zone);
    if (z == NULL || !vec_grow(cy->arena, (void **)&cy->zones, &cy->zone_count, &cy->zone_room,
                               sizeof(struct zone *)))
        return NULL;
    *z = *def;
    cy->zones[cy->zone_count - 1] = z;
    return z;
}

bool zone_parse(struct str text, struct str *name, uint64_t *size, const char **why)
{
    int64_t bytes = 0;
    ssize_t colon = str_chr(text, ':');
    *name = str_head(text, colon < 0 ? text.n : (size_t)colon);
    if (colon <= 0 || !value_size(str_skip(text, (size_t)colon + 1), &bytes, NULL))
        *why = "zone=NAME:SIZE";
    else if (bytes < ZONE_SIZE_MIN || bytes > ZONE_SIZE_MAX)
        *why = "a size of 32k or more";
    else
        *size = (uint64_t)bytes;
    return *size != 0;
}

/* ---- mapping ---- */

/* As many cells as there is room for, with a bucket for each or two. */
static void lay_out(struct zone_memory *m, uint32_t state_size)
{
    m->cell_size = (uint32_t)sizeof(struct cell) + state_size;
    size_t buckets = 64, cells;
    for (;;) {
        size_t rest = m->size - sizeof(struct shared) - buckets * sizeof(uint32_t);
        cells = rest / m->cell_size;
        if (buckets >= cells || buckets > UINT32_MAX / 4)
            break;
        buckets *= 2;
    }
    m->mask = (uint32_t)buckets - 1;
    m->room = cells < UINT32_MAX / 2 ? (uint32_t)cells : UINT32_MAX / 2;
    m->cells = (char *)m->shared + m->size - (size_t)m->room * m->cell_size;
    m->cells -= (uintptr_t)m->cells % _Alignof(struct cell);
    if (m->cells < (char *)(m->shared->buckets + buckets))
        m->room--, m->cells += m->cell_size;
}

static bool make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t a;
    if (pthread_mutexattr_init(&a) != 0)
        return false;
    bool good = pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0 &&
                pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0 &&
                pthread_mutex_init(lock, &a) == 0;
    pthread_mutexattr_destroy(&a);
    return good;
}

static struct zone_memory *memory_new(const struct zone *z)
{
    struct zone_memory *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return NULL;
    m->size = (size_t)z->size;
    m->refs = 1;
    m->shared = shm_alloc(m->size);
    if (m->shared == NULL || !make_lock(&m->shared->lock)) {
        shm_free(m->shared, m->size);
        free(m);
        return NULL;
    }
    rand_bytes(m->shared->secret, sizeof(m->shared->secret));
    lay_out(m, z->kind->state_size);
    return m;
}

/* The lock is not destroyed: workers that still end may hold it. */
static void memory_unref(struct zone_memory *m)
{
    if (m == NULL || --m->refs > 0)
        return;
    shm_free(m->shared, m->size);
    free(m);
}

/* The memory of the same zone of the configuration in force, NULL if it has none like it. */
static struct zone_memory *kept(const struct zone *z, const struct cycle_http *before,
                                struct buf *report)
{
    for (size_t i = 0; before != NULL && i < before->zone_count; i++) {
        const struct zone *old = before->zones[i];
        if (!str_eq(old->name, z->name) || old->memory == NULL)
            continue;
        if (old->kind == z->kind && old->size == z->size && str_eq(old->key, z->key))
            return old->memory;
        buf_printf(report, "the zone \"" STR_FMT "\" is another one than before and starts empty\n",
                   STR_ARG(z->name));
    }
    return NULL;
}

bool zones_open(struct cycle_http *cy, const struct cycle_http *before, struct buf *report)
{
    for (size_t i = 0; i < cy->zone_count; i++) {
        struct zone *z = cy->zones[i];
        z->memory = kept(z, before, report);
        if (z->memory != NULL) {
            z->memory->refs++;
            continue;
        }
        z->memory = memory_new(z);
        if (z->memory != NULL)
            continue;
        buf_printf(report, "%llu bytes for the zone \"" STR_FMT "\" are not to be had (%d: %s)\n",
                   (unsigned long long)z->size, STR_ARG(z->name), errno, strerrordesc_np(errno));
        return false;
    }
    return true;
}

void zones_close(struct cycle_http *cy)
{
    for (size_t i = 0; i < cy->zone_count; i++) {
        memory_unref(cy->zones[i]->memory);
        cy->zones[i]->memory = NULL;
    }
}

/* ---- cells ---- */

static struct cell *cell_at(const struct zone_memory *m, uint32_t place)
{
    CHECK(place - 1 < m->room);
    return (struct cell *)(void *)(m->cells + (size_t)(place - 1) * m->cell_size);
}

static struct cell *cell_of(const void *state)
{
    return container_of((char *)(uintptr_t)state, struct cell, state);
}

static uint32_t place_of(const struct zone_memory *m, const struct cell *n)
{
    return (uint32_t)((size_t)((const char *)n - m->cells) / m->cell_size) + 1;
}

static uint32_t *bucket_of(const struct zone_memory *m, struct sip id)
{
    return &m->shared->buckets[id.v[0] & m->mask];
}

static void push_newest(const struct zone_memory *m, struct cell *n, uint32_t place)
{
    struct shared *s = m->shared;
    n->newer = 0;
    n->older = s->newest;
    if (s->newest != 0)
        cell_at(m, s->newest)->newer = place;
    else
        s->oldest = place;
    s->newest = place;
}

static void take_out(const struct zone_memory *m, struct cell *n)
{
    struct shared *s = m->shared;
    if (n->older != 0)
        cell_at(m, n->older)->newer = n->newer;
    else
        s->oldest = n->newer;
    if (n->newer != 0)
        cell_at(m, n->newer)->older = n->older;
    else
        s->newest = n->older;
}

static void link_cell(const struct zone_memory *m, struct cell *n, uint32_t place)
{
    uint32_t *bucket = bucket_of(m, n->id);
    n->next = *bucket;
    *bucket = place;
    push_newest(m, n, place);
    m->shared->used++;
}

static void push_free(const struct zone_memory *m, struct cell *n, uint32_t place)
{
    n->next = m->shared->free;
    m->shared->free = place;
}

/* ---- the lock ---- */

/* All lists from the cells. Dying in here leaves it to the next one, from the beginning. */
static void mend(const struct zone_memory *m)
{
    struct shared *s = m->shared;
    uint32_t touched = s->touched < m->room ? s->touched : m->room;
    memset(s->buckets, 0, ((size_t)m->mask + 1) * sizeof(*s->buckets));
    s->used = s->free = s->oldest = s->newest = 0;
    for (uint32_t place = 1; place <= touched; place++) {
        struct cell *n = cell_at(m, place);
        if (n->live)
            link_cell(m, n, place);
        else
            push_free(m, n, place);
    }
    s->mended++;
}

void zone_lock(struct zone *z)
{
    pthread_mutex_t *lock = &z->memory->shared->lock;
    int err = pthread_mutex_lock(lock);
    if (LIKELY(err == 0))
        return;
    CHECK(err == EOWNERDEAD);
    mend(z->memory);
    CHECK(pthread_mutex_consistent(lock) == 0);
}

void zone_unlock(struct zone *z)
{
    CHECK(pthread_mutex_unlock(&z->memory->shared->lock) == 0);
}

/* ---- states ---- */

struct sip zone_id(const struct zone *z, struct str key)
{
    return sip_hash(key, z->memory->shared->secret);
}

/* What a worker that dies here has stored is what stands above the line. */
static void stored(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

static void *search(const struct zone_memory *m, uint32_t place, struct sip id)
{
    for (uint32_t steps = 0; place != 0; steps++) {
        struct cell *n = cell_at(m, place);
        CHECK(steps <= m->room);
        if (sip_eq(n->id, id))
            return n->state;
        place = n->next;
    }
    return NULL;
}

void *zone_get(struct zone *z, struct sip id)
{
    return search(z->memory, *bucket_of(z->memory, id), id);
}

void *zone_next(struct zone *z, const void *state)
{
    const struct cell *n = cell_of(state);
    return search(z->memory, n->next, n->id);
}

void *zone_add(struct zone *z, struct sip id)
{
    const struct zone_memory *m = z->memory;
    struct shared *s = m->shared;
    uint32_t place = s->free;
    if (place != 0)
        s->free = cell_at(m, place)->next;
    else if (s->touched < m->room)
        place = ++s->touched;
    else
        return NULL;
    struct cell *n = cell_at(m, place);
    n->id = id;
    memset(n->state, 0, z->kind->state_size);
    stored();
    n->live = 1;
    stored();
    link_cell(m, n, place);
    return n->state;
}

void zone_touch(struct zone *z, void *state)
{
    struct cell *n = cell_of(state);
    if (n->newer == 0)
        return;
    take_out(z->memory, n);
    push_newest(z->memory, n, place_of(z->memory, n));
}

void *zone_oldest(struct zone *z)
{
    uint32_t place = z->memory->shared->oldest;
    return place == 0 ? NULL : cell_at(z->memory, place)->state;
}

void zone_remove(struct zone *z, void *state)
{
    const struct zone_memory *m = z->memory;
    struct cell *n = cell_of(state);
    uint32_t place = place_of(m, n), *at = bucket_of(m, n->id);
    CHECK(n->live);
    n->live = 0;
    stored();
    while (*at != place)
        at = &cell_at(m, *at)->next;
    *at = n->next;
    take_out(m, n);
    push_free(m, n, place);
    m->shared->used--;
}

void zone_sweep(struct zone *z, bool (*gone)(const void *state, void *arg), void *arg)
{
    const struct zone_memory *m = z->memory;
    for (uint32_t place = 1; place <= m->shared->touched; place++) {
        struct cell *n = cell_at(m, place);
        if (n->live && gone(n->state, arg))
            zone_remove(z, n->state);
    }
}

uint32_t zone_used(const struct zone *z)
{
    return z->memory->shared->used;
}

uint32_t zone_room(const struct zone *z)
{
    return z->memory->room;
}

uint32_t zone_mended(const struct zone *z)
{
    return z->memory->shared->mended;
}
