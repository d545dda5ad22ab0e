/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections: one descriptor, its two operations, its deadline and its output queue, between a
 * transport below and a protocol above.  A connection comes from accept (or, later, from connect)
 * and is closed in two phases: conn_close() tells the protocol at once, then waits until no
 * operation is in flight, and only then closes the descriptor and recycles the memory.
 */
#ifndef SLUICE_NET_CONN_H
#define SLUICE_NET_CONN_H

#include "core/log.h"
#include "core/slab.h"
#include "net/output.h"
#include "net/paced.h"
#include "net/proxied.h"
#include "net/transport.h"
#include "os/addr.h"

enum close_reason {
#define X(id, text, clean) CLOSE_##id,
#include "net/close.tbl"
#undef X
    CLOSE_REASONS
};
const char *close_reason_text(enum close_reason r);
bool close_reason_clean(enum close_reason r);

struct conn;
struct listener;

/*
 * What a protocol is to a connection.  All are called from the loop; any may call conn_close(),
 * after which none is called again but `closed`, which comes before conn_close() returns.
 */
struct conn_ops {
    size_t state_size;                              /* bytes of protocol state in the connection */
    void (*accepted)(struct conn *c);               /* it exists: sets a deadline for opening */
    void (*opened)(struct conn *c);                 /* bytes may flow */
    void (*received)(struct conn *c, struct str data); /* valid during the call: use or copy all */
    void (*ended)(struct conn *c);                  /* the peer will send nothing more */
    void (*sent)(struct conn *c);                   /* some output went out (see conn_pending) */
    void (*expired)(struct conn *c);                /* the deadline has passed */
    void (*drain)(struct conn *c);                  /* the worker wants to end: close when idle */
    void (*closed)(struct conn *c, enum close_reason r); /* release what hangs on the connection */
};

/* Who the peer is: asked for only when something wants to know. */
struct conn_peer {
    struct addr remote, local;
    uint8_t text_n;
    char text[ADDR_TEXT_MAX]; /* remote without port */
};

struct conn {
    struct list link;          /* in net->all */
    struct net *net;
    const struct conn_ops *ops;
    const struct transport *transport;
    void *transport_data;
    const struct listener *listener;   /* NULL for outbound connections */
    int fd;
    bool opened : 1, ended : 1, closing : 1, lingering : 1, reset : 1, idle : 1;
    bool close_sent : 1;       /* to be closed for `reason` when the output is gone */
    bool recv_wanted : 1;      /* false: back pressure */
    uint8_t reason;            /* enum close_reason, once closing */
    uint32_t requests;         /* served so far */
    uint64_t id;
    uint64_t started_ms;
    uint64_t idle_ms;          /* since when it is idle */
    uint64_t linger_end_ms;
    uint32_t linger_idle_ms;
    uint64_t received;         /* bytes from the socket */
    struct op recv_op, send_op;
    struct turn turn;
    struct deadline deadline;
    struct output out;
    struct out_gather *gather;
    struct paced *paced;       /* output is held back to a rate; else NULL */
    struct conn_peer *peer;
    struct proxied *proxied;   /* the listener has proxy_protocol; else NULL */
    struct log_ctx log;
    max_align_t state[];       /* the protocol's, ops->state_size bytes */
};

/* The connections of one worker. */
struct net {
    struct loop *loop;
    struct log *log;
    const struct conn_ops *ops;
    struct slab conns, peers, paces;
    struct out_pool out;
    struct list all;           /* every connection, in no order that means anything */
    uint32_t count, limit;     /* worker_connections */
    uint64_t next_id;
    bool draining;
    void *user;                /* the worker's http context */
    struct net_stats {
        uint64_t accepted, handled, refused, requests, bytes_out;
        uint32_t reading, writing; /* waiting is what is idle */
        uint64_t closed[CLOSE_REASONS];
    } stats;
};

/* The first connection gets number first_id + 1. */
void net_init(struct net *n, struct loop *loop, struct log *log, const struct conn_ops *ops,
              uint32_t limit, uint64_t first_id);
void net_fini(struct net *n);  /* CHECKs that no connection is left */

/* Asks every connection to end (ops->drain); net->count says how many are left. */
void net_drain(struct net *n);
/* Closes every connection at once. */
void net_close_all(struct net *n, enum close_reason r);

/* Takes over an accepted descriptor and starts it. On failure it is closed and NULL returned. */
struct conn *conn_accepted(struct net *n, int fd, const struct listener *l,
                           const struct transport *t);

static inline void *conn_state(struct conn *c)
{
    return c->state;
}
static inline struct conn *conn_of_state(void *state)
{
    return container_of(state, struct conn, state);
}

/* Ends the connection; the rest happens at turn's end and later. Twice is fine. */
void conn_close(struct conn *c, enum close_reason r);
/* As conn_close, and the peer gets a RST: what was sent must not look complete. */
void conn_abort(struct conn *c, enum close_reason r);
/* As conn_close, but what is queued is sent first. */
void conn_close_sent(struct conn *c, enum close_reason r);
/*
 * Closes politely when input may still be on its way: nothing more is written after what is queued,
 * input is read and dropped until the peer closes, idle_ms pass without any or total_ms pass in
 * all (RFC 9112 9.6).  The protocol sees only `closed` from now on.
 */
void conn_linger(struct conn *c, uint64_t idle_ms, uint64_t total_ms);

/* The deadline, from now; TIMER_NEVER for none. `expired` is called once when it passes. */
static inline void conn_timeout(struct conn *c, uint64_t ms)
{
    if (ms == TIMER_NEVER)
        deadline_clear(&c->deadline);
    else
        deadline_set(&c->deadline, c->net->loop->now_ms + ms);
}

/* Waits for a next request: such connections are closed first when room is needed. */
static inline void conn_set_idle(struct conn *c, bool idle)
{
    c->idle = idle;
    c->idle_ms = c->net->loop->now_ms;
}

/* Back pressure. After a pause bytes already received may still be delivered. */
void conn_recv_pause(struct conn *c);
void conn_recv_resume(struct conn *c);

/* Output: see output.h. What is queued is sent at the end of the turn. */
void conn_flush(struct conn *c);
static inline uint64_t conn_pending(const struct conn *c)
{
    return out_pending(&c->out);
}

/* What a transport may send now: all there is, unless output is paced. */
static inline uint64_t conn_send_room(const struct conn *c)
{
    return LIKELY(c->paced == NULL) ? UINT64_MAX : c->paced->limit - c->out.sent;
}

/* Bytes the peer has acknowledged so far (TCP_INFO), 0 when unknown: to tell slow from stuck. */
uint64_t conn_acked(const struct conn *c);

const struct conn_peer *conn_peer(struct conn *c); /* NULL: no memory, or the peer is gone */

/* For transports: */
void conn_opened(struct conn *c);
void conn_deliver(struct conn *c, struct str data);
void conn_start_recv(struct conn *c);
void conn_sent(struct conn *c);          /* out has moved: tells the protocol, flushes the rest */

#endif
