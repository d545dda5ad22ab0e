/* SPDX-License-Identifier: BSD-2-Clause */
/* Views: one piece after the other goes into whatever room there is; and numbers for people. */
#include "autoindex_view.h"

#include "proto/date.h"

#include <time.h>

enum { VIEW_HEAD, VIEW_ENTRIES, VIEW_TAIL, VIEW_DONE };

const struct view_format *view_format(enum autoindex_format format, struct str callback)
{
    switch (format) {
    case AUTOINDEX_HTML: return &view_html;
    case AUTOINDEX_JSONP: return callback.n > 0 ? &view_jsonp : &view_json;
    case AUTOINDEX_XML: return &view_xml;
    case AUTOINDEX_JSON: break;
    }
    return &view_json;
}

static bool piece_room(struct view *v, size_t n, struct wbuf *w)
{
    v->piece.n = 0;
    v->piece_at = 0;
    if (!buf_reserve(&v->piece, n))
        return false;
    *w = wbuf_make(v->piece.p, n);
    return true;
}

static bool next_piece(struct view *v)
{
    const struct name_list *l = v->list;
    const struct list_entry *e;
    struct wbuf w = {0};
    switch (v->stage) {
    case VIEW_HEAD:
        if (!piece_room(v, v->format->size(v), &w))
            return false;
        v->format->head(v, &w);
        v->stage = l->n > 0 ? VIEW_ENTRIES : VIEW_TAIL;
        break;
    case VIEW_ENTRIES:
        e = l->v[v->next++];
        if (!piece_room(v, VIEW_ENTRY_MAX(e->n), &w))
            return false;
        v->format->entry(v, e, v->next == l->n, &w);
        v->stage = v->next < l->n ? VIEW_ENTRIES : VIEW_TAIL;
        break;
    default:
        if (!piece_room(v, v->format->size(v), &w))
            return false;
        v->format->tail(v, &w);
        v->stage = VIEW_DONE;
        break;
    }
    CHECK(!w.overflow);
    v->piece.n = (size_t)(w.at - v->piece.p);
    return true;
}

enum view_more view_write(struct view *v, struct wbuf *w)
{
    for (;;) {
        size_t room = (size_t)(w->end - w->at);
        struct str rest = str_head(str_skip(buf_view(&v->piece), v->piece_at), room);
        wbuf_str(w, rest);
        v->piece_at += rest.n;
        if (v->piece_at < v->piece.n)
            return VIEW_MORE;
        if (v->stage == VIEW_DONE)
            return VIEW_END;
        if (!next_piece(v))
            return VIEW_NOMEM;
    }
}

void view_fini(struct view *v)
{
    buf_fini(&v->piece);
}

void view_human_size(struct wbuf *w, uint64_t size)
{
    static const char units[] = "KMGTPE";
    unsigned unit = 0;
    if (size < 1024) {
        wbuf_dec(w, size);
        wbuf_str(w, STR(" B"));
        return;
    }
    for (; size >= 1024 * 1024; unit++)
        size >>= 10;
    uint64_t tenths = (size * 10 + 512) >> 10;
    if (tenths >= 10240) { /* rounded up to the next unit */
        tenths = 10;
        unit++;
    }
    if (tenths < 100) {
        wbuf_dec(w, tenths / 10);
        wbuf_char(w, '.');
        wbuf_dec(w, tenths % 10);
    } else {
        wbuf_dec(w, (size + 512) >> 10);
    }
    wbuf_char(w, ' ');
    wbuf_char(w, units[unit]);
    wbuf_str(w, STR("iB"));
}

void view_time(struct wbuf *w, int64_t t, bool local)
{
    struct date_civil c = date_civil(t);
    time_t seconds = (time_t)t;
    struct tm tm;
    if (local && localtime_r(&seconds, &tm) != NULL && tm.tm_year > -1900 && tm.tm_year < 8100)
        c = (struct date_civil){.year = tm.tm_year + 1900, .month = tm.tm_mon + 1,
                                .day = tm.tm_mday, .hour = tm.tm_hour, .minute = tm.tm_min};
    wbuf_printf(w, "%04d-%02d-%02d %02d:%02d", c.year, c.month, c.day, c.hour, c.minute);
}
