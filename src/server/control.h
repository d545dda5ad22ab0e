/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control socket, next to the pid file and for the owner only: how `sluice -s reload` learns
 * what became of it.  A client sends one word and a line end; it gets "ok" or "failed" on a line of
 * its own and then text for people, and the connection is closed.
 */
#ifndef SLUICE_SERVER_CONTROL_H
#define SLUICE_SERVER_CONTROL_H

#include "core/str.h"
#include "os/addr.h"

#define CONTROL_CLIENTS 8
#define CONTROL_WORD 32

struct control_client {
    int fd;                    /* -1: free */
    char word[CONTROL_WORD];
    uint32_t n;
    bool waits;                /* for the outcome of a reload */
};

struct control {
    int fd;                    /* -1: there is none */
    struct addr addr;
    struct control_client clients[CONTROL_CLIENTS];
};

void control_init(struct control *c);
/* False: it cannot be had (errno); the server runs without. */
bool control_open(struct control *c, const char *path);
void control_close(struct control *c, bool unlink_it);

void control_accept(struct control *c);
/* Reads from client i. True when its word is complete: *word. */
bool control_read(struct control *c, size_t i, struct str *word);
/* Answers client i and closes it. */
void control_answer(struct control *c, size_t i, bool ok, struct str text);
/* Answers all that wait. */
void control_answer_waiting(struct control *c, bool ok, struct str text);

/* The client's side: exit code for `sluice -s`; -1: nobody listens there. */
int control_ask(const char *path, const char *word);

/* The socket's path for a pid file: ".pid" becomes ".sock". In `to`, NUL-terminated. */
bool control_path(const char *pid_path, char *to, size_t size);

#endif
