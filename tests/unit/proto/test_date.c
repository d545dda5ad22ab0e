/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP dates (behaviours.md A1, H7-H9; hostile.md 55 and 61), and every day against libc. */
#include "proto/date.h"

#include "rows.h"

#include <time.h>

#define NOW_YEAR 2026

static const struct date_row {
    const char *name, *text;
    int64_t want;
    bool bad;
} rows[] = {
#define BAD(name, text)                                                                            \
    {                                                                                              \
        name, text, 0, true                                                                        \
    }
    {"H9 IMF", "Sun, 06 Nov 1994 08:49:37 GMT", 784111777, false},
    {"H9 RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT", 784111777, false},
    {"H9 asctime", "Sun Nov  6 08:49:37 1994", 784111777, false},
    {"H9 asctime two digits", "Wed Nov 16 08:49:37 1994", 784975777, false},
    {"H9 epoch", "Thu, 01 Jan 1970 00:00:00 GMT", 0, false},
    {"H9 2038 edge", "Tue, 19 Jan 2038 03:14:07 GMT", 0x7fffffff, false},
    {"H9 behind 2038", "Tue, 19 Jan 2038 03:14:08 GMT", 0x80000000, false},
    {"h61 year 0000", "Sat, 01 Jan 0000 00:00:00 GMT", -62167219200, false},
    {"h55 year 9999", "Fri, 31 Dec 9999 23:59:59 GMT", 253402300799, false},
    {"leap day", "Thu, 29 Feb 2024 00:00:00 GMT", 1709164800, false},
    {"leap day 2000", "Tue, 29 Feb 2000 00:00:00 GMT", 951782400, false},
    {"leap second", "Sat, 31 Dec 2016 23:59:60 GMT", 1483228800, false},
    {"h61 two digits, within", "Tuesday, 01-Jan-75 00:00:00 GMT", 3313526400, false},
    {"h61 two digits, last", "Wednesday, 01-Jan-76 00:00:00 GMT", 3345062400, false},
    {"h61 two digits, past", "Saturday, 01-Jan-77 00:00:00 GMT", 220924800, false},
    {"weekday is not compared", "Mon, 06 Nov 1994 08:49:37 GMT", 784111777, false},
    BAD("H8 empty", ""),
    BAD("H8 blank", " "),
    BAD("H8 junk", "foo"),
    BAD("H8 day only", "Sun"),
    BAD("H8 comma only", "Sun,"),
    BAD("H8 junk behind", "Sun, 06 Nov 1994 08:49:37 GMT "),
    BAD("H8 junk behind 2", "Sun, 06 Nov 1994 08:49:37 GMT; length=1"),
    BAD("H8 cut", "Sun, 06 Nov 1994 08:49:37 GM"),
    BAD("H8 zone", "Sun, 06 Nov 1994 08:49:37 UTC"),
    BAD("H8 no zone", "Sun, 06 Nov 1994 08:49:37"),
    BAD("H8 offset", "Sun, 06 Nov 1994 08:49:37 +0000"),
    BAD("H8 day spelt", "Sux, 06 Nov 1994 08:49:37 GMT"),
    BAD("H8 day case", "SUN, 06 Nov 1994 08:49:37 GMT"),
    BAD("H8 month spelt", "Sun, 06 Nox 1994 08:49:37 GMT"),
    BAD("H8 long day in IMF", "Sunday, 06 Nov 1994 08:49:37 GMT"),
    BAD("H8 wrong long day", "Sunsday, 06-Nov-94 08:49:37 GMT"),
    BAD("H8 short day in 850", "Sun, 06-Nov-94 08:49:37 GMT"),
    BAD("H8 one-digit day", "Sun, 6 Nov 1994 08:49:37 GMT"),
    BAD("H8 two blanks", "Sun,  06 Nov 1994 08:49:37 GMT"),
    BAD("H8 day 0", "Sun, 00 Nov 1994 08:49:37 GMT"),
    BAD("H8 day 31", "Sun, 31 Nov 1994 08:49:37 GMT"),
    BAD("H8 day 32", "Sun, 32 Jan 1994 08:49:37 GMT"),
    BAD("H8 29 Feb", "Sun, 29 Feb 2023 08:49:37 GMT"),
    BAD("H8 29 Feb 1900", "Sun, 29 Feb 1900 08:49:37 GMT"),
    BAD("H8 hour", "Sun, 06 Nov 1994 24:00:00 GMT"),
    BAD("H8 minute", "Sun, 06 Nov 1994 08:60:37 GMT"),
    BAD("H8 second", "Sun, 06 Nov 1994 08:49:61 GMT"),
    BAD("H8 signs", "Sun, 06 Nov 1994 -8:49:37 GMT"),
    BAD("H8 plus", "Sun, 06 Nov +994 08:49:37 GMT"),
    BAD("H8 five-digit year", "Sun, 06 Nov 11994 08:49:37 GMT"),
    BAD("H8 four digits in 850", "Sunday, 06-Nov-1994 08:49:37 GMT"),
    BAD("H8 asctime zone", "Sun Nov  6 08:49:37 1994 GMT"),
    BAD("H8 asctime one blank", "Sun Nov 6 08:49:37 1994"),
    BAD("H8 number", "784111777"),
    BAD("H8 ISO", "1994-11-06T08:49:37Z"),
};

