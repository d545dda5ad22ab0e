/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options behind the address of a `listen`.  Each is kept as the text it was given as, so that
 * several servers of one address can be compared, and applied once the address is complete.
 */
#ifndef SLUICE_HTTP_LISTEN_OPTIONS_H
#define SLUICE_HTTP_LISTEN_OPTIONS_H

#include "conf/diag.h"
#include "conf/schema.h"
#include "os/sock.h"

/* Seconds that the kernel may hold a connection back until data has come (deferred). */
#define LISTEN_DEFER_S 5

enum listen_option {
    LISTEN_BACKLOG,
    LISTEN_IPV6ONLY,
    LISTEN_DEFERRED,
    LISTEN_FASTOPEN,
    LISTEN_KEEPALIVE,
    LISTEN_RCVBUF,
    LISTEN_SNDBUF,
    LISTEN_PROXY_PROTOCOL,
    LISTEN_OPTIONS
};

struct listen_options {
    struct arg given[LISTEN_OPTIONS];   /* the value's text; p NULL: not given */
    bool default_server;
};

/*
 * Reads args->v[1] and on.  `unix_socket`: options of TCP are refused.  False: reported to d.
 */
bool listen_options_read(struct listen_options *o, struct diag *d, struct str path,
                         const struct args *args, bool unix_socket);

/* What `more` gives is added to `o`; an option given differently in both is reported. */
bool listen_options_merge(struct listen_options *o, const struct listen_options *more,
                          struct diag *d, struct str path, const char *address);

/* The socket options they stand for, on top of sluice's defaults. */
void listen_options_apply(const struct listen_options *o, struct sock_options *to,
                          bool *proxy_protocol);

#endif
