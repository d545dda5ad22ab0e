/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Diagnostics: everything that is wrong with a configuration, with its place, collected in one run
 * and printed as
 *
 *     conf/site.yaml:14:9: http.server[0].gzip_comp_level: 12 is outside 1..9
 *         gzip_comp_level: 12
 *                          ^
 */
#ifndef SLUICE_CONF_DIAG_H
#define SLUICE_CONF_DIAG_H

#include "core/arena.h"
#include "core/buf.h"

/* A place in a file; line and column count from 1 (columns in bytes); file NULL: no place. */
struct pos {
    const char *file;
    uint32_t line, column;
};

#define DIAG_MAX 50

enum diag_kind { DIAG_ERROR, DIAG_WARNING };

struct diag_entry {
    enum diag_kind kind;
    struct pos pos;
    struct str path;       /* "http.server[0].listen", may be empty */
    struct str message;
    struct str line;       /* the source line, may be empty */
};

struct diag {
    struct arena *arena;   /* owns all text */
    struct diag_entry *entries;
    size_t count, room;
    size_t errors, warnings;   /* all of them, also those beyond DIAG_MAX */
    /* Finds the text of a source line for the report; set by the loader. */
    struct str (*source_line)(void *arg, const struct pos *pos);
    void *source_arg;
};

void diag_init(struct diag *d, struct arena *a);

/* path may be STR_NONE. Says what is wrong and what was expected. */
void diag_error(struct diag *d, struct pos pos, struct str path, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
void diag_warn(struct diag *d, struct pos pos, struct str path, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

/* The whole report, ordered by file and line as found, each entry at most 3 lines. */
void diag_print(const struct diag *d, struct buf *to);

/* What a message quotes of a value: all of it, or its beginning and "..." if it is long. */
struct str diag_excerpt(struct diag *d, struct str s);

/* The candidate nearest to `word` (edit distance with transpositions), NULL if none is near. */
const char *diag_suggest(struct str word, const char *const *candidates, size_t count);

#endif
