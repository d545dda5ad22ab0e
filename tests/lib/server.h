/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The real program under test, as a child, in a temporary directory of its own:
 *     DIR/conf/sluice.yaml  DIR/html/  DIR/logs/{sluice.pid,error.log,access.log,stderr.txt}
 * The program is $SLUICE_BIN (default build/sluice), the event back end $SLUICE_BACKEND
 * (io_uring | sqpoll | epoll; unset: auto). Paths given here are relative to DIR. What cannot be
 * set up ends the test program with a message (exit 99): that is no verdict on the server.
 */
#ifndef TESTS_LIB_SERVER_H
#define TESTS_LIB_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SERVER_PORTS   8
#define SERVER_MARK    "G8-MARK-4c1e" /* in each configuration, and in no answer */
#define SERVER_WORKERS 16

struct server_use { /* what the workers hold */
    size_t pids;
    pid_t pid[SERVER_WORKERS];
    size_t sockets, others; /* descriptors: sockets; neither sockets, files nor pooled pipes */
    size_t all, masters;    /* and all of them; all of the master's */
    long rss_kb;
};

struct server {
    char dir[64];
    char at[SERVER_PORTS][32]; /* "127.0.0.1:PORT", @0@ to @7@ in a configuration */
    int port[SERVER_PORTS];
    pid_t pid;         /* of the master, 0: not running */
    const char *probe; /* path whose body is "probe\n", served with Host: localhost */
    struct server_use base;
    long rss_slack_kb; /* what a test may add with reason, e.g. bodies held in memory */
    size_t others_slack; /* descriptors that are made when first needed, and stay */
    bool unclean;      /* the test provokes alerts, so do not look for them */
};

/* The server of this test program. */
extern struct server *srv;

/* Makes the directory, html/probe.txt and free ports. Sets srv. */
struct server *server_new(void);
/* Removes the directory; keeps it when $SLUICE_TEST_KEEP is set. The server must be stopped. */
void server_free(struct server *s);

/* A path in DIR; valid until eight more calls. */
const char *server_path(const struct server *s, const char *rel);
void server_mkdir(const struct server *s, const char *rel); /* with parents */
void server_text(const struct server *s, const char *rel, const char *text);
void server_data(const struct server *s, const char *rel, const void *p, size_t n);
/* A file of `n` bytes with file_byte(i) at offset i; sparse beyond 64 MiB (zeros). */
void server_fill(const struct server *s, const char *rel, uint64_t n);
unsigned char file_byte(uint64_t i);
void server_link(const struct server *s, const char *rel, const char *target);
void server_fifo(const struct server *s, const char *rel);
void server_mtime(const struct server *s, const char *rel, int64_t seconds, long ns);
/* The whole file, NUL-terminated, to be freed; an empty string when it is missing. */
char *server_read(const struct server *s, const char *rel);
/* Waits until the file holds the text. */
bool server_wait_text(const struct server *s, const char *rel, const char *text, int ms);
size_t count_text(const char *hay, const char *needle);

/*
 * Writes DIR/conf/sluice.yaml: `text`, preceded by user, worker_processes: 1, daemon, pid,
 * error_log and events unless it has such a line itself. @0@..@7@ become free ports, @DIR@ the
 * directory, @EVENTS@ what chooses the back end (inside of "events: {@EVENTS@, ...}").
 */
void server_conf(struct server *s, const char *text);
/* Starts it; false when it ended instead, *status is then its wait status. */
bool server_try(struct server *s, int *status);
/* server_conf and server_try, and takes the base line; the test program ends if it fails. */
void server_up(struct server *s, const char *text);
/* Sends the signal and waits. The exit status, or -1 (killed by a signal, or did not end). */
int server_down(struct server *s, int sig);
void server_signal(const struct server *s, int sig);
/* Runs the program with -p DIR -c FILE and the options; *out is what it wrote, to be freed. */
int server_run(const struct server *s, const char *options, char **out);

size_t server_workers(const struct server *s, pid_t *pid, size_t room);
/* Waits until there are n workers, none of them `not_this`. */
bool server_wait_workers(const struct server *s, size_t n, pid_t not_this, int ms);
bool server_sanitized(void);
/* io_uring, sqpoll, epoll, or auto. */
const char *server_backend(void);

/* Records what the workers hold now; after warming up. */
void server_baseline(struct server *s);
/*
 * The global oracles (hostile.md 3, G1 to G9 of it): same processes, no alarm in the logs, no
 * descriptor or memory kept, an exact answer in time, no CPU used when idle; what only a look at
 * each answer can tell (a mark of the configuration in it, framing) is in reply.c. False with the
 * reason.
 */
bool server_oracles(struct server *s, char *why, size_t room);

/* The last tests of a group. */
void check_oracles(void **state);
void check_quit(void **state);
#define LAST_TESTS cmocka_unit_test(check_oracles), cmocka_unit_test(check_quit)

#endif
