/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration from text, loaded and compiled as the server does it, and requests made by hand.
 * Everything is freed by site_end.
 */
#ifndef SLUICE_TESTS_HTTP_UNIT_H
#define SLUICE_TESTS_HTTP_UNIT_H

#include "core/vec.h"
#include "http/http.h"
#include "http/regex.h"
#include "http/request.h"
#include "http/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_PREFIX "/srv/test"

struct site {
    struct arena *arena;
    struct diag diag;
    struct cycle_http cy;
    struct buf report;        /* what diag_print says, NUL-terminated */
    bool good;
};

/* Loads and compiles; the result is s->good, the report s->report.p. */
static inline void site_begin(struct site *s, const char *yaml)
{
    char path[] = "/tmp/sluice-unit-XXXXXX";
    int fd = mkstemp(path);
    size_t count, n = strlen(yaml);
    struct block *top = NULL;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, yaml, n), (ssize_t)n);
    close(fd);
    *s = (struct site){.arena = arena_new(1 << 16, 0)};
    assert_non_null(s->arena);
    diag_init(&s->diag, s->arena);
    struct conf_source src = {path, TEST_PREFIX, NULL};
    s->good = conf_load(s->arena, &s->diag, &src, http_sections(&count), &top) == STATUS_OK;
    if (s->good) {
        s->cy = (struct cycle_http){.arena = s->arena, .diag = &s->diag, .main_block = top,
                                    .prefix = STR(TEST_PREFIX), .conf_dir = STR(TEST_PREFIX "/conf"),
                                    .workers = 2};
        s->good = http_compile(&s->cy);
    }
    buf_init(&s->report, 0);
    diag_print(&s->diag, &s->report);
    buf_char(&s->report, '\0');
    unlink(path);
}

static inline void site_good(struct site *s, const char *yaml)
{
    site_begin(s, yaml);
    if (!s->good)
        print_error("%s\n%s\n", yaml, s->report.p);
    assert_true(s->good);
    assert_int_equal(s->diag.errors, 0);
}

static inline void site_end(struct site *s)
{
    buf_fini(&s->report);
    arena_delete(s->arena);
}

static inline const struct sites *site_sites(const struct site *s, size_t listener)
{
    assert_true(listener < s->cy.listener_count);
    return s->cy.listeners[listener]->sites;
}

/* A worker, a connection and a request that exist as far as variables look at them. */
struct fake {
    struct loop loop;
    struct http_worker worker;
    struct net net;
    struct listener listener;
    struct conn_peer peer;
    struct conn *conn;
    struct request r;
};

static inline struct fake *fake_new(struct site *s)
{
    struct fake *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->conn = calloc(1, sizeof(struct conn));
    assert_non_null(f->conn);
    f->net.loop = &f->loop;
    f->net.user = &f->worker;
    f->worker.loop = &f->loop;
    f->worker.net = &f->net;
    f->worker.date_s = -1;
    f->conn->net = &f->net;
    f->conn->listener = &f->listener;
    f->conn->peer = &f->peer;
    f->r.magic = REQUEST_MAGIC;
    f->r.conn = f->conn;
    f->r.worker = &f->worker;
    f->r.log = log_process;
    arena_init(&f->r.mem, NULL, 0, 4096, 1 << 20);
    response_init(&f->r.res);
    if (s != NULL) {
        f->r.vhost = s->cy.vhosts[0];
        f->r.loc = &f->r.vhost->own;
    }
    return f;
}

static inline void fake_free(struct fake *f)
{
    arena_fini(&f->r.mem);
    free(f->conn);
    free(f);
}

#define assert_str(s, z)                                                  \
    do {                                                                  \
        struct str s_ = (s);                                              \
        char text_[4096];                                                 \
        snprintf(text_, sizeof(text_), STR_FMT, STR_ARG(s_));             \
        assert_string_equal(text_, (z));                                  \
    } while (0)

#endif
