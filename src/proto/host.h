/* SPDX-License-Identifier: BSD-2-Clause */
/* Host and authority: uri-host [":" port] (RFC 9110 7.2, RFC 3986 3.2.2). Pure. */
#ifndef SLUICE_PROTO_HOST_H
#define SLUICE_PROTO_HOST_H

#include "core/str.h"

struct host {
    struct str name;   /* as sent (any case), without port and one trailing dot; "[::1]" */
    int32_t port;      /* -1: none given */
};

/* False: 400 (behaviours.md C3-C10, D6). Userinfo, paths, blanks, bad ports, dots are refused. */
bool host_parse(struct str s, struct host *out);

#endif
