/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of blocks and one write in flight.  Blocks from head up to, not including, fill are full
 * and written in this order; after a failed write they wait for the next try.
 */
#include "access_buffer.h"

#include "core/clock.h"

#include <errno.h>
#include <stdlib.h>

#define LINE_MAX_BYTES (4u << 20) /* of a line that is going to be cut */
#define FINISH_MS 1500
#define CANCEL_MS 500
#define FINISH_TURNS 2000

static uint8_t behind(unsigned block)
{
    return (uint8_t)((block + 1) % ACCESS_BLOCKS);
}

/* ---- losses ---- */

static void tell_lost(struct access_buffer *b, bool now)
{
    uint64_t count = b->lost - b->told;
    if (count == 0 || (!now && b->told != 0 && b->loop->now_ms - b->told_ms < ACCESS_TELL_MS))
        return;
    const char *lines = count == 1 ? "line" : "lines";
    if (b->err != 0)
        log_errno_at(b->log, LEVEL_ERROR, b->err, "%llu %s of \"" STR_FMT "\" lost, write() failed",
                     (unsigned long long)count, lines, STR_ARG(b->conf.path));
    else
        log_error(b->log, "%llu %s of \"" STR_FMT "\" lost, all buffers are full",
                  (unsigned long long)count, lines, STR_ARG(b->conf.path));
    b->told = b->lost;
    b->told_ms = b->loop->now_ms;
}

static void lose(struct access_buffer *b, uint64_t lines)
{
    b->lost += lines;
    tell_lost(b, false);
}

static uint64_t count_lines(struct str s)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < s.n; i++)
        lines += s.p[i] == '\n';
    return lines;
}

/* ---- writing ---- */

/* Writes on, if there is a full block and nothing is in the way. */
static void write_next(struct access_buffer *b)
{
    if (b->head == b->fill || op_busy(&b->op) || timer_armed(&b->retry))
        return;
    op_write_file(b->loop, &b->op, b->conf.fd, b->mem[b->head] + b->written,
                  b->n[b->head] - b->written, UINT64_MAX);
}

static bool give_memory(struct access_buffer *b, unsigned block)
{
    if (b->mem[block] != NULL)
        return true;
    b->mem[block] = b->spare != NULL ? b->spare : malloc(b->conf.size);
    b->spare = NULL;
    return b->mem[block] != NULL;
}

/* The filling block is full: on to the next one. False: there is none. */
static bool next_block(struct access_buffer *b)
{
    uint8_t next = behind(b->fill);
    if (next == b->head || !give_memory(b, next))
        return false;
    b->fill = next;
    write_next(b);
    return true;
}

/* The oldest block is done with; what a burst needed beyond two blocks is given back. */
static void release_head(struct access_buffer *b)
{
    unsigned block = b->head;
    b->n[block] = 0;
    b->written = 0;
    if (b->head == b->fill)
        return;
    b->head = behind(block);
    free(b->spare);
    b->spare = b->mem[block];
    b->mem[block] = NULL;
}

static void write_failed(struct access_buffer *b, int err)
{
    if (b->err != err && err != ECANCELED)
        log_errno_at(b->log, LEVEL_ERROR, err, "write() to \"" STR_FMT "\" failed",
                     STR_ARG(b->conf.path));
    b->err = err;
    tell_lost(b, false);
    if (b->ending)
        return;
    timer_arm(&b->loop->timers, &b->retry, b->loop->now_ms + b->retry_ms);
    b->retry_ms = b->retry_ms < ACCESS_RETRY_MAX_MS ? 2 * b->retry_ms : ACCESS_RETRY_MAX_MS;
}

static void written(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct access_buffer *b = container_of(op, struct access_buffer, op);
    (void)loop;
    (void)flags;
    if (res <= 0) {
        write_failed(b, res == 0 ? ENOSPC : -res);
        return;
    }
    b->written += (uint32_t)res;
    b->retry_ms = ACCESS_RETRY_MS;
    if (b->written == b->n[b->head]) {
        release_head(b);
        tell_lost(b, false);
        b->err = 0;
        if (b->ending && b->head == b->fill && b->n[b->fill] != 0)
            (void)next_block(b);
    }
    write_next(b);
}

static void flush_due(struct timer *t, uint64_t now_ms)
{
    struct access_buffer *b = container_of(t, struct access_buffer, flush);
    if (b->n[b->fill] != 0 && !next_block(b))
        timer_arm(&b->loop->timers, t, now_ms + b->conf.flush_ms);
}

static void retry_due(struct timer *t, uint64_t now_ms)
{
    (void)now_ms;
    write_next(container_of(t, struct access_buffer, retry));
}

/* ---- lines ---- */

