/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables: $name. Found by name once, at load; evaluated per request, into request memory. */
#ifndef SLUICE_HTTP_VARS_H
#define SLUICE_HTTP_VARS_H

#include "core/arena.h"
#include "core/map.h"

struct request;
struct var;

/* True and *out: the value, alive as long as the request. False: not found (empty, "-" in logs). */
typedef bool var_get_f(struct request *r, const struct var *v, struct str arg, struct str *out);

struct var {
    const char *name;   /* "host"; a prefix variable ends in '_' and takes the rest: "http_" */
    bool prefix;
    bool constant;      /* the same for all requests to one file in one location */
    var_get_f *get;     /* NULL name ends a table */
    const void *data;   /* for get */
    bool decoded;       /* part of a decoded path: percent-encoded where it goes into a URL */
};

struct var_ref {
    const struct var *var;
    struct str arg;     /* what stood behind the prefix: "user_agent" */
};

/* The variables of one configuration: built-in, of modules, and defined in it (map, captures). */
struct vars {
    struct map exact;
    struct var *const *prefixes; /* longest first */
    size_t prefix_count;
    struct arena *arena;
};

/* Knows all built-in variables and those of http_modules. False: out of memory. */
bool vars_init(struct vars *vs, struct arena *a);
/* A variable that the configuration defines. False: the name is taken or bad. */
bool vars_define(struct vars *vs, const struct var *v);
/* Name without '$'. False: there is no such variable. */
bool vars_find(const struct vars *vs, struct str name, struct var_ref *out);
/* "did you mean": a near name or NULL. */
const char *vars_suggest(const struct vars *vs, struct str name);

bool var_value(struct request *r, const struct var_ref *ref, struct str *out);

extern const struct var core_vars[]; /* vars_core.c: what every request knows */

#endif
