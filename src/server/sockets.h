/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The listening sockets the master holds, over all cycles: per address a group of SO_REUSEPORT
 * sockets, one per worker.  A reload takes over the groups it still wants, so no connection that
 * waits in a queue is lost.
 */
#ifndef SLUICE_SERVER_SOCKETS_H
#define SLUICE_SERVER_SOCKETS_H

#include "core/buf.h"
#include "net/listen.h"
#include "os/handover.h"

struct socket_group {
    struct addr addr;
    int *fds;
    uint32_t count;
    bool inherited;   /* came with an upgrade, not claimed yet */
    bool used;        /* by the cycle being opened */
};

struct sockets {
    struct socket_group *groups;
    size_t count, room;
};

/* Takes what an upgrade handed over by the environment. False: the variable is malformed. */
bool sockets_inherit(struct sockets *s, struct buf *report);

/*
 * Gives the listener `workers` sockets: those of its group and new ones; l->fds is made in `mem`.
 * False: `report` says why, and the group is as it was.
 */
bool sockets_claim(struct sockets *s, struct listener *l, uint32_t workers, struct arena *mem,
                   struct buf *report);

/* Before and after claiming for a cycle. */
void sockets_begin(struct sockets *s);
/* Closes groups that were not claimed since sockets_begin, and members above `workers`. */
void sockets_prune(struct sockets *s, uint32_t workers);

/* The groups as the value of HANDOVER_ENV; clears close-on-exec on them. False: no memory. */
bool sockets_handover(const struct sockets *s, struct buf *to);

/* Closes everything; unlink: files of Unix sockets are removed. */
void sockets_close(struct sockets *s, bool unlink_unix);

#endif
