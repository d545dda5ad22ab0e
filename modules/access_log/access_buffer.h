/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of one log file in one worker, on their way to the file, in blocks: lines are composed
 * straight into one while the oldest full one is written by an operation of the loop.  Two blocks
 * do for ordinary traffic; a burst within one turn of the loop may take ACCESS_BLOCKS.  Nothing
 * here waits: when all are taken (a full disk, a FIFO that nobody reads, a slow volume) a line is
 * dropped and counted, and the count is told in the error log, at most once a second.
 *
 * What a short or failed write has left is written first when it is tried again, so the file never
 * holds part of a line for good.
 */
#ifndef SLUICE_ACCESS_BUFFER_H
#define SLUICE_ACCESS_BUFFER_H

#include "core/buf.h"
#include "event/loop.h"

#define ACCESS_BLOCKS 16
#define ACCESS_RETRY_MS 1000 /* after a failed write, doubled each time up to */
#define ACCESS_RETRY_MAX_MS 16000
#define ACCESS_TELL_MS 1000  /* between two reports of lost lines */

struct access_buffer_conf {
    struct str path;          /* for messages */
    int fd;                   /* not owned; -1: every line is lost */
    uint32_t size;            /* of a block */
    uint64_t flush_ms;        /* the longest that a line waits */
};

struct access_buffer {
    struct access_buffer_conf conf;
    struct loop *loop;
    const struct log_ctx *log;
    char *mem[ACCESS_BLOCKS]; /* a ring, NULL where there is no memory yet */
    uint32_t n[ACCESS_BLOCKS]; /* bytes in each */
    uint8_t head;             /* the oldest block, being written unless it is the filling one */
    uint8_t fill;             /* the block that lines go to */
    char *spare;              /* memory for the next block */
    uint32_t written;         /* of the oldest block */
    bool ending;              /* no retries any more */
    uint32_t retry_ms;        /* until the next try after a failure */
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
 * Adds a line and its end.  One that is longer than a block is cut to fit, the end is kept.
 */
void access_buffer_line(struct access_buffer *b, access_line_f *line, void *arg);

/*
 * Writes what there is, turning the loop for a second or two at the most, and releases the memory;
 * lines that could not be written are told as lost.  False: the kernel has not let go of a buffer,
 * *v must stay.
 */
bool access_buffers_finish(struct access_buffer *v, size_t n);

#endif
