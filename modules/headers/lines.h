/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that a configuration adds to responses, in front of the body or behind it. */
#ifndef SLUICE_HEADERS_LINES_H
#define SLUICE_HEADERS_LINES_H

#include "http/site.h"

struct added_line {
    struct str name;
    struct template value;
    bool always;
    bool empty;             /* "": takes the lines of this name away */
};

/* Those of enclosing blocks and this one's. */
struct added_lines {
    struct added_line *v;
    size_t count;
    bool constant;          /* all of their values are */
};

/* A name that may not be used, in lower case, and why. */
struct refused_name {
    const char *name, *hint;
};

/*
 * The instances "name value [always]" of a directive, merged by name with those of the enclosing
 * block (`above`, NULL for none); `refused` ends with name NULL.  False: reported.
 */
bool lines_freeze(struct cycle_http *cy, struct block *b, const char *directive,
                  const struct instances *in, const struct refused_name *refused,
                  const struct added_lines *above, struct added_lines *to);

/* The statuses that lines without `always` are for. */
bool lines_good_status(unsigned status);

#endif
