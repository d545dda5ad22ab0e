/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pipes for splicing, kept for reuse.  Linux charges pipe buffers to the user: above
 * fs.pipe-user-pages-soft (64 MiB by default) an unprivileged user gets one-page pipes, which are
 * slower than none.  The pool therefore takes at most half of that limit for all workers together
 * and gives a pipe back to the kernel when it did not become as large as asked.
 */
#include "event/backend.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define PIPE_PAGES_SOFT_DEFAULT 16384
#define PAGE_BYTES 4096u
#define POOL_MAX 512u
#define PAUSE_GETS 256u

static uint64_t pipe_pages_soft(void)
{
    char text[32];
    int fd = open("/proc/sys/fs/pipe-user-pages-soft", O_RDONLY | O_CLOEXEC);
    if (fd == -1)
        return PIPE_PAGES_SOFT_DEFAULT;
    ssize_t n = read(fd, text, sizeof(text));
    close(fd);
    uint64_t pages = 0;
    for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9' && pages < (1u << 30); i++)
        pages = pages * 10 + (uint64_t)(text[i] - '0');
    return n > 0 ? pages : PIPE_PAGES_SOFT_DEFAULT;
}

void pipe_pool_init(struct pipe_pool *p, uint32_t workers)
{
    uint64_t pages = pipe_pages_soft();
    if (pages == 0) /* no limit */
        pages = PIPE_PAGES_SOFT_DEFAULT;
    uint64_t max = pages / 2 / (PIPE_BYTES / PAGE_BYTES) / (workers == 0 ? 1 : workers);
    *p = (struct pipe_pool){.max = (uint32_t)(max < POOL_MAX ? max : POOL_MAX)};
    p->free = calloc(p->max == 0 ? 1 : p->max, sizeof(p->free[0]));
    if (p->free == NULL)
        p->max = 0;
}

static void pipe_close(struct pipe_pool *p, const int pipe[2])
{
    close(pipe[0]);
    close(pipe[1]);
    p->open--;
}

void pipe_pool_fini(struct pipe_pool *p)
{
    while (p->free_count > 0)
        pipe_close(p, p->free[--p->free_count]);
    free(p->free);
    p->free = NULL;
}

bool pipe_pool_get(struct pipe_pool *p, int pipe[2])
{
    if (p->free_count > 0) {
        p->free_count--;
        pipe[0] = p->free[p->free_count][0];
        pipe[1] = p->free[p->free_count][1];
        return true;
    }
    pipe[0] = pipe[1] = -1;
    if (p->pause > 0) {
        p->pause--;
        return false;
    }
    if (p->open >= p->max || pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == -1)
        return false;
    p->open++;
    if (fcntl(pipe[1], F_SETPIPE_SZ, (int)PIPE_BYTES) < (int)PIPE_BYTES) {
        pipe_close(p, pipe);
        pipe[0] = pipe[1] = -1;
        p->pause = PAUSE_GETS; /* the user's limit is reached: do not ask each time */
        return false;
    }
    return true;
}

void pipe_pool_put(struct pipe_pool *p, int pipe[2], bool empty)
{
    if (pipe[0] == -1)
        return;
    if (empty && p->free_count < p->max) {
        p->free[p->free_count][0] = pipe[0];
        p->free[p->free_count][1] = pipe[1];
        p->free_count++;
    } else {
        pipe_close(p, pipe);
    }
    pipe[0] = pipe[1] = -1;
}
