/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running rows: one fresh connection per row, the answers judged by the row's columns, and what
 * the row says of the connection checked by using it (KEEPS) or by watching it end (CLOSES).
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
/* behind the headers it needs */
#include <cmocka.h>

#define END_MS 3000

__attribute__((format(printf, 3, 4))) static bool miss(char *why, size_t room, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, room, fmt, ap);
    va_end(ap);
    return false;
}

/* One "Name: value" of `has`: any line of that name may match. */
static bool check_has(const struct reply *r, const char *line, size_t n, char *why, size_t room)
{
    const char *colon = memchr(line, ':', n);
    size_t name = (size_t)(colon - line);
    const char *value = colon + 1 + strspn(colon + 1, " ");
    size_t len = n - (size_t)(value - line);
    bool prefix = len > 0 && value[len - 1] == '*';
    const char *seen = NULL;
    for (size_t i = 0; i < r->fields; i++) {
        if (strlen(r->field[i].name) != name || strncasecmp(r->field[i].name, line, name) != 0)
            continue;
        seen = r->field[i].value;
        if (prefix ? strncmp(seen, value, len - 1) == 0
                   : strlen(seen) == len && strncmp(seen, value, len) == 0)
            return true;
    }
    return miss(why, room, "wanted %.*s, got %s", (int)n, line, seen != NULL ? seen : "none");
}

static bool check_fields(const struct reply *r, const struct row *row, char *why, size_t room)
{
    for (const char *p = row->has; p != NULL && *p != '\0';) {
        size_t n = strcspn(p, "\n");
        if (!check_has(r, p, n, why, room))
            return false;
        p += n + (p[n] == '\n');
    }
    for (const char *p = row->lacks; p != NULL && *p != '\0';) {
        char name[64];
        size_t n = strcspn(p, "\n");
        snprintf(name, sizeof(name), "%.*s", (int)n, p);
        if (reply_field(r, name) != NULL)
            return miss(why, room, "unwanted %s: %s", name, reply_field(r, name));
        p += n + (p[n] == '\n');
    }
    return true;
}

static bool check_body(const struct reply *r, const struct row *row, char *why, size_t room)
{
    if (row->body != NULL && (strlen(row->body) != r->body_n || strcmp(row->body, r->body) != 0))
        return miss(why, room, "body of %zu bytes \"%.60s\", wanted \"%.60s\"", r->body_n, r->body,
                    row->body);
    if (row->body_has != NULL && strstr(r->body, row->body_has) == NULL)
        return miss(why, room, "no \"%s\" in the body \"%.80s\"", row->body_has, r->body);
    if (row->body_lacks != NULL && strstr(r->body, row->body_lacks) != NULL)
        return miss(why, room, "\"%s\" in the body", row->body_lacks);
    if ((row->flags & EMPTY) != 0 && r->body_n > 0)
        return miss(why, room, "a body of %zu bytes", r->body_n);
    return true;
}

static bool check_reply(const struct reply *r, const struct row *row, char *why, size_t room)
{
    if (r->status != row->status && (row->or_status == 0 || r->status != row->or_status))
        return miss(why, room, "status %d, wanted %d", r->status, row->status);
    if (r->minor != 1)
        return miss(why, room, "answered as HTTP/1.%d", r->minor);
    if (row->then[0] == 0 && (row->flags & CLOSES) != 0 && r->keeps)
        return miss(why, room, "%d does not say Connection: close", r->status);
    if ((row->flags & KEEPS) != 0 && !r->keeps)
        return miss(why, room, "%d says the connection closes", r->status);
    return check_fields(r, row, why, room) && check_body(r, row, why, room);
}

static bool check_end(struct client *c, const struct row *row, char *why, size_t room)
{
    if (client_ends(c, END_MS))
        return true;
    if (c->n > 0)
        return miss(why, room, "%zu bytes behind the answer: \"%.60s\"", c->n, c->in);
    if (c->reset && (row->flags & RESET_OK) != 0)
        return true;
    return miss(why, room, "%s", c->reset ? "reset instead of an end" : "stays open");
}

