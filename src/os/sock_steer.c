/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering within a SO_REUSEPORT group by a classic BPF program of three instructions: load a
 * number the kernel keeps for the packet (its CPU, or a random one), take it modulo n, return it
 * as the index of the socket.  Later packets of a handshake follow the first by themselves.
 */
#include "os/sock.h"

#include <errno.h>
#include <linux/filter.h>

/* Fixed kernel ABI since 5.3; the C library's headers of some systems lack the name. */
#ifndef SO_DETACH_REUSEPORT_BPF
#define SO_DETACH_REUSEPORT_BPF 68
#endif

static enum status steer(int fd, int ancillary, unsigned n)
{
    struct sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)(SKF_AD_OFF + ancillary)},
        {BPF_ALU | BPF_MOD | BPF_K, 0, 0, n},
        {BPF_RET | BPF_A, 0, 0, 0},
    };
    struct sock_fprog program = {ARRAY_LEN(code), code};

    if (n == 0) {
        errno = EINVAL;
        return STATUS_INVALID;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)) < 0)
        return status_from_errno(errno);
    return STATUS_OK;
}

enum status sock_steer_by_cpu(int fd, unsigned n)
{
    return steer(fd, SKF_AD_CPU, n);
}

enum status sock_steer_spread(int fd, unsigned n)
{
    return steer(fd, SKF_AD_RANDOM, n);
}

enum status sock_steer_none(int fd)
{
    int none = 0;

    /* ENOENT: there was no program. */
    if (setsockopt(fd, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &none, sizeof(none)) < 0 &&
        errno != ENOENT)
        return status_from_errno(errno);
    return STATUS_OK;
}
