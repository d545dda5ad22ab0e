/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SipHash-2-4 with 128 bits of result (Aumasson and Bernstein, 2012): a name for a string that
 * nobody who does not know the secret can make two strings have.
 */
#ifndef SLUICE_CORE_SIP_H
#define SLUICE_CORE_SIP_H

#include "core/str.h"

struct sip {
    uint64_t v[2];
};

struct sip sip_hash(struct str s, const uint64_t secret[2]);

static inline bool sip_eq(struct sip a, struct sip b)
{
    return a.v[0] == b.v[0] && a.v[1] == b.v[1];
}

#endif
