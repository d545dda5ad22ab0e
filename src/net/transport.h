/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A transport carries a connection's bytes: plain TCP here, TLS in the layer above.  A const table;
 * what it keeps for a connection hangs on conn->transport_data.
 */
#ifndef SLUICE_NET_TRANSPORT_H
#define SLUICE_NET_TRANSPORT_H

#include "core/str.h"
#include "event/loop.h"

struct conn;

struct transport {
    const char *name;
    bool send_file; /* file ranges may go straight from the page cache to the socket */
    /* Starts receiving; conn_opened() when application bytes may flow (after a handshake). */
    void (*start)(struct conn *c);
    /* Bytes came from the socket (valid during the call): conn_deliver() what they decode to. */
    void (*received)(struct conn *c, struct str data);
    /* Sends what is queued in c->out, conn_send_room() bytes at most; no send is in flight. */
    void (*flush)(struct conn *c);
    /* No more will be written: say so to the peer (close_notify, FIN). */
    void (*shutdown)(struct conn *c);
    /* The connection is gone; free transport_data. */
    void (*fini)(struct conn *c);
};

extern const struct transport plain_transport;

#endif