static void parse_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t t = -1;
        struct str text = copy_exact(str_z(rows[i].text));
        ROW(rows[i].name, date_parse(text, NOW_YEAR, &t) == !rows[i].bad);
        if (t != (rows[i].bad ? -1 : rows[i].want)) {
            fail_msg("row %s: %jd", rows[i].name, (intmax_t)t);
        }
        /* every shorter text is another, bad one */
        for (size_t n = 0; !rows[i].bad && n < text.n; n++) {
            struct str cut = copy_exact(str_head(text, n));
            ROW(rows[i].name, !date_parse(cut, NOW_YEAR, &t));
            free_exact(cut);
        }
        free_exact(text);
    }
}

static void two_digit_years(void **state)
{
    (void)state;
    for (int now = 1994; now < 2250; now++) {
        for (int two = 0; two < 100; two++) {
            char text[64];
            int64_t t;
            snprintf(text, sizeof(text), "Sunday, 15-Jun-%02d 00:00:00 GMT", two);
            assert_true(date_parse(str_z(text), now, &t));
            int year = date_civil(t).year;
            assert_int_equal(year % 100, two);
            assert_true(year > now - 50 && year <= now + 50);
        }
    }
}

/* One moment of every day from the year 0000 to 9999, against libc, and read back. */
static void every_day(void **state)
{
    (void)state;
    int64_t moment = 0;
    for (int64_t t = -62167219200; t <= 253402300799; t += 86400) {
        char got[DATE_LEN], want[80];
        struct tm tm;
        time_t at = t + moment;
        int64_t back;
        moment = (moment + 12347) % 86400;
        assert_non_null(gmtime_r(&at, &tm));
        struct date_civil c = date_civil(at);
        if (c.year != tm.tm_year + 1900 || c.month != tm.tm_mon + 1 || c.day != tm.tm_mday ||
            c.hour != tm.tm_hour || c.minute != tm.tm_min || c.second != tm.tm_sec ||
            c.weekday != tm.tm_wday) {
            fail_msg("time %jd", (intmax_t)at);
        }
        date_write(got, at);
        if (t % (86400 * 97) == 0) {
            snprintf(want, sizeof(want), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                     date_weekdays[tm.tm_wday], tm.tm_mday, date_months[tm.tm_mon],
                     tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
            ROW_STR("write", str_make(got, DATE_LEN), str_z(want));
        }
        if (!date_parse(str_make(got, DATE_LEN), NOW_YEAR, &back) || back != at) {
            fail_msg("read back %jd: %jd", (intmax_t)at, (intmax_t)back);
        }
    }
}

static void clamped(void **state)
{
    char to[DATE_LEN];

    (void)state;
    date_write(to, INT64_MAX);
    ROW_STR("h55 max", str_make(to, DATE_LEN), STR("Fri, 31 Dec 9999 23:59:59 GMT"));
    date_write(to, INT64_MIN);
    ROW_STR("h55 min", str_make(to, DATE_LEN), STR("Sat, 01 Jan 0000 00:00:00 GMT"));
    date_write(to, -1);
    ROW_STR("h55 before 1970", str_make(to, DATE_LEN), STR("Wed, 31 Dec 1969 23:59:59 GMT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_table),
        cmocka_unit_test(two_digit_years),
        cmocka_unit_test(every_day),
        cmocka_unit_test(clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
