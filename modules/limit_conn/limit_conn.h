/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of limit_conn share: what the directives say, compiled. */
#ifndef SLUICE_LIMIT_CONN_LIMIT_CONN_H
#define SLUICE_LIMIT_CONN_LIMIT_CONN_H

#include "http/site.h"
#include "http/zone.h"

struct limit_conn_rule {
    struct zone *zone;
    const struct template *key;
    uint32_t most;
};

struct limit_conn_conf {
    struct instances limit_conn_zone, limit_conn;
    int64_t status;
    int log_level;
    bool dry_run;
    /* derived */
    struct limit_conn_rule *rules;
    size_t count;
    bool used;               /* there is a zone: responses may be ours */
};

extern unsigned limit_conn_slot;
extern const struct directive limit_conn_directives[];

bool limit_conn_freeze(struct cycle_http *cy, struct block *b, void *conf);

#endif
