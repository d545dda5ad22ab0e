/* SPDX-License-Identifier: BSD-2-Clause */
/* Listings for programs: JSON, JSONP and XML with the members and elements of nginx. */
#include "autoindex_view.h"
#include "proto/date.h"
#include "proto/escape.h"

static struct str name_of(const struct list_entry *e)
{
    return str_make(e->name, e->n);
}

static struct str type_of(const struct list_entry *e)
{
    switch ((enum list_type)e->type) {
    case LIST_DIR: return STR("directory");
    case LIST_FILE: return STR("file");
    case LIST_OTHER: break;
    }
    return STR("other");
}

static size_t data_size(const struct view *v)
{
    return 512 + v->callback.n;
}

/* ---- JSON ---- */

static void json_head(const struct view *v, struct wbuf *w)
{
    (void)v;
    wbuf_str(w, STR("[\n"));
}

static void json_entry(const struct view *v, const struct list_entry *e, bool last, struct wbuf *w)
{
    char date[DATE_LEN];
    (void)v;
    wbuf_str(w, STR("{ \"name\":\""));
    escape_json(w, name_of(e));
    wbuf_str(w, STR("\", \"type\":\""));
    wbuf_str(w, type_of(e));
    wbuf_str(w, STR("\", \"mtime\":\""));
    date_write(date, e->mtime);
    wbuf_str(w, str_make(date, DATE_LEN));
    wbuf_char(w, '"');
    if (e->type == LIST_FILE) {
        wbuf_str(w, STR(", \"size\":"));
        wbuf_dec(w, e->size);
    }
    wbuf_str(w, last ? STR(" }\n") : STR(" },\n"));
}

static void json_tail(const struct view *v, struct wbuf *w)
{
    (void)v;
    wbuf_str(w, STR("]\n"));
}

/* The comment in front keeps what follows from being read as anything but a script. */
static void jsonp_head(const struct view *v, struct wbuf *w)
{
    wbuf_str(w, STR("/* callback */\n"));
    wbuf_str(w, v->callback);
    wbuf_str(w, STR("([\n"));
}

static void jsonp_tail(const struct view *v, struct wbuf *w)
{
    (void)v;
    wbuf_str(w, STR("]);\n"));
}

const struct view_format view_json = {
    STR_INIT("application/json"), data_size, json_head, json_entry, json_tail};
const struct view_format view_jsonp = {
    STR_INIT("application/javascript"), data_size, jsonp_head, json_entry, jsonp_tail};

/* ---- XML ---- */

static void xml_head(const struct view *v, struct wbuf *w)
{
    (void)v;
    wbuf_str(w, STR("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<list>\n"));
}

static void xml_entry(const struct view *v, const struct list_entry *e, bool last, struct wbuf *w)
{
    struct date_civil c = date_civil(e->mtime);
    (void)v;
    (void)last;
    wbuf_char(w, '<');
    wbuf_str(w, type_of(e));
    wbuf_printf(w, " mtime=\"%04d-%02d-%02dT%02d:%02d:%02dZ\"", c.year, c.month, c.day, c.hour,
                c.minute, c.second);
    if (e->type == LIST_FILE) {
        wbuf_str(w, STR(" size=\""));
        wbuf_dec(w, e->size);
        wbuf_char(w, '"');
    }
    wbuf_char(w, '>');
    escape_xml(w, name_of(e));
    wbuf_str(w, STR("</"));
    wbuf_str(w, type_of(e));
    wbuf_str(w, STR(">\n"));
}

static void xml_tail(const struct view *v, struct wbuf *w)
{
    if (v->cut)
        wbuf_printf(w, "<!-- cut: only the first %zu names that the directory gave -->\n",
                    v->list->n);
    wbuf_str(w, STR("</list>\n"));
}

const struct view_format view_xml = {
    STR_INIT("text/xml"), data_size, xml_head, xml_entry, xml_tail};
