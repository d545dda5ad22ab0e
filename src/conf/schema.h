/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schema: every directive is one row, and the row is the single truth.  Defaults, inheritance,
 * checks, the -T dump, the table in sluice.yaml(5) and "did you mean" all come from it.
 *
 * A section is the rows of one owner (the core of http, a module) and the struct they fill.  Every
 * block (main, events, http, each server, each location) has one such struct per section; a row
 * that is not set in a block takes the value of the enclosing block, and at the top its default.
 */
#ifndef SLUICE_CONF_SCHEMA_H
#define SLUICE_CONF_SCHEMA_H

#include "conf/node.h"
#include "core/status.h"

enum scope {
    SCOPE_MAIN = 1,
    SCOPE_EVENTS = 2,
    SCOPE_HTTP = 4,
    SCOPE_SERVER = 8,
    SCOPE_LOCATION = 16,
};
#define SCOPE_ANY_HTTP (SCOPE_HTTP | SCOPE_SERVER | SCOPE_LOCATION)

/* One argument of a directive, unquoted, environment references replaced. */
struct arg {
    struct str text;     /* NUL-terminated behind its end */
    struct pos pos;
};

/* The arguments of one instance of a directive. */
struct args {
    struct arg *v;
    size_t n;
    struct pos pos;
};

/* All instances of a repeatable directive (one for the others; none: not set). */
struct instances {
    struct args *v;
    size_t n;
};

/* One entry of a keyed directive (types, map, log_format). */
struct keyed_entry {
    struct args key;            /* the key, split as a scalar is */
    struct instances values;    /* a scalar gives one instance (split unless ROW_VERBATIM) */
    const struct node *node;    /* the value as written, for nested maps */
    struct pos pos;
};
struct keyed {
    struct keyed_entry *v;
    size_t n;
};

#define CONF_UNLIMITED INT64_MAX   /* the word `unlimited`, where ROW_UNLIMITED allows it */

/*
 * What a row's value is and what type its field has.  With ROW_REPEATABLE the field is a struct
 * instances whatever the type: each instance was checked to be such a value, and paths in it are
 * absolute.
 */
enum ctype {
    CTYPE_SWITCH,    /* bool */
    CTYPE_INT,       /* int64_t */
    CTYPE_SIZE,      /* int64_t, bytes */
    CTYPE_TIME,      /* int64_t, milliseconds */
    CTYPE_ENUM,      /* int, index in choices */
    CTYPE_TEXT,      /* struct arg: one argument, e.g. a template */
    CTYPE_PATH,      /* struct str: absolute, relative ones resolved against the prefix */
    CTYPE_CONF_PATH, /* struct str: relative ones against the directory of the main file */
    CTYPE_ARGS,      /* struct instances: the owner makes sense of the arguments */
    CTYPE_KEYED,     /* struct keyed */
    CTYPE_BLOCK,     /* no field: a block of scope `block` (server, location, http, events).  One
                        that is neither a list nor keyed nor required exists even if the file has
                        none of it, with everything at its default. */
};

enum row_flags {
    ROW_REPEATABLE = 1,  /* each list item is one instance */
    ROW_UNLIMITED = 2,   /* the word unlimited is allowed */
    ROW_NO_INHERIT = 4,  /* an unset one stays at its default in inner blocks */
    ROW_VERBATIM = 8,    /* a scalar is one argument, not split (log_format); a list is joined */
    ROW_MERGE = 16,      /* keyed: entries are joined down the tree and over includes */
    ROW_REQUIRED = 32,   /* must be set in each block of its scope */
    ROW_BLOCK_LIST = 64, /* CTYPE_BLOCK: a list of blocks or one map (server) */
    ROW_BLOCK_KEYED = 128, /* CTYPE_BLOCK: a map of key to block (location) */
    ROW_BARE = 256,      /* CTYPE_SWITCH: `name:` without a value is on (internal) */
};

struct directive;
/*
 * Looks at an instance right after it was read (arguments within min..max in number); reports by
 * diag_error and returns false if it is bad. `conf` is the section's struct of that block.
 */
typedef bool directive_check_f(struct diag *d, struct str path, const struct directive *row,
                               const struct args *args, void *conf);

struct directive {
    const char *name;         /* NULL ends a table */
    enum ctype type;
    unsigned scopes;          /* enum scope bits it may stand in */
    size_t offset;            /* of the field in the section's struct */
    int64_t min, max;         /* of the value; for CTYPE_ARGS the number of arguments; 0,0: any */
    const char *dflt;         /* as it would be written in a file; NULL: zero, or empty */
    const char *const *choices; /* CTYPE_ENUM, NULL-terminated */
    unsigned flags;           /* enum row_flags */
    enum scope block;         /* CTYPE_BLOCK: the scope inside */
    directive_check_f *check; /* may be NULL */
    const char *args_doc;     /* "file [level]", for the manual; NULL: from the type */
    const char *doc;          /* one line for the manual */
};

struct section {
    const char *name;                   /* "http", "static", … */
    const struct directive *directives;
    size_t conf_size;
    unsigned *slot;                     /* receives the section's index in block->conf */
};

/* One block of the configuration, bound. Lives as long as the arena it was loaded into. */
struct block {
    enum scope scope;
    struct block *parent;       /* NULL for main */
    struct args key;            /* location: the key's arguments ("~*", "\\.php$"); else none */
    struct pos pos;
    struct str path;            /* "http.server[0]" */
    /* One struct per section, never NULL for sections of this scope; main has all the others too,
     * at their defaults, for blocks that the file leaves out. */
    void **conf;
    uint64_t **set;             /* per section a bit per row that stands in this very block */
    struct block **children;    /* in file order */
    size_t child_count;
};

/* The struct of a section in a block: CONF(block, gzip) is a struct gzip_conf *. */
#define CONF(block, name) ((struct name##_conf *)(block)->conf[name##_slot])

/* Was the row of that name set in this very block (not inherited)? */
bool block_is_set(const struct block *b, const struct section *s, const char *name);

#endif
