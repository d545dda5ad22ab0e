/* SPDX-License-Identifier: BSD-2-Clause */
/* $proxy_protocol_*: what the PROXY header of the connection said; absent without one. */
#include "http/request.h"
#include "http/vars_core.h"

static const struct proxied *proxied_of(const struct request *r)
{
    const struct proxied *p = r->conn->proxied;
    return p != NULL && p->src.len != 0 ? p : NULL;
}

static bool ip(struct request *r, const struct addr *a, struct str *out)
{
    char text[ADDR_TEXT_MAX];
    *out = arena_str(&r->mem, str_make(text, addr_format_ip(a, text)));
    return out->p != NULL;
}

bool var_proxied_addr(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)arg;
    const struct proxied *p = proxied_of(r);
    return p != NULL && ip(r, v->data != NULL ? &p->dst : &p->src, out);
}

bool var_proxied_port(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)arg;
    const struct proxied *p = proxied_of(r);
    return p != NULL && var_number(r, addr_port(v->data != NULL ? &p->dst : &p->src), out);
}
