/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page.  It needs nothing but itself: no script, no other resource, and without its style (a
 * Content-Security-Policy may refuse that) it is a plain table.  Names are whole in the document;
 * where they do not fit it is the style that cuts them, or wraps them on a narrow screen.
 */
#include "autoindex_view.h"
#include "proto/escape.h"
#include "proto/uri.h"

/* Parts of the path that are links of their own; a deeper path is text up to there. */
#define CRUMBS_MAX 32
#define LONG_NAME 60 /* bytes from which on a name is in the row's title too */

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1d2126;--dim:#626b75;--link:#0b57b4;"
    "--line:#dde2e7;--over:#f2f6fa;--dir:#82abdc}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e2e6ea;--dim:#98a2ac;"
    "--link:#8abaff;--line:#2f363d;--over:#1e242a;--dir:#5b88bf}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:64rem;padding:2rem 1.25rem 3rem;background:var(--bg);"
    "color:var(--fg);font:1rem/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\n"
    "h1{margin:0 0 1.25rem;font-size:1.375rem;font-weight:600;line-height:1.3;"
    "overflow-wrap:anywhere}\n"
    "a{color:var(--link);text-decoration:none}\n"
    "a:hover,a:focus-visible{text-decoration:underline}\n"
    "table{width:100%;table-layout:fixed;border-collapse:collapse}\n"
    "th,td{padding:.375rem .5rem;text-align:left;border-bottom:1px solid var(--line);"
    "white-space:nowrap}\n"
    "th{font-size:.875rem;font-weight:600;color:var(--dim)}\n"
    "th a{color:inherit}\n"
    "th[aria-sort=ascending] a::after{content:' \\2191'}\n"
    "th[aria-sort=descending] a::after{content:' \\2193'}\n"
    "td{color:var(--dim);font-size:.9375rem;font-variant-numeric:tabular-nums}\n"
    ".t{width:11rem}\n"
    ".s{width:9rem}\n"
    ".s,td:nth-child(3){text-align:right}\n"
    "tbody tr:hover{background:var(--over)}\n"
    "td:first-child{font-size:1rem}\n"
    "td:first-child>*{display:block;position:relative;padding-left:1.75rem;white-space:pre;"
    "overflow:hidden;text-overflow:ellipsis;unicode-bidi:isolate}\n"
    "td:first-child>*::before{content:'';position:absolute;left:.1875rem;top:.25em;width:.8125rem;"
    "height:1rem;border:1px solid var(--dim);border-radius:2px}\n"
    ".d td:first-child>*::before{left:0;top:.3em;width:1.1875rem;height:.9375rem;border:0;"
    "background:linear-gradient(var(--dir),var(--dir)) 0 0/55% 50% no-repeat,"
    "linear-gradient(var(--dir),var(--dir)) 0 100%/100% 82% no-repeat}\n"
    "td:first-child>span::before{border-style:dashed}\n"
    ".u td:first-child>*::before{content:'\\2191';left:.25rem;top:0;background:none;"
    "color:var(--dim)}\n"
    "p{margin:1rem .5rem 0;color:var(--dim);font-size:.875rem}\n"
    "p strong{color:var(--fg)}\n"
    "@media(max-width:40rem){body{padding:1.25rem .75rem 2rem}table,thead,tbody{display:block}"
    "tr{display:grid;grid-template-columns:1fr auto;border-bottom:1px solid var(--line)}"
    "th,td{border:0;padding:.125rem .25rem}thead tr{grid-template-columns:1fr auto auto}"
    "td{font-size:.8125rem;padding-bottom:.5rem}td:nth-child(2){padding-left:2rem}"
    "td:first-child{grid-column:1/-1;padding:.5rem .25rem 0}"
    "td:first-child>*{white-space:pre-wrap;overflow-wrap:anywhere}"
    ".t,.s{width:auto;padding-left:1rem}.u td:first-child{padding-bottom:.5rem}"
    ".u td:nth-child(n+2){display:none}}\n";

static size_t html_size(const struct view *v)
{
    size_t n = v->path.n;
    /* the path as title and heading, links up to its parts, itself as base */
    return sizeof(style) + 4096 + 2 * ESCAPE_MAX(n) + ESCAPE_MAX(URI_ENCODED_MAX(v->base.n)) +
           CRUMBS_MAX * (3 * CRUMBS_MAX + 32);
}

/* A segment of a path, for an attribute. */
static void write_encoded(struct wbuf *w, struct str segment)
{
    char mem[URI_ENCODED_MAX(256)];
    for (; segment.n > 0; segment = str_skip(segment, 256)) {
        struct wbuf encoded = wbuf_make(mem, sizeof(mem));
        uri_encode_path(&encoded, str_head(segment, 256));
        escape_html(w, str_between(mem, encoded.at));
    }
}

static void write_link(struct wbuf *w, struct str name)
{
    if (str_chr(name, ':') >= 0) /* not a scheme */
        wbuf_str(w, STR("./"));
    write_encoded(w, name);
}

static void write_base(struct wbuf *w, struct str path)
{
    struct str segment;
    wbuf_str(w, STR("<base href=\""));
    while (path.n > 1 && path.p[1] == '/') /* not a host */
        path = str_skip(path, 1);
    path = str_skip(path, 1);
    while (str_split(&path, '/', &segment)) {
        wbuf_char(w, '/');
        write_encoded(w, segment);
    }
    wbuf_str(w, STR("\">\n"));
}

