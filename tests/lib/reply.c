/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and judging answers. The head is copied once and cut into strings in place; rules are
 * checked on the way, the first broken one is put into err and ends the reading.
 */
#include "lib/reply.h"
#include "lib/server.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

__attribute__((format(printf, 2, 3))) static bool bad(struct reply *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->err, sizeof(r->err), fmt, ap);
    va_end(ap);
    return false;
}

const char *reply_field(const struct reply *r, const char *name)
{
    for (size_t i = 0; i < r->fields; i++) {
        if (strcasecmp(r->field[i].name, name) == 0)
            return r->field[i].value;
    }
    return NULL;
}

static bool is_token(const char *s)
{
    if (*s == '\0')
        return false;
    for (; *s != '\0'; s++) {
        if (!isalnum((unsigned char)*s) && strchr("!#$%&'*+-.^_`|~", *s) == NULL)
            return false;
    }
    return true;
}

/* Whether a list field has the token (RFC 9110 5.6.1), over all lines of that name. */
static bool has_token(const struct reply *r, const char *name, const char *token)
{
    size_t n = strlen(token);
    for (size_t i = 0; i < r->fields; i++) {
        if (strcasecmp(r->field[i].name, name) != 0)
            continue;
        for (const char *s = r->field[i].value; *s != '\0';) {
            s += strspn(s, " \t,");
            size_t len = strcspn(s, " \t,");
            if (len == n && strncasecmp(s, token, n) == 0)
                return true;
            s += len;
        }
    }
    return false;
}

int64_t reply_date(const char *text)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char day[4], month[4], again[40];
    struct tm tm = {0};
    if (strlen(text) != 29 ||
        sscanf(text, "%3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", day, &tm.tm_mday, month,
               &tm.tm_year, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 7)
        return -1;
    const char *m = strstr(months, month);
    if (m == NULL)
        return -1;
    tm.tm_mon = (int)(m - months) / 3;
    tm.tm_year -= 1900;
    time_t t = timegm(&tm);
    snprintf(again, sizeof(again), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * tm.tm_wday,
             tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
             tm.tm_sec);
    return strcmp(again, text) == 0 ? (int64_t)t : -1;
}

/* Cuts one line off at *at; the bytes of a head are visible ASCII, SP, HTAB or obs-text. */
static char *next_line(struct reply *r, char **at)
{
    char *s = *at, *end = strstr(s, "\r\n");
    if (end == NULL) {
        bad(r, "head line without CRLF");
        return NULL;
    }
    for (char *p = s; p < end; p++) {
        unsigned char b = (unsigned char)*p;
        if ((b < 0x20 && b != '\t') || b == 0x7f) {
            bad(r, "control byte 0x%02x in the head line \"%.60s\"", b, s);
            return NULL;
        }
    }
    *end = '\0';
    *at = end + 2;
    return s;
}

static bool parse_status_line(struct reply *r, char *line)
{
    if (strncmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || line[8] != ' ')
        return bad(r, "status line \"%.80s\"", line);
    r->minor = line[7] - '0';
    for (int i = 9; i < 12; i++) {
        if (!isdigit((unsigned char)line[i]))
            return bad(r, "status line \"%.80s\"", line);
        r->status = r->status * 10 + (line[i] - '0');
    }
    if (line[12] != ' ' || r->status < 100 || r->status > 599)
        return bad(r, "status line \"%.80s\"", line);
    r->reason = line + 13;
    return true;
}

static bool parse_field(struct reply *r, char *line)
{
    char *colon = strchr(line, ':');
    if (colon == NULL)
        return bad(r, "field line without a colon: \"%.80s\"", line);
    *colon = '\0';
    if (!is_token(line))
        return bad(r, "field name \"%.80s\"", line);
    char *value = colon + 1;
    value += strspn(value, " \t");
    for (size_t n = strlen(value); n > 0 && strchr(" \t", value[n - 1]) != NULL; n--)
        value[n - 1] = '\0';
    if (r->fields == REPLY_FIELDS)
        return bad(r, "more than %d fields", REPLY_FIELDS);
    r->field[r->fields].name = line;
    r->field[r->fields].value = value;
    r->fields++;
    return true;
}

