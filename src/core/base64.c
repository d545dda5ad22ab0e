/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base64 (RFC 4648 section 4).  Decoding takes exactly what encoding would have produced: whole
 * groups of four, padding where it belongs, and unused bits zero (section 3.5), so that one value
 * has one text.
 */
#include "core/base64.h"

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(char *to, struct str from)
{
    const unsigned char *in = (const unsigned char *)from.p;
    char *at = to;
    size_t n = from.n;

    for (; n >= 3; n -= 3, in += 3) {
        uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        *at++ = base64_digits[v >> 18];
        *at++ = base64_digits[v >> 12 & 63];
        *at++ = base64_digits[v >> 6 & 63];
        *at++ = base64_digits[v & 63];
    }
    if (n != 0) {
        uint32_t v = (uint32_t)in[0] << 16 | (n == 2 ? (uint32_t)in[1] << 8 : 0);
        *at++ = base64_digits[v >> 18];
        *at++ = base64_digits[v >> 12 & 63];
        *at++ = n == 2 ? base64_digits[v >> 6 & 63] : '=';
        *at++ = '=';
    }
    return (size_t)(at - to);
}

/* The six bits of a digit; a value of 64 or more for any other byte. */
static uint32_t base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a') + 26;
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

bool base64_decode(unsigned char *to, struct str from, size_t *n)
{
    unsigned char *at = to;

    if (from.n % 4 != 0)
        return false;
    for (size_t i = 0; i < from.n; i += 4) {
        size_t digits = 4;
        if (i + 4 == from.n && from.p[i + 3] == '=')
            digits = from.p[i + 2] == '=' ? 2 : 3;
        uint32_t v = 0;
        for (size_t k = 0; k < 4; k++) {
            uint32_t d = k < digits ? base64_value(from.p[i + k]) : 0;
            if (d > 63)
                return false;
            v = v << 6 | d;
        }
        if ((v & ((1u << (4 - digits) * 8) - 1)) != 0)
            return false;
        for (size_t k = 0; k + 1 < digits; k++)
            *at++ = (unsigned char)(v >> (16 - 8 * k));
    }
    *n = (size_t)(at - to);
    return true;
}
