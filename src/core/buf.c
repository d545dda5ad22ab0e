/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growing buffers and fixed-memory writers.  Both stop for good at the first piece that does not
 * fit: whoever fills them checks one flag at the end and never sends text with a hole in it.
 */
#include "core/buf.h"

#include "core/num.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_FIRST 256

void buf_init(struct buf *b, size_t limit)
{
    *b = (struct buf){.limit = limit};
}

void buf_fini(struct buf *b)
{
    free(b->p);
    buf_init(b, b->limit);
}

/* One byte more than `room` is allocated, for the NUL that vsnprintf insists on. */
static bool buf_grow(struct buf *b, size_t need)
{
    size_t most = b->limit != 0 && b->limit < PTRDIFF_MAX ? b->limit : PTRDIFF_MAX - 1;
    size_t room = b->room != 0 ? b->room : BUF_FIRST;

    if (need > most)
        return false;
    while (room < need && room <= most / 2)
        room *= 2;
    if (room < need || room > most)
        room = most;
    char *p = realloc(b->p, room + 1);
    if (p == NULL && room > need) {
        room = need; /* doubling was too much; what is asked for may still be there */
        p = realloc(b->p, room + 1);
    }
    if (p == NULL)
        return false;
    b->p = p;
    b->room = room;
    return true;
}

bool buf_reserve(struct buf *b, size_t more)
{
    size_t need;

    if (b->failed)
        return false;
    if (LIKELY(more <= b->room - b->n && b->p != NULL))
        return true;
    if (__builtin_add_overflow(b->n, more, &need) || !buf_grow(b, need)) {
        b->failed = true;
        return false;
    }
    return true;
}

bool buf_append(struct buf *b, const void *p, size_t n)
{
    if (!buf_reserve(b, n))
        return false;
    if (n != 0) {
        memcpy(b->p + b->n, p, n);
        b->n += n;
    }
    return true;
}

bool buf_str(struct buf *b, struct str s)
{
    return buf_append(b, s.p, s.n);
}

bool buf_char(struct buf *b, char c)
{
    return buf_append(b, &c, 1);
}

PRINTF_LIKE(2, 0) static int buf_vformat(struct buf *b, const char *fmt, va_list ap)
{
    return vsnprintf(b->p + b->n, b->room - b->n + 1, fmt, ap);
}

bool buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    if (!buf_reserve(b, 0))
        return false;
    va_start(ap, fmt);
    int n = buf_vformat(b, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return false;
    }
    if ((size_t)n > b->room - b->n) {
        if (!buf_reserve(b, (size_t)n))
            return false;
        va_start(ap, fmt);
        n = buf_vformat(b, fmt, ap);
        va_end(ap);
    }
    b->n += (size_t)n;
    return true;
}

void buf_consume(struct buf *b, size_t n)
{
    CHECK(n <= b->n);
    b->n -= n;
    if (n != 0 && b->n != 0)
        memmove(b->p, b->p + n, b->n);
}

void wbuf_dec(struct wbuf *w, uint64_t v)
{
    char digits[NUM_DEC_MAX];

    wbuf_str(w, (struct str){digits, num_put(digits, v)});
}

static void wbuf_fail(struct wbuf *w)
{
    w->overflow = true;
    w->end = w->at;
}

void wbuf_printf(struct wbuf *w, const char *fmt, ...)
{
    size_t room = (size_t)(w->end - w->at);
    va_list ap;

    va_start(ap, fmt);
    int n = room == 0 ? vsnprintf(NULL, 0, fmt, ap) : vsnprintf(w->at, room, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n > room) {
        wbuf_fail(w);
    } else if ((size_t)n < room || n == 0) {
        w->at += n;
    } else {
        /* It fits to the byte, but the NUL took the last one's place. */
        char *whole;
        va_start(ap, fmt);
        int again = vasprintf(&whole, fmt, ap);
        va_end(ap);
        if (again != n) {
            if (again >= 0)
                free(whole);
            wbuf_fail(w);
            return;
        }
        wbuf_str(w, (struct str){whole, (size_t)n});
        free(whole);
    }
}
