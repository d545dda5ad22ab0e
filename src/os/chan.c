/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages with descriptors over a socket pair.  What goes over the wire is its own struct, so
 * that the number of a sent descriptor never leaks into the other process as if it meant something.
 */
#include "os/chan.h"
#include "os/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct wire {
    uint32_t type, arg;
    uint64_t arg2;
};

/* Aligned room for the control data of up to FDS descriptors. */
#define FDS 4
union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(FDS * sizeof(int))];
};

enum status chan_open(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
        ends[0] = ends[1] = -1;
        return status_from_errno(errno);
    }
    return STATUS_OK;
}

enum status chan_send(int fd, const struct chan_msg *msg)
{
    struct wire wire = {msg->type, msg->arg, msg->arg2};
    struct iovec iov = {&wire, sizeof(wire)};
    union control control;
    struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t r;

    if (msg->fd >= 0) {
        struct cmsghdr *c;

        memset(&control, 0, sizeof(control));
        mh.msg_control = control.room;
        mh.msg_controllen = CMSG_SPACE(sizeof(int));
        c = CMSG_FIRSTHDR(&mh);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &msg->fd, sizeof(int));
    }
    do {
        r = sendmsg(fd, &mh, MSG_NOSIGNAL);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? status_from_errno(errno) : STATUS_OK;
}

/* Takes the descriptors out of a message; returns their number, at most FDS. */
static size_t take_fds(struct msghdr *mh, int fds[FDS])
{
    size_t n = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c != NULL; c = CMSG_NXTHDR(mh, c)) {
        size_t count;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count && n < FDS; i++)
            memcpy(&fds[n++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    return n;
}

enum status chan_recv(int fd, struct chan_msg *msg)
{
    struct wire wire;
    struct iovec iov = {&wire, sizeof(wire)};
    union control control;
    struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room,
                        .msg_controllen = sizeof(control.room)};
    int fds[FDS];
    size_t n;
    ssize_t r;

    do {
        r = recvmsg(fd, &mh, MSG_CMSG_CLOEXEC);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return status_from_errno(errno);
    n = take_fds(&mh, fds);
    if (r == 0 && n == 0)
        return STATUS_CLOSED;
    if (r != (ssize_t)sizeof(wire) || n > 1 || (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
        for (size_t i = 0; i < n; i++)
            fd_close(&fds[i]);
        return STATUS_INVALID;
    }
    *msg = (struct chan_msg){wire.type, wire.arg, wire.arg2, n == 1 ? fds[0] : -1};
    return STATUS_OK;
}
