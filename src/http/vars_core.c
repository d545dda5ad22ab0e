/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables that every request knows.  Values are views of what the request holds anyway, or
 * small texts in its memory; what is not there is "not found" rather than empty, so that a log can
 * tell the difference.
 */
#include "http/vars_core.h"

#include "core/num.h"
#include "core/rand.h"
#include "http/http.h"
#include "http/request.h"
#include "proto/basic.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GETTER(name) \
    static bool name(struct request *r, const struct var *v, struct str arg, struct str *out)
#define UNUSED_ARG (void)v, (void)arg

bool var_number(struct request *r, uint64_t n, struct str *out)
{
    char *mem = arena_bytes(&r->mem, NUM_DEC_MAX);
    if (mem == NULL)
        return false;
    *out = str_make(mem, num_put(mem, n));
    return true;
}

bool var_printf(struct request *r, struct str *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *out = arena_vprintf(&r->mem, fmt, ap);
    va_end(ap);
    return out->p != NULL;
}

bool var_names_field(struct str field, struct str name)
{
    if (field.n != name.n)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = field.p[i] == '-' ? '_' : field.p[i];
        if (ascii_lower((unsigned char)c) != ascii_lower((unsigned char)name.p[i]))
            return false;
    }
    return true;
}

/* ---- the request as it came ---- */

/* A field of struct request that is a struct str; v->data is its offset. Empty: not found. */
#define TEXT_FIELD(field) .get = get_text, .data = (const void *)offsetof(struct request, field)
GETTER(get_text)
{
    (void)arg;
    memcpy(out, (const char *)r + (uintptr_t)v->data, sizeof(*out));
    return out->p != NULL;
}

GETTER(get_args)
{
    UNUSED_ARG;
    *out = r->args.p != NULL ? r->args : STR("");
    return true;
}

GETTER(get_is_args)
{
    UNUSED_ARG;
    *out = r->args.n != 0 ? STR("?") : STR("");
    return true;
}

/* "name=value" among the arguments; names without case, the value as it was sent. */
GETTER(get_arg)
{
    struct str rest = r->args, one;
    (void)v;
    while (rest.n != 0 && str_split(&rest, '&', &one)) {
        if (one.n <= arg.n || one.p[arg.n] != '=' || !str_starts_nocase(one, arg))
            continue;
        *out = str_skip(one, arg.n + 1);
        return true;
    }
    return false;
}

GETTER(get_cookie)
{
    (void)v;
    for (size_t i = 0; i < r->field_count; i++) {
        if (r->fields[i].id != FIELD_COOKIE)
            continue;
        struct str rest = r->fields[i].value, one;
        while (rest.n != 0 && str_split(&rest, ';', &one)) {
            one = str_trim(one);
            if (one.n <= arg.n || one.p[arg.n] != '=' || !str_starts_nocase(one, arg))
                continue;
            *out = str_skip(one, arg.n + 1);
            return true;
        }
    }
    return false;
}

GETTER(get_http)
{
    bool found = false;
    (void)v;
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        if (!var_names_field(f->name, arg))
            continue;
        struct str parts[] = {*out, f->id == FIELD_COOKIE ? STR("; ") : STR(", "), f->value};
        *out = found ? arena_cat(&r->mem, parts, ARRAY_LEN(parts)) : f->value;
        found = true;
    }
    return found;
}

/* v->data is a number of enum field_id. */
#define FIELD_VALUE(id) .get = get_field, .data = (const void *)(uintptr_t)(id)
GETTER(get_field)
{
    (void)arg;
    return request_field(r, (enum field_id)(uintptr_t)v->data, out);
}

GETTER(get_host)
{
    UNUSED_ARG;
    *out = r->host.n != 0 || r->vhost == NULL ? r->host : r->vhost->name;
    return out->p != NULL;
}

GETTER(get_method)
{
    UNUSED_ARG;
    *out = r->line.method_text;
    return out->n != 0;
}

/* Path and query as they were sent, without the authority of an absolute-form. */
GETTER(get_request_uri)
{
    UNUSED_ARG;
    *out = r->line.target;
    if (r->line.form != H1_FORM_ABSOLUTE || out->n == 0)
        return out->n != 0;
    struct str parts[] = {r->line.path, r->line.has_query ? STR("?") : STR(""), r->line.query};
    *out = arena_cat(&r->mem, parts, ARRAY_LEN(parts));
    return out->p != NULL;
}

GETTER(get_protocol)
{
    UNUSED_ARG;
    if (r->line.major == 0)
        return false;
    return var_printf(r, out, "HTTP/%u.%u", r->line.major, r->line.minor);
}

