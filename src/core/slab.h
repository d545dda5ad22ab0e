/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A slab: objects of one size from blocks that are never given back until the slab is freed.
 * One per worker and type; not thread-safe.  Under AddressSanitizer free objects are poisoned.
 */
#ifndef SLUICE_CORE_SLAB_H
#define SLUICE_CORE_SLAB_H

#include <stddef.h>

struct slab_block;
struct slab {
    void *free;                  /* singly linked through the objects, last in first out */
    struct slab_block *blocks;
    size_t size, per_block;
    size_t in_use, total;
};

void slab_init(struct slab *s, size_t object_size, size_t objects_per_block);
void slab_fini(struct slab *s);               /* objects still in use become invalid */
void *slab_get(struct slab *s);               /* uninitialised, 16-byte aligned; NULL: no memory */
void slab_put(struct slab *s, void *obj);     /* NULL is fine */

#endif
