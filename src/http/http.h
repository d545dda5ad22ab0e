/* SPDX-License-Identifier: BSD-2-Clause */
/* What http keeps per worker, and the way in for the layer above: a connection protocol. */
#ifndef SLUICE_HTTP_HTTP_H
#define SLUICE_HTTP_HTTP_H

#include "cache/fcache.h"
#include "core/slab.h"
#include "http/site.h"
#include "net/conn.h"
#include "proto/date.h"

#define HTTP_DATE_HEAD 128

struct http_worker {
    struct loop *loop;
    struct net *net;
    struct fcache *files;
    const struct cycle_http *cycle;
    struct slab requests;            /* struct request with its inline memory */
    struct log_ctx *log;
    /* Start of a 200 response, made once a second: "HTTP/1.1 200 OK\r\nServer: …\r\nDate: …\r\n". */
    int64_t date_s;
    char date[DATE_LEN];
    char ok_head[2][HTTP_DATE_HEAD]; /* [server_tokens] */
    uint32_t ok_head_n[2];
    void **module_data;              /* per section slot */
    uint32_t worker_index;
};

extern const struct conn_ops http_conn_ops;

/* Starts http in a worker: file cache, slabs, modules' worker_init. net->user becomes w. */
enum status http_worker_init(struct http_worker *w, struct loop *loop, struct net *net,
                             const struct cycle_http *cycle, uint32_t index);
void http_worker_fini(struct http_worker *w);

/* Refreshes date and ok_head when the second has changed. */
void http_clock(struct http_worker *w);

static inline struct http_worker *http_worker_of(const struct conn *c)
{
    return c->net->user;
}

#endif
