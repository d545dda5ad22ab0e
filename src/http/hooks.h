/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who does what in a location: the hooks and filters of all modules, put into one order by rank,
 * and for each location those that are enabled in it.
 */
#ifndef SLUICE_HTTP_HOOKS_H
#define SLUICE_HTTP_HOOKS_H

#include "http/site.h"

struct hook_entry {
    const struct module *module;
    const struct hook *hook;
};

struct filter_entry {
    const struct module *module;
    const struct filter *filter;
};

struct hooks {
    struct hook_entry *hooks;      /* by phase, then rank */
    size_t hook_count;
    struct filter_entry *filters;  /* by rank */
    size_t filter_count;
    struct map sets;               /* what was made for a set of enabled ones, to be shared */
    struct arena *arena;
};

/*
 * Orders what `modules` (NULL-terminated) have; their own order does not matter.  Two hooks of one
 * phase, or two filters, with equal ranks are a fault of the program: CHECK.  False: no memory.
 */
bool hooks_init(struct hooks *h, struct arena *a, const struct module *const *modules);

/* Fills phases, filters and heads_constant of l from its block. False: no memory. */
bool hooks_place(struct hooks *h, struct location *l);

#endif
