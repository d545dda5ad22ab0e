/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Content negotiation for codings (RFC 9110 12.5.3): between the hook that finds a file and the one
 * that serves it, the form that the client likes best of those there are is selected.
 */
#include "gzip.h"

#include "config.h"
#include "proto/etag.h"

#include <stdlib.h>

#define ALWAYS_RANK 900
#define SELECT_RANK 1100
/* Behind what adds headers, which is what gzip_proxied looks at. */
#define FILTER_RANK 900

unsigned gzip_slot;
extern const struct module gzip_module;

/* ---- configuration ---- */

static bool sidecar_words(struct cycle_http *cy, const struct block *b, struct gzip_conf *conf)
{
    const struct instances *in = &conf->precompressed;
    bool good = true;
    conf->sidecars = conf->gzip_static != GZIP_STATIC_OFF ? CODING_BIT(CODING_GZIP) : 0;
    for (size_t i = 0; in->n > 0 && i < in->v[0].n; i++) {
        const struct arg *arg = &in->v[0].v[i];
        unsigned c = CODING_IDENTITY + 1;
        while (c < CODING_COUNT && !str_eq(arg->text, coding_name((enum coding)c)))
            c++;
        if (c < CODING_COUNT) {
            conf->sidecars |= CODING_BIT(c);
        } else if (!str_eq(arg->text, STR("off")) || in->v[0].n > 1) {
            diag_error(cy->diag, arg->pos, b->path, "precompressed: \"" STR_FMT
                       "\" is not valid, expected off, or some of br, zstd and gzip",
                       STR_ARG(diag_excerpt(cy->diag, arg->text)));
            good = false;
        }
    }
    return good;
}

static bool gzip_freeze(struct cycle_http *cy, struct block *b, void *arg)
{
    struct gzip_conf *conf = arg;
    const struct gzip_conf *up = b->scope != SCOPE_HTTP ? CONF(b->parent, gzip) : NULL;
    bool good = sidecar_words(cy, b, conf);
    if (up != NULL && up->gzip_types.v == conf->gzip_types.v) {
        conf->types = up->types;
    } else {
        conf->types = ARENA_NEW(cy->arena, struct media_types);
        good = conf->types != NULL &&
               media_types_compile(conf->types, cy, b, "gzip_types", &conf->gzip_types) && good;
    }
    return gzip_proxied_words(cy, b, &conf->gzip_proxied, &conf->proxied) && good;
}

/* ---- the client, the worker ---- */

const struct accept *gzip_accept(struct request *r)
{
    struct gzip_worker *w = gzip_worker(r->worker);
    size_t at = r->meta.first[FIELD_ACCEPT_ENCODING];
    struct str value = at != 0 ? r->fields[at - 1].value : STR_NONE;
    bool one = true;
    for (size_t i = at; at != 0 && i < r->field_count; i++)
        one = one && r->fields[i].id != FIELD_ACCEPT_ENCODING;
    if (one && str_eq(value, str_make(w->accept_text, w->accept_n)))
        return &w->accept;
    accept_init(&w->accept);
    for (size_t i = at; at != 0 && i <= r->field_count; i++)
        if (r->fields[i - 1].id == FIELD_ACCEPT_ENCODING)
            accept_add(&w->accept, r->fields[i - 1].value);
    w->accept_n = SIZE_MAX; /* equal to none */
    if (one && value.n <= sizeof(w->accept_text)) {
        if (value.n != 0)
            memcpy(w->accept_text, value.p, value.n);
        w->accept_n = value.n;
    }
    return &w->accept;
}

static enum status gzip_worker_init(struct http_worker *w)
{
    struct gzip_worker *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return STATUS_NOMEM;
    accept_init(&own->accept);
    list_init(&own->reading);
    w->module_data[gzip_slot] = own;
    return STATUS_OK;
}

static void gzip_worker_fini(struct http_worker *w)
{
    struct gzip_worker *own = gzip_worker(w);
    while (own != NULL && !list_empty(&own->reading))
        loop_turn(w->loop, w->loop->now_ms + 100);
    free(own);
}

/* ---- selection ---- */

static void state_end(void *arg)
{
    struct gzip_state *s = arg;
    fvariant_cancel(&s->ask);
    for (unsigned c = 0; c < CODING_COUNT; c++)
        fentry_put(s->sidecar[c]);
}

struct gzip_state *gzip_state(struct request *r)
{
    void **at = request_data(r, gzip_slot);
    if (at == NULL)
        return NULL;
    if (*at != NULL)
        return *at;
    struct gzip_state *s = ARENA_NEW(&r->mem, struct gzip_state);
    if (s == NULL || !arena_on_free(&r->mem, state_end, s))
        return NULL;
    s->r = r;
    list_init(&s->ask.link);
    *at = s;
    return s;
}

