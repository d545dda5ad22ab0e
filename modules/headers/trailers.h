/* SPDX-License-Identifier: BSD-2-Clause */
/* add_trailer: lines behind the body of a response that is sent in chunks. */
#ifndef SLUICE_HEADERS_TRAILERS_H
#define SLUICE_HEADERS_TRAILERS_H

#include "lines.h"

struct response;

struct trailer_lines {
    struct added_lines lines;
    struct str names;        /* "A, B" of all of them, for the field Trailer */
    struct str names_always; /* of those with `always` */
};

bool trailers_freeze(struct cycle_http *cy, struct block *b, const struct instances *in,
                     const struct trailer_lines *above, struct trailer_lines *to);

/* Has the response framed in chunks and its lines written behind it, if it can be. */
void trailers_announce(struct request *r, struct response *res, const struct trailer_lines *t);

#endif
