/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The access log: which lines go where.  Formats and files are known to the http block; each block
 * has its list of (format, file, condition).  Every worker has a pair of buffers for each file.
 */
#include "access_buffer.h"
#include "access_format.h"

#include "conf/value.h"
#include "config.h"
#include "core/vec.h"
#include "http/http.h"
#include "http/request.h"

#include <stdlib.h>

#define BUFFER_DEFAULT (64u << 10)
#define BUFFER_MIN (1u << 10)
#define BUFFER_MAX (64u << 20)
#define FLUSH_DEFAULT_MS 1000
#define FLUSH_MAX_MS (24 * 3600 * 1000)
#define LOG_RANK 100

/* One file, whichever blocks write to it. */
struct access_file {
    struct log_file *log;
    int64_t buffer, flush_ms;     /* 0: nobody has said */
};

struct access_shared {
    struct map formats;           /* name -> struct access_format * */
    VEC(struct access_file) files;
};

struct access_target {
    const struct access_format *format;
    const struct template *condition; /* NULL: every request */
    size_t file;                      /* index in shared->files */
};

struct access_log_conf {
    struct instances access_log;
    struct keyed log_format;
    /* derived */
    struct access_shared *shared;     /* the http block's */
    struct access_target *targets;
    size_t count;
};

struct access_worker {
    size_t count;
    struct access_buffer buffers[];   /* as shared->files */
};

static unsigned access_log_slot;

/* ---- configuration ---- */

/* What the arguments behind the path say. */
struct options {
    struct str format;
    int64_t buffer, flush_ms;         /* 0: not given */
    const struct arg *condition;
};

struct reader {
    struct cycle_http *cy;
    struct block *b;
    struct access_shared *shared;
};

#define REFUSE(rd, where, ...) \
    (diag_error((rd)->cy->diag, (where), (rd)->b->path, "access_log: " __VA_ARGS__), false)

static bool read_buffer(const struct reader *rd, const struct arg *arg, struct str text,
                        int64_t *out)
{
    const char *why;
    if (!value_size(text, out, &why))
        return REFUSE(rd, arg->pos, "buffer=" STR_FMT ": expected %s", STR_ARG(text), why);
    if (*out < (int64_t)BUFFER_MIN || *out > (int64_t)BUFFER_MAX)
        return REFUSE(rd, arg->pos, "buffer=" STR_FMT " is outside 1k..64m", STR_ARG(text));
    return true;
}

static bool read_flush(const struct reader *rd, const struct arg *arg, struct str text,
                       int64_t *out)
{
    const char *why;
    if (!value_time(text, out, &why))
        return REFUSE(rd, arg->pos, "flush=" STR_FMT ": expected %s", STR_ARG(text), why);
    if (*out < 1 || *out > FLUSH_MAX_MS)
        return REFUSE(rd, arg->pos, "flush=" STR_FMT " is outside 1ms..1d", STR_ARG(text));
    return true;
}

static bool read_option(const struct reader *rd, const struct arg *arg, bool second,
                        struct options *o)
{
    struct str text = arg->text;
    if (str_starts(text, STR("buffer=")))
        return read_buffer(rd, arg, str_skip(text, 7), &o->buffer);
    if (str_starts(text, STR("flush=")))
        return read_flush(rd, arg, str_skip(text, 6), &o->flush_ms);
    if (str_starts(text, STR("if="))) {
        o->condition = arg;
        return true;
    }
    if (str_eq(text, STR("gzip")) || str_starts(text, STR("gzip=")))
        return REFUSE(rd, arg->pos, "gzip is not built in; logrotate compresses what it rotates");
    if (second) {
        o->format = text;
        return true;
    }
    return REFUSE(rd, arg->pos,
                  "\"" STR_FMT "\" is not valid, expected buffer=SIZE, flush=TIME or if=CONDITION",
                  STR_ARG(text));
}

static const char *nearest_format(const struct reader *rd, struct str name)
{
    const struct map *m = &rd->shared->formats;
    VEC(const char *) names = {0};
    for (size_t i = 0; i < m->room; i++) {
        if (m->slots[i].value == NULL)
            continue;
        const char **slot = vec_push(&names, rd->cy->arena);
        if (slot != NULL)
            *slot = arena_strz(rd->cy->arena, m->slots[i].key);
    }
    return diag_suggest(name, names.v, names.n);
}

static bool find_format(const struct reader *rd, const struct args *in, struct str name,
                        struct access_target *t)
{
    t->format = map_get(&rd->shared->formats, name);
    if (t->format != NULL)
        return true;
    const char *near = nearest_format(rd, name);
    return REFUSE(rd, in->n > 1 ? in->v[1].pos : in->pos,
                  "there is no log_format \"" STR_FMT "\"%s%s%s", STR_ARG(name),
                  near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                  near != NULL ? "\"?" : "");
}

