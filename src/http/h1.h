/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1.x on a connection: what h1.c (reading) and h1_write.c (writing) share. */
#ifndef SLUICE_HTTP_H1_H
#define SLUICE_HTTP_H1_H

#include "http/http.h"
#include "http/request.h"
#include "proto/h1_chunk.h"

/* What a client may have us hold of requests we have not come to yet, before we stop reading. */
#define H1_SAVED_PAUSE (64u << 10)
#define H1_SAVED_MAX (HTTP_HEAD_MAX + (128u << 10)) /* a head, and what was received behind it */
/* Output that may be queued before the next request of a pipeline is looked at. */
#define H1_QUEUE_MAX (64u << 10)

/* The state of a connection. */
struct h1 {
    struct request *open;      /* being answered; NULL: none */
    struct list answered;      /* responses whose bytes are still going out, oldest first */
    char *in;                  /* input saved for later; NULL: none */
    uint32_t in_n, in_room;
    struct h1_scan scan;
    uint8_t body;              /* enum h1_body: request body still to be read */
    bool feeding;              /* in h1_feed(): do not enter it again */
    bool last;                 /* no further request is read */
    bool in_head;              /* part of a head has come: the head timeout runs */
    bool sending;              /* the send timeout runs, since out.sent was: */
    uint64_t sent;
    uint64_t body_left;
    uint64_t body_max;         /* what is read of a body; one that is larger ends the connection */
    struct h1_chunk chunk;
    uint64_t acked;            /* at the last look, to tell slow from stuck */
};

static inline struct h1 *h1_of(struct conn *c)
{
    return conn_state(c);
}

/* The settings that hold before a virtual server is known: those of the address's default. */
static inline const struct http_conf *h1_conf(const struct conn *c)
{
    return ((const struct sites *)c->listener->sites)->dflt->conf;
}

/* h1_request.c */
struct request *h1_request_new(struct conn *c); /* becomes h1->open; NULL: no memory */
void h1_request(struct conn *c, struct str head); /* a complete head, request line to empty line */
void h1_bad_head(struct conn *c, struct str in, enum h1_error err); /* one that cannot be */
void h1_show_line(struct request *r, struct str in); /* what there is of a line, for the log */
void h1_fail(struct request *r, unsigned status); /* the answer before routing, and the last one */

bool h1_limit_body(struct request *r, uint64_t max);

/* h1_write.c: head and body of a response into the connection's output. */
void h1_respond(struct request *r);
void h1_stream_pump(struct request *r);

/* The status closes the connection afterwards: what follows cannot be trusted, or not be read. */
bool h1_status_closes(unsigned status);

/* h1.c: the response is in the output queue as a whole. */
void h1_answered(struct request *r);

#endif
