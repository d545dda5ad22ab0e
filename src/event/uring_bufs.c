/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receive buffers: a ring shared with the kernel, which picks one when data arrives, so that
 * an idle connection holds none.  Only a few are published at first, because the kernel takes them
 * in turn and a small set stays in the processor's cache; when they run short the rest follows.
 */
#include "event/uring_priv.h"

#include <errno.h>
#include <sys/mman.h>

#define PUBLISHED_AT_START 64u
#define COUNT_MAX 32768u

static uint32_t round_up_pow2(uint32_t n)
{
    uint32_t p = 1;
    while (p < n && p < COUNT_MAX)
        p <<= 1;
    return p;
}

static void *map(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static size_t ring_bytes(const struct uring_bufs *b)
{
    return b->count * sizeof(struct io_uring_buf);
}

static void publish(struct uring_bufs *b, uint32_t upto)
{
    int mask = io_uring_buf_ring_mask(b->count);
    uint32_t n = 0;
    while (b->published < upto && b->published < b->count) {
        io_uring_buf_ring_add(b->ring, b->mem + (size_t)b->published * b->size, b->size,
                              (unsigned short)b->published, mask, (int)n++);
        b->published++;
    }
    io_uring_buf_ring_advance(b->ring, (int)n);
}

int uring_bufs_init(struct uring *u, const struct ev_conf *conf)
{
    struct uring_bufs *b = &u->bufs;
    b->count = round_up_pow2(conf->recv_buffers);
    b->size = conf->recv_buffer_size;
    b->published = 0;
    b->ring = map(ring_bytes(b));
    b->mem = map((size_t)b->count * b->size);
    if (b->ring == NULL || b->mem == NULL) {
        uring_bufs_fini(u);
        return -ENOMEM;
    }
    io_uring_buf_ring_init(b->ring);
    struct io_uring_buf_reg reg = {.ring_addr = (uintptr_t)b->ring,
                                   .ring_entries = b->count,
                                   .bgid = URING_RECV_GROUP};
    int r = io_uring_register_buf_ring(&u->ring, &reg, 0);
    if (r < 0) {
        uring_bufs_fini(u);
        return r;
    }
    publish(b, PUBLISHED_AT_START);
    return 0;
}

void uring_bufs_fini(struct uring *u)
{
    struct uring_bufs *b = &u->bufs;
    if (b->ring != NULL)
        munmap(b->ring, ring_bytes(b));
    if (b->mem != NULL)
        munmap(b->mem, (size_t)b->count * b->size);
    b->ring = NULL;
    b->mem = NULL;
}

char *uring_bufs_at(const struct uring *u, uint32_t bid)
{
    CHECK(bid < u->bufs.count);
    return u->bufs.mem + (size_t)bid * u->bufs.size;
}

void uring_bufs_give(struct uring *u, uint32_t bid)
{
    struct uring_bufs *b = &u->bufs;
    io_uring_buf_ring_add(b->ring, uring_bufs_at(u, bid), b->size, (unsigned short)bid,
                          io_uring_buf_ring_mask(b->count), 0);
    io_uring_buf_ring_advance(b->ring, 1);
}

void uring_bufs_more(struct uring *u)
{
    publish(&u->bufs, u->bufs.published * 2);
}