GETTER(get_request_length)
{
    UNUSED_ARG;
    return var_number(r, r->head_bytes + r->body_bytes, out);
}

/* The name in "Authorization: Basic ...", whether or not anybody has checked the password. */
GETTER(get_remote_user)
{
    UNUSED_ARG;
    struct str value;
    struct basic given;
    if (!request_field(r, FIELD_AUTHORIZATION, &value))
        return false;
    size_t room = BASIC_ROOM(value.n), used = 0;
    char *mem = arena_bytes(&r->mem, room);
    if (mem == NULL)
        return false;
    if (basic_parse(value, mem, &given) && given.user.n != 0) {
        *out = given.user;
        used = given.user.n;
    }
    explicit_bzero(mem + used, room - used); /* the password */
    return used != 0;
}

GETTER(get_request_id)
{
    UNUSED_ARG;
    if (r->id.n == 0) {
        uint64_t a = rand_u64(), b = rand_u64();
        if (!var_printf(r, &r->id, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b))
            return false;
    }
    *out = r->id;
    return true;
}

GETTER(get_request_port)
{
    UNUSED_ARG;
    return r->host_port > 0 && var_number(r, (uint64_t)r->host_port, out);
}

GETTER(get_pipe)
{
    UNUSED_ARG;
    *out = r->pipelined ? STR("p") : STR(".");
    return true;
}

/* ---- the connection ---- */

GETTER(get_connection)
{
    UNUSED_ARG;
    return var_number(r, r->conn->id, out);
}

GETTER(get_connection_requests)
{
    UNUSED_ARG;
    return var_number(r, r->conn->requests, out);
}

GETTER(get_remote_addr)
{
    UNUSED_ARG;
    const struct conn_peer *peer = request_peer(r);
    if (peer == NULL)
        return false;
    *out = arena_str(&r->mem, str_make(peer->text, peer->text_n));
    return out->p != NULL;
}

GETTER(get_binary_remote_addr)
{
    UNUSED_ARG;
    const struct conn_peer *peer = request_peer(r);
    if (peer == NULL)
        return false;
    struct str bytes = addr_ip_bytes(&peer->remote);
    *out = arena_str(&r->mem, bytes.n != 0 ? bytes : STR("unix:"));
    return out->p != NULL;
}

GETTER(get_server_addr)
{
    UNUSED_ARG;
    char text[ADDR_TEXT_MAX];
    const struct conn_peer *peer = conn_peer(r->conn);
    if (peer == NULL)
        return false;
    size_t n = addr_format_ip(&peer->local, text);
    *out = arena_str(&r->mem, str_make(text, n));
    return out->p != NULL;
}

static bool port(struct request *r, const struct addr *a, struct str *out)
{
    return addr_port(a) != 0 && var_number(r, addr_port(a), out);
}

GETTER(get_remote_port)
{
    UNUSED_ARG;
    const struct conn_peer *peer = request_peer(r);
    return peer != NULL && port(r, &peer->remote, out);
}

GETTER(get_server_port)
{
    UNUSED_ARG;
    const struct conn_peer *peer = conn_peer(r->conn);
    return peer != NULL && port(r, &peer->local, out);
}

static bool secure(const struct request *r)
{
    return r->conn->listener != NULL && r->conn->listener->ssl;
}

GETTER(get_https)
{
    UNUSED_ARG;
    *out = secure(r) ? STR("on") : STR("");
    return true;
}

GETTER(get_limit_rate)
{
    UNUSED_ARG;
    static bool busy; /* it may be made of itself, by way of a map */
    if (busy)
        return false;
    busy = true;
    uint64_t rate = rate_of(r);
    busy = false;
    return var_number(r, rate, out);
}

GETTER(get_scheme)
{
    UNUSED_ARG;
    *out = secure(r) ? STR("https") : STR("http");
    return true;
}

/* ---- where it is served ---- */

GETTER(get_server_name)
{
    UNUSED_ARG;
    if (r->vhost == NULL)
        return false;
    *out = r->vhost->name;
    return true;
}

/* A root whose variables lead back to it (through a map) has no value rather than no end. */
static bool document_root(struct request *r, struct str *out)
{
    static bool busy;
    if (r->loc == NULL || busy)
        return false;
    busy = true;
    const struct http_conf *conf = r->loc->conf;
    if (conf->alias.text.n != 0)
        *out = conf->alias_path.n != 0 ? conf->alias_path : template_eval(&conf->alias_t, r);
    else
        *out = conf->root_path.n != 0 ? conf->root_path : template_eval(&conf->root_t, r);
    busy = false;
    return out->n != 0;
}

