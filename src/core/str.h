/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings are views: a pointer and a length, passed by value.  A view owns nothing, need not be
 * NUL-terminated, and no byte behind it may be read.
 */
#ifndef SLUICE_CORE_STR_H
#define SLUICE_CORE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(lit) ((struct str){("" lit), sizeof(lit) - 1})
#define STR_INIT(lit) {("" lit), sizeof(lit) - 1} /* for static initialisers */
#define STR_NONE ((struct str){NULL, 0})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p

static inline struct str str_make(const char *p, size_t n)
{
    return (struct str){p, n};
}

/* The view from `from` up to, not including, `to` in the same array. */
static inline struct str str_between(const char *from, const char *to)
{
    return (struct str){from, (size_t)(to - from)};
}

/* View of a NUL-terminated string; NULL gives STR_NONE. */
static inline struct str str_z(const char *z)
{
    return (struct str){z, z == NULL ? 0 : strlen(z)};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* s without its first n bytes; n beyond the end gives an empty view at the end. */
static inline struct str str_skip(struct str s, size_t n)
{
    n = n < s.n ? n : s.n;
    return (struct str){n == 0 ? s.p : s.p + n, s.n - n}; /* s.p may be NULL */
}

/* The first n bytes of s, all of s if it is shorter. */
static inline struct str str_head(struct str s, size_t n)
{
    return (struct str){s.p, n < s.n ? n : s.n};
}

/* ASCII only, independent of locale. */
static inline unsigned char ascii_lower(unsigned char c)
{
    return (unsigned char)(c | ((unsigned)(c - 'A') < 26u ? 0x20 : 0));
}

bool str_eq_nocase(struct str a, struct str b);           /* ASCII case folding */
int str_cmp(struct str a, struct str b);                  /* memcmp order, then length */
bool str_starts(struct str s, struct str prefix);
bool str_starts_nocase(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
ssize_t str_chr(struct str s, char c);                    /* index of the first c, -1 if none */
ssize_t str_rchr(struct str s, char c);                   /* index of the last c, -1 if none */
ssize_t str_find(struct str s, struct str needle);        /* index of the first needle, -1 */
struct str str_trim(struct str s);                        /* without SP and HTAB at both ends */

/*
 * Takes the next piece of *rest up to `sep` into *out and moves *rest behind the separator.
 * False once *rest is used up; a trailing separator yields one last empty piece.
 */
bool str_split(struct str *rest, char sep, struct str *out);

/* 64-bit hash for tables (not for secrets); the seed makes collisions unpredictable. */
uint64_t str_hash(struct str s, uint64_t seed);
uint64_t str_hash_nocase(struct str s, uint64_t seed);

/* Length of the UTF-8 sequence at p, which is before end; 0 if there is none. */
size_t str_utf8_length(const char *p, const char *end);

#endif
