/* SPDX-License-Identifier: BSD-2-Clause */
/* Dates: what can be read is written and read again as the same time; any time can be written. */
#include "fuzz.h"

#include "proto/date.h"

#define TIME_MIN INT64_C(-62167219200)
#define TIME_MAX INT64_C(253402300799)

static void check_time(int64_t t)
{
    char text[DATE_LEN];
    int64_t again, want = t < TIME_MIN ? TIME_MIN : t > TIME_MAX ? TIME_MAX : t;
    struct date_civil c = date_civil(t);

    CHECK(c.year >= 0 && c.year <= 9999 && c.month >= 1 && c.month <= 12 && c.day >= 1 &&
          c.day <= 31 && c.hour >= 0 && c.hour <= 23 && c.minute >= 0 && c.minute <= 59 &&
          c.second >= 0 && c.second <= 59 && c.weekday >= 0 && c.weekday <= 6);
    date_write(text, t);
    CHECK(date_parse(str_make(text, DATE_LEN), 2026, &again) && again == want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = fuzz_copy(fuzz_input(data, size));
    int64_t t = 0;

    if (date_parse(text, 2026, &t)) {
        CHECK(t >= TIME_MIN && t <= TIME_MAX + 1); /* a leap second may end the last year */
        check_time(t);
    }
    memcpy(&t, text.p, text.n < sizeof(t) ? text.n : sizeof(t));
    check_time(t);
    fuzz_free(text);
    return 0;
}
