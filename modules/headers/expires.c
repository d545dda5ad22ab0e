/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of expiry as nginx computes them.  A time that has passed is "no-cache", and a moment of
 * the day is in local time, on whichever day it comes next.
 */
#include "expires.h"

#include "conf/value.h"
#include "core/buf.h"
#include "proto/date.h"

#include <time.h>

#define DAY_S 86400
#define SECONDS_MAX ((int64_t)1 << 40) /* sums of these stay within reason */

static bool refuse(const char **why, const char *text)
{
    *why = text;
    return false;
}

static bool parse_word(struct str text, struct expires *out)
{
    static const struct {
        struct str word;
        enum expires_kind kind;
    } words[] = {
        {STR_INIT("off"), EXPIRES_OFF},
        {STR_INIT("epoch"), EXPIRES_EPOCH},
        {STR_INIT("max"), EXPIRES_MAX},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!str_eq(text, words[i].word))
            continue;
        *out = (struct expires){words[i].kind, 0};
        return true;
    }
    return false;
}

bool expires_parse(struct str text, bool modified, struct expires *out, const char **why)
{
    if (!modified && parse_word(text, out))
        return true;
    char first = text.n != 0 ? text.p[0] : '\0';
    bool daily = first == '@', minus = first == '-';
    if (daily && modified)
        return refuse(why, "a time without @ after modified");
    int64_t ms;
    if (!value_time(str_skip(text, daily || minus || first == '+'), &ms, why))
        return refuse(why, "[modified] a time such as 30d, -1 or @15h30m, or epoch, max or off");
    int64_t s = ms / 1000;
    if (s > SECONDS_MAX)
        return refuse(why, "a shorter time");
    if (daily && s >= DAY_S)
        return refuse(why, "a time of less than 24 hours after @");
    out->kind = daily ? EXPIRES_DAILY : modified ? EXPIRES_MODIFIED : EXPIRES_ACCESS;
    out->seconds = minus ? -s : s;
    return true;
}

/* When it is next `seconds` after local midnight. */
static int64_t next_time_of_day(int64_t now, int64_t seconds)
{
    time_t t = (time_t)now;
    struct tm tm;
    if (localtime_r(&t, &tm) == NULL)
        return now;
    for (int days = 0; days < 2; days++) {
        struct tm then = tm;
        then.tm_mday += days;
        then.tm_hour = (int)(seconds / 3600);
        then.tm_min = (int)(seconds / 60 % 60);
        then.tm_sec = (int)(seconds % 60);
        then.tm_isdst = -1;
        time_t at = mktime(&then);
        if (at > t)
            return at;
    }
    return now + DAY_S;
}

static void set_control(struct expires_values *v, struct str text)
{
    memcpy(v->control, text.p, text.n);
    v->control_n = text.n;
}

static void set_date(struct expires_values *v, int64_t at)
{
    date_write(v->date, at);
    v->date_n = DATE_LEN;
}

static void set_age(struct expires_values *v, int64_t age)
{
    struct wbuf w = wbuf_make(v->control, sizeof(v->control));
    wbuf_str(&w, STR("max-age="));
    wbuf_dec(&w, (uint64_t)age);
    v->control_n = (size_t)(w.at - v->control);
}

void expires_values(const struct expires *e, int64_t now, int64_t mtime,
                    struct expires_values *out)
{
    int64_t at = now + e->seconds;
    switch (e->kind) {
    case EXPIRES_OFF:
    case EXPIRES_EPOCH:
        set_date(out, 1);
        set_control(out, STR("no-cache"));
        return;
    case EXPIRES_MAX:
        set_date(out, 2145916555); /* the last seconds of 2037: what 32 bits can hold */
        set_age(out, 315360000);
        return;
    case EXPIRES_ACCESS:
        break;
    case EXPIRES_MODIFIED:
        if (mtime >= 0)
            at = mtime + e->seconds;
        break;
    case EXPIRES_DAILY:
        at = next_time_of_day(now, e->seconds);
        break;
    }
    set_date(out, at);
    if (e->seconds < 0 || at < now)
        set_control(out, STR("no-cache"));
    else
        set_age(out, at - now);
}
