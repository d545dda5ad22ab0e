/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks as the configuration names them: "192.0.2.0/24", "2001:db8::/32", a single address,
 * "unix:" for every Unix socket, "all" for every peer.  What is left of them at run time is two
 * words to be masked and two to be compared with.
 *
 * An IPv4-mapped IPv6 address is IPv4, in networks as in peers: ::ffff:192.0.2.0/120 is
 * 192.0.2.0/24.  An IPv6 network, even ::/0, holds no IPv4 peer.
 */
#ifndef SLUICE_OS_CIDR_H
#define SLUICE_OS_CIDR_H

#include "os/addr.h"

struct cidr {
    uint64_t net[2], mask[2];   /* an IPv4 address is the first half of net[0] */
    int family;                 /* AF_INET, AF_INET6, AF_UNIX; AF_UNSPEC: all of them */
};

/*
 * False, *c untouched, when text is nothing of the above.  *host_bits (may be NULL): bits behind
 * the prefix were set; they are ignored.
 */
bool cidr_parse(struct cidr *c, struct str text, bool *host_bits);

/* The network of one address; the port does not count. */
void cidr_of_addr(struct cidr *c, const struct addr *a);

/* The index of the first network that the address is in; -1: none. */
ssize_t cidr_find(const struct cidr *v, size_t n, const struct addr *a);

#endif
