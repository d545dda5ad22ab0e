/* SPDX-License-Identifier: BSD-2-Clause */
/* error_page: what is served in place of an error; and the built-in pages. */
#ifndef SLUICE_HTTP_ERRORS_H
#define SLUICE_HTTP_ERRORS_H

#include "http/http_conf.h"

struct cycle_http;
struct request;

/* One instance of error_page; several may name a code, the last of a block wins as in nginx. */
struct error_page {
    struct error_page *next;
    uint16_t *codes;
    size_t code_count;
    int32_t answer;        /* -1: the error's own status; 0: the page's ("="); else that status */
    struct template target;
    bool named;            /* "@name" */
    bool external;         /* a URL: redirected to with 302, or with `answer` if that is a 3xx */
};

/* Compiles conf->error_page of a block into conf->error_pages. False: reported. */
bool errors_freeze(struct cycle_http *cy, struct block *b, struct http_conf *conf);

/* The page for a status, NULL: none. */
const struct error_page *errors_find(const struct http_conf *conf, unsigned status);

/* The built-in page in request memory. */
struct str errors_builtin(struct request *r, unsigned status);

#endif