bool gzip_wanted(const struct gzip_conf *conf, uint64_t length, struct str type)
{
    return conf->gzip && length >= (uint64_t)conf->gzip_min_length &&
           media_types_has(conf->types, type);
}

/* Resumes what was begun with the file itself: that tag is of no other form. */
static bool holds_part_of_file(const struct request *r)
{
    size_t at = r->meta.first[FIELD_IF_RANGE];
    struct etag held;
    struct str value = at != 0 ? r->fields[at - 1].value : STR_NONE;
    return at != 0 && etag_next(&value, &held) == ETAG_TAG &&
           str_eq(held.opaque, response_base_tag(r));
}

static bool range_asked_for(const struct request *r)
{
    return r->meta.first[FIELD_RANGE] != 0 && r->line.method == METHOD_GET;
}

static enum verdict choose(struct request *r, unsigned available);

/* The result of asking for the compressed form. False: choose something else. */
static bool take_gzip(struct request *r, enum status st, struct fentry *form)
{
    const struct gzip_conf *conf = GZIP(r);
    struct selected *sel = &r->selected;
    if (st == STATUS_OK) {
        sel->form = form;
        sel->coding = CODING_GZIP;
        return true;
    }
    if (st != STATUS_LIMIT || range_asked_for(r)) /* of a stream there are no parts */
        return false;
    char text[FVARIANT_SUFFIX];
    struct str suffix = fvariant_suffix(CODING_GZIP, (uint8_t)conf->gzip_comp_level, text);
    sel->etag = response_make_tag(r, suffix, true);
    sel->coding = CODING_GZIP;
    sel->streamed = true;
    return true;
}

static void gzip_asked(struct fvariant_ask *a)
{
    struct gzip_state *s = container_of(a, struct gzip_state, ask);
    struct request *r = s->r;
    bool taken = take_gzip(r, a->status, a->entry);
    r->pending = false;
    request_verdict(r, taken ? VERDICT_NEXT
                             : choose(r, s->available & ~CODING_BIT(CODING_GZIP)));
}

/* The compressed form, made if need be. */
static enum verdict ask_gzip(struct request *r, unsigned available)
{
    uint8_t level = (uint8_t)GZIP(r)->gzip_comp_level;
    struct fentry *held = fvariant_held(r->selected.file, CODING_GZIP, level);
    if (held != NULL) {
        take_gzip(r, STATUS_OK, fentry_get(held));
        return VERDICT_NEXT;
    }
    struct gzip_state *s = gzip_state(r);
    if (s == NULL)
        return VERDICT_NEXT;
    s->available = available;
    s->ask.coding = CODING_GZIP;
    s->ask.level = level;
    s->ask.done = gzip_asked;
    enum status st = fvariant_get(r->selected.file, &s->ask);
    if (st == STATUS_AGAIN)
        return VERDICT_PENDING;
    return take_gzip(r, st, s->ask.entry)
               ? VERDICT_NEXT
               : choose(r, available & ~CODING_BIT(CODING_GZIP));
}

static bool has_sidecar(struct request *r, enum coding c)
{
    if (GZIP(r)->sidecars == 0)
        return false;
    const struct gzip_state *s = gzip_state(r);
    return s != NULL && s->sidecar[c] != NULL;
}

static enum verdict choose(struct request *r, unsigned available)
{
    enum coding c = accept_best(gzip_accept(r), available);
    if (c == CODING_IDENTITY)
        return VERDICT_NEXT;
    if (c == CODING_GZIP && !has_sidecar(r, c))
        return ask_gzip(r, available);
    sidecar_take(r, c);
    return VERDICT_NEXT;
}

enum verdict gzip_offer(struct request *r, unsigned available)
{
    const struct gzip_conf *conf = GZIP(r);
    struct selected *sel = &r->selected;
    if (gzip_wanted(conf, sel->file->size, response_type(r)))
        available |= CODING_BIT(CODING_GZIP);
    if (available == 0)
        return VERDICT_NEXT;
    sel->negotiated = conf->gzip_vary;
    if (r->meta.first[FIELD_ACCEPT_ENCODING] == 0 || !gzip_may(r, conf) || holds_part_of_file(r))
        return VERDICT_NEXT;
    return choose(r, available);
}

static enum verdict gzip_select(struct request *r)
{
    const struct selected *sel = &r->selected;
    if (sel->file == NULL || sel->form != NULL || sel->coding != CODING_IDENTITY ||
        sel->streamed)
        return VERDICT_NEXT;
    return GZIP(r)->sidecars != 0 ? sidecar_select(r) : gzip_offer(r, 0);
}

/* ---- the module ---- */

static bool select_enabled(const void *arg)
{
    const struct gzip_conf *conf = arg;
    return conf->gzip || conf->sidecars != 0;
}

