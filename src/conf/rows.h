/* SPDX-License-Identifier: BSD-2-Clause */
/* All rows of all sections, found by name; and what to say about a name that is not there. */
#ifndef SLUICE_CONF_ROWS_H
#define SLUICE_CONF_ROWS_H

#include "conf/args.h"
#include "core/map.h"

struct row {
    const struct directive *d;
    size_t section, index;     /* in the list of sections, in the section's table */
    struct row *same_name;     /* another row of that name, for other scopes */
    uint64_t seen_in;          /* the number of the block in which bind.c met it last */
    void *group;               /* and what it had there */
};

struct rows {
    struct row *v;
    size_t n;
    struct map by_name;
    const struct section *const *sections;
    size_t section_count;
};

/* Tells every section its index. Two rows of one name and scope are a fault. */
enum status rows_init(struct rows *rows, struct arena *a, struct diag *d,
                      const struct section *const *sections);

/* The row of that name that may stand in that scope, or NULL. */
struct row *rows_find(const struct rows *rows, struct str name, enum scope scope);

/* Reports a name that has no row in that scope, as precisely as can be. */
void rows_refuse(const struct rows *rows, struct arena *a, struct diag *d,
                 const struct node_entry *e, struct str block, enum scope scope);

/* Has a block of that scope a struct of that section? */
bool rows_section_in(const struct section *s, enum scope scope);

/* "http, server" */
struct str scope_text(struct arena *a, unsigned scopes);

#endif
