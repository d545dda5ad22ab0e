/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of one configuration file: read whole, checked to be UTF-8, and kept for as long as the
 * configuration is, because later checks still want to show its lines.
 */
#ifndef SLUICE_CONF_SOURCE_H
#define SLUICE_CONF_SOURCE_H

#include "conf/diag.h"
#include "core/status.h"

#define SOURCE_SIZE_MAX (16u << 20)

struct source {
    const char *name;      /* the path, or "-g"; what struct pos.file points to */
    struct str text;       /* without byte order mark, NUL-terminated behind its end */
    uint32_t *lines;       /* the offset at which each line begins */
    size_t line_count;     /* at least 1 */
    bool ascii;            /* one byte is one character */
    const char *foreign;   /* "UTF-16" when it is that, else NULL */
    uint64_t dev, ino;     /* of the file; 0, 0 for text from memory */
    struct source *next;
};

/*
 * Reads a regular file; never blocks on a FIFO or a device.  Faults of the file as a whole go to
 * *d, at `at` (who asked for it), and give NULL.  `path` must live as long as the arena.
 */
struct source *source_read(struct arena *a, struct diag *d, const char *path, struct pos at,
                           struct str where);

/* The same for text that is in memory already; `text` is copied. NULL: no memory. */
struct source *source_from_text(struct arena *a, const char *name, struct str text);

/* Is the text UTF-8 without control characters?  Reports at its place what is not. */
bool source_check(struct diag *d, const struct source *s);

/* Line and column of a byte of the text. */
struct pos source_pos(const struct source *s, size_t offset);

bool source_is_utf8(struct str s);

/* A line (from 1) without its end, empty when there is none. */
struct str source_line(const struct source *s, uint32_t line);

#endif
