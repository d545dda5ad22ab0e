/* SPDX-License-Identifier: BSD-2-Clause */
/* The phase engine: a request is routed, its location's hooks are run until one answers. */
#include "http/request.h"

#include "http/codec.h"
#include "http/errors.h"
#include "http/http.h"
#include "proto/uri.h"

bool request_field(struct request *r, enum field_id id, struct str *value)
{
    uint16_t first = r->meta.first[id];
    if (first == 0)
        return false;
    *value = r->fields[first - 1].value;
    for (size_t i = first; i < r->field_count; i++) {
        if (r->fields[i].id != id)
            continue;
        struct str parts[] = {*value, STR(", "), r->fields[i].value};
        *value = arena_cat(&r->mem, parts, ARRAY_LEN(parts));
    }
    return true;
}

bool request_field_name(struct request *r, struct str name, struct str *value)
{
    bool found = false;
    for (size_t i = 0; i < r->field_count; i++) {
        if (!str_eq_nocase(r->fields[i].name, name))
            continue;
        struct str parts[] = {*value, STR(", "), r->fields[i].value};
        *value = found ? arena_cat(&r->mem, parts, ARRAY_LEN(parts)) : r->fields[i].value;
        found = true;
    }
    return found;
}


enum verdict request_add_slash(struct request *r)
{
    size_t room = URI_ENCODED_MAX(r->uri.n) + r->args.n + 2;
    char *mem = arena_bytes(&r->mem, room);
    if (mem == NULL)
        return response_error(r, 500);
    struct wbuf w = wbuf_make(mem, room);
    uri_encode_path(&w, r->uri);
    wbuf_char(&w, '/');
    if (r->args.n > 0) {
        wbuf_char(&w, '?');
        wbuf_str(&w, r->args);
    }
    return response_redirect(r, 301, str_between(mem, w.at));
}

/*
 * Chooses the location for r->uri. What is refused everywhere is refused here, so that no handler
 * has to think of it.
 */
static enum verdict choose_location(struct request *r)
{
    bool slash = false, fits;
    r->loc = location_find(r->vhost, r->uri, r, &slash);
    r->extension = uri_extension(r->uri);
    r->phase = PHASE_REWRITE;
    r->hook = 0;
    if (r->match_failed) {
        r->match_failed = false;
        return response_error(r, 500);
    }
    fits = r->codec->limit_body(r, http_body_max(r->loc->conf));
    if (slash)
        return request_add_slash(r);
    if (r->loc->conf->internal && !r->internal)
        return response_error(r, 404);
    if (!r->loc->conf->hidden_files && uri_hidden_segment(r->uri).n != 0) {
        log_info(&r->log, "\"" STR_FMT "\" is hidden", STR_ARG(r->uri));
        return response_error(r, 404);
    }
    /* Others are not of the methods that files know, which is said first. */
    if (!fits && !r->internal &&
        (r->line.method == METHOD_GET || r->line.method == METHOD_HEAD ||
         r->line.method == METHOD_OPTIONS))
        return response_error(r, 413);
    return VERDICT_NEXT;
}

static void run_filters(struct request *r)
{
    if (r->res.charset.n == 0)
        r->res.charset = http_charset(r->loc->conf, r->res.content_type);
    for (const struct filter **f = r->loc->filters; *f != NULL; f++)
        (*f)->run(r, &r->res);
}

static void respond(struct request *r)
{
    CHECK(!r->responded);
    r->responded = true;
    if (r->res.head == NULL) {
        if (r->error_page && r->error_status != 0 && r->res.status == 200)
            r->res.status = r->error_status;
        if (r->challenge.n != 0)
            header_add(r, STR("WWW-Authenticate"), r->challenge);
        run_filters(r);
    }
    if (UNLIKELY(arena_overflowed(&r->mem)) && r->res.status < 400)
        response_no_memory(r); /* part of it may be missing */
    r->codec->respond(r);
}

/* ---- access ---- */

/* A 401 on its way: whoever guesses passwords has to wait for each. */
struct refusal {
    struct timer timer;
    struct request *r;
};

static void refusal_due(struct timer *t, uint64_t now_ms)
{
    (void)now_ms;
    struct request *r = container_of(t, struct refusal, timer)->r;
    r->pending = false;
    request_verdict(r, response_error(r, 401));
}

static void refusal_end(void *arg)
{
    struct refusal *f = arg;
    timer_disarm(&f->r->worker->loop->timers, &f->timer);
}

