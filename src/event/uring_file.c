/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading cold files: a pool of buffers registered with the ring (the kernel pins them once
 * instead of at each read) and a small table of registered descriptors for files that are read
 * piece by piece.  Either may be refused; reads then go the plain way.
 */
#include "event/uring_priv.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>

/*
 * What is registered counts against RLIMIT_MEMLOCK like the rings of all workers, during a reload
 * of twice as many.  Half of the limit is for the rings, which are needed more.
 */
static bool may_lock(size_t bytes, uint32_t workers)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_MEMLOCK, &r) == -1 || r.rlim_cur == RLIM_INFINITY)
        return true;
    return bytes <= r.rlim_cur / 4 / (workers != 0 ? workers : 1);
}

static void register_buffers(struct uring *u)
{
    struct uring_file *f = &u->file;
    struct iovec *iov = calloc(f->count, sizeof(*iov));
    if (iov == NULL)
        return;
    for (uint32_t i = 0; i < f->count; i++)
        iov[i] = (struct iovec){f->mem + (size_t)i * FILE_BUF_SIZE, FILE_BUF_SIZE};
    f->fixed_buffers = io_uring_register_buffers(&u->ring, iov, f->count) == 0;
    free(iov);
}

/* Even with `registered_buffers 0` a file must be readable: one buffer is the least. */
void uring_file_init(struct uring *u, const struct ev_conf *conf)
{
    struct uring_file *f = &u->file;
    *f = (struct uring_file){0};
    uint32_t count = (uint32_t)(conf->file_buffers / FILE_BUF_SIZE);
    f->count = count == 0 ? 1 : count;
    f->mem = mmap(NULL, (size_t)f->count * FILE_BUF_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    f->free = calloc(f->count, sizeof(*f->free));
    CHECK(f->mem != MAP_FAILED && f->free != NULL); /* at start only */
    for (uint32_t i = f->count; i-- > 0;)
        f->free[f->free_count++] = f->mem + (size_t)i * FILE_BUF_SIZE;
    if (count > 0 && may_lock((size_t)count * FILE_BUF_SIZE, conf->workers))
        register_buffers(u);
    for (uint32_t i = 0; i < URING_FILE_SLOTS; i++)
        f->slot_fd[i] = -1;
    if (conf->registered_files)
        f->fixed_files = io_uring_register_files_sparse(&u->ring, URING_FILE_SLOTS) == 0;
}

void uring_file_fini(struct uring *u)
{
    if (u->file.mem != NULL)
        munmap(u->file.mem, (size_t)u->file.count * FILE_BUF_SIZE);
    free(u->file.free);
    u->file.mem = NULL;
    u->file.free = NULL;
}

char *uring_file_buf_get(struct loop *loop)
{
    struct uring_file *f = &uring_of(loop)->file;
    return f->free_count == 0 ? NULL : f->free[--f->free_count];
}

void uring_file_buf_put(struct loop *loop, char *buf)
{
    struct uring_file *f = &uring_of(loop)->file;
    CHECK(f->free_count < f->count);
    f->free[f->free_count++] = buf;
}

/* The slot that holds fd, after putting it there if need be; -1: none is free. */
static int slot_for(struct uring *u, int fd)
{
    struct uring_file *f = &u->file;
    for (uint32_t i = 0; i < URING_FILE_SLOTS; i++)
        if (f->slot_fd[i] == fd)
            return (int)i;
    for (uint32_t tries = 0; tries < URING_FILE_SLOTS; tries++) {
        uint32_t i = f->slot_next++ % URING_FILE_SLOTS;
        if (f->slot_busy[i] > 0)
            continue;
        if (io_uring_register_files_update(&u->ring, i, &fd, 1) != 1)
            return -1;
        if (f->slot_fd[i] == -1)
            f->slots_held++;
        f->slot_fd[i] = fd;
        return (int)i;
    }
    return -1;
}

static bool in_pool(const struct uring_file *f, const char *p)
{
    return p >= f->mem && p < f->mem + (size_t)f->count * FILE_BUF_SIZE;
}

/*
 * Only reads into the pool's buffers use the tables: these are the cold reads of large files.
 * (A body read into cache memory is one read, for which registering would be an extra call.)
 */
void uring_file_prep(struct uring *u, struct io_uring_sqe *sqe, const struct op *op)
{
    struct uring_file *f = &u->file;
    char *p = op->u.rw.p;
    unsigned n = (unsigned)op->u.rw.n;
    if (!f->fixed_buffers || !in_pool(f, p)) {
        io_uring_prep_read(sqe, op->fd, p, n, op->u.rw.off);
        return;
    }
    int slot = f->fixed_files ? slot_for(u, op->fd) : -1;
    int buf = (int)((size_t)(p - f->mem) / FILE_BUF_SIZE);
    io_uring_prep_read_fixed(sqe, slot >= 0 ? slot : op->fd, p, n, op->u.rw.off, buf);
    if (slot >= 0) {
        sqe->flags |= IOSQE_FIXED_FILE;
        f->slot_busy[slot]++;
    }
}

void uring_file_done(struct uring *u, const struct op *op)
{
    struct uring_file *f = &u->file;
    if (!f->fixed_buffers || !f->fixed_files || !in_pool(f, op->u.rw.p))
        return;
    for (uint32_t i = 0; i < URING_FILE_SLOTS; i++)
        if (f->slot_fd[i] == op->fd && f->slot_busy[i] > 0) {
            f->slot_busy[i]--;
            return;
        }
}

void uring_file_forget(struct uring *u, int fd)
{
    struct uring_file *f = &u->file;
    if (f->slots_held == 0)
        return;
    for (uint32_t i = 0; i < URING_FILE_SLOTS; i++)
        if (f->slot_fd[i] == fd) {
            int none = -1;
            io_uring_register_files_update(&u->ring, i, &none, 1);
            f->slot_fd[i] = -1;
            f->slots_held--;
            return;
        }
}
