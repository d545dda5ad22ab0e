/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The http part of a configuration, compiled: listeners, virtual servers, locations.  Built by
 * http_compile() from the bound blocks, immutable afterwards, shared by fork with every worker.
 */
#ifndef SLUICE_HTTP_SITE_H
#define SLUICE_HTTP_SITE_H

#include "conf/bind.h"
#include "http/http_conf.h"
#include "http/module.h"
#include "http/vars.h"
#include "http/zone.h"
#include "net/listen.h"
#include "os/roll.h"

struct vhost;

enum location_kind {
    LOCATION_EXACT,      /* = /path */
    LOCATION_PREFIX,     /* /path */
    LOCATION_STOP,       /* ^~ /path: a prefix that ends the search */
    LOCATION_REGEX,      /* ~ pattern */
    LOCATION_REGEX_NOCASE, /* ~* pattern */
    LOCATION_NAMED,      /* @name: reached by internal redirects only */
    LOCATION_SERVER,     /* no location matched: the server block itself */
};

struct location {
    enum location_kind kind;
    struct str name;              /* path, pattern or "@name" */
    struct block *block;
    const struct http_conf *conf; /* HTTP(block) */
    struct vhost *vhost;
    struct location *parent;      /* prefix: the longest other prefix that begins this one */
    hook_f **phases[PHASES];      /* NULL-terminated; [PHASE_SERVER_REWRITE]: the vhost's own */
    const struct filter **filters;   /* in order, NULL-terminated */
    bool heads_constant;          /* every filter is constant here: heads may be kept with files */
    struct regex *regex;
    struct locations *nested;     /* locations inside this one, NULL: none */
    bool whole_segments;          /* has an alias: "/img" is not the beginning of "/imgx" */
};

/* The locations of one block, compiled for search. */
struct locations {
    struct map exact, named;          /* -> struct location * */
    struct location **prefixes;       /* sorted by name */
    size_t prefix_count;
    struct location **regexes;        /* in file order */
    size_t regex_count;
};

struct vhost {
    struct block *block;
    const struct http_conf *conf;
    struct str name;              /* the first server_name, "" if none: $server_name */
    struct server_name *names;    /* vhost.h */
    size_t name_count;
    struct locations locations;
    struct location own;          /* LOCATION_SERVER */
    size_t index;
};

/* The virtual servers of one listener. */
struct sites {
    struct map exact;             /* lower-case name -> struct vhost * */
    struct map leading, trailing; /* "*.example.org" under ".example.org"; "www.*" under "www." */
    struct vhost_regex *regexes;  /* in file order */
    size_t regex_count;
    struct vhost *dflt;
    bool has_wildcards;
};

/* A file that lines are appended to: opened before the fork, once for all who write to it. */
struct log_file {
    struct str path;              /* absolute, NUL-terminated behind its end */
    int fd;                       /* -1 until the server layer has opened it */
};

/* Everything http has of one configuration. */
struct cycle_http {
    struct arena *arena;
    struct diag *diag;
    struct block *main_block, *http;   /* http NULL: no http block */
    struct str prefix;                 /* where relative paths begin, */
    struct str conf_dir;               /* and those of certificates, keys, password files */
    struct vars vars;
    struct vhost **vhosts;
    size_t vhost_count;
    struct listener **listeners;       /* fds not opened yet */
    size_t listener_count;
    struct log_file **log_files;
    size_t log_file_count, log_file_room;
    struct zone **zones;               /* zone.h */
    size_t zone_count, zone_room;
    const struct roll *roll;           /* of the workers, set before they are forked */
    struct roll_entry self;            /* in a worker: its own */
    uint32_t workers;
};

/*
 * Compiles the http block: freezes modules, orders hooks, builds routing, lists the listeners.
 * All faults go to cy->diag; false if there was one. arena, diag, main_block, prefix and workers
 * are set by the caller.
 */
bool http_compile(struct cycle_http *cy);

/*
 * All sections of http and its modules, NULL-terminated, for conf_load (static memory).  They come
 * first in the list given to it, so that their slots are below *count.
 */
const struct section *const *http_sections(size_t *count);

/*
 * The log file of that path (absolute), one for all who ask while blocks are frozen.  NULL: no
 * memory.
 */
struct log_file *cycle_log_file(struct cycle_http *cy, struct str path);

/*
 * The virtual server for a host name (lower case, no port); never NULL (vhost.c).  Captures of a
 * regex are left in r (may be NULL).
 */
struct vhost *sites_find(const struct sites *s, struct str host, struct request *r);

/*
 * The location for a normalised path (location.c); never NULL: the vhost's own at the least.
 * *slash: a prefix location "/path/" would match "/path": redirect to it with 301.
 * Captures of a regex are left in r (may be NULL).  r->match_failed is set when a regex gave up (in
 * sites_find too); the answer then has to be 500, because which location it is cannot be told.
 */
struct location *location_find(struct vhost *v, struct str path, struct request *r, bool *slash);
struct location *location_named(struct vhost *v, struct str name); /* NULL when absent */

#endif
