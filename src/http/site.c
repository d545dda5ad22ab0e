/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration compiled for http.  The order of the steps is what makes the order of directives
 * in a file irrelevant: first everything that defines variables (patterns, maps, modules), then
 * everything that may use them, then what is made of the results.
 */
#include "http/site.h"

#include "core/vec.h"
#include "http/hooks.h"
#include "http/http_freeze.h"
#include "http/listen.h"
#include "http/location.h"
#include "http/map.h"
#include "http/vhost.h"

#define SECTIONS_MAX 128

static bool has_section(const struct module *m)
{
    return m->section.directives != NULL;
}

const struct section *const *http_sections(size_t *count)
{
    static const struct section *list[SECTIONS_MAX + 1];
    static size_t n;
    if (n == 0) {
        list[n++] = &http_section;
        for (const struct module *const *m = http_modules; *m != NULL; m++) {
            CHECK(n < SECTIONS_MAX);
            if (has_section(*m))
                list[n++] = &(*m)->section;
        }
    }
    *count = n;
    return list;
}

struct log_file *cycle_log_file(struct cycle_http *cy, struct str path)
{
    for (size_t i = 0; i < cy->log_file_count; i++)
        if (str_eq(cy->log_files[i]->path, path))
            return cy->log_files[i];
    struct log_file *file = ARENA_NEW(cy->arena, struct log_file);
    if (file == NULL || !vec_grow(cy->arena, (void **)&cy->log_files, &cy->log_file_count,
                                  &cy->log_file_room, sizeof(struct log_file *)))
        return NULL;
    *file = (struct log_file){arena_str(cy->arena, path), -1};
    cy->log_files[cy->log_file_count - 1] = file;
    return file->path.p != NULL ? file : NULL;
}

/* ---- servers ---- */

static bool make_vhost(struct cycle_http *cy, struct block *b, struct vhost *v)
{
    v->block = b;
    v->conf = HTTP(b);
    v->own = (struct location){
        .kind = LOCATION_SERVER, .name = STR(""), .block = b, .conf = v->conf, .vhost = v};
    bool good = vhost_names_compile(cy, v);
    return locations_compile(cy, v, b, NULL, &v->locations) && good;
}

static bool make_vhosts(struct cycle_http *cy)
{
    const struct block *http = cy->http;
    bool good = true;
    cy->vhosts = arena_array(cy->arena, http->child_count, sizeof(struct vhost *));
    if (cy->vhosts == NULL)
        return false;
    for (size_t i = 0; i < http->child_count; i++) {
        struct vhost *v = ARENA_NEW(cy->arena, struct vhost);
        if (v == NULL)
            return false;
        CHECK(http->children[i]->scope == SCOPE_SERVER);
        v->index = cy->vhost_count;
        cy->vhosts[cy->vhost_count++] = v;
        good = make_vhost(cy, http->children[i], v) && good;
    }
    if (cy->vhost_count == 0)
        diag_warn(cy->diag, http->pos, http->path, "there is no server in it: nothing is served");
    return good;
}

/* ---- blocks ---- */

static void *conf_of(const struct module *m, const struct block *b)
{
    return has_section(m) ? b->conf[*m->section.slot] : NULL;
}

static bool define_block(struct cycle_http *cy, struct block *b)
{
    bool good = true;
    for (const struct module *const *m = http_modules; *m != NULL; m++)
        if ((*m)->define != NULL)
            good = (*m)->define(cy, b, conf_of(*m, b)) && good;
    for (size_t i = 0; i < b->child_count; i++)
        good = define_block(cy, b->children[i]) && good;
    return good;
}

static bool freeze_block(struct cycle_http *cy, struct block *b)
{
    bool good = http_freeze(cy, b);
    for (const struct module *const *m = http_modules; *m != NULL; m++)
        if ((*m)->freeze != NULL)
            good = (*m)->freeze(cy, b, conf_of(*m, b)) && good;
    for (size_t i = 0; i < b->child_count; i++)
        good = freeze_block(cy, b->children[i]) && good;
    return good;
}

/* ---- hooks ---- */

static bool place(struct location *l, void *arg)
{
    return hooks_place(arg, l);
}

static bool place_hooks(struct cycle_http *cy)
{
    struct hooks h;
    if (!hooks_init(&h, cy->arena, http_modules))
        return false;
    for (size_t i = 0; i < cy->vhost_count; i++)
        if (!hooks_place(&h, &cy->vhosts[i]->own) ||
            !locations_each(&cy->vhosts[i]->locations, place, &h))
            return false;
    return true;
}

static bool out_of_memory(struct cycle_http *cy)
{
    diag_error(cy->diag, (struct pos){0}, STR_NONE, "out of memory");
    return false;
}

bool http_compile(struct cycle_http *cy)
{
    size_t errors = cy->diag->errors;
    for (size_t i = 0; i < cy->main_block->child_count; i++)
        if (cy->main_block->children[i]->scope == SCOPE_HTTP)
            cy->http = cy->main_block->children[i];
    if (cy->http == NULL)
        return true;
    if (!vars_init(&cy->vars, cy->arena))
        return out_of_memory(cy);
    /* Each step goes on where the one before has failed, so that one run finds all faults. */
    bool good = make_vhosts(cy);
    good = maps_define(cy) && good;
    good = define_block(cy, cy->http) && good;
    good = maps_compile(cy) && good;
    good = freeze_block(cy, cy->http) && good;
    good = listen_compile(cy) && good;
    good = good && place_hooks(cy);
    if (!good && cy->diag->errors == errors)
        return out_of_memory(cy);
    return good;
}
