/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A codec carries requests and responses over a connection: HTTP/1.x here, HTTP/2 later.  The
 * layers above know requests only; several of one connection may be open at a time.
 */
#ifndef SLUICE_HTTP_CODEC_H
#define SLUICE_HTTP_CODEC_H

#include <stdbool.h>
#include <stdint.h>

struct request;

struct codec {
    const char *name;
    /* The response is complete up to its body, filters have run: write it. */
    void (*respond)(struct request *r);
    /* How much of the request's body is read at most. False: it is known to be larger. */
    bool (*limit_body)(struct request *r, uint64_t max);
    /* A stream has something again. */
    void (*resume)(struct request *r);
    /*
     * The request before r on a connection that answers one after the other, if it is still going
     * out; else NULL.
     */
    struct request *(*before)(const struct request *r);
    /* An interim response (100, 103). */
    void (*interim)(struct request *r, unsigned status);
};

extern const struct codec h1_codec;

#endif
