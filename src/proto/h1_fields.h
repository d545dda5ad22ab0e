/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1 field lines and what they say of framing and persistence (RFC 9112 5, 6, 9). Pure. */
#ifndef SLUICE_PROTO_H1_FIELDS_H
#define SLUICE_PROTO_H1_FIELDS_H

#include "proto/h1_line.h"

struct field {
    struct str name, value;  /* value without surrounding white space */
    enum field_id id;
};

/*
 * Splits the head's field lines (`lines`: from behind the request line up to and with the final
 * empty line) into at most `room` fields; *n is how many. obs-fold, white space before the colon,
 * bad bytes and so on are H1_BAD; more than `room` is H1_HEAD_TOO_LARGE. skip_invalid: lines with
 * a bad name byte (not: white space, controls) are left out instead (nginx:
 * ignore_invalid_headers on).
 */
enum h1_error h1_parse_fields(struct str lines, bool lenient, bool skip_invalid,
                              struct field *out, size_t room, size_t *n);

enum h1_body { H1_BODY_NONE, H1_BODY_LENGTH, H1_BODY_CHUNKED };

/* What the fields mean together: duplicates, Host, framing, persistence. */
struct h1_meta {
    struct str host;             /* of the Host field, as sent */
    bool has_host;
    enum h1_body body;
    uint64_t content_length;     /* at most INT64_MAX; when 0, body is H1_BODY_NONE */
    bool keepalive;              /* by version and Connection */
    bool connection_close;       /* the client said so */
    bool expect_continue, expect_other;
    bool upgrade;                /* Connection names it and there is an Upgrade field */
    uint16_t first[FIELD_COUNT]; /* index + 1 of the first field of that id, 0: absent */
};

/*
 * Checks and digests the fields of one request (behaviours.md B18, C1-C3, K1-K3, L, M3-M11).
 * The Host value itself is checked by host.h.
 */
enum h1_error h1_digest(const struct h1_line *line, const struct field *f, size_t n,
                        struct h1_meta *out);

#endif
