/* SPDX-License-Identifier: BSD-2-Clause */
/* expires: what is read and what it comes to (R4). */
#include "../../../modules/headers/expires.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define NOW 1700000000 /* Tue, 14 Nov 2023 22:13:20 GMT */

static const struct {
    const char *text;
    bool modified;
    enum expires_kind kind;
    int64_t seconds;
} good[] = {
    {"off", false, EXPIRES_OFF, 0},
    {"epoch", false, EXPIRES_EPOCH, 0},
    {"max", false, EXPIRES_MAX, 0},
    {"0", false, EXPIRES_ACCESS, 0},
    {"30", false, EXPIRES_ACCESS, 30},
    {"+1h30m", false, EXPIRES_ACCESS, 5400},
    {"-1", false, EXPIRES_ACCESS, -1},
    {"-12h", false, EXPIRES_ACCESS, -43200},
    {"1y", false, EXPIRES_ACCESS, 31536000},
    {"1h", true, EXPIRES_MODIFIED, 3600},
    {"-1d", true, EXPIRES_MODIFIED, -86400},
    {"@15h30m", false, EXPIRES_DAILY, 55800},
    {"@0", false, EXPIRES_DAILY, 0},
};

static void reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct expires e = {EXPIRES_OFF, -7};
        const char *why = NULL;
        if (!expires_parse(str_z(good[i].text), good[i].modified, &e, &why) ||
            e.kind != good[i].kind || e.seconds != good[i].seconds)
            fail_msg("%s: %d %lld", good[i].text, e.kind, (long long)e.seconds);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *text;
        bool modified;
    } bad[] = {
        {"", false},     {"@", false},       {"-", false},   {"+-1", false}, {"1x", false},
        {"@24h", false}, {"@1h", true},      {"max", true},  {"Max", false}, {"epoch", true},
        {"@-1h", false}, {"99999999999y", false}, {"40000y", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct expires e;
        const char *why = NULL;
        if (expires_parse(str_z(bad[i].text), bad[i].modified, &e, &why))
            fail_msg("taken: %s", bad[i].text);
        assert_non_null(why);
    }
}

static const struct {
    const char *name;
    struct expires e;
    int64_t mtime;
    const char *date, *control;
} values[] = {
    {"R4 epoch", {EXPIRES_EPOCH, 0}, -1, "Thu, 01 Jan 1970 00:00:01 GMT", "no-cache"},
    {"R4 max", {EXPIRES_MAX, 0}, -1, "Thu, 31 Dec 2037 23:55:55 GMT", "max-age=315360000"},
    {"R4 zero", {EXPIRES_ACCESS, 0}, -1, "Tue, 14 Nov 2023 22:13:20 GMT", "max-age=0"},
    {"R4 +N", {EXPIRES_ACCESS, 3600}, 5, "Tue, 14 Nov 2023 23:13:20 GMT", "max-age=3600"},
    {"R4 -N", {EXPIRES_ACCESS, -20}, -1, "Tue, 14 Nov 2023 22:13:00 GMT", "no-cache"},
    {"R4 modified", {EXPIRES_MODIFIED, 7200}, NOW - 3600, "Tue, 14 Nov 2023 23:13:20 GMT",
     "max-age=3600"},
    {"R4 modified, gone", {EXPIRES_MODIFIED, 60}, NOW - 3600, "Tue, 14 Nov 2023 21:14:20 GMT",
     "no-cache"},
    {"R4 modified -N ahead", {EXPIRES_MODIFIED, -10}, NOW + 100, "Tue, 14 Nov 2023 22:14:50 GMT",
     "no-cache"},
    {"R4 modified, no file", {EXPIRES_MODIFIED, 60}, -1, "Tue, 14 Nov 2023 22:14:20 GMT",
     "max-age=60"},
    {"R4 @ later today", {EXPIRES_DAILY, 23 * 3600}, -1, "Tue, 14 Nov 2023 23:00:00 GMT",
     "max-age=2800"},
    {"R4 @ tomorrow", {EXPIRES_DAILY, 15 * 3600 + 1800}, -1, "Wed, 15 Nov 2023 15:30:00 GMT",
     "max-age=62200"},
    {"R4 @ this very second", {EXPIRES_DAILY, 22 * 3600 + 13 * 60 + 20}, -1,
     "Wed, 15 Nov 2023 22:13:20 GMT", "max-age=86400"},
};

static void comes_to(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct expires_values v;
        char date[64], control[64];
        expires_values(&values[i].e, NOW, values[i].mtime, &v);
        snprintf(date, sizeof(date), "%.*s", (int)v.date_n, v.date);
        snprintf(control, sizeof(control), "%.*s", (int)v.control_n, v.control);
        if (strcmp(date, values[i].date) != 0 || strcmp(control, values[i].control) != 0)
            fail_msg("%s: %s, %s", values[i].name, date, control);
    }
}

/* A time of day is local: 15:30 in New York is 20:30 GMT in November, also over the change. */
static void local_time(void **state)
{
    struct expires e = {EXPIRES_DAILY, 15 * 3600 + 1800};
    struct expires_values v;
    (void)state;
    setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
    tzset();
    expires_values(&e, NOW, -1, &v);
    assert_memory_equal(v.date, "Wed, 15 Nov 2023 20:30:00 GMT", 29);
    expires_values(&e, 1699141200, -1, &v); /* Sat, 4 Nov 19:40 EDT; Sunday is the change */
    assert_memory_equal(v.date, "Sun, 05 Nov 2023 20:30:00 GMT", 29);
    setenv("TZ", "UTC", 1);
    tzset();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(comes_to),
        cmocka_unit_test(local_time),
    };
    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests_name("expires", tests, NULL, NULL);
}
