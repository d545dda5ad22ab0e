/* SPDX-License-Identifier: BSD-2-Clause */
/* Host names to addresses, while a configuration is loaded: nothing else may wait for it. */
#ifndef SLUICE_OS_RESOLVE_H
#define SLUICE_OS_RESOLVE_H

#include "core/arena.h"
#include "os/addr.h"
#include "os/error.h"

/*
 * All addresses of a host name, in the resolver's order, without doubles; a numeric address needs
 * no resolver.  May block for seconds: never in a worker.  family AF_UNSPEC: both kinds.
 * STATUS_NOTFOUND and STATUS_AGAIN are the resolver's answers, *e says which name.
 */
struct addr_list {
    struct addr *v;   /* in the arena */
    size_t n;
};
enum status resolve_host(struct arena *mem, struct str host, uint16_t port, int family,
                         struct addr_list *out, struct os_error *e);

#endif
