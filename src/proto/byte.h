/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte classes as one table, and the two word-wise searches of the HTTP/1 parsers. Pure. */
#ifndef SLUICE_PROTO_BYTE_H
#define SLUICE_PROTO_BYTE_H

#include "core/str.h"

enum byte_class {
    BYTE_TCHAR = 1,  /* RFC 9110 5.6.2 */
    BYTE_VALUE = 2,  /* field value: HTAB, SP, VCHAR, obs-text */
    BYTE_TARGET = 4, /* request target: VCHAR without '#' */
    BYTE_PATH = 8,   /* stands for itself in a URI path: pchar without '%', and '/' */
    BYTE_NAME = 16   /* registered host name: letters, digits, "-._~" */
};

extern const unsigned char byte_classes[256];

static inline bool byte_is(char c, enum byte_class class)
{
    return (byte_classes[(unsigned char)c] & class) != 0;
}

#define BYTE_ONES UINT64_C(0x0101010101010101)
#define BYTE_HIGHS UINT64_C(0x8080808080808080)

/* Not zero if one of the eight bytes is below 0x20 or is DEL; exact as a yes or no. */
static inline uint64_t byte_word_ctl(uint64_t x)
{
    uint64_t del = x ^ (0x7f * BYTE_ONES);

    return (((x - 0x20 * BYTE_ONES) & ~x) | ((del - BYTE_ONES) & ~del)) & BYTE_HIGHS;
}

/* The first byte outside 0x20..0x7e in [p, end), or end. */
static inline const char *byte_find_unprintable(const char *p, const char *end)
{
    uint64_t x;

    for (; end - p >= 8; p += 8) {
        memcpy(&x, p, 8);
        if ((byte_word_ctl(x) | (x & BYTE_HIGHS)) != 0) {
            break;
        }
    }
    while (p < end && (unsigned char)(*p - 0x20) < 0x5f) {
        p++;
    }
    return p;
}

/* The first byte that no field value may hold in [p, end), or end. */
static inline const char *byte_find_bad_value(const char *p, const char *end)
{
    uint64_t x;

    for (;;) {
        for (; end - p >= 8; p += 8) {
            memcpy(&x, p, 8);
            if (byte_word_ctl(x) != 0) {
                break;
            }
        }
        while (p < end && byte_is(*p, BYTE_VALUE)) {
            if (*p++ == '\t') {
                break; /* what stopped the words; they may go on behind it */
            }
        }
        if (p == end || !byte_is(*p, BYTE_VALUE)) {
            return p;
        }
    }
}

#endif
