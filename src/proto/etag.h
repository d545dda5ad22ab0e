/* SPDX-License-Identifier: BSD-2-Clause */
/* Entity tags (RFC 9110 8.8.3, 13.1): making them and reading lists of them. Pure. */
#ifndef SLUICE_PROTO_ETAG_H
#define SLUICE_PROTO_ETAG_H

#include "core/str.h"

struct etag {
    struct str opaque;   /* without quotes and W/ */
    bool weak;
};

enum etag_next { ETAG_END, ETAG_TAG, ETAG_STAR, ETAG_BAD };

/*
 * The next member of an If-Match / If-None-Match list. Empty members and white space are passed
 * over; "*" alone is ETAG_STAR; an unquoted or unterminated tag is ETAG_BAD and ends the list.
 */
enum etag_next etag_next(struct str *rest, struct etag *out);

bool etag_equal_weak(struct etag a, struct etag b);
bool etag_equal_strong(struct etag a, struct etag b);

/* Is the tag `base`, or base with a '-' and more behind it, as tags of encoded forms are? */
bool etag_same_base(struct etag tag, struct str base);

/*
 * Is `own` in the list, by strong or weak comparison? `star` is what "*" means (true: the file
 * exists). A malformed member ends the list: what came before it counts.
 */
bool etag_list_matches(struct str list, struct etag own, bool strong, bool star);

/*
 * The opaque tag of a file: nanosecond mtime, size and (when not 0) inode, in hex.
 * Writes at most ETAG_MAX bytes with quotes, no NUL; returns the bytes written.
 */
#define ETAG_MAX 64
size_t etag_write(char *to, int64_t mtime_s, uint32_t mtime_ns, uint64_t size, struct str suffix,
                  bool weak);

#endif