static bool check_singletons(struct reply *r)
{
    static const char *const once[] = {
        "Date",          "Server",        "Content-Length",    "Content-Type",
        "ETag",          "Last-Modified", "Location",          "Content-Encoding",
        "Content-Range", "Accept-Ranges", "Transfer-Encoding", "Connection",
        "Retry-After",
    };
    for (size_t k = 0; k < sizeof(once) / sizeof(once[0]); k++) {
        int seen = 0;
        for (size_t i = 0; i < r->fields; i++)
            seen += strcasecmp(r->field[i].name, once[k]) == 0;
        if (seen > 1)
            return bad(r, "%d lines of %s", seen, once[k]);
    }
    return true;
}

static bool check_date(struct reply *r)
{
    const char *date = reply_field(r, "Date");
    if (date == NULL)
        return r->status < 200 ? true : bad(r, "%d without Date", r->status);
    int64_t t = reply_date(date), now = (int64_t)time(NULL);
    if (t < 0)
        return bad(r, "Date \"%.60s\" is no IMF-fixdate", date);
    if (t > now + 2 || t < now - 5)
        return bad(r, "Date \"%.60s\" is %lld s off", date, (long long)(t - now));
    const char *changed = reply_field(r, "Last-Modified");
    if (changed != NULL && reply_date(changed) == -1 &&
        strncmp(changed, "Wed, 31 Dec 1969", 16) != 0)
        return bad(r, "Last-Modified \"%.60s\" is no IMF-fixdate", changed);
    if (changed != NULL && reply_date(changed) > t)
        return bad(r, "Last-Modified \"%.60s\" is later than Date", changed);
    return true;
}

static bool check_framing(struct reply *r, bool no_body)
{
    const char *length = reply_field(r, "Content-Length");
    const char *coding = reply_field(r, "Transfer-Encoding");
    if (length != NULL) {
        if (length[0] == '\0' || strlen(length) > 18 ||
            strspn(length, "0123456789") != strlen(length))
            return bad(r, "Content-Length \"%.60s\"", length);
        r->has_length = true;
        r->length = strtoull(length, NULL, 10);
    }
    if (coding != NULL) {
        if (strcasecmp(coding, "chunked") != 0 || length != NULL || r->minor == 0)
            return bad(r, "Transfer-Encoding \"%.40s\" cannot stand here", coding);
        r->chunked = true;
    }
    r->keeps = r->minor == 1 ? !has_token(r, "Connection", "close")
                             : has_token(r, "Connection", "keep-alive");
    if (r->status == 204 || r->status < 200) {
        if (length != NULL || coding != NULL)
            return bad(r, "%d with a framing field", r->status);
        return true;
    }
    if (r->status == 304) {
        if (coding != NULL)
            return bad(r, "304 with Transfer-Encoding");
        return true;
    }
    if (length == NULL && coding == NULL) {
        if (r->keeps)
            return bad(r, "%d with neither length nor end", r->status);
        r->to_eof = true;
    }
    if (!no_body && (r->chunked || r->to_eof || r->length > 0) &&
        reply_field(r, "Content-Type") == NULL)
        return bad(r, "%d with a body and no Content-Type", r->status);
    return true;
}

/* Waits until the head is there; its length, or 0 with err set. */
static size_t await_head(struct client *c, struct reply *r, int timeout)
{
    int64_t end = now_ms() + timeout;
    for (;;) {
        char *stop = c->n > 0 ? memmem(c->in, c->n, "\r\n\r\n", 4) : NULL;
        if (stop != NULL)
            return (size_t)(stop - c->in) + 4;
        int left = (int)(end - now_ms());
        if (c->n > 262144) {
            bad(r, "head longer than 256 KiB");
            return 0;
        }
        if (left <= 0 || !client_fill(c, left)) {
            if (c->n > 0)
                bad(r, "%s in the middle of a head: \"%.60s\"", c->eof ? "closed" : "silence",
                    c->in);
            else
                bad(r, "%s", c->reset ? "reset" : c->eof ? "closed" : "no answer");
            return 0;
        }
    }
}

bool reply_read_head(struct client *c, struct reply *r, bool no_body, int timeout)
{
    memset(r, 0, sizeof(*r));
    size_t n = await_head(c, r, timeout);
    if (n == 0)
        return false;
    if (memchr(c->in, '\0', n) != NULL)
        return bad(r, "NUL in the head");
    r->head = strndup(c->in, n);
    client_consume(c, n);
    for (char *p = r->head; (p = strchr(p, '\n')) != NULL; p++) {
        if (p == r->head || p[-1] != '\r')
            return bad(r, "bare LF in the head");
    }
    char *at = r->head, *line = next_line(r, &at);
    if (line == NULL || !parse_status_line(r, line))
        return false;
    for (;;) {
        line = next_line(r, &at);
        if (line == NULL)
            return false;
        if (*line == '\0')
            break;
        if (!parse_field(r, line))
            return false;
    }
    return check_singletons(r) && check_date(r) && check_framing(r, no_body);
}

