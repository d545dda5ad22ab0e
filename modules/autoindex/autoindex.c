/* SPDX-License-Identifier: BSD-2-Clause */
/* autoindex: a directory without an index file is answered with the list of what is in it. */
#include "autoindex.h"

#include <stdlib.h>

/* Behind index, which may find a file that stands for the directory; before the files. */
#define AUTOINDEX_RANK 500

/* What the lists of a worker hold together. */
#define BUDGET (64u << 20)

unsigned autoindex_slot;
extern const struct module autoindex_module;

static enum verdict autoindex_content(struct request *r)
{
    if (r->uri.p[r->uri.n - 1] != '/' ||
        (r->line.method != METHOD_GET && r->line.method != METHOD_HEAD))
        return VERDICT_NEXT;
    return autoindex_list(r);
}

static bool autoindex_enabled(const void *arg)
{
    return ((const struct autoindex_conf *)arg)->autoindex;
}

static enum status worker_init(struct http_worker *w)
{
    struct autoindex_worker *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return STATUS_NOMEM;
    own->budget.max = BUDGET;
    list_init(&own->works);
    w->module_data[autoindex_slot] = own;
    return STATUS_OK;
}

static void worker_fini(struct http_worker *w)
{
    struct autoindex_worker *own = w->module_data[autoindex_slot];
    if (own != NULL)
        autoindex_works_end(own, w->loop);
    free(own);
}

static const char *const format_words[] = {"html", "json", "jsonp", "xml", NULL};

#define FIELD(name) .offset = offsetof(struct autoindex_conf, name)
#define ANY .scopes = SCOPE_ANY_HTTP

static const struct directive autoindex_directives[] = {
    {"autoindex", CTYPE_SWITCH, ANY, FIELD(autoindex), .dflt = "off",
     .doc = "A directory without an index file is answered with its list."},
    {"autoindex_exact_size", CTYPE_SWITCH, ANY, FIELD(autoindex_exact_size), .dflt = "on",
     .doc = "Sizes in bytes; off: in KiB, MiB and so on."},
    {"autoindex_format", CTYPE_ENUM, ANY, FIELD(autoindex_format), .choices = format_words,
     .dflt = "html", .doc = "What the list is written in; jsonp calls what ?callback= names."},
    {"autoindex_localtime", CTYPE_SWITCH, ANY, FIELD(autoindex_localtime), .dflt = "off",
     .doc = "Times of the page in the server's time zone instead of UTC."},
    {.name = NULL},
};

static const struct hook autoindex_hooks[] = {
    {PHASE_CONTENT, AUTOINDEX_RANK, autoindex_enabled, autoindex_content},
    {.run = NULL},
};

const struct module autoindex_module = {
    .magic = MODULE_MAGIC,
    .section = {"autoindex", autoindex_directives, sizeof(struct autoindex_conf),
                &autoindex_slot},
    .worker_init = worker_init,
    .worker_fini = worker_fini,
    .hooks = autoindex_hooks,
};
