/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths.  Nearly every path needs nothing: one look at each byte finds that out and the raw path
 * itself is the result.  Otherwise it is rebuilt segment by segment; as an encoded slash is
 * refused, segments of the raw and of the decoded path are the same, and "." and ".." are judged
 * once, after decoding, so no second decoding can bring them back.
 */
#include "proto/uri.h"

#include "core/num.h"
#include "proto/byte.h"

/* Where the raw path first needs work: the '/' before the segment in question, or the end. */
static const char *uri_plain_end(struct str raw, bool merge_slashes)
{
    const char *p = raw.p, *end = raw.p + raw.n, *slash = raw.p;

    for (; p < end; p++) {
        if (*p == '%') {
            return slash;
        }
        if (*p == '/') {
            slash = p;
            if (end - p > 1 && (p[1] == '.' || (p[1] == '/' && merge_slashes))) {
                return slash;
            }
        }
    }
    return end;
}

/* Decodes one raw segment to `to`; NULL for a bad escape, NUL or slash, else the end there. */
static char *uri_decode_segment(struct str seg, char *to)
{
    const char *p = seg.p, *end = seg.p + seg.n;

    while (p < end) {
        if (*p != '%') {
            *to++ = *p++;
            continue;
        }
        int high = end - p > 2 ? num_hexdigit((unsigned char)p[1]) : -1;
        int low = end - p > 2 ? num_hexdigit((unsigned char)p[2]) : -1;
        if (high < 0 || low < 0) {
            return NULL;
        }
        char c = (char)(high << 4 | low);
        if (c == '\0' || c == '/') {
            return NULL;
        }
        *to++ = c;
        p += 3;
    }
    return to;
}

enum uri_result uri_normalise(struct str raw, bool merge_slashes, char *to, struct str *out)
{
    if (raw.n == 0 || raw.p[0] != '/') {
        return URI_BAD;
    }
    const char *end = raw.p + raw.n;
    const char *p = uri_plain_end(raw, merge_slashes);
    if (p == end) {
        *out = raw;
        return URI_OK;
    }
    size_t plain = (size_t)(p - raw.p) + 1; /* with the slash; what is written always ends in one */
    memcpy(to, raw.p, plain);
    char *w = to + plain;
    for (p++;;) {
        const char *slash = p < end ? memchr(p, '/', (size_t)(end - p)) : NULL;
        const char *stop = slash != NULL ? slash : end;
        char *seg = w;
        w = uri_decode_segment(str_between(p, stop), w);
        if (w == NULL) {
            return URI_BAD;
        }
        size_t n = (size_t)(w - seg);
        bool up = n == 2 && seg[0] == '.' && seg[1] == '.';
        bool drop = up || (n == 1 && seg[0] == '.') || (n == 0 && merge_slashes);
        if (drop) {
            w = seg;
        }
        if (up) {
            if (w == to + 1) {
                return URI_BAD;
            }
            for (w--; w[-1] != '/'; w--) {
            }
        }
        if (slash == NULL) {
            break;
        }
        if (!drop) {
            *w++ = '/';
        }
        p = slash + 1;
    }
    *out = str_between(to, w);
    return URI_OK;
}

struct str uri_hidden_segment(struct str path)
{
    const char *end = path.p + path.n;

    for (const char *p = path.p; p < end; p++) {
        if (*p != '/' || end - p < 2 || p[1] != '.') {
            continue;
        }
        const char *stop = memchr(p + 1, '/', (size_t)(end - p - 1));
        struct str seg = str_between(p + 1, stop != NULL ? stop : end);
        if (p != path.p || !str_eq(seg, STR(".well-known"))) {
            return seg;
        }
    }
    return STR_NONE;
}

void uri_encode_path(struct wbuf *w, struct str path)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *p = path.p, *end = path.p + path.n;

    while (end - p > 1 && p[0] == '/' && p[1] == '/') {
        p++;
    }
    while (p < end) {
        const char *from = p;
        while (p < end && byte_is(*p, BYTE_PATH)) {
            p++;
        }
        wbuf_str(w, str_between(from, p));
        if (p < end) {
            unsigned char c = (unsigned char)*p++;
            wbuf_str(w, (struct str){(char[]){'%', hex[c >> 4], hex[c & 15]}, 3});
        }
    }
}

struct str uri_extension(struct str path)
{
    for (size_t i = path.n; i > 0 && path.p[i - 1] != '/'; i--) {
        if (path.p[i - 1] == '.') {
            return str_skip(path, i);
        }
    }
    return STR("");
}

bool uri_is_plain(struct str path)
{
    struct str rest = path, segment;
    while (rest.n != 0 && str_split(&rest, '/', &segment))
        if (str_eq(segment, STR(".")) || str_eq(segment, STR("..")))
            return false;
    return path.n != 0 && str_chr(path, '\0') < 0;
}
