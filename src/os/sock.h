/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listening sockets with all their options, and the few socket options that connections use.
 * Everything made here is nonblocking and close-on-exec.
 *
 * The sockets that share an address by SO_REUSEPORT form a group; a socket's index in its group is
 * its place in the order of sock_listen calls.  When a member is closed the last one moves into its
 * index, so surplus members are closed from the end.
 */
#ifndef SLUICE_OS_SOCK_H
#define SLUICE_OS_SOCK_H

#include "os/addr.h"
#include "os/error.h"

enum sock_keepalive { SOCK_KEEPALIVE_DEFAULT, SOCK_KEEPALIVE_OFF, SOCK_KEEPALIVE_ON };

#define SOCK_BACKLOG_DEFAULT 511

/* Zero means "the system's default" for each; sock_options_init gives sluice's own. */
struct sock_options {
    int backlog;                       /* 0: SOCK_BACKLOG_DEFAULT */
    bool reuseport;
    bool ipv6only;                     /* :: does not take IPv4 connections */
    int deferred;                      /* TCP_DEFER_ACCEPT seconds: accept when data has come */
    int fastopen;                      /* most pending TFO requests */
    enum sock_keepalive keepalive;
    int keepalive_idle, keepalive_interval, keepalive_count;   /* seconds, seconds, probes */
    int rcvbuf, sndbuf;                /* bytes */
    bool nodelay;                      /* TCP_NODELAY, which accepted connections inherit */
    mode_t unix_mode;                  /* of the socket's file; 0: as the umask leaves it */
};

void sock_options_init(struct sock_options *o);   /* ipv6only, everything else zero */

/*
 * Opens, binds and listens.  *fd is -1 on failure and *e names the step and the address.
 * STATUS_BUSY: the address is in use.  A Unix socket's file that nobody listens on any more is
 * replaced; any other file there is an error.
 */
enum status sock_listen(const struct addr *a, const struct sock_options *o, int *fd,
                        struct os_error *e);

/* As sock_listen, tried again for up to wait_ms while the address is in use. Blocks. */
enum status sock_listen_retry(const struct addr *a, const struct sock_options *o, unsigned wait_ms,
                              int *fd, struct os_error *e);

/*
 * STATUS_BUSY when after wait_ms some socket still listens on the address, also one that would
 * share it by SO_REUSEPORT (a server left over takes half the connections, silently).  Leaves
 * nothing behind.  Before the first sock_listen of a group whose sockets were not inherited.
 */
enum status sock_probe(const struct addr *a, const struct sock_options *o, unsigned wait_ms,
                       struct os_error *e);

/* Sets on a listening socket what may change under it: backlog, deferred, keepalive, buffers. */
enum status sock_reconfigure(int fd, const struct addr *a, const struct sock_options *o,
                             struct os_error *e);

/* True for a listening stream socket that is bound to *a: for inherited descriptors. */
bool sock_is_listener(int fd, const struct addr *a);

/* Removes the file of a Unix socket if it is a socket. */
void sock_unlink(const struct addr *a);

/*
 * Steering of new connections in the group of fd; takes effect at once for the whole group.
 *   by CPU: the member with index (CPU that handles the packet) % n
 *   spread: a random member with index < n; the others get nothing new and can be drained
 *   none:   back to the kernel's hash over all members
 */
enum status sock_steer_by_cpu(int fd, unsigned n);
enum status sock_steer_spread(int fd, unsigned n);
enum status sock_steer_none(int fd);

enum status sock_set_nodelay(int fd, bool on);
enum status sock_set_cork(int fd, bool on);
enum status sock_set_keepalive(int fd, const struct sock_options *o);
enum status sock_set_user_timeout(int fd, unsigned ms);  /* unacknowledged so long: dead; 0: off */
enum status sock_reset_on_close(int fd);                 /* close sends RST, drops the unsent */

/* Bytes the peer has not acknowledged yet, -1 when that cannot be asked. */
int64_t sock_unacked(int fd);

/* Takes the pending error of the socket (0: none), a positive errno value. */
int sock_take_error(int fd);

#endif
