/* SPDX-License-Identifier: BSD-2-Clause */
/* Decimal and hexadecimal numbers, read and written without locale, errno or wrap-around. */
#ifndef SLUICE_CORE_NUM_H
#define SLUICE_CORE_NUM_H

#include "core/str.h"

#define NUM_DEC_MAX 20 /* digits of UINT64_MAX */

/* The whole of s is digits (at least one) and fits: true and *out. Else false, *out untouched. */
bool num_dec(struct str s, uint64_t *out);
bool num_hex(struct str s, uint64_t *out); /* either case, no prefix */

/* Value of one hexadecimal digit, -1 for any other byte. */
int num_hexdigit(unsigned char c);

/* Writes v in decimal at `to` (room for NUM_DEC_MAX bytes), no NUL; returns the bytes written. */
size_t num_put(char *to, uint64_t v);
size_t num_put_hex(char *to, uint64_t v); /* lower case, no leading zeros, at most 16 bytes */

#endif
