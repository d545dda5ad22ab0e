/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arenas: memory with one lifetime (cycle, worker, connection, request).  Nothing is freed on its
 * own; the arena is reset or freed as a whole and then runs its cleanups, newest first.
 *
 * An arena has a cap.  Going over it, or out of memory, sets a sticky overflow flag and returns
 * NULL; the owner turns that into a 431 or 500 and never sends half an answer.
 */
#ifndef SLUICE_CORE_ARENA_H
#define SLUICE_CORE_ARENA_H

#include "core/check.h"
#include "core/str.h"

#include <stdarg.h>

struct arena_chunk;
struct arena_cleanup;

/* Public so that it can be embedded; no field is touched from outside arena.c. */
struct arena {
    char *at, *end;               /* free room in the current chunk */
    struct arena_chunk *chunks;   /* heap chunks, newest first; the caller's memory is not one */
    struct arena_cleanup *cleanups;
    char *first;                  /* the caller's memory, may be NULL */
    uint32_t first_size;
    uint32_t chunk_size;
    size_t used, cap;             /* heap bytes taken, and the most that may be; 0 is no cap */
    bool overflow;
};

/*
 * Starts an empty arena.  `mem` (may be NULL) is the caller's and is used first; it must outlive
 * the arena.  Heap chunks of `chunk_size` bytes follow, at most `cap` bytes in all (0: no cap).
 */
void arena_init(struct arena *a, void *mem, size_t mem_size, size_t chunk_size, size_t cap);

/* Runs the cleanups, frees the heap chunks; the arena is empty and usable again. */
void arena_reset(struct arena *a);

/* As arena_reset, and the arena is not used again. */
void arena_fini(struct arena *a);

/* Heap-allocated arena for long lifetimes; NULL when out of memory. Freed by arena_delete. */
struct arena *arena_new(size_t chunk_size, size_t cap);
void arena_delete(struct arena *a);   /* NULL is fine */

/* 16-byte aligned. NULL and a sticky overflow flag on failure. Zero bytes give a valid pointer. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);                 /* zeroed */
void *arena_array(struct arena *a, size_t count, size_t size); /* zeroed, product checked */
void *arena_bytes(struct arena *a, size_t n);                  /* unaligned, for text */

/* Copies; the copy is NUL-terminated behind its n bytes. p is NULL on overflow. */
struct str arena_str(struct arena *a, struct str s);
char *arena_strz(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
struct str arena_cat(struct arena *a, const struct str *parts, size_t count);

/* Calls fn(arg) when the arena is reset or freed. False when there was no memory for the note. */
bool arena_on_free(struct arena *a, void (*fn)(void *arg), void *arg);

static inline bool arena_overflowed(const struct arena *a)
{
    return a->overflow;
}

#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))

#endif
