/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of media types as charset_types and gzip_types give them: types, families and "*". */
#ifndef SLUICE_HTTP_MEDIA_TYPES_H
#define SLUICE_HTTP_MEDIA_TYPES_H

#include "core/map.h"
#include "http/site.h"

struct media_types {
    struct map map;
    bool all;
};

/* type/subtype, by the letter of RFC 9110 8.3.1; a subtype may be "*". */
bool media_types_is_type(struct str s);

/*
 * The set of all arguments of a directive, and text/html. False: a bad one, reported to cy->diag
 * by the directive's name, or no memory.
 */
bool media_types_compile(struct media_types *set, struct cycle_http *cy, const struct block *b,
                         const char *name, const struct instances *in);

/* Is the type in the set? Its parameters are not looked at. */
bool media_types_has(const struct media_types *set, struct str media_type);

#endif
