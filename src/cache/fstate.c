/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a stat(2) result means for an entry: its fields, validators, how long it is good for, and
 * whether a file is still the one that was loaded.
 */
#include "cache/fentry.h"
#include "core/clock.h"
#include "proto/date.h"
#include "proto/etag.h"

#include <errno.h>

/* Times of files are too coarse to tell two changes apart that are closer than this. */
#define YOUNG_MS 1000

/* What may be otherwise a moment later for no change in the files. */
bool fstate_transient(int err)
{
    switch (err) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case EXDEV:
    case ENAMETOOLONG:
        return false;
    default:
        return true;
    }
}

enum fentry_kind fstate_kind(const struct stat *st)
{
    return S_ISREG(st->st_mode) ? FENTRY_FILE : S_ISDIR(st->st_mode) ? FENTRY_DIR : FENTRY_OTHER;
}

bool fstate_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* An entry in the table that was only due for another look, and has not changed. */
bool fstate_unchanged(const struct fitem *old, const struct stat *st)
{
    const struct fentry *e = &old->e;
    return !old->racy && e->kind == fstate_kind(st) && e->kind != FENTRY_ERROR &&
           e->dev == st->st_dev && e->ino == st->st_ino && e->mode == st->st_mode &&
           e->size == (uint64_t)st->st_size && e->mtime_s == st->st_mtim.tv_sec &&
           e->mtime_ns == (uint32_t)st->st_mtim.tv_nsec && old->ctime_s == st->st_ctim.tv_sec &&
           old->ctime_ns == (uint32_t)st->st_ctim.tv_nsec;
}

/* How long ago that was; extremes where it is too far away to matter. */
static int64_t age_ms(const struct timespec *now, int64_t s, uint32_t ns)
{
    if (s > now->tv_sec + 1 || s < now->tv_sec - 10)
        return s > now->tv_sec ? INT64_MIN : INT64_MAX;
    return (now->tv_sec - s) * 1000 + (now->tv_nsec - (int64_t)ns) / 1000000;
}

void fstate_fill(struct fitem *it, const struct stat *st)
{
    struct fentry *e = &it->e;
    struct timespec now = clock_wall();
    e->dev = st->st_dev;
    e->ino = st->st_ino;
    e->mode = st->st_mode;
    e->size = (uint64_t)st->st_size;
    e->mtime_s = st->st_mtim.tv_sec;
    e->mtime_ns = (uint32_t)st->st_mtim.tv_nsec;
    it->ctime_s = st->st_ctim.tv_sec;
    it->ctime_ns = (uint32_t)st->st_ctim.tv_nsec;
    int64_t age = age_ms(&now, e->mtime_s, e->mtime_ns);
    e->young = age > -YOUNG_MS && age < YOUNG_MS;
    it->racy = e->young || age_ms(&now, it->ctime_s, it->ctime_ns) < YOUNG_MS;
    /* RFC 9110 8.8.2.1: not later than the Date it is sent with. */
    date_write(e->last_modified, e->mtime_s < now.tv_sec ? e->mtime_s : now.tv_sec);
    if (e->kind == FENTRY_FILE)
        e->etag_n = (uint8_t)etag_write(e->etag, e->mtime_s, e->mtime_ns, e->size, STR_NONE,
                                        e->young);
}

uint64_t fstate_check_at(const struct fcache *c, const struct fitem *it)
{
    uint64_t now = c->loop->now_ms;
    bool blind = it->blind || c->inotify < 0 || (it->place != NULL && it->place->blind);
    int64_t valid = blind ? c->conf.valid_blind_ms : c->conf.valid_ms;
    if (it->e.young && it->e.kind == FENTRY_FILE && valid > YOUNG_MS)
        valid = YOUNG_MS;
    return now + (uint64_t)(valid > 0 ? valid : 0);
}