static bool keep_body(struct client *c, struct reply *r, size_t n)
{
    r->body = realloc(r->body, r->body_n + n + 1);
    memcpy(r->body + r->body_n, c->in, n);
    r->body_n += n;
    r->body[r->body_n] = '\0';
    client_consume(c, n);
    return true;
}

static bool need(struct client *c, struct reply *r, size_t n, int timeout)
{
    while (c->n < n) {
        if (!client_fill(c, timeout))
            return bad(r, "%d: %s after %zu of %zu bytes", r->status,
                       c->reset ? "reset"
                       : c->eof ? "closed"
                                : "silence",
                       c->n, n);
    }
    return true;
}

static bool read_chunk_line(struct client *c, struct reply *r, int timeout, char *line, size_t room)
{
    for (;;) {
        char *end = c->n > 0 ? memmem(c->in, c->n, "\r\n", 2) : NULL;
        if (end != NULL) {
            size_t n = (size_t)(end - c->in);
            if (n >= room)
                return bad(r, "chunk line of %zu bytes", n);
            memcpy(line, c->in, n);
            line[n] = '\0';
            client_consume(c, n + 2);
            return true;
        }
        if (!client_fill(c, timeout))
            return bad(r, "chunked body ends in a line");
    }
}

static bool read_chunks(struct client *c, struct reply *r, int timeout)
{
    char line[256];
    for (;;) {
        if (!read_chunk_line(c, r, timeout, line, sizeof(line)))
            return false;
        if (line[0] == '\0' || strspn(line, "0123456789abcdefABCDEF") != strlen(line) ||
            strlen(line) > 15)
            return bad(r, "chunk size \"%.40s\"", line);
        size_t n = (size_t)strtoull(line, NULL, 16);
        if (n == 0)
            break;
        if (!need(c, r, n, timeout) || !keep_body(c, r, n) ||
            !read_chunk_line(c, r, timeout, line, sizeof(line)))
            return false;
        if (line[0] != '\0')
            return bad(r, "no CRLF behind a chunk");
    }
    do {
        if (!read_chunk_line(c, r, timeout, line, sizeof(line)))
            return false;
    } while (line[0] != '\0');
    return true;
}

static bool read_body(struct client *c, struct reply *r, bool no_body, int timeout)
{
    r->body = calloc(1, 1);
    if (no_body || r->status == 304 || r->status == 204 || r->status < 200)
        return true;
    if (r->chunked)
        return read_chunks(c, r, timeout);
    if (r->has_length)
        return need(c, r, (size_t)r->length, timeout) && keep_body(c, r, (size_t)r->length);
    while (client_fill(c, timeout))
        continue;
    if (!c->eof || c->reset)
        return bad(r, "body without an end");
    return c->n == 0 || keep_body(c, r, c->n);
}

bool reply_read(struct client *c, struct reply *r, bool no_body, int timeout)
{
    if (!reply_read_head(c, r, no_body, timeout) || !read_body(c, r, no_body, timeout))
        return false;
    if (memmem(r->body, r->body_n, SERVER_MARK, strlen(SERVER_MARK)) != NULL)
        return bad(r, "the configuration is in the answer");
    return true;
}

void reply_free(struct reply *r)
{
    free(r->head);
    free(r->body);
    memset(r, 0, sizeof(*r));
}

bool fetch(const char *addr, const char *request, struct reply *r)
{
    struct client c;
    memset(r, 0, sizeof(*r));
    if (!client_open(&c, addr))
        return bad(r, "cannot connect to %s: %m", addr);
    client_sendz(&c, request);
    bool ok = reply_read(&c, r, strncmp(request, "HEAD ", 5) == 0, CLIENT_PATIENCE);
    client_close(&c);
    return ok;
}

bool fetch_path(const char *addr, const char *path, struct reply *r)
{
    char request[8192];
    snprintf(request, sizeof(request),
             "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    return fetch(addr, request, r);
}