static bool find_file(const struct reader *rd, const struct args *in, const struct options *o,
                      struct access_target *t)
{
    struct cycle_http *cy = rd->cy;
    struct str path = conf_path(cy->arena, cy->prefix, in->v[0].text);
    struct log_file *log = path.p != NULL ? cycle_log_file(cy, path) : NULL;
    if (log == NULL)
        return false;
    for (t->file = 0; t->file < rd->shared->files.n; t->file++)
        if (rd->shared->files.v[t->file].log == log)
            break;
    if (t->file == rd->shared->files.n && vec_push(&rd->shared->files, cy->arena) == NULL)
        return false;
    struct access_file *f = &rd->shared->files.v[t->file];
    f->log = log;
    if ((o->buffer != 0 && f->buffer != 0 && f->buffer != o->buffer) ||
        (o->flush_ms != 0 && f->flush_ms != 0 && f->flush_ms != o->flush_ms))
        return REFUSE(rd, in->pos, "\"" STR_FMT "\" is written with another buffer= or flush= "
                      "elsewhere", STR_ARG(path));
    f->buffer = o->buffer != 0 ? o->buffer : f->buffer;
    f->flush_ms = o->flush_ms != 0 ? o->flush_ms : f->flush_ms;
    return true;
}

static bool compile_condition(const struct reader *rd, const struct arg *arg,
                              struct access_target *t)
{
    struct cycle_http *cy = rd->cy;
    struct template *condition = ARENA_NEW(cy->arena, struct template);
    t->condition = condition;
    return condition != NULL &&
           template_compile(condition, &cy->vars, cy->arena, cy->diag, arg->pos, rd->b->path,
                            str_skip(arg->text, 3));
}

static bool compile_target(const struct reader *rd, const struct args *in,
                           struct access_target *t)
{
    struct options o = {.format = STR("combined")};
    struct str path = in->v[0].text;
    if (str_starts(path, STR("syslog:")))
        return REFUSE(rd, in->v[0].pos, "syslog is not built in");
    if (path.n == 0 || str_chr(path, '$') >= 0)
        return REFUSE(rd, in->v[0].pos, "expected the path of a file, without variables");
    for (size_t i = 1; i < in->n; i++)
        if (!read_option(rd, &in->v[i], i == 1, &o))
            return false;
    return find_format(rd, in, o.format, t) && find_file(rd, in, &o, t) &&
           (o.condition == NULL || compile_condition(rd, o.condition, t));
}

static bool compile_targets(const struct reader *rd, struct access_log_conf *conf)
{
    const struct instances *in = &conf->access_log;
    bool good = true;
    conf->targets = arena_array(rd->cy->arena, in->n, sizeof(*conf->targets));
    if (conf->targets == NULL)
        return false;
    for (size_t i = 0; i < in->n; i++) {
        if (!str_eq(in->v[i].v[0].text, STR("off")))
            good = compile_target(rd, &in->v[i], &conf->targets[conf->count++]) && good;
        else if (in->n > 1 || in->v[i].n > 1)
            good = REFUSE(rd, in->v[i].pos, "off stands alone");
    }
    return good;
}

static bool add_format(const struct reader *rd, struct str name, struct pos pos, struct str text)
{
    struct cycle_http *cy = rd->cy;
    struct access_format *f = access_format_compile(cy, pos, rd->b->path, text);
    return f != NULL && map_add(&rd->shared->formats, name, f) == STATUS_OK;
}

static bool add_own_format(const struct reader *rd, const struct keyed_entry *e)
{
    struct str name = e->key.v[0].text;
    if (e->key.n != 1 || e->values.n != 1 || e->values.v[0].n != 1) {
        diag_error(rd->cy->diag, e->pos, rd->b->path,
                   "log_format: expected NAME: the text of a line");
        return false;
    }
    if (map_get(&rd->shared->formats, name) != NULL || str_eq(name, STR("off"))) {
        diag_error(rd->cy->diag, e->pos, rd->b->path,
                   "log_format: \"" STR_FMT "\" is built in, take another name", STR_ARG(name));
        return false;
    }
    return add_format(rd, name, e->values.v[0].pos, e->values.v[0].v[0].text);
}

static bool compile_formats(const struct reader *rd, const struct access_log_conf *conf)
{
    bool good = true;
    map_init(&rd->shared->formats, rd->cy->arena, false);
    for (const struct access_builtin *f = access_builtins; f->name != NULL; f++)
        good = add_format(rd, str_z(f->name), rd->b->pos, str_z(f->text)) && good;
    for (size_t i = 0; i < conf->log_format.n; i++)
        good = add_own_format(rd, &conf->log_format.v[i]) && good;
    return good;
}

