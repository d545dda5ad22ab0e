/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control socket, next to the pid file and for the owner only: how `sluice -s reload` learns
 * what became of it.  A client sends one word and a line end; it gets "ok" or "failed" on a line of
 * its own and then text for people, and the connection is closed.
 *
 * The server's end never waits long for a client: one that does not read its answer loses it.
 */
#ifndef SLUICE_SERVER_CONTROL_H
#define SLUICE_SERVER_CONTROL_H

#include "core/str.h"
#include "os/addr.h"
#include "os/error.h"

#define CONTROL_CLIENTS 8
#define CONTROL_WORD 32

struct control_client {
    int fd;                    /* -1: free */
    char word[CONTROL_WORD];
    uint32_t n;
    uint64_t ticket;           /* the reload it waits for; 0: none */
};

struct control {
    int fd;                    /* -1: there is none */
    bool paused;               /* accept failed for want of something: not polled for a while */
    struct addr addr;
    struct control_client clients[CONTROL_CLIENTS];
};

void control_init(struct control *c);
/*
 * Listens at `path`; a stale socket there is replaced, anything else is an error.  One that
 * listened before is closed and its file removed, its clients stay.  The server runs without, too.
 */
enum status control_open(struct control *c, const char *path, struct os_error *e);
/* Closes the listening end, and removes its file if wanted. */
void control_close(struct control *c, bool unlink_it);
/* Closes all of it. */
void control_fini(struct control *c, bool unlink_it);

/* With all places taken, a client that has not said its word makes room. */
void control_accept(struct control *c);
/* Reads from client i. True when its word is complete: *word. */
bool control_read(struct control *c, size_t i, struct str *word);
/* Answers client i and closes it. */
void control_answer(struct control *c, size_t i, bool ok, struct str text);
/* Answers all that wait for reload number `upto` or one before it. */
void control_answer_waiting(struct control *c, uint64_t upto, bool ok, struct str text);

/*
 * The client's side: the exit code for `sluice -s`, with the text printed; -1: nobody of ours
 * listens there.
 */
int control_ask(const char *path, const char *word);

/* The socket's path for a pid file: ".pid" becomes ".sock". In `to`, NUL-terminated. */
bool control_path(const char *pid_path, char *to, size_t size);

#endif