static bool check_probe(const struct server *s, struct client *c, char *why, size_t room)
{
    struct reply r;
    char request[600];
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", s->probe);
    client_sendz(c, request);
    bool ok = reply_read(c, &r, false, CLIENT_PATIENCE);
    if (!ok)
        miss(why, room, "the next request on the connection: %s", r.err);
    else if (r.status != 200 || strcmp(r.body, "probe\n") != 0)
        ok = miss(why, room, "the next request on the connection got %d \"%.40s\"", r.status,
                  r.body);
    else if (c->n > 0)
        ok = miss(why, room, "%zu bytes too many: \"%.40s\"", c->n, c->in);
    reply_free(&r);
    return ok;
}

static bool read_rest(struct client *c, const struct row *row, char *why, size_t room)
{
    for (size_t i = 0; i < sizeof(row->then) / sizeof(row->then[0]) && row->then[i] != 0; i++) {
        struct reply r;
        bool ok = reply_read(c, &r, false, CLIENT_PATIENCE);
        if (!ok)
            miss(why, room, "answer %zu: %s", i + 2, r.err);
        else if (r.status != row->then[i])
            ok = miss(why, room, "answer %zu: status %d, wanted %d", i + 2, r.status, row->then[i]);
        reply_free(&r);
        if (!ok)
            return false;
    }
    return true;
}

static bool exchange(const struct server *s, struct client *c, const struct row *row, char *why,
                     size_t room)
{
    struct reply r;
    size_t n = row->n > 0 ? row->n : strlen(row->send);
    if ((row->flags & BYTEWISE) != 0)
        client_send_bytes(c, row->send, n);
    else
        client_send(c, row->send, n);
    if ((row->flags & HALF_CLOSE) != 0)
        client_half_close(c);
    if (row->status == 0)
        return check_end(c, row, why, room);
    bool ok = reply_read(c, &r, strncmp(row->send, "HEAD ", 5) == 0, CLIENT_PATIENCE);
    if (!ok && (row->flags & SILENT_OK) != 0 && c->eof && r.head == NULL && c->n == 0) {
        reply_free(&r);
        return true;
    }
    if (ok)
        ok = check_reply(&r, row, why, room);
    else
        miss(why, room, "%s", r.err);
    reply_free(&r);
    ok = ok && read_rest(c, row, why, room);
    if (ok && (row->flags & KEEPS) != 0)
        ok = check_probe(s, c, why, room);
    if (ok && (row->flags & (CLOSES | ENDS)) != 0)
        ok = check_end(c, row, why, room);
    return ok;
}

bool row_run(const struct server *s, const char *addr, const struct row *row, char *why,
             size_t room)
{
    struct client c;
    if (!client_open(&c, addr))
        return miss(why, room, "cannot connect: %m");
    bool ok = exchange(s, &c, row, why, room);
    client_close(&c);
    return ok;
}

static void run(const char *addr, const struct row *rows, size_t n, unsigned more)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        char why[512] = "";
        struct row row = rows[i];
        row.flags |= more;
        if (row_run(srv, addr, &row, why, sizeof(why)))
            continue;
        failed++;
        print_error("%s%s: %s\n", row.name, more != 0 ? " (bytewise)" : "", why);
    }
    if (failed > 0)
        fail_msg("%zu of %zu rows", failed, n);
}

void rows_run(const char *addr, const struct row *rows, size_t n)
{
    run(addr, rows, n, 0);
}

void rows_run_bytewise(const char *addr, const struct row *rows, size_t n)
{
    run(addr, rows, n, BYTEWISE);
}

char *ask_field(const char *request, int status, const char *name)
{
    struct reply r;
    bool ok = fetch(srv->at[0], request, &r);
    if (!ok)
        print_error("%.60s: %s\n", request, r.err);
    assert_true(ok);
    assert_int_equal(r.status, status);
    const char *value = reply_field(&r, name);
    char *copy = value != NULL ? strdup(value) : NULL;
    reply_free(&r);
    return copy;
}

char *ask_body(const char *request, int status)
{
    struct reply r;
    bool ok = fetch(srv->at[0], request, &r);
    if (!ok)
        print_error("%.60s: %s\n", request, r.err);
    assert_true(ok);
    assert_int_equal(r.status, status);
    char *copy = strdup(r.body);
    reply_free(&r);
    return copy;
}

char *repeat(char c, size_t n)
{
    char *s = malloc(n + 1);
    memset(s, c, n);
    s[n] = '\0';
    return s;
}

char *text_of(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        abort();
    va_end(ap);
    return s;
}
