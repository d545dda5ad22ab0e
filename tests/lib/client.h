/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that sends exactly the bytes it is given, in the pieces it is told, and keeps what
 * comes back. It never blocks without a limit: while it sends it also reads, so a server that
 * answers a long pipeline cannot dead-lock with it. Times are milliseconds.
 */
#ifndef TESTS_LIB_CLIENT_H
#define TESTS_LIB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_PATIENCE 10000 /* how long an answer may take before a test calls it missing */

struct client {
    int fd;
    char *in; /* received and not yet consumed; NUL behind it */
    size_t n, room;
    bool eof;   /* the peer has closed its side */
    bool reset; /* ECONNRESET or EPIPE seen */
};

/* addr: "127.0.0.1:80", "[::1]:80" or "unix:/path". False with errno set. */
bool client_open(struct client *c, const char *addr);
/* The same with a receive buffer of `rcvbuf` bytes, for slow readers. */
bool client_open_rcvbuf(struct client *c, const char *addr, int rcvbuf);
void client_close(struct client *c);
/* Closes with RST instead of FIN. */
void client_abort(struct client *c);
void client_half_close(struct client *c);

/* False when the peer took no more bytes (reset or time-out); what it sent meanwhile is kept. */
bool client_send(struct client *c, const void *p, size_t n);
bool client_sendz(struct client *c, const char *text);
/* Sends `n` bytes in two segments, `pause` milliseconds apart. */
bool client_send_split(struct client *c, const void *p, size_t n, size_t at, int pause);
/* One segment per byte. */
bool client_send_bytes(struct client *c, const void *p, size_t n);

/* Waits for more bytes (or the end); false when nothing came in time. */
bool client_fill(struct client *c, int timeout);
/* Drops the first n bytes of what was received. */
void client_consume(struct client *c, size_t n);
/* Waits for the end. True: the peer closed in time without sending anything more. */
bool client_ends(struct client *c, int timeout);
/* True if nothing comes and the connection stays open for `ms`. */
bool client_quiet(struct client *c, int ms);
/*
 * Reads `n` body bytes without keeping them; byte i of the body (from offset `at`) must be what
 * want(at + i) says, unless want is NULL. Returns how many came before the end or the time-out
 * (no progress for `timeout`); *wrong is set when a byte differs.
 */
uint64_t client_drain(struct client *c, uint64_t at, uint64_t n, unsigned char (*want)(uint64_t),
                      int timeout, bool *wrong);

int64_t now_ms(void);
void sleep_ms(int ms);

#endif
