/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The listening sockets the master holds, over all cycles: per address a group of SO_REUSEPORT
 * sockets, at least one per worker (a Unix address has one that all share).
 *
 * A reload changes the table in a transaction: begin, one claim per listener, then commit or roll
 * back.  Nobody's connection is lost by it: groups that are still wanted stay open; a new member of
 * a group gets no connection before the commit, because new ones are steered to the old members
 * until then; and a member that is more than there are workers gets nothing new by steering, but
 * stays open for a while, accepted on by a worker that has another as well, because closing it
 * would reset handshakes that are under way.
 */
#ifndef SLUICE_SERVER_SOCKETS_H
#define SLUICE_SERVER_SOCKETS_H

#include "core/buf.h"
#include "net/listen.h"
#include "os/handover.h"

struct socket_group {
    struct addr addr;
    int *fds;          /* in the order of binding, which is the kernel's */
    uint32_t count;
    uint32_t kept;     /* members there were at sockets_begin */
    uint32_t shared;   /* members that came with an upgrade: the older master has them too */
    bool inherited;    /* came with an upgrade and no cycle with it was in force yet */
    bool used;         /* claimed since sockets_begin */
};

struct sockets {
    struct socket_group *groups;
    size_t count, room;
};

/* Takes what an upgrade handed over by the environment. False: the variable is malformed. */
bool sockets_inherit(struct sockets *s, struct buf *report);

void sockets_begin(struct sockets *s);

/*
 * Gives the listener the sockets of its group, at least `workers` of them; l->fds is made in `mem`.
 * False: `report` says why, in one line; roll back.
 */
bool sockets_claim(struct sockets *s, struct listener *l, uint32_t workers, struct arena *mem,
                   struct buf *report);

/* The claims are in force: closes groups that nobody claimed, steers for `workers` workers. */
void sockets_commit(struct sockets *s, uint32_t workers);

/* Whether there are members that `workers` workers do not need. */
bool sockets_surplus(const struct sockets *s, uint32_t workers);

/* Closes those, steered away from for long enough, here and for workers that are forked later. */
void sockets_trim(struct sockets *s, struct listener *const *listeners, size_t n,
                  uint32_t workers);

/* The claims are void: what was opened is closed, options are those of `listeners` again. */
void sockets_rollback(struct sockets *s, struct listener *const *listeners, size_t n);

/* Steers new connections to the members that `workers` workers have first. */
void sockets_steer(struct sockets *s, uint32_t workers);

/* Before ending beside an older master: new connections go to the members that it has, too. */
void sockets_hand_back(struct sockets *s);

/* In a forked worker: closes what is not of these listeners. */
void sockets_keep_only(struct sockets *s, struct listener *const *listeners, size_t n);

/* The groups as the value of HANDOVER_ENV (no NUL). False: no memory. */
bool sockets_handover(const struct sockets *s, struct buf *to);

/* Removes the files of Unix sockets. */
void sockets_unlink(const struct sockets *s);

/* Closes everything; unlink: files of Unix sockets are removed. */
void sockets_close(struct sockets *s, bool unlink_unix);

#endif
