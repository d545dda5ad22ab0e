/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections a proxy opened for a client: its PROXY header comes first (proto/proxy_hdr.h). */
#ifndef SLUICE_NET_PROXIED_H
#define SLUICE_NET_PROXIED_H

#include "core/str.h"
#include "os/addr.h"

struct conn;

struct proxied {
    bool complete;          /* the header has been read; nothing below is known before */
    struct addr src, dst;   /* as the proxy says; len 0: it said nothing */
    char *in;               /* part of a header, NULL: none */
    size_t in_n;
};

/* For a new connection on a listener with proxy_protocol. False: no memory. */
bool proxied_begin(struct conn *c);

/*
 * The first bytes of the connection: true when the header is complete, *data is then what follows
 * it, perhaps nothing.  False: more is needed, or the header was bad and the connection is closing.
 */
bool proxied_take(struct conn *c, struct str *data);

void proxied_end(struct conn *c);

#endif
