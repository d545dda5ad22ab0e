/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a head, found while it arrives, and the request line.  The scan gives the same
 * answer however the bytes are cut into pieces: every search is held to the bytes that the limits
 * allow, so that the first fault in byte order is the one reported.
 */
#include "proto/h1_line.h"

#include "core/check.h"
#include "proto/byte.h"
#include "proto/host.h"

#define BLANK_MAX 2 /* empty lines before the request line; RFC 9112 2.2 asks for one at least */

static enum h1_scan_result scan_fail(enum h1_error *err, enum h1_error why)
{
    *err = why;
    return H1_SCAN_ERROR;
}

static size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Passes over empty lines up to the first byte of the request line. */
static enum h1_scan_result scan_blank(struct str in, struct h1_scan *s, bool lenient,
                                      enum h1_error *err)
{
    for (; s->pos < in.n; s->blank++) {
        const char *p = in.p + s->pos;
        if (*p != '\r' && *p != '\n') {
            return byte_is(*p, BYTE_TCHAR) ? H1_SCAN_DONE : scan_fail(err, H1_BAD);
        }
        if (s->blank == BLANK_MAX || (*p == '\n' && !lenient)) {
            return scan_fail(err, H1_BAD);
        }
        if (*p == '\r') {
            if (s->pos + 1 == in.n) {
                return H1_SCAN_MORE;
            }
            if (p[1] != '\n') {
                return scan_fail(err, H1_BAD);
            }
            s->pos++;
        }
        s->pos++;
        s->start = s->line = s->pos;
    }
    return H1_SCAN_MORE;
}

/* Is it worth waiting for the fields?  A line of another version, or of none, is told at once. */
static enum h1_error line_tail(struct str line)
{
    struct h1_line parsed;

    if (line.n > 9 && memcmp(line.p + line.n - 9, " HTTP/1.", 8) == 0 &&
        (unsigned char)(line.p[line.n - 1] - '0') < 10) {
        return H1_OK;
    }
    return h1_parse_line(line, &parsed);
}

static enum h1_scan_result scan_line(struct str in, struct h1_scan *s, const struct h1_limits *lim,
                                     enum h1_error *err)
{
    const char *stop = in.p + size_min(in.n, (size_t)s->line + lim->line_max + 1);
    const char *p = byte_find_unprintable(in.p + s->pos, stop);
    size_t eol = 1;

    s->pos = (uint32_t)(p - in.p);
    if (p == stop) {
        return s->pos - s->line > lim->line_max ? scan_fail(err, H1_URI_TOO_LONG) : H1_SCAN_MORE;
    }
    if (*p == '\r') {
        if (s->pos + 1 == in.n) {
            return H1_SCAN_MORE;
        }
        eol = 2;
    }
    if (p[eol - 1] != '\n' || (eol == 1 && !lim->lenient)) {
        return scan_fail(err, H1_BAD);
    }
    enum h1_error why = line_tail(str_between(in.p + s->line, p));
    if (why != H1_OK) {
        return scan_fail(err, why);
    }
    s->pos += (uint32_t)eol;
    s->line = s->pos;
    s->started = true;
    return H1_SCAN_DONE;
}

/*
 * The end of the field line that holds s->pos.  DONE: the line's bytes are [s->line, *end) and
 * the next line starts at s->pos.
 */
static enum h1_scan_result scan_field(struct str in, struct h1_scan *s, const struct h1_limits *lim,
                                      const char **end, enum h1_error *err)
{
    const char *from = in.p + s->pos;
    const char *stop = in.p + size_min(in.n, (size_t)s->line + lim->field_max + 1);
    const char *lf = memchr(from, '\n', (size_t)(stop - from));
    const char *cr = memchr(from, '\r', (size_t)((lf != NULL ? lf : stop) - from));

    if (cr != NULL) {
        s->pos = (uint32_t)(cr - in.p);
        if (s->pos + 1 == in.n) {
            return H1_SCAN_MORE;
        }
        if (cr[1] != '\n') {
            return scan_fail(err, H1_BAD);
        }
        *end = cr;
        s->pos += 2;
        return H1_SCAN_DONE;
    }
    if (lf != NULL) {
        *end = lf;
        s->pos = (uint32_t)(lf - in.p) + 1;
        return lim->lenient ? H1_SCAN_DONE : scan_fail(err, H1_BAD);
    }
    s->pos = (uint32_t)(stop - in.p);
    return s->pos - s->line > lim->field_max ? scan_fail(err, H1_HEAD_TOO_LARGE) : H1_SCAN_MORE;
}

