/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A strict reader of HTTP/1.1 answers, written from RFC 9110 and 9112 and sharing nothing with
 * the server. It refuses what a careless client would let pass: bare LF, doubled singletons, a
 * missing or malformed Date, framing that does not add up, a body where none may be.
 */
#ifndef TESTS_LIB_REPLY_H
#define TESTS_LIB_REPLY_H

#include "lib/client.h"

#define REPLY_FIELDS 64

struct reply {
    int status;
    int minor; /* HTTP/1.minor */
    const char *reason;
    struct {
        const char *name, *value;
    } field[REPLY_FIELDS];
    size_t fields;
    bool has_length, chunked, to_eof;
    bool keeps; /* by version and Connection, what the server announces */
    uint64_t length;
    char *body; /* NUL behind it */
    size_t body_n;
    char err[256]; /* why reading failed */
    char *head;    /* backs the strings above */
};

/*
 * Reads the next answer; no_body for the answer to HEAD. False: r->err says what is wrong with
 * it, or "no answer" / "closed" when nothing came. Free in any case.
 */
bool reply_read(struct client *c, struct reply *r, bool no_body, int timeout);
/* Only the head; the body stays in the client (for files too large to keep). */
bool reply_read_head(struct client *c, struct reply *r, bool no_body, int timeout);
void reply_free(struct reply *r);
/* The value of a field or NULL. */
const char *reply_field(const struct reply *r, const char *name);

/* Opens, sends, reads one answer, closes. */
bool fetch(const char *addr, const char *request, struct reply *r);
/* "GET path" with Host: localhost and Connection: close. */
bool fetch_path(const char *addr, const char *path, struct reply *r);

/* Seconds since 1970 of an IMF-fixdate, -1 if it is not exactly one. */
int64_t reply_date(const char *text);

#endif
