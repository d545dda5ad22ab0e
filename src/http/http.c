/* SPDX-License-Identifier: BSD-2-Clause */
/* http in a worker: file cache, request memory, the clock lines of responses, modules. */
#include "http/http.h"

#include "config.h"
#include "http/request.h"

#include <stdio.h>
#include <stdlib.h>

/* A request with room for its head, fields and a few strings; more comes from the heap. */
#define REQUEST_BYTES 4096
#define REQUESTS_PER_BLOCK 32

static void cache_conf(const struct cycle_http *cycle, struct fcache_conf *fc)
{
    fcache_conf_init(fc);
    if (cycle->http == NULL)
        return;
    const struct http_conf *conf = HTTP(cycle->http);
    fc->max_entries = conf->cache_max;
    fc->inactive_ms = conf->cache_inactive_ms;
    fc->events = conf->open_file_cache_events;
    fc->errors = conf->open_file_cache_errors;
    fc->memory = (uint64_t)conf->file_cache_memory;
    fc->max_body = (uint32_t)conf->file_cache_max_body;
    if (block_is_set(cycle->http, &http_section, "open_file_cache_valid"))
        fc->valid_ms = fc->valid_blind_ms = conf->open_file_cache_valid;
}

static size_t module_slots(void)
{
    size_t count;
    http_sections(&count);
    return count;
}

enum status http_worker_init(struct http_worker *w, struct loop *loop, struct net *net,
                             const struct cycle_http *cycle, uint32_t index)
{
    struct fcache_conf fc;
    *w = (struct http_worker){
        .loop = loop, .net = net, .cycle = cycle, .log = loop->log, .worker_index = index};
    w->date_s = -1;
    slab_init(&w->requests, REQUEST_BYTES, REQUESTS_PER_BLOCK);
    w->module_data = calloc(module_slots(), sizeof(void *));
    cache_conf(cycle, &fc);
    w->files = fcache_new(loop, &fc, loop->log);
    if (w->module_data == NULL || w->files == NULL)
        return STATUS_NOMEM;
    net->user = w;
    http_clock(w);
    for (const struct module *const *m = http_modules; *m != NULL; m++) {
        enum status st = (*m)->worker_init != NULL ? (*m)->worker_init(w) : STATUS_OK;
        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

void http_worker_fini(struct http_worker *w)
{
    for (const struct module *const *m = http_modules; *m != NULL; m++)
        if ((*m)->worker_fini != NULL)
            (*m)->worker_fini(w);
    fcache_delete(w->files);
    slab_fini(&w->requests);
    free(w->module_data);
}

void http_clock(struct http_worker *w)
{
    if (LIKELY(w->date_s == w->loop->wall.tv_sec))
        return;
    static const char *const server[2] = {"sluice", "sluice/" SLUICE_VERSION};
    w->date_s = w->loop->wall.tv_sec;
    date_write(w->date, w->date_s);
    for (int i = 0; i < 2; i++) {
        int n = snprintf(w->ok_head[i], sizeof(w->ok_head[i]),
                         "HTTP/1.1 200 OK\r\nServer: %s\r\nDate: %.*s\r\n", server[i], DATE_LEN,
                         w->date);
        CHECK(n > 0 && (size_t)n < sizeof(w->ok_head[i]));
        w->ok_head_n[i] = (uint32_t)n;
    }
}
