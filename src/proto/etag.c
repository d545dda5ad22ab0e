/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entity tags.  Between the quotes any byte but a quote is taken: a tag is only ever compared with
 * one of our own, so an odd byte can make it different and nothing else.
 */
#include "proto/etag.h"

#include "core/num.h"

static enum etag_next etag_bad(struct str *rest)
{
    *rest = str_skip(*rest, rest->n);
    return ETAG_BAD;
}

static bool etag_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Only a comma or the end may stand behind a member, past blanks. */
static bool etag_member_ends(struct str rest)
{
    size_t i = 0;

    while (i < rest.n && etag_is_blank(rest.p[i])) {
        i++;
    }
    return i == rest.n || rest.p[i] == ',';
}

enum etag_next etag_next(struct str *rest, struct etag *out)
{
    struct str s = *rest;

    while (s.n != 0 && (s.p[0] == ',' || etag_is_blank(s.p[0]))) {
        s = str_skip(s, 1);
    }
    *rest = s;
    if (s.n == 0) {
        return ETAG_END;
    }
    if (s.p[0] == '*') {
        if (str_trim(s).n != 1) {
            return etag_bad(rest);
        }
        *rest = str_skip(s, s.n);
        return ETAG_STAR;
    }
    out->weak = str_starts(s, STR("W/"));
    s = str_skip(s, out->weak ? 2 : 0);
    const char *close = s.n > 1 && s.p[0] == '"' ? memchr(s.p + 1, '"', s.n - 1) : NULL;
    if (close == NULL) {
        return etag_bad(rest);
    }
    out->opaque = str_between(s.p + 1, close);
    s = str_between(close + 1, s.p + s.n);
    if (!etag_member_ends(s)) {
        return etag_bad(rest);
    }
    *rest = s;
    return ETAG_TAG;
}

bool etag_equal_weak(struct etag a, struct etag b)
{
    return str_eq(a.opaque, b.opaque);
}

bool etag_equal_strong(struct etag a, struct etag b)
{
    return !a.weak && !b.weak && str_eq(a.opaque, b.opaque);
}

bool etag_same_base(struct etag tag, struct str base)
{
    return base.n != 0 && str_starts(tag.opaque, base) &&
           (tag.opaque.n == base.n || tag.opaque.p[base.n] == '-');
}

bool etag_list_matches(struct str list, struct etag own, bool strong, bool star)
{
    struct etag tag;
    bool first = true;

    for (;; first = false) {
        switch (etag_next(&list, &tag)) {
        case ETAG_TAG:
            if (strong ? etag_equal_strong(tag, own) : etag_equal_weak(tag, own)) {
                return true;
            }
            break;
        case ETAG_STAR: return star && first; /* behind other members it is malformed */
        case ETAG_END:
        case ETAG_BAD: return false;
        }
    }
}

size_t etag_write(char *to, int64_t mtime_s, uint32_t mtime_ns, uint64_t size, struct str suffix,
                  bool weak)
{
    char *p = to;

    if (weak) {
        *p++ = 'W';
        *p++ = '/';
    }
    *p++ = '"';
    p += num_put_hex(p, (uint64_t)mtime_s);
    *p++ = '-';
    p += num_put_hex(p, mtime_ns);
    *p++ = '-';
    p += num_put_hex(p, size);
    suffix = str_head(suffix, (size_t)(to + ETAG_MAX - 1 - p));
    if (suffix.n != 0) {
        memcpy(p, suffix.p, suffix.n);
        p += suffix.n;
    }
    *p++ = '"';
    return (size_t)(p - to);
}
