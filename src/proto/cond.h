/* SPDX-License-Identifier: BSD-2-Clause */
/* Preconditions (RFC 9110 13): their evaluation in order, and If-Range. Pure. */
#ifndef SLUICE_PROTO_COND_H
#define SLUICE_PROTO_COND_H

#include "proto/etag.h"
#include "proto/h1_fields.h"

enum cond_result { COND_NONE, COND_NOT_MODIFIED, COND_PRECONDITION_FAILED };

/* How If-Modified-Since compares; nginx: if_modified_since. */
enum cond_since {
    COND_SINCE_OFF,    /* the field is ignored */
    COND_SINCE_EXACT,  /* 304 only for the very time of the file */
    COND_SINCE_BEFORE  /* 304 for that time and any later one (RFC) */
};

/* The representation that would be sent with a 200. */
struct cond_target {
    struct etag etag;
    struct str base;      /* opaque tag of the content however it is encoded; empty: none such */
    int64_t mtime;        /* Last-Modified, whole seconds */
    bool has_etag, has_mtime;
    bool get_or_head;     /* for other methods a match of If-None-Match is a 412 */
    enum cond_since since;
    int now_year;         /* places two-digit years */
};

/*
 * Evaluates If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since in the order of
 * 13.2.2 over the request's fields; `first` is h1_meta's.  To be asked only when the answer
 * without them would be a 2xx.  Dates that cannot be read are ignored.
 *
 * For If-None-Match a tag of another coding of the same content (etag_same_base) matches as well:
 * what the client has is still good.  *held is the tag that matched, for the 304 to name; else
 * its opaque is empty.
 */
enum cond_result cond_evaluate(const struct field *f, size_t n, const uint16_t *first,
                               const struct cond_target *t, struct etag *held);

/*
 * May Range be followed?  True without If-Range; with it for an equal strong entity tag, or for
 * exactly the date of Last-Modified.
 */
bool cond_range_applies(const struct field *f, const uint16_t *first,
                        const struct cond_target *t);

#endif
