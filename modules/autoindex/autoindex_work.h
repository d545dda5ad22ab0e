/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listings in the making.  A worker reads, stats and sorts in slices, one slice of one listing per
 * turn of the loop however many there are, so that other requests are served between.
 */
#ifndef AUTOINDEX_WORK_H
#define AUTOINDEX_WORK_H

#include "autoindex_list.h"
#include "cache/fscan.h"
#include "core/list.h"

struct list_worker {
    struct fcache *files;
    struct loop *loop;
    struct list queue;        /* listings that have work to do, by link */
    struct turn turn;
    struct list_budget budget;
    uint32_t opening;         /* listings whose directory is being opened */
};

enum work_stage { WORK_OPEN, WORK_READ, WORK_SORT, WORK_DONE };

struct work {
    struct list link;
    struct list_worker *worker;
    /*
     * From the loop, once: the list is complete (cut: as far as it may grow), or err is a positive
     * errno, EBUSY where the worker's budget is used up. Not after work_leave().
     */
    void (*done)(struct work *w, int err);
    void (*freed)(struct work *w);  /* frees what the work is part of; after work_leave() only */
    struct name_list list;
    struct list_order order;
    bool cut;
    bool hidden;              /* names that begin with a dot too */
    bool only_open;           /* done as soon as the directory is open */
    /* work.c's: */
    bool left;
    uint8_t stage;            /* enum work_stage */
    int unseen;               /* errno of the first name that could not be looked at */
    struct fscan scan;
    char *names;              /* as getdents64(2) gives them, from names_at on */
    size_t names_at, names_n;
};

void list_worker_init(struct list_worker *lw, struct fcache *files, struct loop *loop);
/* Waits for opens in flight; every work must have been left. */
void list_worker_fini(struct list_worker *lw);

/*
 * done, freed, order, hidden and only_open are set. False: no memory; neither will be called, and
 * the work is the caller's to free.
 */
bool work_start(struct work *w, struct list_worker *lw, struct str root, struct str path,
                enum flinks links);
/* Nobody wants it any more. freed is called, now or when what is in flight has ended. */
void work_leave(struct work *w);
/* The list has been made use of; its memory goes back. */
static inline void work_drop_list(struct work *w)
{
    name_list_fini(&w->list);
}

#endif
