/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading a configuration: file to nodes to blocks. The only entry points the layers above use. */
#ifndef SLUICE_CONF_BIND_H
#define SLUICE_CONF_BIND_H

#include "conf/schema.h"

struct conf_source {
    const char *path;       /* the main file, made absolute by the caller */
    const char *prefix;     /* absolute, no slash at the end (but "/" itself) */
    const char *overrides;  /* YAML of -g, NULL for none: its keys win, maps merge key by key */
};

/*
 * Reads, checks and binds everything; `sections` is NULL-terminated and outlives the result.
 * All faults go to *d; on any error the result is STATUS_INVALID (STATUS_NOMEM: memory) and *out
 * is NULL. Everything lives in `a`. Has no side effect besides reading files.
 */
enum status conf_load(struct arena *a, struct diag *d, const struct conf_source *src,
                      const struct section *const *sections, struct block **out);

/* The effective configuration as YAML that loads to the same blocks (-T). */
void conf_dump(const struct block *main_block, const struct section *const *sections,
               struct buf *to);

/* The directive tables of the manual page, in mdoc, from the rows. */
void conf_reference(const struct section *const *sections, struct buf *to);

/* The directory of a file whose path is absolute; a view, without a slash behind it. */
struct str conf_directory(struct str path);

/* `path` itself if it is absolute, else below `dir`; NUL-terminated. p is NULL without memory. */
struct str conf_path(struct arena *a, struct str dir, struct str path);

#endif
