/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listeners: one per address of the configuration, with one SO_REUSEPORT socket per worker.  The
 * master opens them and keeps them over reloads; every worker inherits all of them, accepts on its
 * own and, when asked to, on those of a sibling that is away.
 */
#ifndef SLUICE_NET_LISTEN_H
#define SLUICE_NET_LISTEN_H

#include "net/conn.h"
#include "os/sock.h"

struct listener {
    struct addr addr;
    char text[ADDR_TEXT_MAX];       /* "0.0.0.0:80", "unix:/run/x" */
    struct sock_options options;
    bool ssl, proxy_protocol;
    const void *sites;              /* the virtual servers of this address (http/vhost.h) */
    int *fds;                       /* one per worker; a Unix socket has one that all share */
    uint32_t fd_count;
};

/* The accepting end in a worker, one per listener socket it serves. */
struct acceptor {
    struct op op;
    struct net *net;
    const struct listener *listener;
    const struct transport *transport;
    int fd;
    uint32_t owner;                 /* the worker whose socket it is */
    bool wanted;
    bool stands_in;                 /* for the owner, who is away or hung */
    struct timer retry;             /* armed after an error that another try would meet at once */
};

void acceptor_init(struct acceptor *a, struct net *n, const struct listener *l, uint32_t owner,
                   int fd, const struct transport *t);
void acceptor_start(struct acceptor *a, bool stands_in);  /* fine when it runs */
void acceptor_stop(struct acceptor *a);   /* op_busy(&a->op) until the stop is through */

/*
 * Accepts what is queued by now.  Where accepting ends it is still ours, because the socket may be
 * about to be closed, which would reset it.  False: descriptors or memory ran out.
 */
bool acceptor_take(struct acceptor *a);

#endif
