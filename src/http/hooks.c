/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ordering of hooks and filters.  Locations mostly enable the same few combinations, so the lists
 * are made once per combination (a string of bits) and shared: a hundred thousand locations cost
 * no more lists than there are ways to configure them.
 */
#include "http/hooks.h"

#include <stdlib.h>

struct hook_set {
    hook_f **phases[PHASES];
    const struct filter **filters;
};

static int by_phase_and_rank(const void *a, const void *b)
{
    const struct hook *x = ((const struct hook_entry *)a)->hook;
    const struct hook *y = ((const struct hook_entry *)b)->hook;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_rank(const void *a, const void *b)
{
    int x = ((const struct filter_entry *)a)->filter->rank;
    int y = ((const struct filter_entry *)b)->filter->rank;
    return (x > y) - (x < y);
}

static void count(struct hooks *h, const struct module *const *modules)
{
    for (const struct module *const *m = modules; *m != NULL; m++) {
        CHECK((*m)->magic == MODULE_MAGIC);
        for (const struct hook *k = (*m)->hooks; k != NULL && k->run != NULL; k++)
            h->hook_count++;
        h->filter_count += (*m)->filter != NULL;
    }
}

bool hooks_init(struct hooks *h, struct arena *a, const struct module *const *modules)
{
    size_t n = 0, f = 0;
    *h = (struct hooks){.arena = a};
    map_init(&h->sets, a, false);
    count(h, modules);
    h->hooks = arena_array(a, h->hook_count, sizeof(*h->hooks));
    h->filters = arena_array(a, h->filter_count, sizeof(*h->filters));
    if (h->hooks == NULL || h->filters == NULL)
        return false;
    for (const struct module *const *m = modules; *m != NULL; m++) {
        for (const struct hook *k = (*m)->hooks; k != NULL && k->run != NULL; k++)
            h->hooks[n++] = (struct hook_entry){*m, k};
        if ((*m)->filter != NULL)
            h->filters[f++] = (struct filter_entry){*m, (*m)->filter};
    }
    qsort(h->hooks, n, sizeof(*h->hooks), by_phase_and_rank);
    qsort(h->filters, f, sizeof(*h->filters), by_rank);
    for (size_t i = 1; i < n; i++)
        CHECK(by_phase_and_rank(&h->hooks[i - 1], &h->hooks[i]) != 0);
    for (size_t i = 1; i < f; i++)
        CHECK(by_rank(&h->filters[i - 1], &h->filters[i]) != 0);
    return true;
}

/* The module's struct in the location's block; NULL for a module without directives. */
static const void *conf_of(const struct module *m, const struct location *l)
{
    return m->section.directives != NULL ? l->block->conf[*m->section.slot] : NULL;
}

/* Hooks of the server's own rewrite run before a location is chosen, so they are the server's. */
static bool wanted(const struct hook_entry *e, const struct location *l)
{
    if (e->hook->phase == PHASE_SERVER_REWRITE && l->kind != LOCATION_SERVER)
        return false;
    return e->hook->enabled == NULL || e->hook->enabled(conf_of(e->module, l));
}

static bool make_phases(struct hooks *h, struct hook_set *set, const char *bits)
{
    hook_f **to = arena_array(h->arena, h->hook_count + PHASES, sizeof(*to));
    if (to == NULL)
        return false;
    size_t i = 0;
    for (unsigned phase = 0; phase < PHASES; phase++) {
        set->phases[phase] = to;
        for (; i < h->hook_count && h->hooks[i].hook->phase == phase; i++)
            if (bits[i] == '1')
                *to++ = h->hooks[i].hook->run;
        to++; /* the array is zeroed: NULL */
    }
    return true;
}

static struct hook_set *make_set(struct hooks *h, const char *bits, size_t n)
{
    struct hook_set *set = ARENA_NEW(h->arena, struct hook_set);
    struct str key = arena_str(h->arena, str_make(bits, n));
    if (set == NULL || key.p == NULL || !make_phases(h, set, bits))
        return NULL;
    set->filters = arena_array(h->arena, h->filter_count + 1, sizeof(struct filter *));
    if (set->filters == NULL)
        return NULL;
    const struct filter **to = set->filters;
    for (size_t i = 0; i < h->filter_count; i++)
        if (bits[h->hook_count + i] == '1')
            *to++ = h->filters[i].filter;
    return map_add(&h->sets, key, set) == STATUS_OK ? set : NULL;
}

bool hooks_place(struct hooks *h, struct location *l)
{
    char bits[512];
    size_t n = h->hook_count + h->filter_count;
    CHECK(n <= sizeof(bits));
    l->heads_constant = true;
    for (size_t i = 0; i < h->hook_count; i++)
        bits[i] = wanted(&h->hooks[i], l) ? '1' : '0';
    for (size_t i = 0; i < h->filter_count; i++) {
        const struct filter *f = h->filters[i].filter;
        const void *conf = conf_of(h->filters[i].module, l);
        bool on = f->enabled == NULL || f->enabled(conf);
        bits[h->hook_count + i] = on ? '1' : '0';
        if (on && f->constant != NULL && !f->constant(conf))
            l->heads_constant = false;
    }
    const struct hook_set *set = map_get(&h->sets, str_make(bits, n));
    if (set == NULL)
        set = make_set(h, bits, n);
    if (set == NULL)
        return false;
    memcpy(l->phases, set->phases, sizeof(l->phases));
    if (l->kind != LOCATION_SERVER)
        l->phases[PHASE_SERVER_REWRITE] = NULL;
    l->filters = set->filters;
    return true;
}
