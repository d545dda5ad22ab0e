/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The channel between the master and one worker: a pair of SOCK_SEQPACKET sockets that carries
 * small messages of fixed size, each with at most one descriptor.  Both ends are nonblocking.
 *
 * The master takes nothing that a worker says for granted: a message of another size, or with more
 * than one descriptor, is dropped as STATUS_INVALID and its descriptors are closed.
 */
#ifndef SLUICE_OS_CHAN_H
#define SLUICE_OS_CHAN_H

#include "core/status.h"

#include <stdint.h>

struct chan_msg {
    uint32_t type;     /* a number the two ends agree on */
    uint32_t arg;
    uint64_t arg2;
    int fd;            /* -1: none. Sent: stays the sender's. Received: the receiver's to close */
};

/* Close-on-exec. After fork each side closes the other's end, and the ends of all siblings. */
enum status chan_open(int ends[2]);

/* STATUS_AGAIN: the queue is full, try later; STATUS_CLOSED: the other end is gone. */
enum status chan_send(int fd, const struct chan_msg *msg);

/* STATUS_AGAIN: nothing there; STATUS_CLOSED: the other end is gone; STATUS_INVALID as above. */
enum status chan_recv(int fd, struct chan_msg *msg);

#endif
