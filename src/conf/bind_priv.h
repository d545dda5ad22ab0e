/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the binder share: bind.c gathers the keys of a block, bind_blocks.c makes the
 * blocks in it, bind_values.c its values.  Nobody else includes this.
 */
#ifndef SLUICE_CONF_BIND_PRIV_H
#define SLUICE_CONF_BIND_PRIV_H

#include "conf/bind.h"
#include "conf/convert.h"
#include "conf/include.h"
#include "conf/rows.h"

struct binder {
    struct arena *a;
    struct arena scratch;       /* what is needed only while loading */
    struct diag *d;
    struct includes *inc;
    struct rows rows;
    struct converter conv;
    VEC(const struct row *) required;
    uint64_t blocks;            /* numbers the blocks, for row->seen_in */
};

/* One map that a block is made of. */
struct input {
    const struct node *map;
    const struct include_chain *chain; /* the file it stands in */
    bool override;                     /* from -g */
    struct input *next;
};

/* One place where a directive stands. */
struct item {
    const struct node_entry *e;
    const struct include_chain *chain;
    bool override;
    struct item *next;
};

/* All places where one directive of a block stands. */
struct group {
    struct row *row;
    struct item *first, *last;
    struct group *next;
};

/* Binds all that the maps say about a block, and the blocks in it. */
void bind_block(struct binder *b, struct block *block, const struct input *inputs);

/* An empty block, NULL without memory. */
struct block *bind_new_block(struct binder *b, struct block *parent, enum scope scope,
                             struct pos pos, struct str path);

/* A new block in `parent`, bound. inputs NULL: no file has it. */
void bind_child(struct binder *b, struct block *parent, const struct row *row, struct pos pos,
                const struct place *at, struct args key, const struct input *inputs);

/* The blocks of a row; `from` is the first place that counts. */
void bind_blocks(struct binder *b, struct block *block, const struct group *g,
                 const struct item *from);

/* The values of a row that is no block. */
void bind_values(struct binder *b, struct block *block, const struct group *g,
                 const struct item *from);

/* ---- for keyed blocks and keyed values ---- */

/* Splits the key of an entry; false when a fault was reported. */
bool bind_read_key(struct binder *b, const struct node_entry *e, const struct place *at,
                   struct args *key);

/* The words of a key with single blanks: what makes two keys the same. */
struct str bind_key_text(struct arena *a, const struct args *key);

void bind_given_twice(struct binder *b, const struct node_entry *again, struct pos first,
                      const struct place *at);

#endif
