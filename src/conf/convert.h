/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments to the fields of a section's struct: types, ranges, numbers of arguments, messages. */
#ifndef SLUICE_CONF_CONVERT_H
#define SLUICE_CONF_CONVERT_H

#include "conf/args.h"

struct converter {
    struct arena *a;
    struct diag *d;
    struct str prefix;    /* paths start here */
    struct str conf_dir;  /* and CTYPE_CONF_PATH here */
};

/*
 * Checks the instances against the row and stores them into the row's field of `conf`; not for
 * CTYPE_KEYED and CTYPE_BLOCK.  `values->n` is 1 unless the row is repeatable.  False when a fault
 * was reported; the field may be half set then.
 */
bool convert_values(const struct converter *c, const struct directive *row,
                    const struct instances *values, const struct place *at, void *conf);

/* Checks one instance of a CTYPE_KEYED row (the number of arguments, and the row's own check). */
bool convert_keyed_entry(const struct converter *c, const struct directive *row,
                         const struct keyed_entry *e, const struct place *at, void *conf);

/* The bytes of the row's field; 0 for a block. */
size_t convert_field_size(const struct directive *row);

#endif
