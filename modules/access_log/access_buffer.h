/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of one log file in one worker, on their way to the file.  There are two halves: lines
 * are composed straight into one while the other is written by an operation of the loop.  Nothing
 * here waits: when both halves are taken (a full disk, a FIFO that nobody reads, a slow volume) a
 * line is dropped and counted, and the count is told in the error log, at most once a second.
 *
 * Halves are written from front to back, and what a short or failed write has left is written
 * first when it is tried again, so the file never holds part of a line for good.
 */
#ifndef SLUICE_ACCESS_BUFFER_H
#define SLUICE_ACCESS_BUFFER_H

#include "core/buf.h"
#include "event/loop.h"

#define ACCESS_RETRY_MS 1000 /* after a failed write */
#define ACCESS_TELL_MS 1000  /* between two reports of lost lines */

struct access_buffer_conf {
    struct str path;          /* for messages */
    int fd;                   /* not owned; -1: every line is lost */
    uint32_t size;            /* of a half */
    uint64_t flush_ms;        /* the longest that a line waits */
};

struct access_buffer {
    struct access_buffer_conf conf;
    struct loop *loop;
    const struct log_ctx *log;
    char *mem;                /* both halves, NULL until there is a line */
    uint32_t n[2];            /* bytes in each */
    uint32_t written;         /* of the half that is not being filled */
    uint8_t fill;             /* the half that lines go to */
    bool due;                 /* write the filling half as soon as the other one is out */
    bool ending;              /* no retries any more */
    int err;                  /* errno of the last write, 0 when it went well */
    struct op op;
    struct timer flush, retry;
    uint64_t lost, told;      /* lines not written; how many of them the error log knows of */
    uint64_t told_ms;
};

/* Writes one line, without its end, to w. May be called twice for a line. */
typedef void access_line_f(void *arg, struct wbuf *w);

void access_buffer_init(struct access_buffer *b, struct loop *loop, const struct log_ctx *log,
                        const struct access_buffer_conf *conf);

/*
 * Adds a line and its end.  One that is longer than a half is cut to fit, the end is kept.
 */
void access_buffer_line(struct access_buffer *b, access_line_f *line, void *arg);

/*
 * Writes what there is, turning the loop for a second or two at the most, and releases the memory;
 * lines that could not be written are told as lost.  False: the kernel has not let go of a buffer,
 * *v must stay.
 */
bool access_buffers_finish(struct access_buffer *v, size_t n);

#endif
