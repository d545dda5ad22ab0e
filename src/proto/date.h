/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP dates (RFC 9110 5.6.7): IMF-fixdate written, all three forms read. Pure, UTC, 64-bit. */
#ifndef SLUICE_PROTO_DATE_H
#define SLUICE_PROTO_DATE_H

#include "core/str.h"

#define DATE_LEN 29 /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Writes DATE_LEN bytes, no NUL. Years 0000 to 9999; outside that the time is clamped. */
void date_write(char *to, int64_t unix_seconds);

/*
 * Reads IMF-fixdate, RFC 850 and asctime forms; everything about them is checked (day name
 * spelling, ranges, the whole string). A two-digit year is placed within 50 years of now_year.
 */
bool date_parse(struct str s, int now_year, int64_t *unix_seconds);

struct date_civil {
    int year, month, day, hour, minute, second, weekday; /* month 1-12, weekday 0 is Sunday */
};
struct date_civil date_civil(int64_t unix_seconds);

/* The names "Jan" … and "Sun" …, three bytes each. */
extern const char date_months[12][4];
extern const char date_weekdays[7][4];

#endif
