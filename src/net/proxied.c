/* SPDX-License-Identifier: BSD-2-Clause */
/* The PROXY header at the start of a connection, below the transport: TLS follows it. */
#include "net/proxied.h"

#include "net/conn.h"
#include "proto/proxy_hdr.h"

#include <stdlib.h>

bool proxied_begin(struct conn *c)
{
    c->proxied = calloc(1, sizeof(*c->proxied));
    return c->proxied != NULL;
}

void proxied_end(struct conn *c)
{
    if (c->proxied != NULL)
        free(c->proxied->in);
    free(c->proxied);
    c->proxied = NULL;
}

static void take_end(struct addr *to, enum proxy_family family, const struct proxy_end *from)
{
    if (family != PROXY_INET && family != PROXY_INET6)
        return;
    addr_any(to, family == PROXY_INET ? AF_INET : AF_INET6, from->port);
    if (family == PROXY_INET)
        memcpy(&to->in.sin_addr, from->addr, sizeof(to->in.sin_addr));
    else
        memcpy(&to->in6.sin6_addr, from->addr, sizeof(to->in6.sin6_addr));
}

static bool keep(struct proxied *p, struct str data)
{
    if (p->in == NULL && (p->in = malloc(PROXY_HDR_MAX)) == NULL)
        return false;
    if (data.n > PROXY_HDR_MAX - p->in_n)
        return false;
    memcpy(p->in + p->in_n, data.p, data.n);
    p->in_n += data.n;
    return true;
}

bool proxied_take(struct conn *c, struct str *data)
{
    struct proxied *p = c->proxied;
    struct proxy_hdr hdr;
    struct str in = *data;
    size_t held = p->in_n;
    if (held > 0) {
        /* What does not fit is not part of the header, and is looked at where it lies. */
        if (!keep(p, str_head(*data, PROXY_HDR_MAX - held))) {
            conn_close(c, CLOSE_NO_MEMORY);
            return false;
        }
        in = str_make(p->in, p->in_n);
    }
    enum proxy_result res = proxy_hdr_parse(in, &hdr);
    if (res == PROXY_MORE && (held > 0 ? p->in_n < PROXY_HDR_MAX : keep(p, *data)))
        return false;
    if (res != PROXY_OK) {
        log_info(&c->log, "%s", close_reason_text(CLOSE_PROXY_HEADER));
        conn_close(c, CLOSE_PROXY_HEADER);
        return false;
    }
    if (!hdr.local) {
        take_end(&p->src, hdr.family, &hdr.src);
        take_end(&p->dst, hdr.family, &hdr.dst);
    }
    p->complete = true;
    *data = str_skip(*data, hdr.size - held);
    free(p->in);
    p->in = NULL;
    return true;
}
