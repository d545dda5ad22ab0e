/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1 message heads: where a head ends, and the request line (RFC 9112 2.2, 3). Pure. */
#ifndef SLUICE_PROTO_H1_LINE_H
#define SLUICE_PROTO_H1_LINE_H

#include "core/str.h"
#include "proto/token.h"

/* Why a head is refused; each stands for one HTTP status. */
enum h1_error {
    H1_OK,
    H1_BAD,              /* 400 */
    H1_URI_TOO_LONG,     /* 414 */
    H1_HEAD_TOO_LARGE,   /* 431 */
    H1_METHOD_UNKNOWN,   /* 501 */
    H1_BAD_CODING,       /* 501: transfer coding that is not ours */
    H1_BAD_VERSION       /* 505 */
};

struct h1_limits {
    uint32_t line_max;   /* request line without its line end */
    uint32_t head_max;   /* whole head */
    uint32_t field_max;  /* one field line */
    uint16_t fields_max; /* number of field lines */
    bool lenient;        /* a bare LF ends a line */
};

/* Progress over a head that arrives in pieces; zero it before the first byte. */
struct h1_scan {
    uint32_t pos;        /* bytes looked at */
    uint32_t line;       /* where the current line starts */
    uint16_t fields;     /* complete field lines so far */
    uint8_t blank;       /* empty lines skipped before the request line (at most 2) */
    bool started;        /* the request line is complete */
    uint32_t start;      /* offset of the request line's first byte */
};

enum h1_scan_result { H1_SCAN_MORE, H1_SCAN_DONE, H1_SCAN_ERROR };

/*
 * Looks for the end of the head in `in`, which holds all bytes so far (the same bytes as the last
 * time and perhaps more; they may have moved). H1_SCAN_DONE: the head is in.p[scan->start ..
 * scan->pos). H1_SCAN_ERROR: *err says why; it is said as soon as the bytes show it, so that
 * nobody waits for the rest of a bad head. Bare LF and bare CR are H1_BAD unless lenient.
 */
enum h1_scan_result h1_scan_head(struct str in, struct h1_scan *scan, const struct h1_limits *lim,
                                 enum h1_error *err);

enum h1_form { H1_FORM_ORIGIN, H1_FORM_ABSOLUTE, H1_FORM_AUTHORITY, H1_FORM_ASTERISK };

struct h1_line {
    enum method method;
    struct str method_text;
    struct str target;       /* as sent */
    enum h1_form form;
    struct str scheme;       /* absolute-form only */
    struct str authority;    /* absolute- and authority-form */
    struct str path;         /* raw path, "/" at least ("*" for the asterisk-form) */
    struct str query;        /* without '?', empty if none */
    bool has_query;
    uint8_t major, minor;    /* 1.0 or 1.1 (1.2 … 1.9 count as 1.1) */
};

/* Parses one request line, given without its line end. Views point into `line`. */
enum h1_error h1_parse_line(struct str line, struct h1_line *out);

#endif
