/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slabs.  Free objects are linked through their own first bytes.  Under AddressSanitizer a free
 * object is poisoned as a whole, so that use after put and a second put are caught at once.
 */
#include "core/slab.h"

#include "core/check.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLAB_POISON 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SLAB_POISON 1
#endif

#ifdef SLAB_POISON
#include <sanitizer/asan_interface.h>
#define slab_hide(p, n) __asan_poison_memory_region((p), (n))
#define slab_show(p, n) __asan_unpoison_memory_region((p), (n))
#define slab_hidden(p) (__asan_address_is_poisoned(p) != 0)
#else
#define slab_hide(p, n) ((void)(p), (void)(n))
#define slab_show(p, n) ((void)(p), (void)(n))
#define slab_hidden(p) ((void)(p), false)
#endif

#define SLAB_ALIGN 16

struct slab_block {
    struct slab_block *next;
    _Alignas(SLAB_ALIGN) char objects[];
};

void slab_init(struct slab *s, size_t object_size, size_t objects_per_block)
{
    size_t bytes;

    CHECK(object_size != 0 && object_size <= SIZE_MAX - SLAB_ALIGN && objects_per_block != 0);
    *s = (struct slab){.size = (object_size + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN,
                       .per_block = objects_per_block};
    CHECK(!__builtin_mul_overflow(s->size, s->per_block, &bytes));
    CHECK(bytes <= SIZE_MAX - sizeof(struct slab_block));
}

void slab_fini(struct slab *s)
{
    while (s->blocks != NULL) {
        struct slab_block *b = s->blocks;
        s->blocks = b->next;
        slab_show(b->objects, s->size * s->per_block);
        free(b);
    }
    s->free = NULL;
    s->in_use = s->total = 0;
}

static void slab_link(struct slab *s, void *obj)
{
    memcpy(obj, &s->free, sizeof s->free);
    s->free = obj;
    slab_hide(obj, s->size);
}

static bool slab_grow(struct slab *s)
{
    struct slab_block *b = malloc(sizeof *b + s->size * s->per_block);

    if (b == NULL)
        return false;
    b->next = s->blocks;
    s->blocks = b;
    for (size_t i = s->per_block; i-- != 0;) /* backwards: handed out in order of address */
        slab_link(s, b->objects + i * s->size);
    s->total += s->per_block;
    return true;
}

void *slab_get(struct slab *s)
{
    if (s->free == NULL && !slab_grow(s))
        return NULL;
    void *obj = s->free;
    slab_show(obj, s->size);
    memcpy(&s->free, obj, sizeof s->free);
    s->in_use++;
    return obj;
}

void slab_put(struct slab *s, void *obj)
{
    if (obj == NULL)
        return;
    CHECK(s->in_use != 0 && !slab_hidden(obj));
    s->in_use--;
    slab_link(s, obj);
}
