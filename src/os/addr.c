/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Socket addresses as values.  The order of addr_compare and the equality it implies look at
 * family, address bytes, zone and port only; flow labels and padding do not count.
 */
#include "os/addr.h"
#include "core/num.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stddef.h>

#define UNIX_PREFIX STR("unix:")

void addr_any(struct addr *a, int family, uint16_t port)
{
    memset(a, 0, sizeof(*a));
    a->sa.sa_family = (sa_family_t)family;
    a->len = family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
    addr_set_port(a, port);
}

/* Splits "%zone" off and turns it into an interface index. */
static bool take_zone(struct str *ip, uint32_t *scope)
{
    ssize_t at = str_chr(*ip, '%');
    char name[IF_NAMESIZE];
    struct str zone;
    uint64_t number;

    *scope = 0;
    if (at < 0)
        return true;
    zone = str_skip(*ip, (size_t)at + 1);
    *ip = str_head(*ip, (size_t)at);
    if (num_dec(zone, &number)) {
        *scope = (uint32_t)number;
        return number != 0 && number <= UINT32_MAX;
    }
    if (zone.n == 0 || zone.n >= sizeof(name))
        return false;
    memcpy(name, zone.p, zone.n);
    name[zone.n] = '\0';
    *scope = if_nametoindex(name);
    return *scope != 0;
}

bool addr_from_ip(struct addr *a, struct str ip, uint16_t port)
{
    char text[INET6_ADDRSTRLEN];
    struct addr out;
    uint32_t scope;

    if (ip.n >= 2 && ip.p[0] == '[' && ip.p[ip.n - 1] == ']') {
        ip = str_make(ip.p + 1, ip.n - 2);
        if (str_chr(ip, ':') < 0)
            return false;
    }
    if (!take_zone(&ip, &scope) || ip.n == 0 || ip.n >= sizeof(text) || str_chr(ip, '\0') >= 0)
        return false;
    memcpy(text, ip.p, ip.n);
    text[ip.n] = '\0';
    if (str_chr(ip, ':') >= 0) {
        addr_any(&out, AF_INET6, port);
        out.in6.sin6_scope_id = scope;
        if (inet_pton(AF_INET6, text, &out.in6.sin6_addr) != 1)
            return false;
    } else {
        addr_any(&out, AF_INET, port);
        if (scope != 0 || inet_pton(AF_INET, text, &out.in.sin_addr) != 1)
            return false;
    }
    *a = out;
    return true;
}

bool addr_from_path(struct addr *a, struct str path)
{
    if (path.n == 0 || path.n >= sizeof(a->un.sun_path) || str_chr(path, '\0') >= 0)
        return false;
    memset(a, 0, sizeof(*a));
    a->un.sun_family = AF_UNIX;
    memcpy(a->un.sun_path, path.p, path.n);
    a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.n + 1);
    return true;
}

void addr_from_sockaddr(struct addr *a, const struct sockaddr *sa, socklen_t len)
{
    size_t room = len < sizeof(*a) - sizeof(a->len) ? len : sizeof(*a) - sizeof(a->len);
    struct addr out;

    memset(&out, 0, sizeof(out));
    if (len < sizeof(sa_family_t)) {
        *a = out;
        return;
    }
    memcpy(&out.sa, sa, room);
    switch (out.sa.sa_family) {
    case AF_INET:
        memset(out.in.sin_zero, 0, sizeof(out.in.sin_zero));
        out.len = sizeof(out.in);
        break;
    case AF_INET6:
        out.in6.sin6_flowinfo = 0;
        out.len = sizeof(out.in6);
        break;
    default: /* an unnamed Unix peer has the family alone */
        out.len = (socklen_t)room;
        break;
    }
    *a = out;
}

bool addr_parse(struct addr *a, struct str text)
{
    ssize_t colon = str_rchr(text, ':');
    struct str host;
    uint64_t port;

    if (str_starts(text, UNIX_PREFIX))
        return addr_from_path(a, str_skip(text, UNIX_PREFIX.n));
    if (colon < 0 || !num_dec(str_skip(text, (size_t)colon + 1), &port) || port > UINT16_MAX)
        return false;
    host = str_head(text, (size_t)colon);
    if (str_chr(host, ':') >= 0 && host.p[0] != '[')
        return false;
    return addr_from_ip(a, host, (uint16_t)port);
}

struct str addr_path(const struct addr *a)
{
    size_t head = offsetof(struct sockaddr_un, sun_path);

    if (addr_family(a) != AF_UNIX || a->len <= head)
        return STR_NONE;
    return str_make(a->un.sun_path, strnlen(a->un.sun_path, a->len - head));
}

static char *put_ip4(char *to, const struct in_addr *in)
{
    const unsigned char *b = (const unsigned char *)&in->s_addr;

    for (int i = 0; i < 4; i++) {
        if (i != 0)
            *to++ = '.';
        to += num_put(to, b[i]);
    }
    return to;
}

