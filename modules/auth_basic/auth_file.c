/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A look at a password file: open, fstat, and if it is not what it was, read and parse.  Opening
 * and reading are ops; parsing at most a megabyte is not worth a thread.
 *
 * What was changed less than RACY_S before it was read may change once more within the same tick of
 * the file system's clock, so it is read again at the next look.
 */
#include "auth_file.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define RACY_S 2

struct auth_file {
    struct list link;            /* in files->all, the one used last first */
    struct auth_files *files;
    uint64_t hash;               /* of path */
    char *path;
    struct open_how how;
    struct op op;
    int fd;
    bool looking;                /* an op is in flight */
    bool telling;                /* those who waited are told */
    bool racy;
    uint64_t fresh_until_ms;
    struct stat st;              /* of what `table` was made of */
    struct auth_table *table;
    char *buf;
    size_t buf_n, buf_room;
    struct list waiters;
};

struct auth_files {
    struct loop *loop;
    struct list all;
    uint32_t count;
    bool closing;
};

/* ---- the end of a look ---- */

static void tell(struct auth_file *f)
{
    struct list waiters, *l;
    f->fresh_until_ms = f->files->loop->now_ms + AUTH_FILE_FRESH_MS;
    f->looking = false;
    f->telling = true; /* they may ask for it again */
    list_init(&waiters);
    list_splice(&waiters, &f->waiters);
    while ((l = list_pop_front(&waiters)) != NULL) {
        struct auth_wait *w = container_of(l, struct auth_wait, link);
        w->done(w);
    }
    f->telling = false;
}

static void end_look(struct auth_file *f)
{
    if (f->fd >= 0)
        loop_close_fd(f->files->loop, f->fd);
    f->fd = -1;
    if (f->buf != NULL)
        explicit_bzero(f->buf, f->buf_room);
    free(f->buf);
    f->buf = NULL;
    tell(f);
}

static void unusable(struct auth_file *f, int err, const char *what)
{
    struct log_ctx *log = f->files->loop->log;
    char why[512];
    struct wbuf w = wbuf_make(why, sizeof(why) - 1);
    auth_table_delete(f->table);
    f->table = NULL;
    if (err == EACCES || err == ENOENT || err == ENOTDIR) {
        wbuf_str(&w, STR(": "));
        if (!file_explain(f->path, &w))
            w.at = why;
    }
    *w.at = '\0';
    if (f->files->closing)
        ; /* it was cancelled */
    else if (err != 0)
        log_errno_at(log, LEVEL_ERROR, err, "password file: %s \"%s\" failed%s", what, f->path,
                     why);
    else
        log_error(log, "password file: \"%s\" %s", f->path, what);
    end_look(f);
}

static void warn_of_lines(const struct auth_file *f)
{
    const struct auth_table *t = f->table;
    struct log_ctx *log = f->files->loop->log;
    if (t->bad != 0)
        log_warn(log, "password file: \"%s\" line %u is not USER:PASSWORD (of %u such lines)",
                 f->path, t->first_bad, t->bad);
    if (t->unknown != 0)
        log_warn(log,
                 "password file: \"%s\" line %u has a password of an unknown kind, nobody's is "
                 "right (of %u such lines); one in the clear needs {PLAIN} in front",
                 f->path, t->first_unknown, t->unknown);
}

static void take(struct auth_file *f)
{
    bool too_many;
    struct auth_table *t = auth_table_new(f->buf, f->buf_n, &too_many);
    f->buf = NULL;
    if (t == NULL) {
        unusable(f, 0, too_many ? "has more than 10000 lines" : "does not fit into memory");
        return;
    }
    auth_table_delete(f->table);
    f->table = t;
    warn_of_lines(f);
    end_look(f);
}

/* ---- a look ---- */

static void read_done(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct auth_file *f = container_of(op, struct auth_file, op);
    (void)flags;
    if (res < 0) {
        unusable(f, -res, "read()");
        return;
    }
    f->buf_n += (size_t)res;
    if (res > 0 && f->buf_n < f->buf_room) {
        op_read_file(loop, op, f->fd, f->buf + f->buf_n, f->buf_room - f->buf_n, f->buf_n);
        return;
    }
    f->racy = f->racy || f->buf_n != (size_t)f->st.st_size; /* it grows or shrinks */
    take(f);
}

static bool unchanged(const struct auth_file *f, const struct stat *st)
{
    return f->table != NULL && !f->racy && st->st_dev == f->st.st_dev &&
           st->st_ino == f->st.st_ino && st->st_size == f->st.st_size &&
           st->st_mtim.tv_sec == f->st.st_mtim.tv_sec &&
           st->st_mtim.tv_nsec == f->st.st_mtim.tv_nsec &&
           st->st_ctim.tv_sec == f->st.st_ctim.tv_sec &&
           st->st_ctim.tv_nsec == f->st.st_ctim.tv_nsec;
}

