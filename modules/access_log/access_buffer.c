/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two halves and one write in flight.  The half that is not being filled is either empty, being
 * written, or waits for the next try after a failed write; only when it is empty may the halves
 * change places.
 */
#include "access_buffer.h"

#include "core/clock.h"

#include <errno.h>
#include <stdlib.h>

#define LINE_MAX_BYTES (4u << 20) /* of a line that is going to be cut */
#define FINISH_MS 1500
#define CANCEL_MS 500
#define FINISH_TURNS 2000

static char *half(const struct access_buffer *b, unsigned which)
{
    return b->mem + (size_t)which * b->conf.size;
}

static unsigned other(const struct access_buffer *b)
{
    return b->fill ^ 1u;
}

/* ---- losses ---- */

static void tell_lost(struct access_buffer *b, bool now)
{
    uint64_t count = b->lost - b->told;
    if (count == 0 || (!now && b->told != 0 && b->loop->now_ms - b->told_ms < ACCESS_TELL_MS))
        return;
    const char *lines = count == 1 ? "line" : "lines";
    if (b->err != 0)
        log_errno_at(b->log, LEVEL_ALERT, b->err, "%llu %s of \"" STR_FMT "\" lost, write() failed",
                     (unsigned long long)count, lines, STR_ARG(b->conf.path));
    else
        log_alert(b->log, "%llu %s of \"" STR_FMT "\" lost, both buffers are full",
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

static void write_rest(struct access_buffer *b)
{
    unsigned h = other(b);
    op_write_file(b->loop, &b->op, b->conf.fd, half(b, h) + b->written, b->n[h] - b->written,
                  UINT64_MAX);
}

/* The halves change places and the full one is written. False: the other one is not empty yet. */
static bool change_halves(struct access_buffer *b)
{
    if (b->n[other(b)] != 0)
        return false;
    b->fill = (uint8_t)other(b);
    b->due = false;
    write_rest(b);
    return true;
}

static void drop_half(struct access_buffer *b, unsigned h)
{
    uint32_t from = h == other(b) ? b->written : 0;
    if (b->n[h] > from)
        lose(b, count_lines(str_make(half(b, h) + from, b->n[h] - from)));
    b->n[h] = 0;
    if (h == other(b))
        b->written = 0;
}

static void write_failed(struct access_buffer *b, int err)
{
    if (b->err != err && err != ECANCELED)
        log_errno_at(b->log, LEVEL_ALERT, err, "write() to \"" STR_FMT "\" failed",
                     STR_ARG(b->conf.path));
    b->err = err;
    tell_lost(b, false);
    if (!b->ending)
        timer_arm(&b->loop->timers, &b->retry, b->loop->now_ms + ACCESS_RETRY_MS);
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
    if (b->written < b->n[other(b)]) {
        write_rest(b);
        return;
    }
    b->n[other(b)] = 0;
    b->written = 0;
    tell_lost(b, false);
    b->err = 0;
    if ((b->due || b->ending) && b->n[b->fill] != 0)
        change_halves(b);
}

static void flush_due(struct timer *t, uint64_t now_ms)
{
    struct access_buffer *b = container_of(t, struct access_buffer, flush);
    (void)now_ms;
    if (b->n[b->fill] != 0 && !change_halves(b))
        b->due = true;
}

static void retry_due(struct timer *t, uint64_t now_ms)
{
    struct access_buffer *b = container_of(t, struct access_buffer, retry);
    (void)now_ms;
    write_rest(b);
}

/* ---- lines ---- */

void access_buffer_init(struct access_buffer *b, struct loop *loop, const struct log_ctx *log,
                        const struct access_buffer_conf *conf)
{
    *b = (struct access_buffer){.conf = *conf, .loop = loop, .log = log};
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
    char *from = half(b, b->fill) + b->n[b->fill];
    struct wbuf w = wbuf_make(from, b->conf.size - b->n[b->fill]);
    line(arg, &w);
    wbuf_char(&w, '\n');
    if (w.overflow)
        return false;
    commit(b, (uint32_t)(w.at - from));
    return true;
}

/* A line that is longer than an empty half: as much of it as fits, and its end. */
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
        memcpy(half(b, b->fill), mem, n);
        half(b, b->fill)[n] = '\n';
        free(mem);
        commit(b, (uint32_t)n + 1);
        return;
    }
}

void access_buffer_line(struct access_buffer *b, access_line_f *line, void *arg)
{
    if (UNLIKELY(b->mem == NULL)) {
        b->mem = b->conf.fd < 0 ? NULL : malloc(2 * (size_t)b->conf.size);
        if (b->mem == NULL) {
            lose(b, 1);
            return;
        }
    }
    if (LIKELY(compose(b, line, arg)))
        return;
    if (b->n[b->fill] != 0 && !change_halves(b)) {
        b->due = true;
        lose(b, 1);
        return;
    }
    if (!compose(b, line, arg))
        compose_cut(b, line, arg);
}

/* ---- the end ---- */

static bool settled(const struct access_buffer *b)
{
    return !op_busy(&b->op) && ((b->n[0] == 0 && b->n[1] == 0) || b->err != 0);
}

static void begin_ending(struct access_buffer *b)
{
    b->ending = true;
    timer_disarm(&b->loop->timers, &b->flush);
    timer_disarm(&b->loop->timers, &b->retry);
    if (op_busy(&b->op))
        return;
    b->err = 0; /* one more try */
    if (b->n[other(b)] != 0)
        write_rest(b);
    else if (b->n[b->fill] != 0)
        change_halves(b);
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
        struct access_buffer *b = &v[i];
        if (b->mem != NULL) {
            drop_half(b, 0);
            drop_half(b, 1);
        }
        tell_lost(b, true);
        if (!op_busy(&b->op))
            free(b->mem);
        else
            released = false;
        b->mem = NULL;
    }
    return released;
}
