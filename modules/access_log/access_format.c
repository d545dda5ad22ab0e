/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats.  The variables that stand in nearly every line have writers of their own: numbers need
 * no memory, and fields are found by their number.  All others are asked for their value.
 */
#include "access_format.h"

#include "http/http.h"
#include "http/request.h"
#include "proto/escape.h"

struct access_part {
    struct str literal;      /* neither of the following: this */
    struct var_ref var;
    void (*write)(const struct access_format *f, struct request *r, struct wbuf *w);
};

const struct access_builtin access_builtins[] = {
    {"combined", "$remote_addr - $remote_user [$time_local] \"$request\" $status "
                 "$body_bytes_sent \"$http_referer\" \"$http_user_agent\""},
    {"json", "escape=json{\"time\":\"$time_iso8601\",\"remote_addr\":\"$remote_addr\","
             "\"request_method\":\"$request_method\",\"request_uri\":\"$request_uri\","
             "\"protocol\":\"$server_protocol\",\"status\":$status,"
             "\"body_bytes_sent\":$body_bytes_sent,\"request_time\":$request_time,"
             "\"http_referer\":\"$http_referer\",\"http_user_agent\":\"$http_user_agent\","
             "\"host\":\"$host\"}"},
    {NULL, NULL},
};

/* ---- writers ---- */

#define WRITER(name) \
    static void name(const struct access_format *f, struct request *r, struct wbuf *w)

static void write_value(const struct access_format *f, struct wbuf *w, struct str value)
{
    if (f->escape == TEMPLATE_LOG)
        escape_log(w, value);
    else if (f->escape == TEMPLATE_JSON)
        escape_json(w, value);
    else
        wbuf_str(w, value);
}

static void write_field(const struct access_format *f, struct request *r, struct wbuf *w,
                        enum field_id id)
{
    struct str value;
    if (request_field(r, id, &value))
        write_value(f, w, value);
    else
        wbuf_str(w, f->absent);
}

WRITER(write_referer)
{
    write_field(f, r, w, FIELD_REFERER);
}

WRITER(write_user_agent)
{
    write_field(f, r, w, FIELD_USER_AGENT);
}

/* A request that could not be read may have no line at all. */
WRITER(write_request)
{
    if (r->line_text.n != 0)
        write_value(f, w, r->line_text);
    else
        wbuf_str(w, f->absent);
}

WRITER(write_status)
{
    (void)f;
    wbuf_dec(w, r->res.status);
}

WRITER(write_body_bytes)
{
    (void)f;
    wbuf_dec(w, request_body_sent(r));
}

WRITER(write_bytes)
{
    (void)f;
    wbuf_dec(w, request_sent(r));
}

WRITER(write_protocol)
{
    if (r->line.major == 0) {
        wbuf_str(w, f->absent);
        return;
    }
    wbuf_str(w, STR("HTTP/"));
    wbuf_dec(w, r->line.major);
    wbuf_char(w, '.');
    wbuf_dec(w, r->line.minor);
}

/* Seconds with three digits behind the point. */
WRITER(write_request_time)
{
    uint64_t now = r->worker->loop->now_ms;
    uint64_t ms = now > r->start_ms ? now - r->start_ms : 0;
    unsigned rest = (unsigned)(ms % 1000);
    (void)f;
    wbuf_dec(w, ms / 1000);
    wbuf_char(w, '.');
    wbuf_char(w, (char)('0' + rest / 100));
    wbuf_char(w, (char)('0' + rest / 10 % 10));
    wbuf_char(w, (char)('0' + rest % 10));
}

static const struct {
    const char *name;
    void (*write)(const struct access_format *f, struct request *r, struct wbuf *w);
} writers[] = {
    {"body_bytes_sent", write_body_bytes},
    {"bytes_sent", write_bytes},
    {"http_referer", write_referer},
    {"http_user_agent", write_user_agent},
    {"request", write_request},
    {"request_time", write_request_time},
    {"server_protocol", write_protocol},
    {"status", write_status},
};

/* ---- compiling ---- */

static bool is_var(const struct var_ref *ref, const char *name)
{
    struct str first = str_z(ref->var->name), whole = str_z(name);
    return str_starts(whole, first) && str_eq(str_skip(whole, first.n), ref->arg);
}

static void take_part(struct access_part *to, const struct template_part *from)
{
    to->literal = from->literal;
    to->var = from->var;
    for (size_t i = 0; from->var.var != NULL && i < ARRAY_LEN(writers); i++)
        if (is_var(&from->var, writers[i].name))
            to->write = writers[i].write;
}

/* Takes "escape=json" off the front of *text; false when there is another word. */
static bool take_escape(struct access_format *f, struct str *text)
{
    static const struct {
        struct str word;
        enum template_escape escape;
        struct str absent;
    } words[] = {
        {STR_INIT("escape=default"), TEMPLATE_LOG, STR_INIT("-")},
        {STR_INIT("escape=json"), TEMPLATE_JSON, STR_INIT("")},
        {STR_INIT("escape=none"), TEMPLATE_PLAIN, STR_INIT("")},
    };
    f->escape = TEMPLATE_LOG;
    f->absent = STR("-");
    if (!str_starts(*text, STR("escape=")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!str_starts(*text, words[i].word))
            continue;
        f->escape = words[i].escape;
        f->absent = words[i].absent;
        *text = str_skip(*text, words[i].word.n);
        while (text->n != 0 && text->p[0] == ' ')
            *text = str_skip(*text, 1);
        return true;
    }
    return false;
}

struct access_format *access_format_compile(struct cycle_http *cy, struct pos pos, struct str path,
                                            struct str text)
{
    struct template t;
    struct access_format *f = ARENA_NEW(cy->arena, struct access_format);
    if (f == NULL)
        return NULL;
    if (!take_escape(f, &text)) {
        diag_error(cy->diag, pos, path,
                   "expected escape=default, escape=json or escape=none in front of the format");
        return NULL;
    }
    if (!template_compile(&t, &cy->vars, cy->arena, cy->diag, pos, path, text))
        return NULL;
    f->parts = arena_array(cy->arena, t.count, sizeof(*f->parts));
    if (f->parts == NULL)
        return NULL;
    f->count = t.count;
    for (size_t i = 0; i < t.count; i++)
        take_part(&f->parts[i], &t.parts[i]);
    return f;
}

void access_format_write(const struct access_format *f, struct request *r, struct wbuf *w)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct access_part *p = &f->parts[i];
        struct str value;
        if (p->write != NULL)
            p->write(f, r, w);
        else if (p->var.var == NULL)
            wbuf_str(w, p->literal);
        else if (var_value(r, &p->var, &value))
            write_value(f, w, value);
        else
            wbuf_str(w, f->absent);
    }
}
