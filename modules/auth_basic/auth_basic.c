/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth_basic: names and passwords by RFC 7617.  A request may wait twice: for a look at the
 * password file, and for the helper thread that computes a slow hash.  What has been verified
 * lately needs neither.  A name that is not in the file costs what a wrong password costs.
 */
#include "auth_cache.h"
#include "auth_file.h"
#include "auth_hash.h"
#include "event/helper.h"
#include "http/http.h"
#include "http/request.h"
#include "proto/basic.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define AUTH_RANK 200
#define AUTH_QUEUE 128 /* passwords that may wait for their hash; more are 503 */

struct auth_basic_conf {
    struct arg auth_basic, auth_basic_user_file;
    /* derived */
    bool on;
    struct template realm, file;
    struct str path;          /* of the file, when it is literal; else empty */
};

struct auth_worker {
    struct auth_files *files;
    struct auth_cache *cache;
    struct helper *helper;    /* NULL until it is needed */
};

/* A password on its way through the helper: memory of its own, the request may end before it. */
struct auth_job {
    struct helper_job job;
    struct auth_state *state;  /* NULL: nobody wants to know any more */
    struct auth_tag tag;
    struct str hash, password;
    enum htpasswd_kind kind;
    enum auth_result result;
    size_t text_n;
    char text[];
};

/* A request that brought credentials. */
struct auth_state {
    struct auth_wait wait;
    struct request *r;
    struct basic given;
    char *mem;                 /* which `given` points into */
    size_t mem_n;
    struct auth_file *file;
    struct str path;
    bool known;                /* the name is in the file */
    struct auth_job *job;      /* NULL: none is on its way */
};

static unsigned auth_basic_slot;
extern const struct module auth_basic_module;

/* ---- configuration ---- */

#define IS_SET(b, name) block_is_set((b), &auth_basic_module.section, (name))

static bool compile_file(struct cycle_http *cy, struct block *b, struct auth_basic_conf *conf)
{
    struct arg *arg = &conf->auth_basic_user_file;
    struct str text = arg->text;
    struct stat st;
    if (text.n == 0) {
        diag_error(cy->diag, arg->pos, b->path,
                   "auth_basic_user_file: \"\" is not valid, expected the path of a file");
        return false;
    }
    if (text.p[0] != '$')
        text = conf_path(cy->arena, cy->conf_dir, text);
    if (text.p == NULL || !template_compile(&conf->file, &cy->vars, cy->arena, cy->diag, arg->pos,
                                            b->path, text))
        return false;
    if (!conf->file.literal)
        return true;
    conf->path = text;
    if (stat(text.p, &st) == -1)
        diag_warn(cy->diag, arg->pos, b->path,
                  "auth_basic_user_file: \"%s\" cannot be reached: %s", text.p, strerror(errno));
    return true;
}

/*
 * It may be said further out, for blocks that name their own files; what none of them covers is
 * closed to everybody then.  Said where it is to hold, it is a mistake.
 */
static bool check_without_file(struct cycle_http *cy, struct block *b,
                               const struct auth_basic_conf *conf, bool realm_set)
{
    if (b->scope == SCOPE_SERVER)
        diag_warn(cy->diag, conf->auth_basic.pos, b->path,
                  "auth_basic: nobody can come in where no auth_basic_user_file is named");
    if (b->scope != SCOPE_LOCATION || !realm_set)
        return true;
    diag_error(cy->diag, conf->auth_basic.pos, b->path,
               "auth_basic: without an auth_basic_user_file nobody could come in");
    return false;
}

