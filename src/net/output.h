/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connection still has to send, in order: copied bytes, bytes by reference, file ranges.
 * Copied bytes lie one after the other, so that the answers of a pipeline leave in one send.
 */
#ifndef SLUICE_NET_OUTPUT_H
#define SLUICE_NET_OUTPUT_H

#include "core/slab.h"
#include "core/str.h"
#include "event/loop.h"

#include <sys/uio.h>

#define OUT_IOV 8         /* pieces per buffer */
#define OUT_GATHER 64     /* pieces per send */
#define OUT_BUF_BYTES 8192

typedef void release_f(void *arg);

struct out_ref {
    release_f *release;   /* NULL: nothing to give back */
    void *arg;
};

struct out_buf {
    struct out_buf *next;
    uint32_t used;            /* of mem */
    uint8_t iov_n, iov_at;    /* pieces, and the first one not sent yet */
    bool has_file;            /* a file range behind the pieces, the last thing in this buffer */
    struct iovec iov[OUT_IOV];
    struct out_ref refs[OUT_IOV];
    struct send_file file;
    struct out_ref file_ref;
    char mem[];
};
#define OUT_MEM (OUT_BUF_BYTES - sizeof(struct out_buf))

/* A send made of many buffers needs its own vector while it is in flight. */
struct out_gather {
    struct msghdr msg;
    struct iovec iov[OUT_GATHER];
};

/* Shared by all connections of a worker. */
struct out_pool {
    struct slab bufs, gathers;
};
void out_pool_init(struct out_pool *p);
void out_pool_fini(struct out_pool *p);

struct output {
    struct out_buf *first, *last;
    uint64_t queued;   /* bytes ever put in */
    uint64_t sent;     /* bytes ever gone out */
};

/*
 * Room for n (<= OUT_MEM) contiguous bytes at the end, to be written and then committed; NULL: no
 * memory.
 */
char *out_room(struct output *o, struct out_pool *p, size_t n);
void out_commit(struct output *o, size_t n);

/* False: no memory. A reference is then not taken: the caller still has it. */
bool out_copy(struct output *o, struct out_pool *p, const void *bytes, size_t n);
bool out_ref(struct output *o, struct out_pool *p, const void *bytes, size_t n, struct out_ref ref);
bool out_file(struct output *o, struct out_pool *p, int fd, uint64_t off, uint64_t n,
              bool use_splice, struct out_ref ref);

/*
 * The pieces at the front, up to a file range, `room` of them or `most` bytes: a count; 0 when a
 * file range is in front or nothing is left.  *more: something follows that may go at once.
 */
size_t out_front(const struct output *o, struct iovec *to, size_t room, uint64_t most, bool *more);

/* The file range in front, NULL if none. */
struct send_file *out_front_file(const struct output *o);

/* n bytes of the pieces in front are gone: releases what is finished. */
void out_advance(struct output *o, struct out_pool *p, size_t n);
/* The file range in front is gone (its n bytes were counted by out_file_moved). */
void out_file_done(struct output *o, struct out_pool *p, struct loop *loop);
static inline void out_file_moved(struct output *o, size_t n)
{
    o->sent += n;
}

/* Drops everything; nothing may be in flight. */
void out_clear(struct output *o, struct out_pool *p, struct loop *loop);

/* Nothing is to be sent. (A buffer may be there: room that was taken and not used.) */
static inline bool out_empty(const struct output *o)
{
    return o->queued == o->sent;
}
static inline uint64_t out_pending(const struct output *o)
{
    return o->queued - o->sent;
}

#endif