static enum h1_scan_result scan_fields(struct str in, struct h1_scan *s,
                                       const struct h1_limits *lim, enum h1_error *err)
{
    const char *end;

    while (s->pos < in.n) {
        if (s->pos == s->line) {
            char first = in.p[s->pos];
            if (first == ' ' || first == '\t') {
                return scan_fail(err, H1_BAD); /* obs-fold, or a blank before the first field */
            }
            if (first != '\r' && first != '\n' && s->fields == lim->fields_max) {
                return scan_fail(err, H1_HEAD_TOO_LARGE);
            }
        }
        enum h1_scan_result r = scan_field(in, s, lim, &end, err);
        if (r != H1_SCAN_DONE) {
            return r;
        }
        if (end == in.p + s->line) {
            return H1_SCAN_DONE;
        }
        s->fields++;
        s->line = s->pos;
    }
    return H1_SCAN_MORE;
}

enum h1_scan_result h1_scan_head(struct str in, struct h1_scan *s, const struct h1_limits *lim,
                                 enum h1_error *err)
{
    enum h1_scan_result r = H1_SCAN_DONE;

    *err = H1_OK;
    if (s->pos == s->start) {
        r = scan_blank(in, s, lim->lenient, err);
        if (r != H1_SCAN_DONE) {
            return r;
        }
    }
    bool full = in.n - s->start >= lim->head_max;
    if (full) {
        in.n = (size_t)s->start + lim->head_max;
    }
    if (!s->started) {
        r = scan_line(in, s, lim, err);
    }
    if (r == H1_SCAN_DONE) {
        r = scan_fields(in, s, lim, err);
    }
    return r == H1_SCAN_MORE && full ? scan_fail(err, H1_HEAD_TOO_LARGE) : r;
}

/* "HTTP/" DIGIT "." DIGIT and nothing else. */
static enum h1_error parse_version(struct str s, struct h1_line *out)
{
    if (s.n != 8 || memcmp(s.p, "HTTP/", 5) != 0 || s.p[6] != '.') {
        return H1_BAD;
    }
    unsigned major = (unsigned char)s.p[5] - (unsigned)'0';
    unsigned minor = (unsigned char)s.p[7] - (unsigned)'0';
    if (major == 0 || major > 9 || minor > 9) {
        return H1_BAD;
    }
    out->major = (uint8_t)major;
    out->minor = minor != 0;
    return major == 1 ? H1_OK : H1_BAD_VERSION;
}

/* Splits "/path?query"; without a path it is "/". */
static void split_path(struct str s, struct h1_line *out)
{
    const char *mark = s.n != 0 ? memchr(s.p, '?', s.n) : NULL;

    out->has_query = mark != NULL;
    out->path = mark != NULL ? str_between(s.p, mark) : s;
    out->query = mark != NULL ? str_between(mark + 1, s.p + s.n) : STR("");
    if (out->path.n == 0) {
        out->path = STR("/");
    }
}

static enum h1_error parse_absolute(struct h1_line *out)
{
    struct str t = out->target;
    size_t scheme = str_starts_nocase(t, STR("http://"))    ? 4
                    : str_starts_nocase(t, STR("https://")) ? 5
                                                            : 0;
    if (scheme == 0) {
        return H1_BAD;
    }
    struct str rest = str_skip(t, scheme + 3);
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?') {
        n++;
    }
    if (n == 0) {
        return H1_BAD;
    }
    out->form = H1_FORM_ABSOLUTE;
    out->scheme = str_head(t, scheme);
    out->authority = str_head(rest, n);
    split_path(str_skip(rest, n), out);
    return H1_OK;
}

/* RFC 9112 3.2: which form the target has, and whether the method may have it. */
static enum h1_error parse_target(struct h1_line *out)
{
    struct host host;

    if (out->method == METHOD_CONNECT) {
        out->form = H1_FORM_AUTHORITY;
        out->authority = out->target;
        out->path = STR("/");
        return host_parse(out->target, &host) && host.port >= 0 ? H1_OK : H1_BAD;
    }
    if (out->target.p[0] == '/') {
        out->form = H1_FORM_ORIGIN;
        split_path(out->target, out);
        return H1_OK;
    }
    if (out->target.p[0] == '*') {
        out->form = H1_FORM_ASTERISK;
        out->path = out->target;
        return out->target.n == 1 && out->method == METHOD_OPTIONS ? H1_OK : H1_BAD;
    }
    return parse_absolute(out);
}

enum h1_error h1_parse_line(struct str line, struct h1_line *out)
{
    const char *p = line.p, *end = line.p + line.n, *from = p;

    memset(out, 0, sizeof(*out));
    while (p < end && byte_is(*p, BYTE_TCHAR)) {
        p++;
    }
    if (p == from || p == end || *p != ' ') {
        return H1_BAD;
    }
    out->method_text = str_between(from, p);
    for (from = ++p; p < end && byte_is(*p, BYTE_TARGET); p++) {
    }
    if (p == from || p == end || *p != ' ') {
        return H1_BAD;
    }
    out->target = str_between(from, p);
    out->method = method_of(out->method_text);

    enum h1_error err = parse_version(str_between(p + 1, end), out);
    if (err == H1_OK) {
        err = parse_target(out);
    }
    if (err == H1_OK && out->method == METHOD_OTHER) {
        err = H1_METHOD_UNKNOWN;
    }
    return err;
}
