/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoded forms that a client may be given: gzip made by us, held in the file cache where it
 * fits and else applied while the body is sent; and br, zstd and gzip files beside the original.
 */
#ifndef SLUICE_MODULES_GZIP_GZIP_H
#define SLUICE_MODULES_GZIP_GZIP_H

#include "cache/fvariant.h"
#include "http/http.h"
#include "http/media_types.h"
#include "http/request.h"
#include "proto/accept.h"

enum gzip_static { GZIP_STATIC_OFF, GZIP_STATIC_ON, GZIP_STATIC_ALWAYS };

struct gzip_conf {
    bool gzip, gzip_vary, gunzip;
    int gzip_http_version, gzip_static;
    int64_t gzip_comp_level, gzip_min_length;
    struct instances gzip_types, gzip_proxied, precompressed;
    /* derived */
    struct media_types *types;
    unsigned proxied;         /* enum gzip_proxied */
    unsigned sidecars;        /* CODING_BITs of files beside the original that are looked for */
};

/* gzip_proxied: the conditions, one of which suffices. */
enum gzip_proxied {
    PROXIED_ANY = 1,
    PROXIED_AUTH = 2,
    PROXIED_NO_ETAG = 4,
    PROXIED_NO_LAST_MODIFIED = 8,
    PROXIED_EXPIRED = 16,
    PROXIED_NO_CACHE = 32,
    PROXIED_NO_STORE = 64,
    PROXIED_PRIVATE = 128,
};

/* A request that waits while its form is chosen. */
struct gzip_state {
    struct request *r;
    struct fentry *sidecar[CODING_COUNT]; /* referenced */
    unsigned coding;          /* whose sidecar is being looked up */
    unsigned available;       /* CODING_BITs, of those chosen from */
    struct fvariant_ask ask;
};

struct gzip_worker {
    /* Clients of one kind say the same: the last Accept-Encoding, and what it means. */
    struct accept accept;
    size_t accept_n;
    char accept_text[128];
    struct list reading;      /* bodies whose request went while they were reading */
};

extern unsigned gzip_slot;
static inline struct gzip_worker *gzip_worker(const struct http_worker *w)
{
    return w->module_data[gzip_slot];
}
#define GZIP(r) CONF((r)->loc->block, gzip)

/* gzip.c */
struct gzip_state *gzip_state(struct request *r); /* made at first; NULL: no memory */
/* What the client says of encodings; valid until the next call. */
const struct accept *gzip_accept(struct request *r);
/* May a response of this length and type be compressed? LENGTH_UNKNOWN is long enough. */
bool gzip_wanted(const struct gzip_conf *conf, uint64_t length, struct str type);
/* Chooses among the files beside the selected one (CODING_BITs) and what can be made of it. */
enum verdict gzip_offer(struct request *r, unsigned available);

/* sidecar.c */
enum verdict sidecar_select(struct request *r); /* goes on with gzip_offer */
enum verdict sidecar_always(struct request *r); /* gzip_static: always, before the file is found */
void sidecar_take(struct request *r, enum coding c);

/* gzip_proxied.c */
bool gzip_proxied_words(struct cycle_http *cy, const struct block *b, const struct instances *in,
                        unsigned *bits);
/* May this request be answered with an encoded form, by gzip_http_version and gzip_proxied? */
bool gzip_may(struct request *r, const struct gzip_conf *conf);

/* gzip_body.c */
void gzip_filter_run(struct request *r, struct response *res);

#endif
