/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Byte ranges.  Numbers too big for 64 bits saturate, which is as good as "beyond any file"; every
 * sum is of values already held to the file's size and is checked against what is left, so nothing
 * wraps.  A list of more members than are allowed is not read to its end: the whole file is the
 * answer, whatever else it says.
 */
#include "proto/range.h"

/* A digit string at *pp, saturating; false if there is no digit. */
static bool range_number(const char **pp, const char *end, uint64_t *v)
{
    const char *p = *pp;

    for (*v = 0; p < end && (unsigned char)(*p - '0') < 10; p++) {
        if (__builtin_mul_overflow(*v, 10u, v) ||
            __builtin_add_overflow(*v, (unsigned)(*p - '0'), v)) {
            *v = UINT64_MAX;
            while (p < end && (unsigned char)(*p - '0') < 10) {
                p++;
            }
            break;
        }
    }
    bool some = p != *pp;
    *pp = p;
    return some;
}

enum member { MEMBER_BAD, MEMBER_OUTSIDE, MEMBER_INSIDE, MEMBER_EMPTY_FILE };

/* One range-spec: "0-8", "9-" or "-10". */
static enum member range_member(struct str s, uint64_t size, struct range *out)
{
    const char *p = s.p, *end = s.p + s.n;
    uint64_t first, last;
    bool has_first = range_number(&p, end, &first);

    if (p == end || *p++ != '-') {
        return MEMBER_BAD;
    }
    bool has_last = range_number(&p, end, &last);
    if (p != end || (!has_first && !has_last) || (has_first && has_last && last < first)) {
        return MEMBER_BAD;
    }
    if (!has_first) {
        if (last != 0 && size == 0) {
            return MEMBER_EMPTY_FILE; /* the last bytes of nothing: the whole of it */
        }
        *out = (struct range){last < size ? size - last : 0, last < size ? last : size};
        return last == 0 ? MEMBER_OUTSIDE : MEMBER_INSIDE;
    }
    if (first >= size) {
        return MEMBER_OUTSIDE;
    }
    *out = (struct range){first, (has_last && last < size - 1 ? last + 1 : size) - first};
    return MEMBER_INSIDE;
}

static bool range_touches(struct range a, struct range b)
{
    return a.start <= b.start + b.length && b.start <= a.start + a.length;
}

/* Adds a range to the disjoint ones in hand; those it touches become one, at the first's place. */
static void range_add(struct range add, struct range *out, size_t *n)
{
    size_t home = *n, kept = 0;

    for (size_t i = 0; i < *n; i++) {
        struct range r = out[i];
        if (!range_touches(r, add)) {
            out[kept++] = r;
            continue;
        }
        uint64_t end = r.start + r.length > add.start + add.length ? r.start + r.length
                                                                   : add.start + add.length;
        add.start = r.start < add.start ? r.start : add.start;
        add.length = end - add.start;
        if (home == *n) {
            home = kept++; /* filled in below, when it is complete */
        }
    }
    if (home == *n) {
        home = kept++;
    }
    out[home] = add;
    *n = kept;
}

/* The next member between commas and blanks. */
static bool range_next(struct str *rest, struct str *member)
{
    while (rest->n != 0) {
        ssize_t comma = str_chr(*rest, ',');
        size_t len = comma < 0 ? rest->n : (size_t)comma;
        *member = str_trim(str_head(*rest, len));
        *rest = str_skip(*rest, len + 1);
        if (member->n != 0) {
            return true;
        }
    }
    return false;
}

enum range_result range_parse(struct str value, uint64_t size, size_t max, struct range *out,
                              size_t *n)
{
    static const struct str unit = STR_INIT("bytes=");
    struct str rest, member;
    uint64_t left = size; /* bytes that may still be asked for */
    size_t members = 0;
    bool ignore = false, whole = false;

    *n = 0;
    if (max == 0 || !str_starts_nocase(value, unit)) {
        return RANGE_IGNORE;
    }
    rest = str_skip(value, unit.n);
    for (; members <= max && range_next(&rest, &member); members++) {
        struct range r;
        enum member kind = range_member(member, size, &r);
        if (kind == MEMBER_BAD) {
            *n = 0;
            return RANGE_UNSATISFIABLE;
        }
        whole = whole || kind == MEMBER_EMPTY_FILE;
        if (kind != MEMBER_INSIDE || ignore) {
            continue;
        }
        ignore = members >= max || r.length > left;
        if (!ignore) {
            left -= r.length;
            range_add(r, out, n);
        }
    }
    ignore = ignore || whole || members > max;
    if (*n > 1) {
        uint64_t cost = (uint64_t)*n * RANGE_PART_COST; /* n <= max, far from wrapping */
        uint64_t spare = left > UINT64_MAX - RANGE_SLACK ? UINT64_MAX : left + RANGE_SLACK;
        ignore = ignore || cost > spare;
    }
    if (ignore) {
        *n = 0;
        return RANGE_IGNORE;
    }
    return *n != 0 ? RANGE_OK : RANGE_UNSATISFIABLE;
}
