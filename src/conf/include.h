/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of one configuration: the main file, and what include names.  A file is read once,
 * however often it is included; its nodes are shared.
 */
#ifndef SLUICE_CONF_INCLUDE_H
#define SLUICE_CONF_INCLUDE_H

#include "conf/args.h"
#include "conf/yaml.h"
#include "core/map.h"
#include "core/vec.h"

#define INCLUDE_DEPTH_MAX 16
#define INCLUDE_TEXT_MAX (64u << 20)   /* bytes of all included files, counted at each use */

struct include_file {
    struct source *src;
    struct node *root;    /* NULL: the file holds nothing, or is broken */
};

/* A file that is open for reading, and the one that includes it. */
struct include_chain {
    const struct include_file *file;
    const struct include_chain *up;
    unsigned depth;       /* 0: the main file */
};

struct includes {
    struct arena *a;
    struct diag *d;
    struct str dir;              /* relative names start here: the main file's directory */
    struct source *sources;      /* all texts read */
    struct map files;            /* absolute path -> struct include_file */
    struct yaml_limits limits;
    size_t text;                 /* counted against INCLUDE_TEXT_MAX */
    bool broken;                 /* some file could not be read: what is missing may be in it */
};

/* Sets d->source_line, which works for as long as the arena. */
void includes_init(struct includes *inc, struct arena *a, struct diag *d, struct str dir);

/*
 * The file of that absolute path.  NULL if it cannot be read or is not YAML (reported, `at` and
 * `where` tell who asked for it).
 */
const struct include_file *include_open(struct includes *inc, const char *path, struct pos at,
                                        struct str where);

/* YAML from the command line. */
const struct include_file *include_text(struct includes *inc, const char *name, struct str text);

/*
 * The files that one argument of include names, in order; a pattern may name none.  Each comes as
 * a chain whose `up` is the given one.  False when something was reported; *out may hold some.
 */
struct include_list {
    VEC(const struct include_chain *) files;
};
bool include_expand(struct includes *inc, const struct arg *name, const struct place *where,
                    const struct include_chain *up, struct include_list *out);

#endif
