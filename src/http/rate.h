/* SPDX-License-Identifier: BSD-2-Clause */
/* limit_rate and limit_rate_after: how fast a response goes out. */
#ifndef SLUICE_HTTP_RATE_H
#define SLUICE_HTTP_RATE_H

#include "http/template.h"

struct cycle_http;
struct block;
struct http_conf;
struct request;

/* A size that may be a template. */
struct http_rate {
    struct template text;
    uint64_t fixed;        /* its value if the text is literal */
};

/* Fills c->rate and c->rate_after; `up` is the enclosing block's. False: reported. */
bool rate_freeze(struct cycle_http *cy, struct block *b, struct http_conf *c,
                 const struct http_conf *up);

/* Bytes per second for the body of this request's response, 0: as fast as it goes. */
uint64_t rate_of(struct request *r);
/* So many bytes of it go first, as fast as they go. */
uint64_t rate_after_of(struct request *r);

#endif
