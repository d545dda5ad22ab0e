/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables of time.  The two texts of the wall clock are made once a second and process, by the
 * worker's clock as of this turn; values handed out are copies in request memory, because the next
 * second overwrites the text.
 */
#include "http/vars_core.h"

#include "http/http.h"
#include "http/request.h"

#include <time.h>

#define TEXT_MAX 40

static struct {
    int64_t second;
    bool made;
    char local[TEXT_MAX];    /* 30/Nov/2026:21:52:20 +0000 */
    char iso8601[TEXT_MAX];  /* 2026-11-30T21:52:20+00:00 */
} texts;

static void refresh(int64_t second)
{
    struct tm tm;
    time_t t = (time_t)second;
    if (texts.made && texts.second == second)
        return;
    texts.second = second;
    texts.made = true;
    if (localtime_r(&t, &tm) == NULL)
        tm = (struct tm){.tm_mday = 1, .tm_year = 70};
    long minutes = tm.tm_gmtoff / 60;
    char sign = minutes < 0 ? '-' : '+';
    unsigned off = (unsigned)(minutes < 0 ? -minutes : minutes) % (24 * 60);
    int year = tm.tm_year + 1900;
    struct wbuf w = wbuf_make(texts.local, TEXT_MAX - 1);
    wbuf_printf(&w, "%02d/%s/%04d:%02d:%02d:%02d %c%02u%02u", tm.tm_mday, date_months[tm.tm_mon],
                year, tm.tm_hour, tm.tm_min, tm.tm_sec, sign, off / 60, off % 60);
    *w.at = '\0';
    w = wbuf_make(texts.iso8601, TEXT_MAX - 1);
    wbuf_printf(&w, "%04d-%02d-%02dT%02d:%02d:%02d%c%02u:%02u", year, tm.tm_mon + 1, tm.tm_mday,
                tm.tm_hour, tm.tm_min, tm.tm_sec, sign, off / 60, off % 60);
    *w.at = '\0';
}

static bool copy(struct request *r, const char *text, struct str *out)
{
    *out = arena_str(&r->mem, str_z(text));
    return out->p != NULL;
}

bool var_time_local(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)v;
    (void)arg;
    refresh(r->worker->loop->wall.tv_sec);
    return copy(r, texts.local, out);
}

bool var_time_iso8601(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)v;
    (void)arg;
    refresh(r->worker->loop->wall.tv_sec);
    return copy(r, texts.iso8601, out);
}

bool var_msec(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    struct timespec now = r->worker->loop->wall;
    (void)v;
    (void)arg;
    return var_printf(r, out, "%lld.%03ld", (long long)now.tv_sec, now.tv_nsec / 1000000);
}

static bool since(struct request *r, uint64_t start_ms, struct str *out)
{
    uint64_t now = r->worker->loop->now_ms;
    uint64_t ms = now > start_ms ? now - start_ms : 0;
    return var_printf(r, out, "%llu.%03u", (unsigned long long)(ms / 1000), (unsigned)(ms % 1000));
}

bool var_request_time(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)v;
    (void)arg;
    return since(r, r->start_ms, out);
}

bool var_connection_time(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)v;
    (void)arg;
    return since(r, r->conn->started_ms, out);
}
