/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunked transfer coding (RFC 9112 7.1), strict: a resumable decoder for request bodies. Pure. */
#ifndef SLUICE_PROTO_H1_CHUNK_H
#define SLUICE_PROTO_H1_CHUNK_H

#include "core/str.h"

struct h1_chunk {
    uint64_t left;        /* data bytes left in the current chunk */
    uint64_t total;       /* data bytes decoded so far */
    uint32_t line;        /* bytes of the current size or trailer line */
    uint32_t trailer;     /* bytes of trailer section */
    uint8_t state;
    uint8_t digits;
};

enum h1_chunk_result { H1_CHUNK_MORE, H1_CHUNK_DATA, H1_CHUNK_DONE, H1_CHUNK_BAD };

#define H1_CHUNK_LINE_MAX 4096u     /* size line with extensions */
#define H1_CHUNK_TRAILER_MAX 8192u  /* all trailer lines together */

void h1_chunk_init(struct h1_chunk *c);

/*
 * Takes bytes off the front of *in. DATA: *data is a view of decoded bytes in the same memory,
 * call again. MORE: *in is used up. DONE: the body and its trailer section ended, what is left in
 * *in is the next request. BAD: 400 and close (behaviours.md M12-M16).
 */
enum h1_chunk_result h1_chunk_next(struct h1_chunk *c, struct str *in, struct str *data);

#endif
