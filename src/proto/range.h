/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte ranges (RFC 9110 14): one Range value against a size. Pure, 64-bit. */
#ifndef SLUICE_PROTO_RANGE_H
#define SLUICE_PROTO_RANGE_H

#include "core/str.h"

struct range {
    uint64_t start, length; /* length is not 0, start + length does not exceed the size */
};

enum range_result {
    RANGE_IGNORE,         /* answer as if there were no Range: unknown unit, too many, too much */
    RANGE_OK,             /* *n ranges, one at least */
    RANGE_UNSATISFIABLE   /* 416: no range lies in the file, or the value cannot be parsed */
};

/*
 * What one part of multipart/byteranges may cost in delimiter and headers.  Several ranges are
 * only OK while their bytes and this for each of them stay within the size + RANGE_SLACK.
 */
#define RANGE_PART_COST 256u
#define RANGE_SLACK 4096u

/*
 * Reads a Range value for a file of `size` bytes into out[0 .. *n), in the order asked for.
 * Ranges that overlap or touch are merged into the earliest of them; those beyond the end are
 * dropped.  More than `max` ranges in the value, or more bytes asked for than the file has, is
 * IGNORE.  `out` has room for `max`; max 0 is always IGNORE.
 */
enum range_result range_parse(struct str value, uint64_t size, size_t max, struct range *out,
                              size_t *n);

#endif
