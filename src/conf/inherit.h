/* SPDX-License-Identifier: BSD-2-Clause */
/* What a block does not set: from the enclosing block, at the top from the defaults. */
#ifndef SLUICE_CONF_INHERIT_H
#define SLUICE_CONF_INHERIT_H

#include "conf/convert.h"
#include "conf/rows.h"

/*
 * One struct per section with every row at its default, in the order of rows->sections.  NULL
 * without memory, or when a default is not a value of its row (reported: a fault of the program).
 */
void **inherit_defaults(const struct converter *c, const struct rows *rows);

/* Fills the fields that no block has set, in `top` and all blocks below it. False: no memory. */
bool inherit_fill(struct arena *a, const struct rows *rows, void *const *defaults,
                  struct block *top);

#endif
