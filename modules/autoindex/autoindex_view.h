/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A listing as text, made piece by piece while it is sent: a head, one piece per entry, a tail.
 * One more format is one more struct view_format.
 */
#ifndef AUTOINDEX_VIEW_H
#define AUTOINDEX_VIEW_H

#include "autoindex_list.h"
#include "core/buf.h"

enum autoindex_format { AUTOINDEX_HTML, AUTOINDEX_JSON, AUTOINDEX_JSONP, AUTOINDEX_XML };

struct view;

struct view_format {
    struct str media_type;
    /* Each writes its piece; w has room for what size() says, or for VIEW_ENTRY_MAX bytes. */
    size_t (*size)(const struct view *v); /* of head and tail, at most */
    void (*head)(const struct view *v, struct wbuf *w);
    void (*entry)(const struct view *v, const struct list_entry *e, bool last, struct wbuf *w);
    void (*tail)(const struct view *v, struct wbuf *w);
};
extern const struct view_format view_html, view_json, view_jsonp, view_xml;

/* A name of n bytes: percent-encoded and then escaped, as text, as a title; and what is around. */
#define VIEW_ENTRY_MAX(n) ((n) * 18 + 512)

struct view {
    const struct view_format *format;
    const struct name_list *list;
    struct list_order order;
    struct str path;        /* as the client sees it; begins and ends with '/' */
    struct str base;        /* links are relative to this path; empty: to the client's own */
    struct str callback;    /* jsonp */
    bool exact_size, localtime;
    bool cut;               /* the directory has more names than the list */
    /* view.c's: */
    uint8_t stage;
    size_t next;            /* entry */
    struct buf piece;       /* being given out from piece_at on */
    size_t piece_at;
};

/* The format; without a callback there is only json. */
const struct view_format *view_format(enum autoindex_format format, struct str callback);

enum view_more { VIEW_MORE, VIEW_END, VIEW_NOMEM };
/* Fills the rest of w; END: that was all. */
enum view_more view_write(struct view *v, struct wbuf *w);
void view_fini(struct view *v);

/* 1.5 KiB and the like; at most 11 bytes. */
void view_human_size(struct wbuf *w, uint64_t size);
/* "2026-11-30 21:52", UTC or local. */
void view_time(struct wbuf *w, int64_t t, bool local);

#endif
