/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The error log: composing a line and handing it to the sinks.  A line is built on the stack,
 * escaped as it is built, and written with one write(2), so lines of several processes do not mix.
 *
 * The message may take three quarters of the line at most: a client that makes it long must not
 * push its own address off the end.
 */
#include "core/log.h"

#include "core/clock.h"
#include "core/num.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LOG_MESSAGE_MAX (LOG_LINE_MAX / 4 * 3)

const char *const log_level_names[] = {"emerg",  "alert", "crit",  "error", "warn",
                                       "notice", "info",  "debug", NULL};

struct log log_main = {
    .level = LEVEL_NOTICE,
    .sink_count = 1,
    .sinks = {{.fd = STDERR_FILENO, .level = LEVEL_NOTICE, .path = "stderr"}},
};
struct log_ctx log_process = {.log = &log_main};

bool log_add_sink(struct log *l, int fd, enum log_level level, const char *path)
{
    if (l->sink_count == LOG_SINKS)
        return false;
    l->sinks[l->sink_count++] = (struct log_sink){fd, level, path};
    l->level = LEVEL_EMERG;
    for (size_t i = 0; i < l->sink_count; i++) {
        if (l->sinks[i].level > l->level)
            l->level = l->sinks[i].level;
    }
    return true;
}

/*
 * Bytes at p that go into a line as they are, one character; 0: not the first one. Controls do not,
 * neither those of one byte nor the second set (U+0080 to U+009F), nor what is not UTF-8.
 */
static size_t plain_length(const char *p, const char *end)
{
    unsigned char c = (unsigned char)*p;
    size_t n = str_utf8_length(p, end);

    if (c < 0x20 || c == 0x7f || (n == 2 && c == 0xc2 && (unsigned char)p[1] < 0xa0))
        return 0;
    return n;
}

static struct str hex_escape(char *to, char c)
{
    unsigned char byte = (unsigned char)c;

    to[0] = '\\';
    to[1] = 'x';
    to[2] = "0123456789abcdef"[byte >> 4];
    to[3] = "0123456789abcdef"[byte & 15];
    return (struct str){to, 4};
}

/* Character by character, so that as much as fits is kept of a string that is too long. */
static void put_escaped(struct wbuf *w, struct str s, bool quotes)
{
    const char *end = s.p + s.n;
    char hex[4];

    for (const char *p = s.p; p < end && !w->overflow;) {
        size_t n = quotes && (*p == '"' || *p == '\\') ? 0 : plain_length(p, end);
        wbuf_str(w, n == 0 ? hex_escape(hex, *p) : (struct str){p, n});
        p += n == 0 ? 1 : n;
    }
}

void log_escape(struct wbuf *w, struct str s)
{
    put_escaped(w, s, true);
}

/* The text was put together by us, and its quotes are meant. */
static void put_clean(struct wbuf *w, struct str s)
{
    put_escaped(w, s, false);
}

/* The part of `line` that ends at `end`, with three bytes kept free for the "..." of put_end. */
static struct wbuf part_begin(char *at, char *end)
{
    return (struct wbuf){at, end - 3, false};
}

static char *part_end(struct wbuf *part, bool cut)
{
    if (cut || part->overflow) {
        memcpy(part->at, "...", 3);
        part->at += 3;
    }
    return part->at;
}

/* Local time of the current second as text, kept until the second is over. */
static struct str log_time(void)
{
    static _Thread_local struct {
        time_t second;
        size_t n;
        char text[32];
    } cached;
    time_t now = clock_wall().tv_sec;

    if (cached.n == 0 || cached.second != now) {
        struct tm tm;
        if (localtime_r(&now, &tm) == NULL)
            memset(&tm, 0, sizeof tm);
        cached.n = strftime(cached.text, sizeof cached.text, "%Y/%m/%d %H:%M:%S", &tm);
        cached.second = now;
    }
    return (struct str){cached.text, cached.n};
}

static void put_head(struct wbuf *w, const struct log_ctx *ctx, enum log_level level)
{
    wbuf_str(w, log_time());
    wbuf_str(w, STR(" ["));
    wbuf_str(w, str_z(log_level_names[level]));
    wbuf_str(w, STR("] "));
    wbuf_dec(w, (uint64_t)getpid());
    wbuf_str(w, STR("#0: "));
    if (ctx->id != 0) {
        wbuf_char(w, '*');
        wbuf_dec(w, ctx->id);
        wbuf_char(w, ' ');
    }
}

static void put_errno(struct wbuf *w, int err)
{
    const char *text = strerrordesc_np(err);

    wbuf_str(w, STR(" ("));
    wbuf_dec(w, (uint64_t)err);
    wbuf_str(w, STR(": "));
    wbuf_str(w, str_z(text != NULL ? text : "Unknown error"));
    wbuf_char(w, ')');
}

static void log_write(struct log *l, enum log_level level, const char *line, size_t n)
{
    for (size_t i = 0; i < l->sink_count; i++) {
        const struct log_sink *sink = &l->sinks[i];
        if (sink->level < level)
            continue;
        ssize_t done = -1;
        if (sink->fd >= 0) {
            do
                done = write(sink->fd, line, n);
            while (done < 0 && errno == EINTR);
        }
        if (done != (ssize_t)n)
            l->lost++;
    }
}

/* err is 0 when there is none. */
PRINTF_LIKE(4, 0)
static void log_line(const struct log_ctx *ctx, enum log_level level, int err, const char *fmt,
                     va_list ap)
{
    char raw[LOG_LINE_MAX], line[LOG_LINE_MAX];
    char *end = line + sizeof line - 1; /* the newline */
    int saved = errno;

    struct wbuf part = part_begin(line, line + LOG_MESSAGE_MAX);
    put_head(&part, ctx, level);
    int n = vsnprintf(raw, sizeof raw, fmt, ap);
    bool cut = n < 0 || (size_t)n >= sizeof raw;
    put_clean(&part, (struct str){raw, n < 0 ? 0 : cut ? sizeof raw - 1 : (size_t)n});
    char *at = part_end(&part, cut);

    part = part_begin(at, end);
    if (err != 0)
        put_errno(&part, err);
    if (ctx->describe != NULL) {
        struct wbuf text = wbuf_make(raw, sizeof raw);
        ctx->describe(ctx, &text);
        put_clean(&part, str_between(raw, text.at));
        cut = text.overflow;
    } else {
        cut = false;
    }
    at = part_end(&part, cut);

    *at++ = '\n';
    log_write(ctx->log, level, line, (size_t)(at - line));
    errno = saved;
}

void log_msg(const struct log_ctx *ctx, enum log_level level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_line(ctx, level, 0, fmt, ap);
    va_end(ap);
}

void log_msg_errno(const struct log_ctx *ctx, enum log_level level, int err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_line(ctx, level, err, fmt, ap);
    va_end(ap);
}

bool log_rate_ok(struct log_rate *site, uint32_t burst, uint32_t *held)
{
    uint64_t second = clock_mono_ms() / 1000;

    *held = 0;
    if (site->second != second) {
        site->second = second;
        site->count = 0;
    }
    if (site->count >= burst) {
        site->held += site->held != UINT32_MAX;
        return false;
    }
    site->count++;
    *held = site->held;
    site->held = 0;
    return true;
}
