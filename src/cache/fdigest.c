/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Content tags: 128 bits of a hash with seeds that never change, taken over pieces of fixed size.
 * It tells states of a file apart; it is not a proof of integrity.
 */
#include "cache/fdigest.h"

#include "cache/fentry.h"
#include "event/helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE (64u << 10)
#define QUEUE_MAX 1024u
/* Requests wait for the tags of files up to this size. */
#define WAIT_MAX (UINT64_C(8) << 20)

struct fdigest {
    char text[FDIGEST_LEN];
};

struct digest_job {
    struct helper_job job;
    struct list link;
    struct list waiters;
    struct fentry *source;   /* referenced; the loop's */
    /* the thread's */
    int fd;
    struct stat before;
    uint64_t hash[2];
    bool good;
};

static void hash_begin(uint64_t hash[2])
{
    hash[0] = UINT64_C(0x736c756963652d31);
    hash[1] = UINT64_C(0x736c756963652d32);
}

static void hash_piece(uint64_t hash[2], struct str piece)
{
    hash[0] = str_hash(piece, hash[0]);
    hash[1] = str_hash(piece, hash[1]);
}

static void keep(struct fentry *e, const uint64_t hash[2])
{
    char text[FDIGEST_LEN + 1];
    struct fdigest *d = malloc(sizeof(*d));
    if (d == NULL)
        return;
    snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)hash[0],
             (unsigned long long)hash[1]);
    memcpy(d->text, text, FDIGEST_LEN);
    e->digest = d;
}

struct str fdigest_text(const struct fentry *e)
{
    return e->digest != NULL ? str_make(e->digest->text, FDIGEST_LEN) : STR_NONE;
}

/* ------------------------------------------------------------------ on the thread */

static bool same_state(const struct stat *a, const struct stat *b)
{
    return fstate_same(a, b) && a->st_ino == b->st_ino;
}

static void job_run(struct helper_job *hj)
{
    struct digest_job *j = container_of(hj, struct digest_job, job);
    char *buf = malloc(PIECE);
    uint64_t off = 0, size = (uint64_t)j->before.st_size;
    struct stat after;
    hash_begin(j->hash);
    while (buf != NULL && off < size) {
        size_t want = size - off < PIECE ? (size_t)(size - off) : PIECE, got = 0;
        while (got < want) {
            ssize_t n = pread(j->fd, buf + got, want - got, (off_t)(off + got));
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                break;
            got += (size_t)n;
        }
        if (got < want)
            break;
        hash_piece(j->hash, str_make(buf, got));
        off += got;
    }
    j->good = buf != NULL && off == size && fstat(j->fd, &after) == 0 &&
              same_state(&after, &j->before);
    free(buf);
}

/* ------------------------------------------------------------------ on the loop */

static void job_done(struct helper_job *hj)
{
    struct digest_job *j = container_of(hj, struct digest_job, job);
    struct list waiters, *link;
    if (hj->ran && j->good && j->source->digest == NULL)
        keep(j->source, j->hash);
    list_init(&waiters);
    list_splice(&waiters, &j->waiters);
    while ((link = list_pop_front(&waiters)) != NULL) {
        struct fdigest_ask *a = container_of(link, struct fdigest_ask, link);
        a->job = NULL;
        a->done(a);
    }
    list_remove(&j->link);
    fentry_put(j->source);
    free(j);
}

static void of_body(struct fentry *e)
{
    uint64_t hash[2];
    struct str rest = str_make(e->body, (size_t)e->size);
    hash_begin(hash);
    while (rest.n > 0) {
        hash_piece(hash, str_head(rest, PIECE));
        rest = str_skip(rest, PIECE);
    }
    keep(e, hash);
}

/* The file as the entry has it: what was opened. */
static bool entry_holds(const struct fentry *e, const struct stat *st)
{
    return (uint64_t)st->st_size == e->size && st->st_mtim.tv_sec == e->mtime_s &&
           (uint32_t)st->st_mtim.tv_nsec == e->mtime_ns;
}

static struct digest_job *job_start(struct fentry *e)
{
    struct fdigests *ds = &e->cache->digests;
    struct stat st;
    if (fstat(e->fd, &st) != 0 || !entry_holds(e, &st))
        return NULL;
    if (ds->helper == NULL)
        ds->helper = helper_new(e->cache->loop, QUEUE_MAX, "sluice-digest");
    struct digest_job *j = ds->helper != NULL ? calloc(1, sizeof(*j)) : NULL;
    if (j == NULL)
        return NULL;
    j->job = (struct helper_job){.run = job_run, .done = job_done};
    list_init(&j->job.link);
    list_init(&j->waiters);
    j->fd = e->fd;
    j->before = st;
    if (helper_submit(ds->helper, &j->job) != STATUS_OK) {
        free(j);
        return NULL;
    }
    j->source = fentry_get(e);
    list_push_back(&ds->jobs, &j->link);
    return j;
}

static struct digest_job *job_find(const struct fentry *e)
{
    LIST_EACH(at, &e->cache->digests.jobs) {
        struct digest_job *j = container_of(at, struct digest_job, link);
        if (j->source == e)
            return j;
    }
    return NULL;
}

enum status fdigest_get(struct fentry *e, struct fdigest_ask *a)
{
    a->job = NULL;
    if (e->digest == NULL && e->body != NULL)
        of_body(e);
    if (e->digest != NULL)
        return STATUS_OK;
    struct digest_job *j = e->cache->closing || e->body != NULL ? NULL : job_find(e);
    if (j == NULL && !e->cache->closing && e->body == NULL)
        j = job_start(e);
    if (j == NULL || e->size > WAIT_MAX)
        return STATUS_BUSY;
    a->job = j;
    list_push_back(&j->waiters, &a->link);
    return STATUS_AGAIN;
}

void fdigest_cancel(struct fdigest_ask *a)
{
    if (a->job == NULL)
        return;
    list_remove(&a->link);
    a->job = NULL; /* the job goes on: the next one who asks will have it */
}

void fdigests_init(struct fdigests *ds)
{
    list_init(&ds->jobs);
    ds->helper = NULL;
}

void fdigests_fini(struct fdigests *ds)
{
    helper_delete(ds->helper);
    ds->helper = NULL;
}
