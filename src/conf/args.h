/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes to arguments: which scalars are split, which list items are instances and which are
 * arguments.  What the arguments mean is convert.c's.
 */
#ifndef SLUICE_CONF_ARGS_H
#define SLUICE_CONF_ARGS_H

#include "conf/schema.h"

/* Where in the tree of blocks something stands; put into words only when a message needs it. */
struct place {
    struct str block;    /* the path of the block, empty for main */
    struct str name;     /* the directive; empty: the block itself */
    struct str key;      /* the entry of a map, p NULL for none */
    int64_t index;       /* the item of a list, -1 for none */
};

#define PLACE(block_path, directive) \
    ((struct place){.block = (block_path), .name = (directive), .index = -1})

/* "http.server[0].types[\"text/html\"]" */
struct str place_text(struct arena *a, const struct place *p);

/* What the readers below share. */
struct args_reader {
    struct arena *a;
    struct diag *d;
    unsigned flags;      /* ROW_REPEATABLE and ROW_VERBATIM of the row */
};

/* The words of a scalar, or all of it with ROW_VERBATIM. False when a fault was reported. */
bool args_of_text(const struct args_reader *r, const struct node *scalar, const struct place *at,
                  struct args *out);

/* A key of a map, split as a scalar is. */
bool args_of_key(const struct args_reader *r, const struct node_entry *e, const struct place *at,
                 struct args *out);

/*
 * The instances a value gives (one, unless the row is repeatable), appended to *out.  False when a
 * fault was reported; what could not be read then has no arguments and no place (pos.file NULL).
 */
bool args_append(const struct args_reader *r, const struct node *value, const struct place *at,
                 struct instances *out);

bool args_equal(const struct args *a, const struct args *b);

#endif
