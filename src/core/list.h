/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive circular doubly linked list. A node that is in no list points to itself. */
#ifndef SLUICE_CORE_LIST_H
#define SLUICE_CORE_LIST_H

#include "core/check.h"

#include <stdbool.h>

struct list {
    struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_insert(struct list *pos, struct list *node) /* node right behind pos */
{
    node->prev = pos;
    node->next = pos->next;
    pos->next->prev = node;
    pos->next = node;
}

static inline void list_push_back(struct list *head, struct list *node)
{
    list_insert(head->prev, node);
}

static inline void list_push_front(struct list *head, struct list *node)
{
    list_insert(head, node);
}

static inline void list_remove(struct list *node) /* also fine on a node in no list */
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

static inline struct list *list_pop_front(struct list *head) /* NULL when empty */
{
    struct list *n = head->next;
    if (n == head)
        return NULL;
    list_remove(n);
    return n;
}

/* Moves everything in `from` to the end of `to`; `from` is empty afterwards. */
static inline void list_splice(struct list *to, struct list *from)
{
    if (list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}

#define LIST_EACH(it, head) for (struct list *it = (head)->next; it != (head); it = it->next)
/* `it` may be removed inside the loop. */
#define LIST_EACH_SAFE(it, nx, head) \
    for (struct list *it = (head)->next, *nx = it->next; it != (head); it = nx, nx = it->next)

#endif
