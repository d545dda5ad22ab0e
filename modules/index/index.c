/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Index files: a path that ends in a slash is sent on to the first of the configured files that is
 * there, by an internal redirect, so that the location is chosen for the file itself.  The file
 * cache answers the question, hence "/" costs two look-ups in it and no allocation.
 */
#include "http/http.h"
#include "http/request.h"
#include "proto/uri.h"

#include <errno.h>

#define INDEX_RANK 200

struct index_name {
    struct template name;
    bool absolute;        /* a literal path: redirected to unseen */
};

struct index_conf {
    struct instances index;
    /* derived */
    struct index_name *names;
    size_t count;
};

/* Where a request that waits for a look-up stands. */
struct index_state {
    size_t next;          /* the name to be tried after this one */
    struct str path;      /* the one that is looked up */
};

static unsigned index_slot;
extern const struct module index_module;

/* ---- configuration ---- */

static bool compile_name(struct cycle_http *cy, struct block *b, const struct arg *arg,
                         struct index_name *name)
{
    if (!template_compile(&name->name, &cy->vars, cy->arena, cy->diag, arg->pos, b->path,
                          arg->text))
        return false;
    name->absolute = name->name.literal && str_starts(arg->text, STR("/"));
    if (!name->name.literal || uri_is_plain(arg->text))
        return true;
    diag_error(cy->diag, arg->pos, b->path,
               "index: \"" STR_FMT "\" is not valid, expected the name of a file without . or ..",
               STR_ARG(diag_excerpt(cy->diag, arg->text)));
    return false;
}

static bool index_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct index_conf *conf = arg;
    const struct args *in = &conf->index.v[0];
    bool good = true;
    if (b->scope != SCOPE_HTTP && !block_is_set(b, &index_module.section, "index")) {
        const struct index_conf *above = CONF(b->parent, index);
        conf->names = above->names;
        conf->count = above->count;
        return true;
    }
    conf->names = arena_array(cy->arena, in->n, sizeof(*conf->names));
    if (conf->names == NULL)
        return false;
    for (size_t i = 0; i < in->n; i++)
        good = compile_name(cy, b, &in->v[i], &conf->names[i]) && good;
    conf->count = in->n;
    return good;
}

/* ---- requests ---- */

/* Is it this one?  What is there but cannot be served is: the handler of files says why not. */
static bool is_index(const struct fentry *e)
{
    if (e->kind == FENTRY_DIR)
        return false;
    return e->kind != FENTRY_ERROR ||
           (e->err != ENOENT && e->err != ENOTDIR && e->err != ENAMETOOLONG);
}

static void looked_up(struct flookup *l);

static bool take_entry(struct request *r)
{
    bool yes = is_index(r->lookup.entry);
    fentry_put(r->lookup.entry);
    r->lookup.entry = NULL;
    return yes;
}

static enum verdict wait_for(struct request *r, size_t next, struct str path)
{
    void **state = request_data(r, index_slot);
    if (state != NULL && *state == NULL)
        *state = ARENA_NEW(&r->mem, struct index_state);
    if (state == NULL || *state == NULL) {
        fcache_cancel(r->worker->files, &r->lookup);
        r->looking = false;
        return response_error(r, 500);
    }
    *(struct index_state *)*state = (struct index_state){next, path};
    return VERDICT_PENDING;
}

/* Tries the names from the given one on. */
static enum verdict try_names(struct request *r, size_t i)
{
    const struct index_conf *conf = CONF(r->loc->block, index);
    for (; i < conf->count; i++) {
        const struct index_name *name = &conf->names[i];
        struct str text = template_eval(&name->name, r);
        if (name->absolute)
            return request_redirect(r, text, r->args);
        if (!name->name.literal && !uri_is_plain(text))
            continue;
        if (text.p[0] == '/')
            return request_redirect(r, text, r->args);
        struct str path = arena_cat(&r->mem, (struct str[]){r->uri, text}, 2);
        if (path.p == NULL)
            return response_error(r, 500);
        enum status st = request_look(r, path, looked_up);
        if (st == STATUS_AGAIN)
            return wait_for(r, i + 1, path);
        if (st != STATUS_OK && st != STATUS_NOTFOUND)
            return response_error(r, 500);
        if (st == STATUS_OK && take_entry(r))
            return request_redirect(r, path, r->args);
    }
    return VERDICT_NEXT;
}

static void looked_up(struct flookup *l)
{
    struct request *r = container_of(l, struct request, lookup);
    const struct index_state *state = *request_data(r, index_slot);
    bool yes = take_entry(r);
    r->looking = false;
    r->pending = false;
    request_verdict(r, yes ? request_redirect(r, state->path, r->args)
                           : try_names(r, state->next));
}

static enum verdict index_content(struct request *r)
{
    if (r->uri.p[r->uri.n - 1] != '/' ||
        (r->line.method != METHOD_GET && r->line.method != METHOD_HEAD))
        return VERDICT_NEXT;
    return try_names(r, 0);
}

static bool index_enabled(const void *arg)
{
    const struct index_conf *conf = arg;
    return conf->count > 0;
}

/* ---- the module ---- */

static const struct directive index_directives[] = {
    {.name = "index", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct index_conf, index), .min = 1, .dflt = "index.html",
     .args_doc = "file ...",
     .doc = "The file that stands for a directory: the first of these that is there."},
    {.name = NULL},
};

static const struct hook index_hooks[] = {
    {.phase = PHASE_CONTENT, .rank = INDEX_RANK, .enabled = index_enabled, .run = index_content},
    {.run = NULL},
};

const struct module index_module = {
    .magic = MODULE_MAGIC,
    .section = {"index", index_directives, sizeof(struct index_conf), &index_slot},
    .freeze = index_freeze,
    .hooks = index_hooks,
};
