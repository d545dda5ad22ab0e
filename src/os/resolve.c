/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host names to addresses by the system's resolver.  The answers of getaddrinfo(3) are codes of
 * their own kind; they are turned into statuses and a sentence here.
 */
#include "os/resolve.h"

#include <errno.h>
#include <netdb.h>

static enum status resolver_failed(struct os_error *e, int code, struct str host)
{
    enum status st = STATUS_ERROR;

    if (code == EAI_SYSTEM)
        return os_fail(e, errno, "cannot resolve \"" STR_FMT "\"", STR_ARG(host));
    if (code == EAI_NONAME || code == EAI_NODATA || code == EAI_ADDRFAMILY)
        st = STATUS_NOTFOUND;
    else if (code == EAI_AGAIN)
        st = STATUS_AGAIN;
    else if (code == EAI_MEMORY)
        st = STATUS_NOMEM;
    os_fail(e, 0, "cannot resolve \"" STR_FMT "\": %s", STR_ARG(host), gai_strerror(code));
    return st;
}

static enum status collect(struct arena *mem, const struct addrinfo *list, uint16_t port,
                           struct addr_list *out)
{
    size_t most = 0;

    for (const struct addrinfo *ai = list; ai != NULL; ai = ai->ai_next)
        most++;
    out->n = 0;
    out->v = arena_array(mem, most, sizeof(*out->v));
    if (out->v == NULL)
        return STATUS_NOMEM;
    for (const struct addrinfo *ai = list; ai != NULL; ai = ai->ai_next) {
        struct addr *a = &out->v[out->n];
        size_t i = 0;

        if (ai->ai_family != AF_INET && ai->ai_family != AF_INET6)
            continue;
        addr_from_sockaddr(a, ai->ai_addr, ai->ai_addrlen);
        addr_set_port(a, port);
        while (i < out->n && !addr_equal(a, &out->v[i]))
            i++;
        if (i == out->n)
            out->n++;
    }
    return STATUS_OK;
}

enum status resolve_host(struct arena *mem, struct str host, uint16_t port, int family,
                         struct addr_list *out, struct os_error *e)
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    struct addr numeric;
    enum status st;
    char *name;
    int code;

    *out = (struct addr_list){NULL, 0};
    if (addr_from_ip(&numeric, host, port) &&
        (family == AF_UNSPEC || family == addr_family(&numeric))) {
        out->v = arena_array(mem, 1, sizeof(*out->v));
        if (out->v == NULL)
            return os_fail(e, ENOMEM, "cannot store an address");
        out->v[0] = numeric;
        out->n = 1;
        return STATUS_OK;
    }
    if (host.n == 0 || str_chr(host, '\0') >= 0)
        return resolver_failed(e, EAI_NONAME, host);
    name = arena_strz(mem, host);
    if (name == NULL)
        return os_fail(e, ENOMEM, "cannot store an address");
    code = getaddrinfo(name, NULL, &hints, &list);
    if (code != 0)
        return resolver_failed(e, code, host);
    st = collect(mem, list, port, out);
    freeaddrinfo(list);
    if (st == STATUS_NOMEM)
        return os_fail(e, ENOMEM, "cannot store the addresses of \"" STR_FMT "\"", STR_ARG(host));
    return out->n == 0 ? resolver_failed(e, EAI_NONAME, host) : STATUS_OK;
}
