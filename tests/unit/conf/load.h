/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading in tests: a scratch directory with files in it, and a configuration loaded from there
 * with its report.  Paths in reports lose the directory, so that they can be compared.
 */
#ifndef SLUICE_TESTS_CONF_LOAD_H
#define SLUICE_TESTS_CONF_LOAD_H

#include "conf/bind.h"
#include "schema.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct loaded {
    struct arena a;
    struct diag d;
    struct block *top;     /* main, NULL when the load failed */
    enum status status;
    char report[65536];    /* what diag_print says, without the directory */
};

static char scratch_dir[64];

static inline int make_scratch(void **state)
{
    (void)state;
    strcpy(scratch_dir, "/tmp/sluice-conf-XXXXXX");
    return mkdtemp(scratch_dir) == NULL || chmod(scratch_dir, 0755) != 0;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int remove_scratch(void **state)
{
    (void)state;
    return nftw(scratch_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *scratch(const char *name)
{
    static char path[4][PATH_MAX];
    static unsigned turn;
    char *p = path[turn++ % 4];
    assert_true(snprintf(p, PATH_MAX, "%s/%s", scratch_dir, name) < PATH_MAX);
    return p;
}

static inline void put_bytes(const char *name, const void *bytes, size_t n)
{
    int fd = open(scratch(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static inline void put_text(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/* Copies the report, without "DIR/" wherever it stands. */
static inline void keep_report(struct loaded *l, const char *dir)
{
    struct buf all;
    char *to = l->report;
    size_t n = strlen(dir);
    buf_init(&all, 0);
    diag_print(&l->d, &all);
    buf_char(&all, '\0');
    assert_false(all.failed);
    for (const char *p = all.p; *p != '\0';) {
        if (strncmp(p, dir, n) == 0 && p[n] == '/') {
            p += n + 1;
            continue;
        }
        assert_true(to < l->report + sizeof(l->report) - 1);
        *to++ = *p++;
    }
    *to = '\0';
    buf_fini(&all);
}

static inline struct loaded *load_path(const char *path, const char *dir, const char *overrides)
{
    struct loaded *l = calloc(1, sizeof(*l));
    assert_non_null(l);
    arena_init(&l->a, NULL, 0, 16384, 0);
    diag_init(&l->d, &l->a);
    struct conf_source src = {path, "/prefix", overrides};
    l->status = conf_load(&l->a, &l->d, &src, test_sections, &l->top);
    assert_int_equal(l->top != NULL, l->status == STATUS_OK);
    assert_int_equal(l->status == STATUS_INVALID, l->d.errors > 0);
    keep_report(l, dir);
    return l;
}

static inline struct loaded *load_text_with(const char *yaml, const char *overrides)
{
    put_text("main.yaml", yaml);
    return load_path(scratch("main.yaml"), scratch_dir, overrides);
}

static inline struct loaded *load_text(const char *yaml)
{
    return load_text_with(yaml, NULL);
}

static inline void unload(struct loaded *l)
{
    arena_fini(&l->a);
    free(l);
}

static inline struct loaded *load_good(const char *yaml)
{
    struct loaded *l = load_text(yaml);
    if (l->status != STATUS_OK)
        fail_msg("refused:\n%s", l->report);
    return l;
}

/* The report of a load that must fail; for one comparison, so it may be static. */
static inline const char *report_of(const char *yaml)
{
    static char report[65536];
    struct loaded *l = load_text(yaml);
    assert_int_equal(l->status, STATUS_INVALID);
    strcpy(report, l->report);
    unload(l);
    return report;
}

/* The n-th child of that scope. */
static inline struct block *child_of(const struct block *b, enum scope scope, size_t n)
{
    for (size_t i = 0; i < b->child_count; i++)
        if (b->children[i]->scope == scope && n-- == 0)
            return b->children[i];
    fail_msg("no such block");
    return NULL;
}

static inline struct block *http_of(const struct loaded *l)
{
    return child_of(l->top, SCOPE_HTTP, 0);
}

static inline struct block *server_of(const struct loaded *l, size_t n)
{
    return child_of(http_of(l), SCOPE_SERVER, n);
}

static inline void dump_to(const struct loaded *l, struct buf *b)
{
    buf_init(b, 0);
    conf_dump(l->top, test_sections, b);
    buf_char(b, '\0');
    assert_false(b->failed);
}

/* "a b|c" for the instances (a b) and (c); static. */
static inline const char *words_of(const struct instances *all)
{
    static char text[4096];
    struct wbuf w = wbuf_make(text, sizeof(text) - 1);
    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < all->v[i].n; k++)
            wbuf_printf(&w, "%s" STR_FMT, k > 0 ? " " : i > 0 ? "|" : "",
                        STR_ARG(all->v[i].v[k].text));
        if (all->v[i].n == 0 && i > 0)
            wbuf_printf(&w, "|");
    }
    *w.at = '\0';
    return text;
}

#endif
