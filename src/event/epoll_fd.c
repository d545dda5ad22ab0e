/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The epoll back end's table of descriptors, indexed by number, and the chains through it: those
 * with something to try, those to be registered, and listeners that rest.  Entries never move and
 * are never removed, so callers keep pointers to them across done().
 */
#include "event/epoll_priv.h"

#include "core/clock.h"

#include <stdlib.h>
#include <string.h>

#define CHUNKS_MORE 8 /* chunks the directory grows by */

struct ep_fd *ep_fd_find(const struct epoll_be *be, int fd)
{
    size_t c = (size_t)fd / EP_CHUNK;

    if (fd < 0 || c >= be->chunk_count || be->chunks[c] == NULL)
        return NULL;
    return &be->chunks[c][(size_t)fd % EP_CHUNK];
}

void ep_fd_reset(struct ep_fd *e)
{
    CHECK(e->rd == NULL && e->wr == NULL);
    e->generation++;
    e->flags = (uint16_t)((e->flags & EP_CHAINED) | EP_CAN_READ | EP_CAN_WRITE);
    e->events = 0;
    e->sent = 0;
    e->burst = 0;
}

struct ep_fd *ep_fd_entry(struct epoll_be *be, int fd)
{
    struct ep_fd *e = ep_fd_find(be, fd);
    size_t c = (size_t)fd / EP_CHUNK;

    if (e != NULL)
        return e;
    if (c >= be->chunk_count) {
        size_t count = c + CHUNKS_MORE;
        struct ep_fd **chunks = realloc(be->chunks, count * sizeof(*chunks));

        if (chunks == NULL)
            return NULL;
        memset(chunks + be->chunk_count, 0, (count - be->chunk_count) * sizeof(*chunks));
        be->chunks = chunks;
        be->chunk_count = count;
    }
    be->chunks[c] = calloc(EP_CHUNK, sizeof(struct ep_fd));
    if (be->chunks[c] == NULL)
        return NULL;
    for (size_t i = 0; i < EP_CHUNK; i++)
        ep_fd_reset(&be->chunks[c][i]);
    return &be->chunks[c][(size_t)fd % EP_CHUNK];
}

void ep_forget(struct epoll_be *be, int fd)
{
    struct ep_fd *e = ep_fd_find(be, fd);

    if (e != NULL)
        ep_fd_reset(e);
}

void ep_table_free(struct epoll_be *be)
{
    for (size_t i = 0; i < be->chunk_count; i++)
        free(be->chunks[i]);
    free(be->chunks);
    be->chunks = NULL;
    be->chunk_count = 0;
}

/* --- chains: `link` of an entry in one is the next number, and `flag` is set --- */

#define CHAIN_PUSH(be, chain, fd, e, link, flag)                         \
    do {                                                                 \
        if (((e)->flags & (flag)) != 0)                                  \
            break;                                                       \
        (e)->flags |= (flag);                                            \
        (e)->link = EP_NONE;                                             \
        if ((chain)->first == EP_NONE)                                   \
            (chain)->first = (uint32_t)(fd);                             \
        else                                                             \
            ep_fd_find((be), (int)(chain)->last)->link = (uint32_t)(fd); \
        (chain)->last = (uint32_t)(fd);                                  \
    } while (0)

/* The first entry, or NULL; its number in *fd. */
#define CHAIN_POP(be, chain, fd, e, link, flag)         \
    do {                                                \
        (e) = NULL;                                     \
        if ((chain)->first == EP_NONE)                  \
            break;                                      \
        *(fd) = (int)(chain)->first;                    \
        (e) = ep_fd_find((be), *(fd));                  \
        (chain)->first = (e)->link;                     \
        if ((chain)->first == EP_NONE)                  \
            (chain)->last = EP_NONE;                    \
        (e)->flags &= (uint16_t)~(flag);                \
    } while (0)

void ep_ready(struct epoll_be *be, int fd, struct ep_fd *e)
{
    CHAIN_PUSH(be, &be->ready, fd, e, next_ready, EP_IN_READY);
}

void ep_ready_first(struct epoll_be *be, int fd, struct ep_fd *e)
{
    if ((e->flags & EP_IN_READY) != 0 || be->ready.first == EP_NONE) {
        ep_ready(be, fd, e);
        return;
    }
    e->flags |= EP_IN_READY;
    e->next_ready = be->ready.first;
    be->ready.first = (uint32_t)fd;
}

struct ep_fd *ep_ready_pop(struct epoll_be *be, int *fd)
{
    struct ep_fd *e;

    CHAIN_POP(be, &be->ready, fd, e, next_ready, EP_IN_READY);
    return e;
}

void ep_await(struct epoll_be *be, int fd, struct ep_fd *e)
{
    if ((e->flags & (EP_REGISTERED | EP_REARM)) != EP_REGISTERED)
        CHAIN_PUSH(be, &be->reg, fd, e, next_reg, EP_IN_REG);
}

struct ep_fd *ep_reg_pop(struct epoll_be *be, int *fd)
{
    struct ep_fd *e;

    CHAIN_POP(be, &be->reg, fd, e, next_reg, EP_IN_REG);
    return e;
}

void ep_pause(struct epoll_be *be, int fd, struct ep_fd *e)
{
    CHAIN_PUSH(be, &be->pause, fd, e, next_pause, EP_IN_PAUSE);
    if (!timer_armed(&be->accept_timer))
        timer_arm(&be->loop->timers, &be->accept_timer, clock_mono_ms() + ACCEPT_PAUSE_MS);
}

/* All of them go on: what one was short of, a descriptor or memory, all were. */
void ep_unpause(struct timer *t, uint64_t now_ms)
{
    struct epoll_be *be = container_of(t, struct epoll_be, accept_timer);
    struct ep_fd *e;
    int fd;

    (void)now_ms;
    for (;;) {
        CHAIN_POP(be, &be->pause, &fd, e, next_pause, EP_IN_PAUSE);
        if (e == NULL)
            return;
        if (e->rd != NULL)
            ep_await(be, fd, e);
    }
}
