/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arenas.  Memory is handed out from the front of the current chunk; a request that a fresh chunk
 * could not hold gets a chunk of its own and leaves the current one in use.  `used` counts whole
 * heap chunks, headers included, so the cap bounds what malloc is really asked for.
 */
#include "core/arena.h"

#include <stdio.h>
#include <stdlib.h>

#define ARENA_ALIGN 16

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(ARENA_ALIGN) char mem[];
};

struct arena_cleanup {
    struct arena_cleanup *next;
    void (*fn)(void *arg);
    void *arg;
};

void arena_init(struct arena *a, void *mem, size_t mem_size, size_t chunk_size, size_t cap)
{
    CHECK(mem_size <= UINT32_MAX && chunk_size <= UINT32_MAX);
    CHECK(chunk_size > sizeof(struct arena_chunk));
    *a = (struct arena){.first = mem,
                        .first_size = mem == NULL ? 0 : (uint32_t)mem_size,
                        .chunk_size = (uint32_t)chunk_size,
                        .cap = cap};
    a->at = a->first;
    a->end = a->first == NULL ? NULL : a->first + a->first_size;
}

void arena_reset(struct arena *a)
{
    /* A cleanup may allocate or register another one; so the list is read anew each time. */
    while (a->cleanups != NULL) {
        struct arena_cleanup *c = a->cleanups;
        a->cleanups = c->next;
        c->fn(c->arg);
    }
    while (a->chunks != NULL) {
        struct arena_chunk *c = a->chunks;
        a->chunks = c->next;
        free(c);
    }
    a->at = a->first;
    a->end = a->first == NULL ? NULL : a->first + a->first_size;
    a->used = 0;
    a->overflow = false;
}

void arena_fini(struct arena *a)
{
    arena_reset(a);
}

struct arena *arena_new(size_t chunk_size, size_t cap)
{
    struct arena *a = malloc(sizeof *a);

    if (a != NULL)
        arena_init(a, NULL, 0, chunk_size, cap);
    return a;
}

void arena_delete(struct arena *a)
{
    if (a == NULL)
        return;
    arena_fini(a);
    free(a);
}

static void *arena_fail(struct arena *a)
{
    a->overflow = true;
    return NULL;
}

/* A chunk of `size` bytes, header included, that the cap allows. */
static struct arena_chunk *arena_chunk_new(struct arena *a, size_t size)
{
    struct arena_chunk *c = malloc(size);

    if (c == NULL)
        return NULL;
    c->next = a->chunks;
    a->chunks = c;
    a->used += size;
    return c;
}

/* n bytes from the heap, for when the current chunk has no room. Any alignment, as chunks have. */
static void *arena_slow(struct arena *a, size_t n)
{
    size_t left = a->cap == 0 ? PTRDIFF_MAX : a->cap - a->used;
    size_t need;

    if (__builtin_add_overflow(n, sizeof(struct arena_chunk), &need) || need > left)
        return arena_fail(a);

    bool own = need > a->chunk_size;
    size_t size = own ? need : a->chunk_size < left ? a->chunk_size : left;
    struct arena_chunk *c = arena_chunk_new(a, size);
    if (c == NULL)
        return arena_fail(a);
    if (!own) {
        a->at = c->mem + n;
        a->end = (char *)c + size;
    }
    return c->mem;
}

void *arena_alloc(struct arena *a, size_t n)
{
    size_t pad = -(uintptr_t)a->at & (ARENA_ALIGN - 1);
    size_t room = (size_t)(a->end - a->at);

    n += n == 0; /* so that the pointer is valid and its own */
    if (UNLIKELY(room < pad || room - pad < n))
        return arena_slow(a, n);
    char *p = a->at + pad;
    a->at = p + n;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    void *p = arena_alloc(a, n);

    return p == NULL ? NULL : memset(p, 0, n);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t n;

    if (__builtin_mul_overflow(count, size, &n))
        return arena_fail(a);
    return arena_zalloc(a, n);
}

void *arena_bytes(struct arena *a, size_t n)
{
    n += n == 0;
    if (UNLIKELY((size_t)(a->end - a->at) < n))
        return arena_slow(a, n);
    char *p = a->at;
    a->at += n;
    return p;
}

/* Room for n bytes and the NUL behind them. */
static char *arena_text(struct arena *a, size_t n)
{
    size_t size;

    if (__builtin_add_overflow(n, 1u, &size))
        return arena_fail(a);
    return arena_bytes(a, size);
}

struct str arena_str(struct arena *a, struct str s)
{
    return arena_cat(a, &s, 1);
}

char *arena_strz(struct arena *a, struct str s)
{
    char *p = arena_text(a, s.n);

    if (p == NULL)
        return NULL;
    if (s.n != 0)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

struct str arena_cat(struct arena *a, const struct str *parts, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(n, parts[i].n, &n)) {
            arena_fail(a);
            return STR_NONE;
        }
    }
    char *p = arena_text(a, n);
    if (p == NULL)
        return STR_NONE;
    char *at = p;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].n != 0)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
    *at = '\0';
    return (struct str){p, n};
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    size_t room = (size_t)(a->end - a->at);
    va_list again;

    /* Mostly it fits into what is left of the chunk, and one pass does. */
    va_copy(again, ap);
    int n = room == 0 ? vsnprintf(NULL, 0, fmt, ap) : vsnprintf(a->at, room, fmt, ap);
    char *p = n < 0 ? arena_fail(a) : arena_text(a, (size_t)n);
    if (p != NULL && (size_t)n >= room)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p == NULL ? STR_NONE : (struct str){p, (size_t)n};
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}

bool arena_on_free(struct arena *a, void (*fn)(void *arg), void *arg)
{
    struct arena_cleanup *c = arena_alloc(a, sizeof *c);

    if (c == NULL)
        return false;
    *c = (struct arena_cleanup){a->cleanups, fn, arg};
    a->cleanups = c;
    return true;
}
