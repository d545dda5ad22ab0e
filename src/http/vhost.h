/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual servers by name: what a server_name means, and the tables of one address.  The search
 * (sites_find) is declared in site.h.
 */
#ifndef SLUICE_HTTP_VHOST_H
#define SLUICE_HTTP_VHOST_H

#include "http/site.h"

enum server_name_kind {
    SERVER_NAME_EXACT,    /* example.org */
    SERVER_NAME_LEADING,  /* *.example.org, kept as ".example.org" */
    SERVER_NAME_TRAILING, /* www.*, kept as "www." */
    SERVER_NAME_REGEX,    /* ~pattern */
};

struct server_name {
    enum server_name_kind kind;
    struct str text;           /* lower case */
    struct regex *regex;
    struct pos pos;
};

struct vhost_regex {
    const struct regex *regex;
    struct vhost *vhost;
};

/* Reads the server's server_name into v->names and v->name. False: reported to cy->diag. */
bool vhost_names_compile(struct cycle_http *cy, struct vhost *v);

/*
 * The tables for an address that these servers listen on, in file order.  A name that an earlier
 * one has stays with that one, with a warning.  NULL: no memory.
 */
struct sites *sites_compile(struct cycle_http *cy, const char *address,
                            struct vhost *const *vhosts, size_t count, struct vhost *dflt);

#endif