static void read_it(struct auth_file *f, const struct stat *st)
{
    struct loop *loop = f->files->loop;
    f->st = *st;
    f->racy = st->st_ctim.tv_sec + RACY_S > loop->wall.tv_sec;
    f->buf_room = (size_t)st->st_size + 1; /* one more, to see whether it has grown */
    f->buf_n = 0;
    f->buf = malloc(f->buf_room);
    if (f->buf == NULL) {
        unusable(f, ENOMEM, "reading");
        return;
    }
    op_init(&f->op, read_done);
    op_read_file(loop, &f->op, f->fd, f->buf, f->buf_room, 0);
}

static void opened(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct auth_file *f = container_of(op, struct auth_file, op);
    struct stat st;
    (void)loop, (void)flags;
    if (res < 0) {
        unusable(f, -res, "open()");
        return;
    }
    f->fd = res;
    if (fstat(f->fd, &st) == -1)
        unusable(f, errno, "fstat()");
    else if (!S_ISREG(st.st_mode))
        unusable(f, 0, "is not a regular file");
    else if (st.st_size > (off_t)AUTH_FILE_MAX)
        unusable(f, 0, "is larger than 1 MiB");
    else if (unchanged(f, &st))
        end_look(f);
    else
        read_it(f, &st);
}

enum status auth_file_check(struct auth_file *f, struct auth_wait *w)
{
    if (!f->looking && f->fresh_until_ms > f->files->loop->now_ms)
        return STATUS_OK;
    list_push_back(&f->waiters, &w->link);
    if (f->looking)
        return STATUS_AGAIN;
    f->looking = true;
    op_init(&f->op, opened);
    op_open(f->files->loop, &f->op, AT_FDCWD, f->path, &f->how);
    return STATUS_AGAIN;
}

const struct auth_table *auth_file_table(const struct auth_file *f)
{
    return f->table;
}

/* ---- all of them ---- */

struct auth_files *auth_files_new(struct loop *loop)
{
    struct auth_files *fs = calloc(1, sizeof(*fs));
    if (fs == NULL)
        return NULL;
    fs->loop = loop;
    list_init(&fs->all);
    return fs;
}

static void file_free(struct auth_file *f)
{
    list_remove(&f->link);
    f->files->count--;
    auth_table_delete(f->table);
    free(f->path);
    free(f);
}

void auth_files_delete(struct auth_files *fs)
{
    if (fs == NULL)
        return;
    fs->closing = true;
    LIST_EACH_SAFE (l, next, &fs->all) {
        struct auth_file *f = container_of(l, struct auth_file, link);
        op_cancel(fs->loop, &f->op);
        while (f->looking) /* what comes of it has nobody to be told */
            loop_turn(fs->loop, fs->loop->now_ms + 100);
        file_free(f);
    }
    free(fs);
}

/* Gives up the one that has not been used for longest. */
static bool make_room(struct auth_files *fs)
{
    if (fs->count < AUTH_FILES_MAX)
        return true;
    for (struct list *l = fs->all.prev; l != &fs->all; l = l->prev) {
        struct auth_file *f = container_of(l, struct auth_file, link);
        if (f->looking || f->telling)
            continue;
        file_free(f);
        return true;
    }
    return false;
}

static struct auth_file *file_new(struct auth_files *fs, struct str path, uint64_t hash)
{
    struct auth_file *f = make_room(fs) ? calloc(1, sizeof(*f)) : NULL;
    if (f == NULL || (f->path = malloc(path.n + 1)) == NULL) {
        free(f);
        return NULL;
    }
    memcpy(f->path, path.p, path.n);
    f->path[path.n] = '\0';
    f->files = fs;
    f->hash = hash;
    f->fd = -1;
    f->how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    op_init(&f->op, opened);
    list_init(&f->waiters);
    list_push_front(&fs->all, &f->link);
    fs->count++;
    return f;
}

struct auth_file *auth_files_get(struct auth_files *fs, struct str path)
{
    uint64_t hash = str_hash(path, 0);
    LIST_EACH (l, &fs->all) {
        struct auth_file *f = container_of(l, struct auth_file, link);
        if (f->hash != hash || !str_eq(str_z(f->path), path))
            continue;
        list_remove(&f->link);
        list_push_front(&fs->all, &f->link);
        return f;
    }
    return file_new(fs, path, hash);
}
