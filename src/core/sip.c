/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SipHash: four words are stirred, two rounds for each eight bytes of the text, which are read as
 * little-endian numbers, and four rounds for each half of the result.
 */
#include "core/sip.h"

#include <endian.h>

static uint64_t turned(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static void stir(uint64_t v[4], unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = turned(v[1], 13) ^ v[0];
        v[3] = turned(v[3], 16) ^ v[2];
        v[0] = turned(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = turned(v[1], 17) ^ v[2];
        v[3] = turned(v[3], 21) ^ v[0];
        v[2] = turned(v[2], 32);
    }
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    stir(v, 2);
    v[0] ^= word;
}

struct sip sip_hash(struct str s, const uint64_t secret[2])
{
    uint64_t v[4] = {
        secret[0] ^ UINT64_C(0x736f6d6570736575),
        secret[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee, /* 128 bits of result */
        secret[0] ^ UINT64_C(0x6c7967656e657261),
        secret[1] ^ UINT64_C(0x7465646279746573),
    };
    uint64_t word;
    size_t at = 0;
    for (; s.n - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, s.p + at, sizeof(word));
        take(v, le64toh(word));
    }
    word = 0;
    if (s.n > at)
        memcpy(&word, s.p + at, s.n - at);
    take(v, le64toh(word) | (uint64_t)s.n << 56); /* the last one ends in the length */
    struct sip out;
    v[2] ^= 0xee;
    stir(v, 4);
    out.v[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    stir(v, 4);
    out.v[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
    return out;
}
