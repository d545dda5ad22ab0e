/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats of log lines: a template, compiled once, whose commonest variables are written straight
 * to the line without passing through request memory.
 */
#ifndef SLUICE_ACCESS_FORMAT_H
#define SLUICE_ACCESS_FORMAT_H

#include "http/site.h"

struct access_part;

struct access_format {
    enum template_escape escape;
    struct str absent;          /* what stands for a variable without a value */
    struct access_part *parts;
    size_t count;
};

/* The built-in formats, by name; NULL text ends the table. */
struct access_builtin {
    const char *name;
    const char *text;
};
extern const struct access_builtin access_builtins[];

/*
 * Compiles the text of a format; "escape=default", "escape=json" or "escape=none" may stand in
 * front of it.  NULL: reported to cy->diag with pos and path, or no memory.
 */
struct access_format *access_format_compile(struct cycle_http *cy, struct pos pos, struct str path,
                                            struct str text);

/* One line, without its end. */
void access_format_write(const struct access_format *f, struct request *r, struct wbuf *w);

#endif
