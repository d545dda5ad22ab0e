/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration as a tree of nodes, each with its place in its file. Immutable once loaded. */
#ifndef SLUICE_CONF_NODE_H
#define SLUICE_CONF_NODE_H

#include "conf/diag.h"

enum node_kind { NODE_NULL, NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node;
struct node_entry {
    struct str key;
    struct pos key_pos;
    struct node *value;
};

struct node {
    enum node_kind kind;
    struct pos pos;
    bool quoted;                 /* a scalar in quotes or a block scalar */
    bool exact;                  /* text stands in the file byte by byte, so columns add up */
    bool bad;                    /* a fault in it was reported already: not to be looked at */
    struct str text;             /* NODE_SCALAR, NUL-terminated behind its end */
    struct node **items;         /* NODE_LIST */
    struct node_entry *entries;  /* NODE_MAP, in file order */
    size_t count;                /* of items or entries */
};

/* NULL when there is no such key. */
struct node *node_get(const struct node *map, struct str key);
const char *node_kind_text(enum node_kind kind); /* "a list", "a map", … for messages */

#endif
