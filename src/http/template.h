/* SPDX-License-Identifier: BSD-2-Clause */
/* Templates: text with $name and ${name}, compiled once. An unknown variable is a load error. */
#ifndef SLUICE_HTTP_TEMPLATE_H
#define SLUICE_HTTP_TEMPLATE_H

#include "conf/schema.h"
#include "http/vars.h"

struct template_part {
    struct str literal;    /* var.var == NULL */
    struct var_ref var;
};

struct template {
    struct template_part *parts;
    size_t count;
    bool constant;         /* no variable, or only constant ones */
    bool literal;          /* no variable at all: parts[0] is it (or count is 0) */
};

/*
 * Compiles text at pos. A "$" that no name follows is an
 * error. Captures $1..$9 are variables too. False: reported to d with path.
 */
bool template_compile(struct template *t, const struct vars *vs, struct arena *a, struct diag *d,
                      struct pos pos, struct str path, struct str text);

/* The text for a request: a view of the literal, or bytes in request memory. */
struct str template_eval(const struct template *t, struct request *r);

enum template_escape { TEMPLATE_PLAIN, TEMPLATE_LOG, TEMPLATE_JSON };
/* Writes it, variables escaped; an absent variable is `absent` ("-" in logs). */
void template_write(const struct template *t, struct request *r, struct wbuf *w,
                    enum template_escape escape, struct str absent);

#endif