static bool always_enabled(const void *arg)
{
    const struct gzip_conf *conf = arg;
    return conf->gzip_static == GZIP_STATIC_ALWAYS;
}

static bool filter_enabled(const void *arg)
{
    const struct gzip_conf *conf = arg;
    return conf->gzip || (conf->gunzip && always_enabled(arg));
}

/* Text in its many forms, and the formats that hold it uncompressed. */
#define MODERN_TYPES                                                                               \
    "text/* application/javascript application/json application/ld+json application/geo+json "     \
    "application/manifest+json application/schema+json application/vnd.api+json "                  \
    "application/problem+json application/feed+json application/x-ndjson application/xml "         \
    "application/xhtml+xml application/atom+xml application/rss+xml application/rdf+xml "          \
    "application/xslt+xml application/gpx+xml application/vnd.google-earth.kml+xml "               \
    "application/mathml+xml application/soap+xml application/yaml application/toml "               \
    "application/graphql application/sql application/rtf application/postscript "                  \
    "application/wasm application/x-sh application/x-subrip application/x-tex "                    \
    "application/vnd.ms-fontobject font/ttf font/otf font/collection image/svg+xml "               \
    "image/bmp image/x-icon image/vnd.microsoft.icon model/gltf+json model/obj model/stl"

static const char *const static_words[] = {"off", "on", "always", NULL};
static const char *const version_words[] = {"1.0", "1.1", NULL};

#define FIELD(name) .offset = offsetof(struct gzip_conf, name)
#define ANY .scopes = SCOPE_ANY_HTTP

static const struct directive gzip_directives[] = {
#if HAVE_ZLIB
    {"gzip", CTYPE_SWITCH, ANY, FIELD(gzip), .dflt = "on",
     .doc = "Answers are compressed for clients that take it; of a file once, then it is held."},
    {"gzip_types", CTYPE_ARGS, ANY, FIELD(gzip_types), .min = 1, .max = -1, .dflt = MODERN_TYPES,
     .args_doc = "type ... | *", .doc = "The types that are, besides text/html."},
    {"gzip_comp_level", CTYPE_INT, ANY, FIELD(gzip_comp_level), .min = 1, .max = 9, .dflt = "6",
     .doc = "How hard it is tried: 1 is the fastest, 9 gives the smallest."},
    {"gzip_min_length", CTYPE_SIZE, ANY, FIELD(gzip_min_length), .dflt = "256",
     .doc = "What is shorter is sent as it is."},
    {"gunzip", CTYPE_SWITCH, ANY, FIELD(gunzip), .dflt = "off",
     .doc = "With gzip_static always: the file is unpacked for clients that do not take gzip."},
#endif
    {"gzip_vary", CTYPE_SWITCH, ANY, FIELD(gzip_vary), .dflt = "on",
     .doc = "What may be answered encoded says Vary: Accept-Encoding."},
    {"gzip_proxied", CTYPE_ARGS, ANY, FIELD(gzip_proxied), .min = 1, .max = -1, .dflt = "off",
     .args_doc = "off | any | auth | no_etag | no_last_modified | expired | no-cache | no-store | "
                 "private ...",
     .doc = "Which answers may be encoded for proxies, which a Via field gives away."},
    {"gzip_http_version", CTYPE_ENUM, ANY, FIELD(gzip_http_version), .choices = version_words,
     .dflt = "1.1", .doc = "The lowest version of a request that may be answered encoded."},
    {"gzip_static", CTYPE_ENUM, ANY, FIELD(gzip_static), .choices = static_words, .dflt = "off",
     .doc = "on: FILE.gz is sent for FILE to clients that take it; always: it stands for FILE."},
    {"precompressed", CTYPE_ARGS, ANY, FIELD(precompressed), .min = 1, .max = 3,
     .args_doc = "br | zstd | gzip ... | off",
     .doc = "FILE.br, FILE.zst, FILE.gz are sent for FILE if they are no older than it."},
    {.name = NULL},
};

static const struct hook gzip_hooks[] = {
    {PHASE_CONTENT, ALWAYS_RANK, always_enabled, sidecar_always},
    {PHASE_CONTENT, SELECT_RANK, select_enabled, gzip_select},
    {.run = NULL},
};

static const struct filter gzip_filter = {
    .rank = FILTER_RANK,
    .enabled = filter_enabled,
    .run = gzip_filter_run,
};

const struct module gzip_module = {
    .magic = MODULE_MAGIC,
    .section = {"gzip", gzip_directives, sizeof(struct gzip_conf), &gzip_slot},
    .freeze = gzip_freeze,
    .worker_init = gzip_worker_init,
    .worker_fini = gzip_worker_fini,
    .hooks = gzip_hooks,
    .filter = &gzip_filter,
};
