/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of names: entries lie in blocks one behind the other, an array of pointers is sorted. */
#include "autoindex_list.h"

#include "core/check.h"

#include <stdalign.h>
#include <stdlib.h>

#define FIRST_BLOCK 8192u
#define BLOCK (256u << 10)
#define FIRST_ROOM 128u

struct list_block {
    struct list_block *next;
    size_t used, room;
    max_align_t mem[];
};

void name_list_init(struct name_list *l, struct list_budget *budget)
{
    *l = (struct name_list){.budget = budget};
}

static size_t charged(size_t memory)
{
    return memory > LIST_FREE ? memory - LIST_FREE : 0;
}

static enum status take(struct name_list *l, size_t bytes)
{
    size_t more = charged(l->memory + bytes) - charged(l->memory);
    if (l->memory + bytes > LIST_MEMORY_MAX)
        return STATUS_LIMIT;
    if (more > l->budget->max - l->budget->used)
        return STATUS_BUSY;
    l->budget->used += more;
    l->memory += bytes;
    return STATUS_OK;
}

static void give_back(struct name_list *l, size_t bytes)
{
    l->budget->used -= charged(l->memory) - charged(l->memory - bytes);
    l->memory -= bytes;
}

static void drop_spare(struct name_list *l)
{
    if (l->spare != NULL)
        give_back(l, l->n * sizeof(l->spare[0]));
    free(l->spare);
    l->spare = NULL;
}

void name_list_fini(struct name_list *l)
{
    drop_spare(l);
    for (struct list_block *b = l->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(l->v);
    give_back(l, l->memory);
    name_list_init(l, l->budget);
}

/* ---- filling ---- */

static enum status more_pointers(struct name_list *l)
{
    size_t room = l->room == 0 ? FIRST_ROOM : l->room * 2;
    enum status st = take(l, (room - l->room) * sizeof(l->v[0]));
    if (st != STATUS_OK)
        return st;
    struct list_entry **v = realloc(l->v, room * sizeof(l->v[0]));
    if (v == NULL) {
        give_back(l, (room - l->room) * sizeof(l->v[0]));
        return STATUS_NOMEM;
    }
    l->v = v;
    l->room = room;
    return STATUS_OK;
}

static enum status more_block(struct name_list *l, size_t need)
{
    size_t room = l->blocks == NULL ? FIRST_BLOCK : BLOCK;
    room = room < need ? need : room;
    enum status st = take(l, sizeof(struct list_block) + room);
    if (st != STATUS_OK)
        return st;
    struct list_block *b = malloc(sizeof(*b) + room);
    if (b == NULL) {
        give_back(l, sizeof(*b) + room);
        return STATUS_NOMEM;
    }
    *b = (struct list_block){.next = l->blocks, .room = room};
    l->blocks = b;
    return STATUS_OK;
}

enum status name_list_add(struct name_list *l, struct str name, enum list_type type, uint64_t size,
                          int64_t mtime)
{
    size_t align = alignof(struct list_entry);
    size_t need = (sizeof(struct list_entry) + name.n + align - 1) / align * align;
    enum status st = STATUS_OK;
    CHECK(name.n <= UINT16_MAX && l->spare == NULL);
    if (l->n == LIST_ENTRIES_MAX)
        return STATUS_LIMIT;
    if (l->n == l->room)
        st = more_pointers(l);
    if (st == STATUS_OK && (l->blocks == NULL || l->blocks->room - l->blocks->used < need))
        st = more_block(l, need);
    if (st != STATUS_OK)
        return st;
    struct list_block *b = l->blocks;
    struct list_entry *e = (struct list_entry *)(void *)((char *)b->mem + b->used);
    b->used += need;
    *e = (struct list_entry){
        .size = size, .mtime = mtime, .n = (uint16_t)name.n, .type = (uint8_t)type};
    memcpy(e->name, name.p, name.n);
    l->v[l->n++] = e;
    l->dirs += type == LIST_DIR;
    l->others += type == LIST_OTHER;
    return STATUS_OK;
}

/* ---- sorting ---- */

static int compare(const struct list_entry *a, const struct list_entry *b, struct list_order order)
{
    int c = 0;
    if ((a->type == LIST_DIR) != (b->type == LIST_DIR))
        return a->type == LIST_DIR ? -1 : 1;
    if (order.key == LIST_TIME)
        c = (a->mtime > b->mtime) - (a->mtime < b->mtime);
    else if (order.key == LIST_SIZE && a->type != LIST_DIR)
        c = (a->size > b->size) - (a->size < b->size);
    if (c == 0) {
        c = str_cmp(str_make(a->name, a->n), str_make(b->name, b->n));
        if (order.key != LIST_NAME)
            return c;
    }
    return order.descending ? -c : c;
}

/* The runs that begin at `start`, of `width` each, are next. */
static void next_pair(struct name_list *l, size_t start)
{
    l->start = l->left = l->out = start;
    l->right = start + l->width < l->n ? start + l->width : l->n;
}

enum status name_list_sort(struct name_list *l, struct list_order order)
{
    l->order = order;
    l->width = 1;
    next_pair(l, 0);
    if (l->n < 2)
        return STATUS_OK;
    enum status st = take(l, l->n * sizeof(l->spare[0]));
    if (st != STATUS_OK)
        return STATUS_BUSY;
    l->spare = malloc(l->n * sizeof(l->spare[0]));
    if (l->spare != NULL)
        return STATUS_OK;
    give_back(l, l->n * sizeof(l->spare[0]));
    return STATUS_NOMEM;
}

/* Both runs of the pair are merged: on to the next one, or to runs of twice the length. */
static void pair_done(struct name_list *l)
{
    if (l->out < l->n) {
        next_pair(l, l->out);
        return;
    }
    struct list_entry **v = l->spare;
    l->spare = l->v;
    l->v = v;
    l->width *= 2;
    next_pair(l, 0);
}

bool name_list_sort_step(struct name_list *l, size_t moves)
{
    for (; l->width < l->n; moves--) {
        size_t middle = l->start + l->width < l->n ? l->start + l->width : l->n;
        size_t end = middle + l->width < l->n ? middle + l->width : l->n;
        if (moves == 0)
            return false;
        if (l->left < middle &&
            (l->right == end || compare(l->v[l->left], l->v[l->right], l->order) <= 0))
            l->spare[l->out++] = l->v[l->left++];
        else
            l->spare[l->out++] = l->v[l->right++];
        if (l->out == end)
            pair_done(l);
    }
    drop_spare(l);
    return true;
}
