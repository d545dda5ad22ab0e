/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct buf: owned bytes on the heap that grow up to a limit.
 * struct wbuf: a writer into somebody else's fixed memory; running out sets a sticky flag and
 * writes nothing more, so no two passes (measure, then copy) are ever needed.
 */
#ifndef SLUICE_CORE_BUF_H
#define SLUICE_CORE_BUF_H

#include "core/check.h"
#include "core/str.h"

struct buf {
    char *p;
    size_t n, room, limit;  /* bytes held, bytes allocated, most that may be held (0: no limit) */
    bool failed;            /* sticky: an append did not fit or memory ran out */
};

void buf_init(struct buf *b, size_t limit);
void buf_fini(struct buf *b);                       /* frees; the buf is empty and usable again */
bool buf_reserve(struct buf *b, size_t more);       /* room for `more` bytes behind n */
bool buf_append(struct buf *b, const void *p, size_t n);
bool buf_str(struct buf *b, struct str s);
bool buf_char(struct buf *b, char c);
bool buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_consume(struct buf *b, size_t n);          /* drops n bytes at the front */

static inline struct str buf_view(const struct buf *b)
{
    return (struct str){b->p, b->n};
}

struct wbuf {
    char *at, *end;
    bool overflow;
};

static inline struct wbuf wbuf_make(void *mem, size_t n)
{
    return (struct wbuf){(char *)mem, (char *)mem + n, false};
}

static inline void wbuf_str(struct wbuf *w, struct str s)
{
    if (UNLIKELY((size_t)(w->end - w->at) < s.n)) {
        w->overflow = true;
        w->end = w->at;
        return;
    }
    if (s.n != 0) {
        memcpy(w->at, s.p, s.n);
        w->at += s.n;
    }
}

static inline void wbuf_char(struct wbuf *w, char c)
{
    wbuf_str(w, (struct str){&c, 1});
}

void wbuf_dec(struct wbuf *w, uint64_t v);
void wbuf_printf(struct wbuf *w, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
