/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * String views: comparison, search, splitting and the table hash.  Nothing here reads a byte
 * outside a view, and an empty view may have a NULL pointer, which the mem* functions must not see.
 */
#include "core/str.h"

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        if (ascii_lower((unsigned char)a.p[i]) != ascii_lower((unsigned char)b.p[i]))
            return false;
    }
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n == 0 ? 0 : memcmp(a.p, b.p, n);

    if (order != 0)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq(str_head(s, prefix.n), prefix);
}

bool str_starts_nocase(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq_nocase(str_head(s, prefix.n), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_eq(str_skip(s, s.n - suffix.n), suffix);
}

ssize_t str_chr(struct str s, char c)
{
    const char *at = s.n == 0 ? NULL : memchr(s.p, c, s.n);

    return at == NULL ? -1 : at - s.p;
}

ssize_t str_rchr(struct str s, char c)
{
    const char *at = s.n == 0 ? NULL : memrchr(s.p, c, s.n);

    return at == NULL ? -1 : at - s.p;
}

ssize_t str_find(struct str s, struct str needle)
{
    if (needle.n == 0)
        return 0;
    if (needle.n > s.n)
        return -1;
    const char *at = memmem(s.p, s.n, needle.p, needle.n);
    return at == NULL ? -1 : at - s.p;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
    while (s.n != 0 && is_blank(s.p[0]))
        s = str_skip(s, 1);
    while (s.n != 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

/*
 * "Used up" is told from "one last empty piece is left" by the pointer: the piece that no separator
 * ends leaves STR_NONE behind.  So "" is one empty piece, and STR_NONE is none.
 */
bool str_split(struct str *rest, char sep, struct str *out)
{
    if (rest->p == NULL)
        return false;
    ssize_t at = str_chr(*rest, sep);
    if (at < 0) {
        *out = *rest;
        *rest = STR_NONE;
        return true;
    }
    *out = str_head(*rest, (size_t)at);
    *rest = str_skip(*rest, (size_t)at + 1);
    return true;
}

/* Odd constants with about as many ones as zeros; any such would do. */
#define HASH_A 0x9d3f1c6ab58e4727ull
#define HASH_B 0xc2b5e6937d14a9f1ull
#define HASH_C 0x5ae8714fd6b93c2dull

/* Both halves of the 128-bit product folded into one: every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* ascii_lower on eight bytes at once: the high bit of a byte says whether it is in A..Z. */
static inline uint64_t fold_word(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101ull;
    uint64_t low7 = w & (0x7f * ones);
    uint64_t from_a = low7 + (0x80 - 'A') * ones;
    uint64_t above_z = low7 + (0x7f - 'Z') * ones;
    uint64_t upper = ~w & (from_a ^ above_z) & (0x80 * ones);

    return w | upper >> 2;
}

static inline uint64_t hash_words(struct str s, uint64_t seed, bool nocase)
{
    uint64_t h = hash_mix(seed ^ HASH_A, HASH_B);
    uint64_t w;
    const char *p = s.p;
    size_t n = s.n;

    for (; n >= sizeof w; n -= sizeof w, p += sizeof w) {
        memcpy(&w, p, sizeof w);
        h = hash_mix(h ^ (nocase ? fold_word(w) : w), HASH_B);
    }
    if (n != 0) {
        w = 0;
        memcpy(&w, p, n);
        h = hash_mix(h ^ (nocase ? fold_word(w) : w), HASH_B);
    }
    /* The length tells "a" from "a\0", which fill a word alike. */
    return hash_mix(h ^ s.n ^ HASH_A, HASH_C);
}

uint64_t str_hash(struct str s, uint64_t seed)
{
    return hash_words(s, seed, false);
}

uint64_t str_hash_nocase(struct str s, uint64_t seed)
{
    return hash_words(s, seed, true);
}

/* Overlong forms, surrogates and what lies beyond U+10FFFF are not UTF-8 (Unicode table 3-7). */
size_t str_utf8_length(const char *p, const char *end)
{
    unsigned char lead = (unsigned char)*p;
    unsigned char low = 0x80, high = 0xbf;
    size_t n = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

    if (n < 2) {
        return n;
    }
    if (lead > 0xf4 || (size_t)(end - p) < n) {
        return 0;
    }
    switch (lead) {
    case 0xe0: low = 0xa0; break;
    case 0xed: high = 0x9f; break;
    case 0xf0: low = 0x90; break;
    case 0xf4: high = 0x8f; break;
    default: break;
    }
    for (size_t i = 1; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c < low || c > high) {
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return n;
}
