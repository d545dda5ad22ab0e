/* SPDX-License-Identifier: BSD-2-Clause */
/* Accept-Encoding (RFC 9110 12.5.3) over the codings of coding.tbl. Pure. */
#ifndef SLUICE_PROTO_ACCEPT_H
#define SLUICE_PROTO_ACCEPT_H

#include "core/str.h"

enum coding {
    CODING_IDENTITY,
#define X(id, name, alias, suffix) CODING_##id,
#include "proto/coding.tbl"
#undef X
    CODING_COUNT
};

#define CODING_BIT(c) (1u << (c))

struct str coding_name(enum coding c);   /* as in Content-Encoding; "identity" */
struct str coding_suffix(enum coding c); /* of a file beside the original; empty for identity */

#define ACCEPT_UNSAID (-1)

/* Quality of each coding, 0 to 1000, or ACCEPT_UNSAID; `any` is that of "*". */
struct accept {
    int16_t q[CODING_COUNT];
    int16_t any;
};

void accept_init(struct accept *a);

/*
 * Takes one Accept-Encoding value; several field lines are one list, so call it for each.  A
 * member with a bad weight or with any other parameter counts as q=0; of two members for the
 * same coding the better one counts.
 */
void accept_add(struct accept *a, struct str value);

/* The quality the client gives coding c: 0 is refused. */
unsigned accept_quality(const struct accept *a, enum coding c);

/*
 * The best coding among `offered` (CODING_BIT of each; identity is always on offer).  At equal
 * quality the order of coding.tbl counts and identity comes last.  When everything is refused the
 * answer is identity: a body the client did not ask for serves it better than a 406.
 */
enum coding accept_best(const struct accept *a, unsigned offered);

#endif
