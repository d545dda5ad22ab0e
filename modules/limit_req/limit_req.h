/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two files of limit_req share: what the directives say, compiled. */
#ifndef SLUICE_LIMIT_REQ_LIMIT_REQ_H
#define SLUICE_LIMIT_REQ_LIMIT_REQ_H

#include "bucket.h"
#include "http/site.h"
#include "http/zone.h"

#define LIMIT_REQ_RULES 8            /* in one place */
#define LIMIT_REQ_NO_DELAY UINT64_MAX

/* A zone's key and rate. */
struct limit_req_zone {
    struct template key;
    uint64_t rate;                   /* 1/1000 requests per second */
};

struct limit_req_rule {
    struct zone *zone;
    const struct limit_req_zone *what;
    uint64_t burst;                  /* 1/1000 requests */
    uint64_t delay;                  /* what is above it waits */
};

struct limit_req_conf {
    struct instances limit_req_zone, limit_req;
    int64_t status;
    int log_level;
    bool dry_run;
    /* derived */
    struct limit_req_rule *rules;
    size_t count;
    bool used;                       /* there is a zone: responses may be ours */
};

extern unsigned limit_req_slot;
extern const struct zone_kind limit_req_kind;
extern const struct directive limit_req_directives[];

bool limit_req_freeze(struct cycle_http *cy, struct block *b, void *conf);

#endif
