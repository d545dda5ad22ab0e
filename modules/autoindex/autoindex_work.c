/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work on one listing: the directory is opened as a lookup would, read and sorted a little in
 * each turn of the loop, then written while it is sent.  A request that goes leaves nothing behind.
 */
#include "autoindex.h"

#include "autoindex_query.h"
#include "cache/fscan.h"

#include <dirent.h>
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>

/* Of one turn: names that are looked at, about 2 us each; moves of sorting. */
#define NAMES_A_TURN 64u
#define MOVES_A_TURN 4096u
#define DENTS 8192u

enum stage { OPENING, READING, SORTING, WRITING };

struct work {
    struct stream stream;
    struct list link;         /* of the worker's */
    struct request *r;        /* NULL: it has gone */
    struct loop *loop;
    struct fscan scan;
    struct turn turn;
    struct name_list list;
    struct view view;
    uint8_t stage;            /* enum stage */
    bool hidden;              /* names with a dot are listed */
    size_t at, n;             /* in dents */
    alignas(struct dirent64) char dents[DENTS];
};

static const struct autoindex_conf *conf_of(const struct request *r)
{
    return CONF(r->loc->block, autoindex);
}

static void work_free(struct work *k)
{
    list_remove(&k->turn.link);
    list_remove(&k->link);
    fscan_close(&k->scan);
    name_list_fini(&k->list);
    view_fini(&k->view);
    free(k);
}

/* The request's memory is given back. */
static void request_gone(void *arg)
{
    struct work *k = arg;
    k->r = NULL;
    if (fscan_busy(&k->scan))
        fscan_cancel(&k->scan);
    else
        work_free(k);
}

void autoindex_works_end(struct autoindex_worker *w, struct loop *loop)
{
    while (!list_empty(&w->works))
        loop_turn(loop, loop->now_ms + 100);
}

/* ---- the answer ---- */

static void go_on(struct work *k, enum verdict v)
{
    k->r->pending = false;
    request_verdict(k->r, v);
}

static void refuse(struct work *k, unsigned status, enum log_level level, const char *why)
{
    struct request *r = k->r;
    log_at(&r->log, level, "the list of \"%s%s\" %s", k->scan.root, k->scan.path, why);
    go_on(k, response_error(r, status));
}

static enum pull pull(struct stream *s, struct request *r, struct wbuf *w)
{
    struct work *k = container_of(s, struct work, stream);
    (void)r;
    switch (view_write(&k->view, w)) {
    case VIEW_MORE: return PULL_MORE;
    case VIEW_END: return PULL_END;
    case VIEW_NOMEM: break;
    }
    return PULL_ERROR;
}

static void answer(struct work *k)
{
    struct request *r = k->r;
    const struct autoindex_conf *conf = conf_of(r);
    k->stage = WRITING;
    k->view.list = &k->list;
    k->view.path = r->uri;
    k->view.base = r->internal ? r->uri : STR_NONE; /* the client asked for something else */
    k->view.order = query_order(r->args);
    k->view.callback = query_callback(r->args);
    k->view.exact_size = conf->autoindex_exact_size;
    k->view.localtime = conf->autoindex_localtime;
    k->view.format = view_format((enum autoindex_format)conf->autoindex_format, k->view.callback);
    response_bytes(r, 200, k->view.format->media_type, STR_NONE);
    k->stream = (struct stream){.pull = pull};
    r->res.body = BODY_STREAM;
    r->res.stream = &k->stream;
    r->res.length = LENGTH_UNKNOWN;
    r->res.charset = k->view.format->charset;
    go_on(k, VERDICT_DONE);
}

/* ---- turns ---- */