GETTER(get_document_root)
{
    UNUSED_ARG;
    return document_root(r, out);
}

GETTER(get_realpath_root)
{
    UNUSED_ARG;
    char resolved[PATH_MAX];
    struct str root;
    if (!document_root(r, &root))
        return false;
    const char *z = arena_strz(&r->mem, root);
    if (z == NULL || realpath(z, resolved) == NULL)
        return false;
    *out = arena_str(&r->mem, str_z(resolved));
    return out->p != NULL;
}

GETTER(get_request_filename)
{
    UNUSED_ARG;
    static bool busy;
    struct str root, below;
    if (r->loc == NULL || busy)
        return false;
    busy = true;
    bool good = request_file(r, r->uri, &root, &below);
    busy = false;
    if (!good)
        return false;
    struct str parts[] = {root, below};
    *out = arena_cat(&r->mem, parts, ARRAY_LEN(parts));
    return out->p != NULL;
}

/* ---- the answer ---- */

GETTER(get_status)
{
    UNUSED_ARG;
    return var_printf(r, out, "%03u", r->res.status);
}

GETTER(get_bytes_sent)
{
    UNUSED_ARG;
    return var_number(r, request_sent(r), out);
}

GETTER(get_body_bytes_sent)
{
    UNUSED_ARG;
    return var_number(r, request_body_sent(r), out);
}

GETTER(get_completion)
{
    UNUSED_ARG;
    *out = r->completed ? STR("OK") : STR("");
    return true;
}

/* ---- the process ---- */

GETTER(get_hostname)
{
    static char name[256];
    UNUSED_ARG;
    (void)r;
    if (name[0] == '\0' && gethostname(name, sizeof(name) - 1) != 0)
        return false;
    *out = str_z(name);
    return true;
}

GETTER(get_pid)
{
    UNUSED_ARG;
    return var_number(r, (uint64_t)getpid(), out);
}

const struct var core_vars[] = {
    {"arg_", true, .get = get_arg},
    {"args", .get = get_args},
    {"binary_remote_addr", .get = get_binary_remote_addr},
    {"body_bytes_sent", .get = get_body_bytes_sent},
    {"bytes_sent", .get = get_bytes_sent},
    {"connection", .get = get_connection},
    {"connection_requests", .get = get_connection_requests},
    {"connection_time", .get = var_connection_time},
    {"content_length", FIELD_VALUE(FIELD_CONTENT_LENGTH)},
    {"content_type", FIELD_VALUE(FIELD_CONTENT_TYPE)},
    {"cookie_", true, .get = get_cookie},
    {"document_root", .get = get_document_root},
    {"document_uri", TEXT_FIELD(uri), .decoded = true},
    {"host", .get = get_host},
    {"hostname", .constant = true, .get = get_hostname},
    {"http_", true, .get = get_http},
    {"https", .get = get_https},
    {"is_args", .get = get_is_args},
    {"limit_rate", .get = get_limit_rate},
    {"msec", .get = var_msec},
    {"pid", .constant = true, .get = get_pid},
    {"pipe", .get = get_pipe},
    {"proxy_protocol_addr", .get = var_proxied_addr},
    {"proxy_protocol_port", .get = var_proxied_port},
    {"proxy_protocol_server_addr", .get = var_proxied_addr, .data = ""},
    {"proxy_protocol_server_port", .get = var_proxied_port, .data = ""},
    {"query_string", .get = get_args},
    {"realpath_root", .get = get_realpath_root},
    {"remote_addr", .get = get_remote_addr},
    {"remote_port", .get = get_remote_port},
    {"remote_user", .get = get_remote_user},
    {"request", TEXT_FIELD(line_text)},
    {"request_completion", .get = get_completion},
    {"request_filename", .get = get_request_filename},
    {"request_id", .get = get_request_id},
    {"request_length", .get = get_request_length},
    {"request_method", .get = get_method},
    {"request_port", .get = get_request_port},
    {"request_time", .get = var_request_time},
    {"request_uri", .get = get_request_uri},
    {"scheme", .get = get_scheme},
    {"sent_http_", true, .get = var_sent_http},
    {"server_addr", .get = get_server_addr},
    {"server_name", .constant = true, .get = get_server_name},
    {"server_port", .get = get_server_port},
    {"server_protocol", .get = get_protocol},
    {"status", .get = get_status},
    {"time_iso8601", .get = var_time_iso8601},
    {"time_local", .get = var_time_local},
    {"uri", TEXT_FIELD(uri), .decoded = true},
    {.name = NULL},
};
