/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growing arrays in an arena.  The old memory stays behind in the arena when an array moves, so it
 * doubles: all copies together take less than twice the final size.
 */
#include "core/vec.h"

#define VEC_FIRST 8

bool vec_grow(struct arena *a, void **v, size_t *n, size_t *room, size_t size)
{
    char *mem;

    /* *v is really a T *; copying its bytes keeps clear of the aliasing rules. */
    memcpy(&mem, v, sizeof mem);
    if (*n == *room) {
        size_t more = *room == 0 ? VEC_FIRST : *room;
        size_t count;
        if (__builtin_add_overflow(*room, more, &count)) {
            a->overflow = true;
            return false;
        }
        char *moved = arena_array(a, count, size);
        if (moved == NULL)
            return false;
        if (*n != 0)
            memcpy(moved, mem, *n * size);
        mem = moved;
        memcpy(v, &mem, sizeof mem);
        *room = count;
    }
    memset(mem + *n * size, 0, size);
    ++*n;
    return true;
}
