/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as text.  Reading accepts digits and nothing else: no sign, no blanks, no prefix, and no
 * value that does not fit; leading zeros are fine and may be many.
 */
#include "core/num.h"

bool num_dec(struct str s, uint64_t *out)
{
    uint64_t v = 0;

    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)(unsigned char)s.p[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return true;
}

int num_hexdigit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = ascii_lower(c);
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool num_hex(struct str s, uint64_t *out)
{
    uint64_t v = 0;

    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int digit = num_hexdigit((unsigned char)s.p[i]);
        if (digit < 0 || v >> 60 != 0)
            return false;
        v = v << 4 | (unsigned)digit;
    }
    *out = v;
    return true;
}

size_t num_put(char *to, uint64_t v)
{
    char digits[NUM_DEC_MAX];
    size_t n = 0;

    do {
        digits[sizeof digits - ++n] = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    memcpy(to, digits + sizeof digits - n, n);
    return n;
}

size_t num_put_hex(char *to, uint64_t v)
{
    size_t n = 1;

    for (uint64_t rest = v >> 4; rest != 0; rest >>= 4)
        n++;
    for (size_t i = n; i-- != 0; v >>= 4)
        to[i] = "0123456789abcdef"[v & 15];
    return n;
}