static bool auth_basic_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct auth_basic_conf *conf = arg;
    const struct auth_basic_conf *above = b->scope != SCOPE_HTTP ? CONF(b->parent, auth_basic)
                                                                 : NULL;
    bool realm_set = IS_SET(b, "auth_basic"), file_set = IS_SET(b, "auth_basic_user_file");
    if (above != NULL && !realm_set) {
        conf->on = above->on;
        conf->realm = above->realm;
    } else {
        conf->on = !str_eq(conf->auth_basic.text, STR("off"));
        if (conf->on && !template_compile(&conf->realm, &cy->vars, cy->arena, cy->diag,
                                          conf->auth_basic.pos, b->path, conf->auth_basic.text))
            return false;
    }
    if (above != NULL && !file_set) {
        conf->file = above->file;
        conf->path = above->path;
    } else if (file_set && !compile_file(cy, b, conf)) {
        return false;
    }
    return !conf->on || conf->file.count != 0 || check_without_file(cy, b, conf, realm_set);
}

/* ---- requests: answers ---- */

static struct auth_worker *worker_of(const struct request *r)
{
    return r->worker->module_data[auth_basic_slot];
}

/* 'Basic realm="...", charset="UTF-8"', the realm as a quoted-string (RFC 9110 5.6.4). */
static struct str challenge(struct request *r, struct str realm)
{
    size_t room = 2 * realm.n + 64;
    char *mem = arena_bytes(&r->mem, room);
    if (mem == NULL)
        return STR_NONE;
    struct wbuf w = wbuf_make(mem, room);
    wbuf_str(&w, STR("Basic realm=\""));
    for (size_t i = 0; i < realm.n; i++) {
        char c = realm.p[i];
        if ((unsigned char)c < 0x20 || c == 0x7f)
            continue;
        if (c == '"' || c == '\\')
            wbuf_char(&w, '\\');
        wbuf_char(&w, c);
    }
    wbuf_str(&w, STR("\", charset=\"UTF-8\""));
    return str_between(mem, w.at);
}

static enum verdict refuse(struct request *r)
{
    const struct auth_basic_conf *conf = CONF(r->loc->block, auth_basic);
    struct str text = challenge(r, template_eval(&conf->realm, r));
    return text.n != 0 ? request_refuse(r, 401, text) : response_error(r, 500);
}

/* What was refused once in a request is not computed again for the error page's own location. */
static enum verdict refuse_given(struct auth_state *s)
{
    void **refused = request_data(s->r, auth_basic_slot);
    if (refused != NULL)
        *refused = s;
    return refuse(s->r);
}

static bool refused_before(const struct auth_state *s)
{
    void **refused = request_data(s->r, auth_basic_slot);
    const struct auth_state *before = refused != NULL ? *refused : NULL;
    return before != NULL && str_eq(before->path, s->path);
}

/* nginx's words, which programs look for. */
static enum verdict judge(struct auth_state *s, enum auth_result result)
{
    struct request *r = s->r;
    if (s->known && result == AUTH_RIGHT)
        return request_grant(r);
    if (!s->known)
        log_error(&r->log, "user \"" STR_FMT "\" was not found in \"" STR_FMT "\"",
                  STR_ARG(s->given.user), STR_ARG(s->path));
    else if (result == AUTH_BROKEN)
        log_error(&r->log, "user \"" STR_FMT "\": the password in \"" STR_FMT
                  "\" is of a kind that crypt(3) does not know", STR_ARG(s->given.user),
                  STR_ARG(s->path));
    else
        log_error(&r->log, "user \"" STR_FMT "\": password mismatch", STR_ARG(s->given.user));
    return refuse_given(s);
}

/* ---- requests: slow hashes ---- */

static void job_run(struct helper_job *hj)
{
    struct auth_job *job = container_of(hj, struct auth_job, job);
    job->result = auth_hash_check(job->kind, job->hash, job->password);
}

static void job_free(struct auth_job *job)
{
    explicit_bzero(job->text, job->text_n);
    free(job);
}

static void job_done(struct helper_job *hj)
{
    struct auth_job *job = container_of(hj, struct auth_job, job);
    struct auth_state *s = job->state;
    enum auth_result result = job->result;
    if (s == NULL) {
        job_free(job);
        return;
    }
    struct request *r = s->r;
    s->job = NULL;
    if (s->known && result == AUTH_RIGHT)
        auth_cache_add(worker_of(r)->cache, &job->tag, r->worker->loop->now_ms);
    job_free(job);
    r->pending = false;
    request_verdict(r, judge(s, result));
}