static bool wanted(const struct work *k, const char *name)
{
    if (name[0] != '.')
        return true;
    return k->hidden && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* One name; what has gone meanwhile is passed over. */
static enum status take_name(struct work *k, const char *name)
{
    struct stat st;
    if (!wanted(k, name) || fscan_stat(&k->scan, name, &st) != 0)
        return STATUS_OK;
    enum list_type type = S_ISDIR(st.st_mode) ? LIST_DIR : S_ISREG(st.st_mode) ? LIST_FILE
                                                                             : LIST_OTHER;
    return name_list_add(&k->list, str_z(name), type, (uint64_t)st.st_size, st.st_mtim.tv_sec);
}

static void begin_sort(struct work *k)
{
    switch (name_list_sort(&k->list, query_order(k->r->args))) {
    case STATUS_OK:
        k->stage = SORTING;
        loop_at_turn_end(k->loop, &k->turn);
        return;
    case STATUS_BUSY:
        refuse(k, 503, LEVEL_WARN, "is put off: others are being made");
        return;
    default:
        refuse(k, 500, LEVEL_CRIT, "takes more memory than there is");
        return;
    }
}

/* More names into dents: their bytes, 0 at the end, -1 with errno. */
static ssize_t read_names(struct work *k)
{
    ssize_t n;
    do
        n = getdents64(k->scan.fd, k->dents, sizeof(k->dents));
    while (n < 0 && errno == EINTR);
    k->at = 0;
    k->n = n > 0 ? (size_t)n : 0;
    return n;
}

static void read_some(struct work *k)
{
    for (unsigned i = 0; i < NAMES_A_TURN; i++) {
        if (k->at == k->n) {
            ssize_t n = read_names(k);
            if (n < 0)
                log_errno_at(&k->r->log, LEVEL_ERROR, errno, "reading \"%s%s\" failed",
                             k->scan.root, k->scan.path);
            if (n <= 0) {
                begin_sort(k);
                return;
            }
        }
        const struct dirent64 *d = (const struct dirent64 *)(const void *)(k->dents + k->at);
        k->at += d->d_reclen;
        enum status st = take_name(k, d->d_name);
        if (st == STATUS_LIMIT) {
            log_warn(&k->r->log, "\"%s%s\" has more names than are listed", k->scan.root,
                     k->scan.path);
            k->view.cut = true;
            begin_sort(k);
            return;
        }
        if (st != STATUS_OK) {
            refuse(k, st == STATUS_BUSY ? 503 : 500, st == STATUS_BUSY ? LEVEL_WARN : LEVEL_CRIT,
                   st == STATUS_BUSY ? "is put off: others are being made"
                                     : "takes more memory than there is");
            return;
        }
    }
    loop_at_turn_end(k->loop, &k->turn);
}

static void on_turn(struct turn *t)
{
    struct work *k = container_of(t, struct work, turn);
    if (k->stage == READING)
        read_some(k);
    else if (name_list_sort_step(&k->list, MOVES_A_TURN))
        answer(k);
    else
        loop_at_turn_end(k->loop, &k->turn);
}

/* ---- the beginning ---- */

static void opened(struct fscan *s, int err)
{
    struct work *k = container_of(s, struct work, scan);
    if (k->r == NULL) {
        work_free(k);
        return;
    }
    if (err == 0 && k->r->line.method == METHOD_HEAD) {
        answer(k);
        return;
    }
    if (err == 0) {
        k->stage = READING;
        loop_at_turn_end(k->loop, &k->turn);
        return;
    }
    if (err == EACCES || err == EPERM)
        log_errno_at(&k->r->log, LEVEL_ERROR, err, "open() \"%s%s\" failed", s->root, s->path);
    go_on(k, err == EACCES || err == EPERM ? response_error(k->r, 403) : VERDICT_NEXT);
}

enum verdict autoindex_list(struct request *r)
{
    struct autoindex_worker *w = r->worker->module_data[autoindex_slot];
    struct str root, path;
    if (!request_file(r, r->uri, &root, &path))
        return VERDICT_NEXT;
    struct work *k = calloc(1, sizeof(*k));
    if (k == NULL)
        return response_error(r, 500);
    k->r = r;
    k->loop = r->worker->loop;
    k->hidden = r->loc->conf->hidden_files == HTTP_HIDDEN_ALLOW;
    list_init(&k->link);
    turn_init(&k->turn, on_turn);
    name_list_init(&k->list, &w->budget);
    if (!fscan_open(&k->scan, r->worker->files, root, path, request_links(r), opened)) {
        free(k);
        return response_error(r, 500);
    }
    list_push_back(&w->works, &k->link);
    if (arena_on_free(&r->mem, request_gone, k))
        return VERDICT_PENDING;
    k->r = NULL; /* it frees itself when it is open */
    fscan_cancel(&k->scan);
    return response_error(r, 500);
}