void access_buffer_init(struct access_buffer *b, struct loop *loop, const struct log_ctx *log,
                        const struct access_buffer_conf *conf)
{
    *b = (struct access_buffer){
        .conf = *conf, .loop = loop, .log = log, .retry_ms = ACCESS_RETRY_MS};
    op_init(&b->op, written);
    timer_init(&b->flush, flush_due);
    timer_init(&b->retry, retry_due);
}

static void commit(struct access_buffer *b, uint32_t n)
{
    if (b->n[b->fill] == 0 && !timer_armed(&b->flush))
        timer_arm(&b->loop->timers, &b->flush, b->loop->now_ms + b->conf.flush_ms);
    b->n[b->fill] += n;
}

/* Composes a line where there is room for it; false when there is not. */
static bool compose(struct access_buffer *b, access_line_f *line, void *arg)
{
    char *from = b->mem[b->fill] + b->n[b->fill];
    struct wbuf w = wbuf_make(from, b->conf.size - b->n[b->fill]);
    line(arg, &w);
    wbuf_char(&w, '\n');
    if (w.overflow)
        return false;
    commit(b, (uint32_t)(w.at - from));
    return true;
}

/* A line that is longer than an empty block: as much of it as fits, and its end. */
static void compose_cut(struct access_buffer *b, access_line_f *line, void *arg)
{
    for (size_t room = 2 * (size_t)b->conf.size;; room *= 2) {
        char *mem = malloc(room);
        if (mem == NULL) {
            lose(b, 1);
            return;
        }
        struct wbuf w = wbuf_make(mem, room);
        line(arg, &w);
        if (w.overflow && room < LINE_MAX_BYTES) {
            free(mem);
            continue;
        }
        size_t n = (size_t)(w.at - mem);
        n = n < b->conf.size - 1 ? n : b->conf.size - 1;
        memcpy(b->mem[b->fill], mem, n);
        b->mem[b->fill][n] = '\n';
        free(mem);
        commit(b, (uint32_t)n + 1);
        return;
    }
}

void access_buffer_line(struct access_buffer *b, access_line_f *line, void *arg)
{
    if (UNLIKELY(b->mem[b->fill] == NULL) &&
        (b->conf.fd < 0 || !give_memory(b, b->fill))) {
        lose(b, 1);
        return;
    }
    if (LIKELY(compose(b, line, arg)))
        return;
    if (b->n[b->fill] != 0 && !next_block(b)) {
        lose(b, 1);
        return;
    }
    if (!compose(b, line, arg))
        compose_cut(b, line, arg);
}

/* ---- the end ---- */

static bool settled(const struct access_buffer *b)
{
    return !op_busy(&b->op) && ((b->head == b->fill && b->n[b->fill] == 0) || b->err != 0);
}

static void begin_ending(struct access_buffer *b)
{
    b->ending = true;
    timer_disarm(&b->loop->timers, &b->flush);
    timer_disarm(&b->loop->timers, &b->retry);
    if (op_busy(&b->op))
        return;
    b->err = 0; /* one more try */
    if (b->head == b->fill && b->n[b->fill] != 0)
        (void)next_block(b);
    write_next(b);
}

static void drop_blocks(struct access_buffer *b)
{
    while (b->head != b->fill || b->n[b->fill] != 0) {
        uint32_t n = b->n[b->head] - b->written;
        lose(b, count_lines(str_make(b->mem[b->head] + b->written, n)));
        release_head(b);
    }
    for (unsigned i = 0; i < ACCESS_BLOCKS; i++) {
        free(b->mem[i]);
        b->mem[i] = NULL;
    }
    free(b->spare);
    b->spare = NULL;
}

static void turn_until_settled(struct access_buffer *v, size_t n, uint64_t ms)
{
    uint64_t end = clock_mono_ms() + ms;
    for (unsigned turns = 0; turns < FINISH_TURNS && clock_mono_ms() < end; turns++) {
        size_t open = 0;
        for (size_t i = 0; i < n; i++)
            open += !settled(&v[i]);
        if (open == 0)
            return;
        loop_turn(v[0].loop, clock_mono_ms() + 20);
    }
}

bool access_buffers_finish(struct access_buffer *v, size_t n)
{
    bool released = true;
    for (size_t i = 0; i < n; i++)
        begin_ending(&v[i]);
    turn_until_settled(v, n, FINISH_MS);
    for (size_t i = 0; i < n; i++)
        if (op_busy(&v[i].op))
            op_cancel(v[i].loop, &v[i].op);
    turn_until_settled(v, n, CANCEL_MS);
    for (size_t i = 0; i < n; i++) {
        if (op_busy(&v[i].op)) /* its memory is still the kernel's */
            released = false;
        else
            drop_blocks(&v[i]);
        tell_lost(&v[i], true);
    }
    return released;
}
