/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiling the locations of a server. The search is declared in site.h. */
#ifndef SLUICE_HTTP_LOCATION_H
#define SLUICE_HTTP_LOCATION_H

#include "http/site.h"

/*
 * The location blocks in `b`, which is a server (outer NULL) or the block of `outer`, and all that
 * are nested in them.  Phases and filters are filled in later.  False: reported to cy->diag.
 */
bool locations_compile(struct cycle_http *cy, struct vhost *v, const struct block *b,
                       const struct location *outer, struct locations *out);

/* What the key of a location block says. False: locations_compile has something to report. */
bool location_key(const struct block *b, enum location_kind *kind, struct str *name);

/* Calls fn for every location of ls, nested ones included; false as soon as fn does. */
typedef bool location_each_f(struct location *l, void *arg);
bool locations_each(const struct locations *ls, location_each_f *fn, void *arg);

#endif