static struct str keep(char **at, struct str s)
{
    char *p = *at;
    memcpy(p, s.p, s.n);
    *at += s.n;
    return str_make(p, s.n);
}

static struct auth_job *job_new(struct auth_state *s, const struct htpasswd_entry *e)
{
    size_t n = e->hash.n + s->given.password.n;
    struct auth_job *job = calloc(1, sizeof(*job) + n);
    if (job == NULL)
        return NULL;
    char *at = job->text;
    job->job = (struct helper_job){.run = job_run, .done = job_done};
    job->state = s;
    job->kind = e->kind;
    job->result = AUTH_WRONG;
    job->text_n = n;
    job->hash = keep(&at, e->hash);
    job->password = keep(&at, s->given.password);
    return job;
}

static enum verdict too_busy(struct request *r)
{
    static struct log_rate site;
    uint32_t held;
    if (log_rate_ok(&site, 1, &held))
        log_error(&r->log, "%d passwords wait to be checked, no more can", AUTH_QUEUE);
    return response_error(r, 503);
}

static enum verdict check_slowly(struct auth_state *s, const struct htpasswd_entry *e)
{
    struct request *r = s->r;
    struct auth_worker *w = worker_of(r);
    struct auth_tag tag;
    auth_cache_tag(w->cache, s->given.user, e->hash, s->given.password, &tag);
    if (s->known && auth_cache_has(w->cache, &tag, r->worker->loop->now_ms))
        return judge(s, AUTH_RIGHT);
    if (w->helper == NULL)
        w->helper = helper_new(r->worker->loop, AUTH_QUEUE, "sluice-auth");
    struct auth_job *job = w->helper != NULL ? job_new(s, e) : NULL;
    if (job == NULL)
        return response_error(r, 500);
    job->tag = tag;
    enum status st = helper_submit(w->helper, &job->job);
    if (st == STATUS_OK) {
        s->job = job;
        return VERDICT_PENDING;
    }
    job_free(job);
    return st == STATUS_LIMIT ? too_busy(r) : response_error(r, 500);
}

/* ---- requests: the file ---- */

static enum verdict check(struct auth_state *s)
{
    const struct auth_table *t = auth_file_table(s->file);
    if (t == NULL)
        return response_error(s->r, 500);
    const struct htpasswd_entry *e = auth_table_find(t, s->given.user);
    s->known = e != NULL;
    if (e == NULL)
        e = auth_table_stand_in(t, s->given.user);
    if (e == NULL || s->given.password.n > AUTH_PASSWORD_MAX)
        return judge(s, AUTH_WRONG);
    if (auth_hash_is_slow(e->kind))
        return check_slowly(s, e);
    return judge(s, auth_hash_check(e->kind, e->hash, s->given.password));
}

static void file_ready(struct auth_wait *w)
{
    struct auth_state *s = container_of(w, struct auth_state, wait);
    s->r->pending = false;
    request_verdict(s->r, check(s));
}

/* Where what variables have made of it may be read from: no ".." of a client's making. */
static bool file_path(struct request *r, struct str *path)
{
    const struct auth_basic_conf *conf = CONF(r->loc->block, auth_basic);
    struct str rest, segment;
    *path = conf->path;
    if (path->n != 0)
        return true;
    *path = rest = template_eval(&conf->file, r);
    if (rest.n == 0 || rest.p[0] != '/' || str_chr(rest, '\0') >= 0)
        return false;
    while (str_split(&rest, '/', &segment))
        if (str_eq(segment, STR("..")))
            return false;
    return true;
}

static enum verdict look_up(struct auth_state *s)
{
    struct request *r = s->r;
    if (!file_path(r, &s->path)) {
        log_error(&r->log, "auth_basic_user_file: \"" STR_FMT "\" is not an absolute path",
                  STR_ARG(s->path));
        return response_error(r, 500);
    }
    if (refused_before(s))
        return refuse(r);
    s->file = auth_files_get(worker_of(r)->files, s->path);
    if (s->file == NULL)
        return response_error(r, 500);
    if (auth_file_check(s->file, &s->wait) == STATUS_AGAIN)
        return VERDICT_PENDING;
    return check(s);
}

