/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Socket addresses: IPv4, IPv6 and Unix paths in one value that can be copied, compared, hashed,
 * read from text and written as text.
 */
#ifndef SLUICE_OS_ADDR_H
#define SLUICE_OS_ADDR_H

#include "core/status.h"
#include "core/str.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

/* len is what the kernel is told; 0: no address. Fields that are not used are zero. */
struct addr {
    union {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    };
    socklen_t len;
};

/* Room for the longest text of an address with its NUL ("unix:" and 107 bytes of path). */
#define ADDR_TEXT_MAX 128

/* family: AF_INET or AF_INET6. */
void addr_any(struct addr *a, int family, uint16_t port);

/*
 * A numeric address: "127.0.0.1", "::1", "[::1]", "fe80::1%eth0" (a zone by name or number).
 * False, *a untouched, for anything else.
 */
bool addr_from_ip(struct addr *a, struct str ip, uint16_t port);

/* False when the path is empty, holds a NUL or is longer than the kernel takes. */
bool addr_from_path(struct addr *a, struct str path);

/* Takes over what accept(2) or recvmsg(2) filled in: cleans up padding and Unix paths. */
void addr_from_sockaddr(struct addr *a, const struct sockaddr *sa, socklen_t len);

/* Reads what addr_format writes: "127.0.0.1:80", "[::1]:80", "unix:/path". */
bool addr_parse(struct addr *a, struct str text);

/*
 * With the port ("[::1]:80") and without ("::1"; "unix:" for every Unix address, as nginx's
 * $remote_addr).  NUL-terminated; returns the bytes before the NUL.
 */
size_t addr_format(const struct addr *a, char to[ADDR_TEXT_MAX]);
size_t addr_format_ip(const struct addr *a, char to[ADDR_TEXT_MAX]);

static inline int addr_family(const struct addr *a)
{
    return a->len == 0 ? AF_UNSPEC : a->sa.sa_family;
}

uint16_t addr_port(const struct addr *a);                /* 0 for Unix paths */
void addr_set_port(struct addr *a, uint16_t port);       /* nothing for Unix paths */
bool addr_is_any(const struct addr *a);                  /* 0.0.0.0 or :: */
struct str addr_path(const struct addr *a);              /* Unix path, else empty; view into *a */

/* The 4 or 16 bytes of the IP address in network order, a view into *a; empty for Unix paths. */
struct str addr_ip_bytes(const struct addr *a);

/* ::ffff:192.0.2.1 becomes 192.0.2.1, anything else stays. */
void addr_unmap(struct addr *a);

bool addr_equal(const struct addr *a, const struct addr *b);
int addr_compare(const struct addr *a, const struct addr *b); /* family, address, zone, port */
uint64_t addr_hash(const struct addr *a, uint64_t seed);

/* getpeername(2) and getsockname(2). */
enum status addr_of_peer(int fd, struct addr *a);
enum status addr_of_socket(int fd, struct addr *a);

#endif
