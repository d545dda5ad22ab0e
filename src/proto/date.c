/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP dates by arithmetic on days, without the C library's time functions.  Days are counted in
 * years that begin in March, so that the leap day is the last of its year; 400 years are one era.
 */
#include "proto/date.h"

#define DAY_SECONDS 86400
#define ERA_DAYS 146097
#define EPOCH_DAYS 719468 /* from 0000-03-01 to 1970-01-01 */
#define TIME_MIN INT64_C(-62167219200) /* 0000-01-01 00:00:00 */
#define TIME_MAX INT64_C(253402300799) /* 9999-12-31 23:59:59 */

const char date_months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
const char date_weekdays[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/* Quotient rounded down, also for a negative dividend. */
static int64_t div_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t days_from_civil(int year, int month, int day)
{
    int64_t y = year - (month < 3);
    int64_t era = div_floor(y, 400);
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

    return era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           EPOCH_DAYS;
}

struct date_civil date_civil(int64_t unix_seconds)
{
    int64_t t = unix_seconds < TIME_MIN   ? TIME_MIN
                : unix_seconds > TIME_MAX ? TIME_MAX
                                          : unix_seconds;
    int64_t days = div_floor(t, DAY_SECONDS);
    int second = (int)(t - days * DAY_SECONDS);
    int64_t from_march = days + EPOCH_DAYS;
    int64_t era = div_floor(from_march, ERA_DAYS);
    int64_t doe = from_march - era * ERA_DAYS;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (yoe * 365 + yoe / 4 - yoe / 100);
    int month = (int)((5 * doy + 2) / 153); /* 0 is March */

    return (struct date_civil){
        .year = (int)(yoe + era * 400 + (month >= 10)),
        .month = month < 10 ? month + 3 : month - 9,
        .day = (int)(doy - (153 * month + 2) / 5 + 1),
        .hour = second / 3600,
        .minute = second / 60 % 60,
        .second = second % 60,
        .weekday = (int)(((days + 4) % 7 + 7) % 7),
    };
}

static char *put_two(char *p, int v)
{
    *p++ = (char)('0' + v / 10);
    *p++ = (char)('0' + v % 10);
    return p;
}

static char *put_name(char *p, const char *name, char behind)
{
    memcpy(p, name, 3);
    p[3] = behind;
    return p + 4;
}

void date_write(char *to, int64_t unix_seconds)
{
    struct date_civil c = date_civil(unix_seconds);
    char *p = put_name(to, date_weekdays[c.weekday], ',');

    *p++ = ' ';
    p = put_two(p, c.day);
    *p++ = ' ';
    p = put_name(p, date_months[c.month - 1], ' ');
    p = put_two(p, c.year / 100);
    p = put_two(p, c.year % 100);
    *p++ = ' ';
    p = put_two(p, c.hour);
    *p++ = ':';
    p = put_two(p, c.minute);
    *p++ = ':';
    p = put_two(p, c.second);
    memcpy(p, " GMT", 4);
}

/* The reader takes pieces off the front; the first that does not fit clears `ok` for good. */
struct reader {
    struct str s;
    bool ok;
};

static void read_literal(struct reader *r, struct str lit)
{
    r->ok = r->ok && str_starts(r->s, lit);
    r->s = str_skip(r->s, lit.n);
}

static int read_digits(struct reader *r, size_t n)
{
    int v = 0;

    r->ok = r->ok && r->s.n >= n;
    for (size_t i = 0; r->ok && i < n; i++) {
        unsigned digit = (unsigned char)r->s.p[i] - (unsigned)'0';
        r->ok = digit < 10;
        v = v * 10 + (int)digit;
    }
    r->s = str_skip(r->s, n);
    return r->ok ? v : 0;
}

/* One of `count` three-letter names; its index. */
static int read_name(struct reader *r, const char (*names)[4], int count)
{
    for (int i = 0; r->ok && i < count; i++) {
        if (str_starts(r->s, str_make(names[i], 3))) {
            r->s = str_skip(r->s, 3);
            return i;
        }
    }
    r->ok = false;
    return 0;
}

/* "08:49:37" */
static void read_time(struct reader *r, struct date_civil *c)
{
    c->hour = read_digits(r, 2);
    read_literal(r, STR(":"));
    c->minute = read_digits(r, 2);
    read_literal(r, STR(":"));
    c->second = read_digits(r, 2);
}

/* Behind "Sun, ": "06 Nov 1994 08:49:37 GMT" */
static void read_imf(struct reader *r, struct date_civil *c)
{
    read_literal(r, STR(", "));
    c->day = read_digits(r, 2);
    read_literal(r, STR(" "));
    c->month = read_name(r, date_months, 12) + 1;
    read_literal(r, STR(" "));
    c->year = read_digits(r, 4);
    read_literal(r, STR(" "));
    read_time(r, c);
    read_literal(r, STR(" GMT"));
}

/* The year that ends in these two digits and lies in (now - 50, now + 50]. */
static int full_year(int two, int now_year)
{
    int year = now_year - now_year % 100 + two;

    if (year > now_year + 50) {
        year -= 100;
    } else if (year <= now_year - 50) {
        year += 100;
    }
    return year;
}

/* Behind "Sunday": ", 06-Nov-94 08:49:37 GMT" */
static void read_rfc850(struct reader *r, struct date_civil *c, int now_year)
{
    read_literal(r, STR(", "));
    c->day = read_digits(r, 2);
    read_literal(r, STR("-"));
    c->month = read_name(r, date_months, 12) + 1;
    read_literal(r, STR("-"));
    c->year = full_year(read_digits(r, 2), now_year);
    read_literal(r, STR(" "));
    read_time(r, c);
    read_literal(r, STR(" GMT"));
}

/* Behind "Sun": " Nov  6 08:49:37 1994" */
static void read_asctime(struct reader *r, struct date_civil *c)
{
    read_literal(r, STR(" "));
    c->month = read_name(r, date_months, 12) + 1;
    read_literal(r, STR(" "));
    if (r->s.n != 0 && r->s.p[0] == ' ') {
        read_literal(r, STR(" "));
        c->day = read_digits(r, 1);
    } else {
        c->day = read_digits(r, 2);
    }
    read_literal(r, STR(" "));
    read_time(r, c);
    read_literal(r, STR(" "));
    c->year = read_digits(r, 4);
}

static int month_days(int year, int month)
{
    static const signed char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

bool date_parse(struct str s, int now_year, int64_t *unix_seconds)
{
    static const struct str day_tails[7] = {STR_INIT("day"),    STR_INIT("day"),  STR_INIT("sday"),
                                            STR_INIT("nesday"), STR_INIT("rsday"), STR_INIT("day"),
                                            STR_INIT("urday")};
    struct reader r = {s, true};
    struct date_civil c = {0};
    int weekday = read_name(&r, date_weekdays, 7);

    if (!r.ok || r.s.n == 0) {
        return false;
    }
    if (r.s.p[0] == ',') {
        read_imf(&r, &c);
    } else if (r.s.p[0] == ' ') {
        read_asctime(&r, &c);
    } else {
        read_literal(&r, day_tails[weekday]);
        read_rfc850(&r, &c, now_year);
    }
    if (!r.ok || r.s.n != 0 || c.day < 1 || c.day > month_days(c.year, c.month) || c.hour > 23 ||
        c.minute > 59 || c.second > 60) {
        return false;
    }
    *unix_seconds = days_from_civil(c.year, c.month, c.day) * DAY_SECONDS + c.hour * 3600 +
                    c.minute * 60 + c.second;
    return true;
}