static char *put_ip6(char *to, const struct sockaddr_in6 *in6)
{
    inet_ntop(AF_INET6, &in6->sin6_addr, to, INET6_ADDRSTRLEN);
    to += strlen(to);
    if (in6->sin6_scope_id != 0) {
        *to++ = '%';
        to += num_put(to, in6->sin6_scope_id);
    }
    return to;
}

static size_t put_unix(char *to, struct str path)
{
    memcpy(to, UNIX_PREFIX.p, UNIX_PREFIX.n);
    if (path.n != 0)
        memcpy(to + UNIX_PREFIX.n, path.p, path.n);
    to[UNIX_PREFIX.n + path.n] = '\0';
    return UNIX_PREFIX.n + path.n;
}

size_t addr_format_ip(const struct addr *a, char to[ADDR_TEXT_MAX])
{
    char *at = to;

    switch (addr_family(a)) {
    case AF_INET:
        at = put_ip4(at, &a->in.sin_addr);
        break;
    case AF_INET6:
        at = put_ip6(at, &a->in6);
        break;
    case AF_UNIX:
        return put_unix(to, STR_NONE);
    default:
        break;
    }
    *at = '\0';
    return (size_t)(at - to);
}

size_t addr_format(const struct addr *a, char to[ADDR_TEXT_MAX])
{
    char *at = to;

    switch (addr_family(a)) {
    case AF_INET:
        at = put_ip4(at, &a->in.sin_addr);
        break;
    case AF_INET6:
        *at++ = '[';
        at = put_ip6(at, &a->in6);
        *at++ = ']';
        break;
    case AF_UNIX:
        return put_unix(to, addr_path(a));
    default:
        *at = '\0';
        return 0;
    }
    *at++ = ':';
    at += num_put(at, addr_port(a));
    *at = '\0';
    return (size_t)(at - to);
}

uint16_t addr_port(const struct addr *a)
{
    switch (addr_family(a)) {
    case AF_INET:
        return ntohs(a->in.sin_port);
    case AF_INET6:
        return ntohs(a->in6.sin6_port);
    default:
        return 0;
    }
}

void addr_set_port(struct addr *a, uint16_t port)
{
    if (addr_family(a) == AF_INET)
        a->in.sin_port = htons(port);
    else if (addr_family(a) == AF_INET6)
        a->in6.sin6_port = htons(port);
}

bool addr_is_any(const struct addr *a)
{
    if (addr_family(a) == AF_INET)
        return a->in.sin_addr.s_addr == htonl(INADDR_ANY);
    return addr_family(a) == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
}

struct str addr_ip_bytes(const struct addr *a)
{
    if (addr_family(a) == AF_INET)
        return str_make((const char *)&a->in.sin_addr, sizeof(a->in.sin_addr));
    if (addr_family(a) == AF_INET6)
        return str_make((const char *)&a->in6.sin6_addr, sizeof(a->in6.sin6_addr));
    return STR_NONE;
}

void addr_unmap(struct addr *a)
{
    struct addr v4;

    if (addr_family(a) != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr))
        return;
    addr_any(&v4, AF_INET, addr_port(a));
    memcpy(&v4.in.sin_addr, &a->in6.sin6_addr.s6_addr[12], sizeof(v4.in.sin_addr));
    *a = v4;
}

/* What tells one address of a family from another: IP bytes or path. */
static struct str identity(const struct addr *a)
{
    return addr_family(a) == AF_UNIX ? addr_path(a) : addr_ip_bytes(a);
}

static uint32_t zone_of(const struct addr *a)
{
    return addr_family(a) == AF_INET6 ? a->in6.sin6_scope_id : 0;
}

int addr_compare(const struct addr *a, const struct addr *b)
{
    int order;

    if (addr_family(a) != addr_family(b))
        return addr_family(a) < addr_family(b) ? -1 : 1;
    order = str_cmp(identity(a), identity(b));
    if (order != 0)
        return order;
    if (zone_of(a) != zone_of(b))
        return zone_of(a) < zone_of(b) ? -1 : 1;
    return (int)addr_port(a) - (int)addr_port(b);
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
    return addr_compare(a, b) == 0;
}

uint64_t addr_hash(const struct addr *a, uint64_t seed)
{
    uint64_t more = (uint64_t)addr_family(a) << 48 | (uint64_t)addr_port(a) << 32 | zone_of(a);

    return str_hash(identity(a), seed ^ (more * 0x9e3779b97f4a7c15u));
}

typedef int name_f(int fd, struct sockaddr *sa, socklen_t *len);

static enum status ask_name(name_f *ask, int fd, struct addr *a)
{
    struct sockaddr_storage ss;
    socklen_t len = sizeof(ss);

    if (ask(fd, (struct sockaddr *)&ss, &len) < 0) {
        memset(a, 0, sizeof(*a));
        return status_from_errno(errno);
    }
    addr_from_sockaddr(a, (const struct sockaddr *)&ss, len);
    return STATUS_OK;
}

enum status addr_of_peer(int fd, struct addr *a)
{
    return ask_name(getpeername, fd, a);
}

enum status addr_of_socket(int fd, struct addr *a)
{
    return ask_name(getsockname, fd, a);
}
