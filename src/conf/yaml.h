/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * YAML text to nodes, through libyaml's events.  Aliases share the node they stand for, so they
 * cost no memory here, but whoever walks the tree meets it once per use: that is what the limits
 * bound.
 */
#ifndef SLUICE_CONF_YAML_H
#define SLUICE_CONF_YAML_H

#include "conf/node.h"
#include "conf/source.h"
#include "core/status.h"

#define YAML_DEPTH_MAX 16                /* maps and lists inside one another */
#define YAML_ALIAS_TEXT_MAX (1u << 20)   /* bytes of scalars that aliases stand for */
#define YAML_ALIAS_NODES_MAX 100000u     /* nodes that aliases stand for */

/* What the aliases of one load stand for so far, over all its files. Starts zeroed. */
struct yaml_limits {
    size_t text, nodes;
};

/*
 * Reads one document.  *root is NULL when the text holds none (comments only) and when the status
 * is not STATUS_OK.  Faults go to *d; those that leave a usable tree (a tag, a key given twice)
 * do not change the status, and the values concerned are marked bad.
 */
enum status yaml_read(struct arena *a, struct diag *d, const struct source *src,
                      struct yaml_limits *limits, struct node **root);

#endif