static enum verdict delay_refusal(struct request *r)
{
    struct refusal *f = ARENA_NEW(&r->mem, struct refusal);
    if (f == NULL || !arena_on_free(&r->mem, refusal_end, f))
        return response_error(r, 500);
    f->r = r;
    timer_init(&f->timer, refusal_due);
    timer_arm(&r->worker->loop->timers, &f->timer,
              r->worker->loop->now_ms + (uint64_t)r->loc->conf->auth_delay);
    return VERDICT_PENDING;
}

static enum verdict refuse(struct request *r, unsigned status)
{
    if (status == 403)
        log_error(&r->log, "access forbidden by rule");
    /* Once is enough: the page of a 401 may be refused in its turn. */
    if (status == 401 && r->loc->conf->auth_delay > 0 && !r->error_page)
        return delay_refusal(r);
    return response_error(r, status);
}

enum verdict request_grant(struct request *r)
{
    CHECK(r->phase == PHASE_ACCESS);
    if (r->loc->conf->satisfy == HTTP_SATISFY_ALL)
        return VERDICT_NEXT;
    if (r->refused == 401)
        r->challenge = STR_NONE;
    r->refused = 0;
    while (r->loc->phases[PHASE_ACCESS][r->hook + 1] != NULL) /* nobody else is asked */
        r->hook++;
    return VERDICT_NEXT;
}

enum verdict request_refuse(struct request *r, unsigned status, struct str challenge)
{
    CHECK(r->phase == PHASE_ACCESS && (status == 401 || status == 403));
    if (status == 401)
        r->challenge = challenge;
    if (r->loc->conf->satisfy == HTTP_SATISFY_ALL)
        return refuse(r, status);
    if (r->refused != 401)
        r->refused = (uint16_t)status;
    return VERDICT_NEXT;
}

/* ---- the phases ---- */

/* The next hook to run, moving on over phases; NULL: nobody answered, or *v is the answer. */
static hook_f *next_hook(struct request *r, enum verdict *v)
{
    for (;;) {
        hook_f **list = r->phase == PHASE_SERVER_REWRITE ? r->vhost->own.phases[r->phase]
                                                         : r->loc->phases[r->phase];
        if (list != NULL && list[r->hook] != NULL)
            return list[r->hook];
        if (r->phase == PHASE_CONTENT)
            return NULL;
        if (r->refused != 0) { /* satisfy any, and nothing did */
            unsigned status = r->refused;
            r->refused = 0;
            *v = refuse(r, status);
            return NULL;
        }
        r->phase++;
        r->hook = 0;
        if (r->phase == PHASE_REWRITE) {
            *v = choose_location(r);
            if (*v != VERDICT_NEXT)
                return NULL;
        }
    }
}

/* Runs one hook. */
static enum verdict step(struct request *r)
{
    enum verdict v = VERDICT_NEXT;
    hook_f *hook = next_hook(r, &v);
    if (hook != NULL)
        return hook(r);
    return v == VERDICT_NEXT ? response_error(r, 404) : v;
}

void request_verdict(struct request *r, enum verdict v)
{
    for (;;) {
        switch (v) {
        case VERDICT_DONE:
            respond(r);
            return;
        case VERDICT_PENDING:
            r->pending = true;
            return;
        case VERDICT_REROUTE: /* to a named location it is chosen already */
            v = r->phase == PHASE_SERVER_REWRITE ? choose_location(r) : VERDICT_NEXT;
            if (v == VERDICT_NEXT)
                v = step(r);
            break;
        case VERDICT_NEXT:
            r->hook++;
            v = step(r);
            break;
        }
    }
}

void request_run(struct request *r)
{
    request_verdict(r, step(r));
}

void request_resume(struct request *r, bool after)
{
    CHECK(r->pending);
    r->pending = false;
    request_verdict(r, after ? VERDICT_NEXT : step(r));
}

void request_unselect(struct request *r)
{
    fentry_put(r->selected.file);
    fentry_put(r->selected.form);
    r->selected = (struct selected){.file = NULL};
}

static enum verdict reroute_counted(struct request *r)
{
    request_unselect(r);
    if (++r->reroutes > REQUEST_REROUTES) {
        log_error(&r->log, "internal redirects of \"" STR_FMT "\" form a loop", STR_ARG(r->uri));
        r->error_page = true; /* no page for this one: that may be the loop */
        r->error_status = 0;
        return response_error(r, 500);
    }
    r->internal = true;
    r->refused = 0;
    return VERDICT_REROUTE;
}

enum verdict request_redirect(struct request *r, struct str path, struct str args)
{
    r->uri = path;
    r->args = args;
    r->phase = PHASE_SERVER_REWRITE; /* marks that the location is to be chosen anew */
    return reroute_counted(r);
}

