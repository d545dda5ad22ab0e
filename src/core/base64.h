/* SPDX-License-Identifier: BSD-2-Clause */
/* Base64 of RFC 4648 section 4; decoding is strict (padding required, no white space). */
#ifndef SLUICE_CORE_BASE64_H
#define SLUICE_CORE_BASE64_H

#include "core/str.h"

#define BASE64_ENCODED(n) (((n) + 2) / 3 * 4)
#define BASE64_DECODED(n) ((n) / 4 * 3)

size_t base64_encode(char *to, struct str from);                 /* bytes written */
bool base64_decode(unsigned char *to, struct str from, size_t *n); /* *n: bytes written */

#endif