extern const struct module access_log_module;

static bool access_log_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct access_log_conf *conf = arg;
    struct reader rd = {cy, b, NULL};
    if (b->scope != SCOPE_HTTP) {
        const struct access_log_conf *above = CONF(b->parent, access_log);
        rd.shared = conf->shared = above->shared;
        if (rd.shared == NULL)
            return false;
        if (block_is_set(b, &access_log_module.section, "access_log"))
            return compile_targets(&rd, conf);
        conf->targets = above->targets;
        conf->count = above->count;
        return true;
    }
    rd.shared = conf->shared = ARENA_NEW(cy->arena, struct access_shared);
    if (rd.shared == NULL)
        return false;
    bool good = compile_formats(&rd, conf);
    return compile_targets(&rd, conf) && good;
}

/* ---- requests ---- */

struct line {
    const struct access_format *format;
    struct request *r;
};

static void write_line(void *arg, struct wbuf *w)
{
    const struct line *l = arg;
    access_format_write(l->format, l->r, w);
}

static bool wanted(const struct access_target *t, struct request *r)
{
    if (t->condition == NULL)
        return true;
    struct str value = template_eval(t->condition, r);
    return value.n != 0 && !str_eq(value, STR("0"));
}

static enum verdict access_log_write(struct request *r)
{
    const struct access_log_conf *conf = CONF(r->loc->block, access_log);
    struct access_worker *w = r->worker->module_data[access_log_slot];
    for (size_t i = 0; i < conf->count; i++) {
        const struct access_target *t = &conf->targets[i];
        struct line l = {t->format, r};
        if (wanted(t, r))
            access_buffer_line(&w->buffers[t->file], write_line, &l);
    }
    return VERDICT_NEXT;
}

static bool access_log_enabled(const void *arg)
{
    const struct access_log_conf *conf = arg;
    return conf->count > 0;
}

/* ---- workers ---- */

static enum status access_log_init(struct http_worker *hw)
{
    if (hw->cycle->http == NULL)
        return STATUS_OK;
    const struct access_shared *shared = CONF(hw->cycle->http, access_log)->shared;
    size_t n = shared->files.n;
    struct access_worker *w = calloc(1, sizeof(*w) + n * sizeof(w->buffers[0]));
    if (w == NULL)
        return STATUS_NOMEM;
    w->count = n;
    for (size_t i = 0; i < n; i++) {
        const struct access_file *f = &shared->files.v[i];
        struct access_buffer_conf conf = {
            .path = f->log->path,
            .fd = f->log->fd,
            .size = f->buffer != 0 ? (uint32_t)f->buffer : BUFFER_DEFAULT,
            .flush_ms = f->flush_ms != 0 ? (uint64_t)f->flush_ms : FLUSH_DEFAULT_MS,
        };
        access_buffer_init(&w->buffers[i], hw->loop, hw->log, &conf);
    }
    hw->module_data[access_log_slot] = w;
    return STATUS_OK;
}

static void access_log_fini(struct http_worker *hw)
{
    struct access_worker *w = hw->module_data[access_log_slot];
    if (w != NULL && access_buffers_finish(w->buffers, w->count))
        free(w);
    hw->module_data[access_log_slot] = NULL;
}

/* ---- the module ---- */

static const struct directive access_log_directives[] = {
    {.name = "access_log", .type = CTYPE_ARGS, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct access_log_conf, access_log), .min = 1, .max = 6,
     .dflt = "\"" SLUICE_HTTP_LOG_PATH "\" combined", .flags = ROW_REPEATABLE,
     .args_doc = "path [format] [buffer=size] [flush=time] [if=condition] | off",
     .doc = "Where a line for each request is written, and which; buffer is 64k, flush 1s."},
    {.name = "log_format", .type = CTYPE_KEYED, .scopes = SCOPE_HTTP,
     .offset = offsetof(struct access_log_conf, log_format), .flags = ROW_VERBATIM,
     .args_doc = "name: [escape=default|json|none] text",
     .doc = "Formats for access_log; combined and json are built in."},
    {.name = NULL},
};

static const struct hook access_log_hooks[] = {
    {.phase = PHASE_LOG, .rank = LOG_RANK, .enabled = access_log_enabled, .run = access_log_write},
    {.run = NULL},
};

const struct module access_log_module = {
    .magic = MODULE_MAGIC,
    .section = {"access_log", access_log_directives, sizeof(struct access_log_conf),
                &access_log_slot},
    .freeze = access_log_freeze,
    .worker_init = access_log_init,
    .worker_fini = access_log_fini,
    .hooks = access_log_hooks,
};

