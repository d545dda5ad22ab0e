/* SPDX-License-Identifier: BSD-2-Clause */
/* The slices: names by getdents64(2), fstatat(2) for each, then the sort. */
#include "autoindex_work.h"

#include "core/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES_BYTES 8192u
#define SLICE_NS 400000u       /* looked at after each name */
#define SLICE_NAMES 256u
#define SLICE_MOVES 2048u
#define BUDGET (128u << 20)    /* of a worker */

/* struct linux_dirent64, which libc does not name on every system. */
struct name_record {
    uint64_t ino;
    int64_t off;
    uint16_t length;
    uint8_t type;
    char name[];
};

static void run_turn(struct turn *t);

void list_worker_init(struct list_worker *lw, struct fcache *files, struct loop *loop)
{
    *lw = (struct list_worker){.files = files, .loop = loop, .budget = {.max = BUDGET}};
    list_init(&lw->queue);
    turn_init(&lw->turn, run_turn);
}

void list_worker_fini(struct list_worker *lw)
{
    while (lw->opening > 0)
        loop_turn(lw->loop, TIMER_NEVER);
    CHECK(list_empty(&lw->queue) && lw->budget.used == 0);
    list_remove(&lw->turn.link);
}

static void release(struct work *w)
{
    fscan_close(&w->scan);
    free(w->names);
    w->names = NULL;
    list_remove(&w->link);
}

static void finish(struct work *w, int err)
{
    release(w);
    w->stage = WORK_DONE;
    if (err != 0)
        work_drop_list(w);
    w->done(w, err);
}

static void queue(struct work *w)
{
    list_push_back(&w->worker->queue, &w->link);
    loop_at_turn_end(w->worker->loop, &w->worker->turn);
}

static int errno_of(enum status st)
{
    return st == STATUS_BUSY ? EBUSY : ENOMEM;
}

/* ---- reading ---- */

static enum list_type type_of(const struct stat *st)
{
    return S_ISDIR(st->st_mode) ? LIST_DIR : S_ISREG(st->st_mode) ? LIST_FILE : LIST_OTHER;
}

static enum status add(struct work *w, const char *name)
{
    struct stat st;
    if (name[0] == '.' && (!w->hidden || name[1] == '\0' || strcmp(name, "..") == 0))
        return STATUS_OK;
    int err = fscan_stat(&w->scan, name, &st);
    if (err != 0) {
        if (err != ENOENT && w->unseen == 0)
            w->unseen = err;
        return STATUS_OK;
    }
    return name_list_add(&w->list, str_z(name), type_of(&st),
                         st.st_size < 0 ? 0 : (uint64_t)st.st_size, st.st_mtim.tv_sec);
}

static void begin_sort(struct work *w)
{
    enum status st = name_list_sort(&w->list, w->order);
    if (st != STATUS_OK) {
        finish(w, errno_of(st));
        return;
    }
    w->stage = WORK_SORT;
    queue(w);
}

/* More names. False: that was all of them, or it failed and the work is finished. */
static bool refill(struct work *w)
{
    long n = syscall(SYS_getdents64, w->scan.fd, w->names, NAMES_BYTES);
    if (n > 0) {
        w->names_at = 0;
        w->names_n = (size_t)n;
        return true;
    }
    if (n == 0)
        begin_sort(w);
    else
        finish(w, errno);
    return false;
}

static void read_slice(struct work *w)
{
    uint64_t end = clock_mono_ns() + SLICE_NS;
    for (unsigned i = 0; i < SLICE_NAMES; i++) {
        if (w->names_at == w->names_n && !refill(w))
            return;
        const struct name_record *name = (const void *)(w->names + w->names_at);
        w->names_at += name->length;
        enum status st = add(w, name->name);
        if (st == STATUS_LIMIT) {
            w->cut = true;
            begin_sort(w);
            return;
        }
        if (st != STATUS_OK) {
            finish(w, errno_of(st));
            return;
        }
        if (clock_mono_ns() >= end)
            break;
    }
    queue(w);
}

/* ---- turns ---- */

static void run_turn(struct turn *t)
{
    struct list_worker *lw = container_of(t, struct list_worker, turn);
    struct list *first = list_pop_front(&lw->queue);
    if (first == NULL)
        return;
    if (!list_empty(&lw->queue))
        loop_at_turn_end(lw->loop, &lw->turn);
    struct work *w = container_of(first, struct work, link);
    if (w->stage == WORK_READ)
        read_slice(w);
    else if (name_list_sort_step(&w->list, SLICE_MOVES))
        finish(w, 0);
    else
        queue(w);
}

static void opened(struct fscan *s, int err)
{
    struct work *w = container_of(s, struct work, scan);
    w->worker->opening--;
    if (w->left) {
        release(w);
        w->freed(w);
        return;
    }
    if (err != 0 || w->only_open) {
        finish(w, err);
        return;
    }
    w->names = malloc(NAMES_BYTES);
    if (w->names == NULL) {
        finish(w, ENOMEM);
        return;
    }
    w->stage = WORK_READ;
    queue(w);
}

bool work_start(struct work *w, struct list_worker *lw, struct str root, struct str path,
                enum flinks links)
{
    w->worker = lw;
    list_init(&w->link);
    name_list_init(&w->list, &lw->budget);
    if (!fscan_open(&w->scan, lw->files, root, path, links, opened))
        return false;
    lw->opening++;
    return true;
}

void work_leave(struct work *w)
{
    w->left = true;
    work_drop_list(w);
    if (fscan_busy(&w->scan)) {
        fscan_cancel(&w->scan);
        return;
    }
    release(w);
    w->freed(w);
}
