/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array whose memory is an arena's.  VEC(T) names the type, vec_push returns a zeroed
 * new element or NULL when the arena overflows.  Elements move when the array grows: keep indices,
 * not pointers, until it is complete.
 *
 *     VEC(struct listen_addr) addrs = {0};
 *     struct listen_addr *a = vec_push(&addrs, arena);
 *     for (size_t i = 0; i < addrs.n; i++) use(&addrs.v[i]);
 */
#ifndef SLUICE_CORE_VEC_H
#define SLUICE_CORE_VEC_H

#include "core/arena.h"

#define VEC(type)       \
    struct {            \
        type *v;        \
        size_t n, room; \
    }

/* Makes room for one more element of `size` bytes in *v; zeroes it; false on overflow. */
bool vec_grow(struct arena *a, void **v, size_t *n, size_t *room, size_t size);

#define vec_push(vec, arena)                                                                    \
    (vec_grow((arena), (void **)&(vec)->v, &(vec)->n, &(vec)->room, sizeof(*(vec)->v))           \
         ? &(vec)->v[(vec)->n - 1]                                                              \
         : NULL)

#endif
