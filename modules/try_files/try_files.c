/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * try_files: the request goes on with the first of the given paths that names a file (a directory,
 * if it ends in a slash); else the last argument decides: a path, "=404" or "@name".  Paths are
 * mapped as the location maps its own, alias included.
 */
#include "core/num.h"
#include "http/http.h"
#include "http/request.h"
#include "proto/uri.h"

#define TRY_FILES_RANK 100

struct try_files_conf {
    struct instances try_files;
    /* derived */
    struct template *paths;   /* all but the last argument */
    size_t count;
    struct template last;
    unsigned status;          /* "=404"; 0: last is a path or "@name" */
};

/* Where a request that waits for a look-up stands. */
struct try_state {
    size_t next;
    struct str path;
};

static unsigned try_files_slot;
extern const struct module try_files_module;

/* ---- configuration ---- */

static bool compile_last(struct cycle_http *cy, struct block *b, const struct arg *arg,
                         struct try_files_conf *conf)
{
    uint64_t v;
    if (!str_starts(arg->text, STR("=")))
        return template_compile(&conf->last, &cy->vars, cy->arena, cy->diag, arg->pos, b->path,
                                arg->text);
    if (num_dec(str_skip(arg->text, 1), &v) && v >= 200 && v <= 599) {
        conf->status = (unsigned)v;
        return true;
    }
    diag_error(cy->diag, arg->pos, b->path,
               "try_files: \"" STR_FMT "\" is not valid, expected =STATUS from 200 to 599",
               STR_ARG(diag_excerpt(cy->diag, arg->text)));
    return false;
}

static bool try_files_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct try_files_conf *conf = arg;
    bool good = true;
    if (conf->try_files.n == 0)
        return true;
    const struct args *in = &conf->try_files.v[0];
    conf->count = in->n - 1;
    conf->paths = arena_array(cy->arena, in->n, sizeof(*conf->paths));
    if (conf->paths == NULL)
        return false;
    for (size_t i = 0; i < conf->count; i++)
        good = template_compile(&conf->paths[i], &cy->vars, cy->arena, cy->diag, in->v[i].pos,
                                b->path, in->v[i].text) && good;
    return compile_last(cy, b, &in->v[conf->count], conf) && good;
}

/* ---- requests ---- */

static enum verdict fall_back(struct request *r, const struct try_files_conf *conf)
{
    if (conf->status != 0)
        return response_error(r, conf->status);
    struct str to = template_eval(&conf->last, r);
    if (str_starts(to, STR("@")))
        return request_redirect_named(r, to);
    ssize_t query = str_chr(to, '?');
    struct str args = query < 0 ? r->args : str_skip(to, (size_t)query + 1);
    struct str path = query < 0 ? to : str_head(to, (size_t)query);
    if (!str_starts(path, STR("/")))
        path = arena_cat(&r->mem, (struct str[]){STR("/"), path}, 2);
    return uri_is_plain(path) ? request_redirect(r, path, args) : response_error(r, 500);
}

/* Is it what the path asks for: a directory behind a slash, a file otherwise? */
static bool take_entry(struct request *r, struct str path)
{
    const struct fentry *e = r->lookup.entry;
    bool wants_dir = str_ends(path, STR("/"));
    bool yes = e->kind == (wants_dir ? FENTRY_DIR : FENTRY_FILE);
    fentry_put(r->lookup.entry);
    r->lookup.entry = NULL;
    return yes;
}

static enum verdict go_on_with(struct request *r, struct str path)
{
    r->uri = path;
    r->extension = uri_extension(path);
    return VERDICT_NEXT;
}

static void looked_up(struct flookup *l);

static enum verdict wait_for(struct request *r, size_t next, struct str path)
{
    void **state = request_data(r, try_files_slot);
    if (state != NULL && *state == NULL)
        *state = ARENA_NEW(&r->mem, struct try_state);
    if (state == NULL || *state == NULL) {
        fcache_cancel(r->worker->files, &r->lookup);
        r->looking = false;
        return response_error(r, 500);
    }
    *(struct try_state *)*state = (struct try_state){next, path};
    return VERDICT_PENDING;
}

static enum verdict try_paths(struct request *r, size_t i)
{
    const struct try_files_conf *conf = CONF(r->loc->block, try_files);
    for (; i < conf->count; i++) {
        struct str path = template_eval(&conf->paths[i], r);
        if (!uri_is_plain(path)) /* it would lead out of the root */
            continue;
        enum status st = request_look(r, path, looked_up);
        if (st == STATUS_AGAIN)
            return wait_for(r, i + 1, path);
        if (st != STATUS_OK && st != STATUS_NOTFOUND)
            return response_error(r, 500);
        if (st == STATUS_OK && take_entry(r, path))
            return go_on_with(r, path);
    }
    return fall_back(r, conf);
}

static void looked_up(struct flookup *l)
{
    struct request *r = container_of(l, struct request, lookup);
    const struct try_state *state = *request_data(r, try_files_slot);
    bool yes = take_entry(r, state->path);
    r->looking = false;
    r->pending = false;
    request_verdict(r, yes ? go_on_with(r, state->path) : try_paths(r, state->next));
}

static enum verdict try_files_run(struct request *r)
{
    return try_paths(r, 0);
}

static bool try_files_enabled(const void *arg)
{
    const struct try_files_conf *conf = arg;
    return conf->try_files.n > 0;
}

/* ---- the module ---- */

static const struct directive try_files_directives[] = {
    {.name = "try_files", .type = CTYPE_ARGS, .scopes = SCOPE_SERVER | SCOPE_LOCATION,
     .offset = offsetof(struct try_files_conf, try_files), .min = 2, .flags = ROW_NO_INHERIT,
     .args_doc = "path ... path | =status | @name",
     .doc = "Serves the first of these that is there, else what the last one says."},
    {.name = NULL},
};

static const struct hook try_files_hooks[] = {
    {.phase = PHASE_PRECONTENT, .rank = TRY_FILES_RANK, .enabled = try_files_enabled,
     .run = try_files_run},
    {.run = NULL},
};

const struct module try_files_module = {
    .magic = MODULE_MAGIC,
    .section = {"try_files", try_files_directives, sizeof(struct try_files_conf),
                &try_files_slot},
    .freeze = try_files_freeze,
    .hooks = try_files_hooks,
};