enum verdict request_redirect_named(struct request *r, struct str name)
{
    struct location *l = location_named(r->vhost, name);
    if (l == NULL) {
        log_error(&r->log, "there is no location " STR_FMT, STR_ARG(name));
        return response_error(r, 500);
    }
    r->loc = l;
    r->phase = PHASE_REWRITE;
    r->hook = 0;
    return reroute_counted(r);
}

/*
 * A directory that variables were put into: absolute, and no ".." of a client's making leads out
 * of what the configuration says.
 */
static bool sane_directory(struct str s)
{
    struct str rest = s, segment;
    if (s.n == 0 || s.p[0] != '/' || str_chr(s, '\0') >= 0)
        return false;
    while (str_split(&rest, '/', &segment))
        if (str_eq(segment, STR("..")))
            return false;
    return true;
}

/* An alias that is the file itself: its directory, and the name in it. */
static bool split_alias(struct str alias, struct str *root, struct str *below)
{
    ssize_t slash = str_rchr(alias, '/');
    CHECK(slash >= 0);
    *root = slash == 0 ? STR("/") : str_head(alias, (size_t)slash);
    *below = str_skip(alias, (size_t)slash);
    return !str_eq(*below, STR("/."));
}

static bool alias_file(struct request *r, struct str path, struct str *root, struct str *below)
{
    const struct http_conf *conf = r->loc->conf;
    struct str name = conf->alias_name, alias = conf->alias_path;
    if (alias.n == 0) {
        alias = template_eval(&conf->alias_t, r);
        if (!sane_directory(alias))
            return false;
    }
    if (conf->alias_whole || (conf->alias_file && str_eq(path, name)))
        return split_alias(alias, root, below);
    if (!str_starts(path, name))
        return false;
    /* "/img/" and "/img/x": the slash belongs to both */
    *root = alias;
    *below = str_skip(path, str_ends(name, STR("/")) ? name.n - 1 : name.n);
    if (below->n == 0)
        *below = STR("/");
    return below->p[0] == '/';
}

bool request_file(struct request *r, struct str path, struct str *root, struct str *below)
{
    const struct http_conf *conf = r->loc->conf;
    if (conf->alias.text.n != 0)
        return alias_file(r, path, root, below);
    *below = path;
    *root = conf->root_path;
    if (root->n != 0)
        return true;
    *root = template_eval(&conf->root_t, r);
    return sane_directory(*root);
}

enum flinks request_links(const struct request *r)
{
    switch ((enum http_links)r->loc->conf->links) {
    case HTTP_LINKS_OFF: return FLINKS_FOLLOW;
    case HTTP_LINKS_ON: return FLINKS_NONE;
    case HTTP_LINKS_IF_NOT_OWNER: return FLINKS_OWNER;
    case HTTP_LINKS_BENEATH: break;
    }
    return FLINKS_BENEATH;
}

enum status request_look(struct request *r, struct str path, void (*done)(struct flookup *l))
{
    struct flookup *l = &r->lookup;
    if (!request_file(r, path, &l->root, &l->path))
        return arena_overflowed(&r->mem) ? STATUS_NOMEM : STATUS_NOTFOUND;
    l->links = (uint8_t)request_links(r);
    l->bypass = r->loc->conf->cache_off;
    l->done = done;
    l->entry = NULL;
    enum status st = fcache_get(r->worker->files, l);
    r->looking = st == STATUS_AGAIN;
    return st;
}

void **request_data(struct request *r, unsigned slot)
{
    if (r->module_data == NULL) {
        size_t count;
        (void)http_sections(&count);
        r->module_data = arena_array(&r->mem, count, sizeof(void *));
    }
    return r->module_data == NULL ? NULL : &r->module_data[slot];
}

uint64_t request_sent(const struct request *r)
{
    uint64_t sent = r->conn->out.sent;
    if (!r->responded || sent <= r->out_start)
        return 0;
    return (sent < r->out_end ? sent : r->out_end) - r->out_start;
}

uint64_t request_body_sent(const struct request *r)
{
    uint64_t sent = request_sent(r);
    return sent > r->head_sent ? sent - r->head_sent : 0;
}

void request_finish(struct request *r)
{
    if (r->looking) {
        fcache_cancel(r->worker->files, &r->lookup);
        r->looking = false;
    }
    hook_f **log_hooks = r->loc != NULL ? r->loc->phases[PHASE_LOG] : NULL;
    for (; log_hooks != NULL && *log_hooks != NULL; log_hooks++)
        (*log_hooks)(r);
    if (r->res.stream != NULL && r->res.stream->fini != NULL)
        r->res.stream->fini(r->res.stream, r);
    fentry_put(r->res.entry);
    request_unselect(r);
    list_remove(&r->link);
    arena_fini(&r->mem);
    r->magic = 0;
    slab_put(&r->worker->requests, r);
}