/* "Index of /a/b/": each part but the last a link to it, by as many "../" as that takes. */
static void write_crumbs(const struct view *v, struct wbuf *w)
{
    size_t parts = 0;
    for (size_t i = 0; i < v->path.n; i++)
        parts += v->path.p[i] == '/';
    struct str rest = v->path;
    for (; parts > 1; parts--) {
        size_t n = (size_t)str_chr(rest, '/') + 1;
        bool link = parts <= CRUMBS_MAX;
        if (link) {
            wbuf_str(w, STR("<a href=\""));
            for (size_t up = 1; up < parts; up++)
                wbuf_str(w, STR("../"));
            wbuf_str(w, STR("\">"));
        }
        escape_html_name(w, str_head(rest, n));
        if (link)
            wbuf_str(w, STR("</a>"));
        rest = str_skip(rest, n);
    }
    escape_html_name(w, rest);
}

/* A column's head; its link sorts by it, and the other way round if that is the order already. */
static void write_column(const struct view *v, struct wbuf *w, enum list_key key,
                         const char *class, const char *title)
{
    bool current = v->order.key == key;
    bool down = current && !v->order.descending;
    wbuf_printf(w, "<th scope=\"col\"%s%s><a rel=\"nofollow\" href=\"?C=%c&amp;O=%c\">%s</a></th>",
                class, !current ? "" : down ? " aria-sort=\"ascending\""
                                            : " aria-sort=\"descending\"",
                "NMS"[key], down ? 'D' : 'A', title);
}

static void html_head(const struct view *v, struct wbuf *w)
{
    wbuf_str(w, STR("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"));
    if (v->base.n > 0)
        write_base(w, v->base);
    wbuf_str(w, STR("<title>Index of "));
    escape_html_name(w, v->path);
    wbuf_str(w, STR("</title>\n<style>\n"));
    wbuf_str(w, str_make(style, sizeof(style) - 1));
    wbuf_str(w, STR("</style>\n</head>\n<body>\n<h1>Index of "));
    write_crumbs(v, w);
    wbuf_str(w, STR("</h1>\n<table>\n<thead>\n<tr>"));
    write_column(v, w, LIST_NAME, "", "Name");
    write_column(v, w, LIST_TIME, " class=\"t\"", v->localtime ? "Modified" : "Modified (UTC)");
    write_column(v, w, LIST_SIZE, " class=\"s\"", "Size");
    wbuf_str(w, STR("</tr>\n</thead>\n<tbody>\n"));
    if (v->path.n > 1)
        wbuf_str(w, STR("<tr class=\"d u\"><td><a href=\"../\">../</a></td><td></td><td></td>"
                        "</tr>\n"));
}

static void html_entry(const struct view *v, const struct list_entry *e, bool last, struct wbuf *w)
{
    struct str name = str_make(e->name, e->n);
    bool link = e->type != LIST_OTHER;
    (void)last;
    wbuf_str(w, e->type == LIST_DIR ? STR("<tr class=\"d\"><td>") : STR("<tr><td>"));
    wbuf_str(w, link ? STR("<a href=\"") : STR("<span"));
    if (link) {
        write_link(w, name);
        wbuf_str(w, e->type == LIST_DIR ? STR("/\"") : STR("\""));
    }
    if (name.n > LONG_NAME) {
        wbuf_str(w, STR(" title=\""));
        escape_html_name(w, name);
        wbuf_char(w, '"');
    }
    wbuf_char(w, '>');
    escape_html_name(w, name);
    if (e->type == LIST_DIR)
        wbuf_char(w, '/');
    wbuf_str(w, link ? STR("</a></td><td>") : STR("</span></td><td>"));
    view_time(w, e->mtime, v->localtime);
    wbuf_str(w, STR("</td><td>"));
    if (e->type != LIST_FILE)
        wbuf_char(w, '-');
    else if (v->exact_size)
        wbuf_dec(w, e->size);
    else
        view_human_size(w, e->size);
    wbuf_str(w, STR("</td></tr>\n"));
}

static void count(struct wbuf *w, size_t n, const char *one, const char *many)
{
    wbuf_printf(w, "%zu %s", n, n == 1 ? one : many);
}

static void html_tail(const struct view *v, struct wbuf *w)
{
    const struct name_list *l = v->list;
    wbuf_str(w, STR("</tbody>\n</table>\n<p>"));
    count(w, l->dirs, "directory", "directories");
    wbuf_str(w, STR(", "));
    count(w, l->n - l->dirs - l->others, "file", "files");
    if (l->others > 0)
        wbuf_printf(w, ", %zu other", l->others);
    wbuf_str(w, STR("</p>\n"));
    if (v->cut)
        wbuf_printf(w, "<p><strong>This list is not complete: the directory has more names than "
                       "the %zu here.</strong></p>\n", l->n);
    wbuf_str(w, STR("</body>\n</html>\n"));
}

const struct view_format view_html = {
    STR_INIT("text/html"), html_size, html_head, html_entry, html_tail};
