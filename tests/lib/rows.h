/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table-driven exchanges: what is sent, what must come back. A row names the line of the list it
 * covers ("A5 HTTP/1.11"). Every answer goes through the strict reader of reply.h besides.
 */
#ifndef TESTS_LIB_ROWS_H
#define TESTS_LIB_ROWS_H

#include "lib/reply.h"
#include "lib/server.h"

enum row_flags {
    CLOSES = 1,     /* the answer says close, the connection ends by FIN, nothing follows */
    KEEPS = 2,      /* the same connection then answers the probe exactly */
    SILENT_OK = 4,  /* closing without an answer is right too */
    HALF_CLOSE = 8, /* the client shuts down its sending side behind the request */
    BYTEWISE = 16,  /* send one byte at a time */
    EMPTY = 32,     /* the answer has no body */
    ENDS = 128,     /* as CLOSES, but the answer need not say so */
    RESET_OK = 64   /* the end may be a reset (the peer had bytes that nobody reads) */
};

struct row {
    const char *name;
    const char *send;
    int status; /* 0: the connection closes without an answer */
    unsigned flags;
    int or_status;        /* as right as status, unless 0 */
    const char *has;      /* lines "Name: value" that must be there; a final * matches the rest */
    const char *lacks;    /* names that must not be there, one a line */
    const char *body;     /* the whole body */
    const char *body_has; /* a part of it */
    const char *body_lacks;
    int then[6]; /* statuses of further answers on the same connection */
    size_t n;    /* length of send if it holds NUL, else 0 */
};

/* A row names only the columns it needs. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define ROWS(table) (table), sizeof(table) / sizeof((table)[0])

/* Requests as string literals. */
#define REQ(method, target, fields)                                                                \
    method " " target " HTTP/1.1\r\nHost: localhost\r\n" fields "\r\n"
#define GET(target)  REQ("GET", target, "")
#define HEAD(target) REQ("HEAD", target, "")
#define PROBE        GET("/probe.txt")
/* A literal with NUL bytes in it: .send and .n */
#define BYTES(literal) .send = (literal), .n = sizeof(literal) - 1

/* Sends one row to `addr`; false with the reason in why. */
bool row_run(const struct server *s, const char *addr, const struct row *row, char *why,
             size_t room);
/* All rows; prints each failure and fails the test if there was one. */
void rows_run(const char *addr, const struct row *rows, size_t n);
/* The same, each request sent byte by byte. */
void rows_run_bytewise(const char *addr, const struct row *rows, size_t n);

/* Sends a request to port 0, expects the status; the value of a field (to be freed), or NULL. */
char *ask_field(const char *request, int status, const char *name);
/* The body (to be freed) of a request to port 0 that must give the status. */
char *ask_body(const char *request, int status);
/* `n` times `c`, to be freed. */
char *repeat(char c, size_t n);
/* printf to a fresh string. */
__attribute__((format(printf, 1, 2))) char *text_of(const char *fmt, ...);

#endif
