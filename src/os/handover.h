/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a master hands its listening sockets to the program that replaces it: one environment
 * variable, SLUICE_LISTENERS="127.0.0.1:80=5;[::1]:80=6;unix:/run/s.sock=7", next to the
 * descriptors themselves.  The same address may come several times, one socket per worker; the
 * order is kept.  '%', '=', ';' and control bytes of a path are written as %XX.
 */
#ifndef SLUICE_OS_HANDOVER_H
#define SLUICE_OS_HANDOVER_H

#include "core/arena.h"
#include "core/buf.h"
#include "os/addr.h"

#define HANDOVER_ENV "SLUICE_LISTENERS"
#define HANDOVER_MAX 65536   /* sockets in one handover */

struct handover {
    struct addr addr;
    int fd;
};

struct handover_list {
    struct handover *v;
    size_t n;
};

/* Appends the value of the variable (no NUL, no name). False when *to overflows. */
bool handover_encode(struct buf *to, const struct handover *v, size_t n);

/*
 * STATUS_INVALID when any entry is malformed, a descriptor is below 3 or named twice: then none
 * is to be trusted.  An empty text gives an empty list.  STATUS_NOMEM when the arena overflows.
 */
enum status handover_decode(struct arena *mem, struct str text, struct handover_list *out);

#endif
