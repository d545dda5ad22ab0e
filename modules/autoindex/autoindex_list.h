/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a directory in bounded memory, and their order.  Sorting is a merge sort that can
 * be interrupted, so that a large list is sorted a little at a time.
 */
#ifndef AUTOINDEX_LIST_H
#define AUTOINDEX_LIST_H

#include "core/status.h"
#include "core/str.h"

#define LIST_ENTRIES_MAX 100000u
#define LIST_MEMORY_MAX  (32u << 20)
#define LIST_FREE        (64u << 10)  /* what each list may have besides the common budget */

enum list_type { LIST_DIR, LIST_FILE, LIST_OTHER };
enum list_key { LIST_NAME, LIST_TIME, LIST_SIZE };

struct list_order {
    uint8_t key;            /* enum list_key */
    bool descending;
};

struct list_entry {
    uint64_t size;
    int64_t mtime;
    uint16_t n;
    uint8_t type;           /* enum list_type */
    char name[];
};

/* What all lists of a worker may hold together, beyond LIST_FREE bytes each. */
struct list_budget {
    size_t used, max;
};

struct list_block;

struct name_list {
    struct list_budget *budget;
    struct list_block *blocks;
    struct list_entry **v;  /* n entries */
    size_t n, room;
    size_t dirs, others;    /* of the n */
    size_t memory;          /* bytes held */
    /* sorting: */
    struct list_order order;
    struct list_entry **spare;
    size_t width, start, left, right, out;
};

void name_list_init(struct name_list *l, struct list_budget *budget);
void name_list_fini(struct name_list *l); /* empty again; twice is fine */

/* LIMIT: the list is full (entries or bytes). BUSY: the budget is. NOMEM: malloc. */
enum status name_list_add(struct name_list *l, struct str name, enum list_type type, uint64_t size,
                          int64_t mtime);

/*
 * Directories come first, whatever the order; equal times and sizes are in the order of names,
 * which is that of their bytes.  begin: OK, BUSY or NOMEM.  step: true when the list is in order,
 * after at most `moves` comparisons.
 */
enum status name_list_sort(struct name_list *l, struct list_order order);
bool name_list_sort_step(struct name_list *l, size_t moves);

#endif