/* ---- requests: credentials ---- */

/* The request ends, at whatever point it is. */
static void state_end(void *arg)
{
    struct auth_state *s = arg;
    auth_wait_cancel(&s->wait);
    if (s->job != NULL) {
        s->job->state = NULL;
        helper_cancel(worker_of(s->r)->helper, &s->job->job);
        s->job = NULL;
    }
    explicit_bzero(s->mem, s->mem_n);
}

static struct auth_state *state_new(struct request *r, size_t field_n)
{
    struct auth_state *s = ARENA_NEW(&r->mem, struct auth_state);
    char *mem = arena_bytes(&r->mem, BASIC_ROOM(field_n));
    if (s == NULL || mem == NULL)
        return NULL;
    s->r = r;
    s->mem = mem;
    s->mem_n = BASIC_ROOM(field_n);
    s->wait.done = file_ready;
    list_init(&s->wait.link);
    return arena_on_free(&r->mem, state_end, s) ? s : NULL;
}

static enum verdict auth_basic_run(struct request *r)
{
    const struct auth_basic_conf *conf = CONF(r->loc->block, auth_basic);
    struct str field;
    if (!conf->realm.literal && str_eq(template_eval(&conf->realm, r), STR("off")))
        return VERDICT_NEXT;
    if (!request_field(r, FIELD_AUTHORIZATION, &field)) {
        log_info(&r->log, "no user/password was provided for basic authentication");
        return refuse(r);
    }
    struct auth_state *s = state_new(r, field.n);
    if (s == NULL)
        return response_error(r, 500);
    if (basic_parse(field, s->mem, &s->given) && s->given.user.n > 0)
        return look_up(s);
    log_info(&r->log, "client sent credentials that are not basic authentication");
    return refuse(r);
}

static bool auth_basic_enabled(const void *arg)
{
    const struct auth_basic_conf *conf = arg;
    return conf->on;
}

/* ---- workers ---- */

static void auth_basic_fini(struct http_worker *hw)
{
    struct auth_worker *w = hw->module_data[auth_basic_slot];
    if (w == NULL)
        return;
    helper_delete(w->helper);
    auth_files_delete(w->files);
    auth_cache_delete(w->cache);
    free(w);
}

static enum status auth_basic_init(struct http_worker *hw)
{
    struct auth_worker *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return STATUS_NOMEM;
    hw->module_data[auth_basic_slot] = w;
    w->files = auth_files_new(hw->loop);
    w->cache = auth_cache_new();
    return w->files != NULL && w->cache != NULL ? STATUS_OK : STATUS_NOMEM;
}

/* ---- the module ---- */

static const struct directive auth_basic_directives[] = {
    {.name = "auth_basic", .type = CTYPE_TEXT, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct auth_basic_conf, auth_basic), .dflt = "off",
     .args_doc = "realm | off", .doc = "Asks for name and password, and what for."},
    {.name = "auth_basic_user_file", .type = CTYPE_TEXT, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct auth_basic_conf, auth_basic_user_file), .args_doc = "file",
     .doc = "Names and passwords, as htpasswd(1) keeps them; a change counts within a second."},
    {.name = NULL},
};

static const struct hook auth_basic_hooks[] = {
    {.phase = PHASE_ACCESS, .rank = AUTH_RANK, .enabled = auth_basic_enabled,
     .run = auth_basic_run},
    {.run = NULL},
};

const struct module auth_basic_module = {
    .magic = MODULE_MAGIC,
    .section = {"auth_basic", auth_basic_directives, sizeof(struct auth_basic_conf),
                &auth_basic_slot},
    .freeze = auth_basic_freeze,
    .worker_init = auth_basic_init,
    .worker_fini = auth_basic_fini,
    .hooks = auth_basic_hooks,
};
