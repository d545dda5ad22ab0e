/* SPDX-License-Identifier: BSD-2-Clause */
/* Accept-Encoding (behaviours.md group J, hostile.md 62). */
#include "proto/accept.h"

#include "rows.h"

#define GZIP CODING_BIT(CODING_GZIP)
#define BR   CODING_BIT(CODING_BR)
#define ALL  (GZIP | BR | CODING_BIT(CODING_ZSTD))

static const struct accept_row {
    const char *name, *value;
    unsigned offered;
    const char *want;
} rows[] = {
    {"J1", "gzip", GZIP, "gzip"},
    {"J2 empty", "", GZIP, "identity"},
    {"J3 q=0", "gzip;q=0", GZIP, "identity"},
    {"J3 q=0.000", "gzip;q=0.000", GZIP, "identity"},
    {"J3 q=0.", "gzip;q=0.", GZIP, "identity"},
    {"J3 q=0.001", "gzip;q=0.001", GZIP, "gzip"},
    {"J3 q=1.000", "gzip;q=1.000", GZIP, "gzip"},
    {"J3 q=1.", "gzip;q=1.", GZIP, "gzip"},
    {"J3 Q", "gzip;Q=0.5", GZIP, "gzip"},
    {"J3 blanks", "gzip ;\tq=0.5", GZIP, "gzip"},
    {"J3 blanks, q=0", "gzip ; q=0", GZIP, "identity"},
    {"J3 bad q 2", "gzip;q=2", GZIP, "identity"},
    {"J3 bad q abc", "gzip;q=abc", GZIP, "identity"},
    {"J3 bad q 1.0000", "gzip;q=1.0000", GZIP, "identity"},
    {"J3 bad q 1.001", "gzip;q=1.001", GZIP, "identity"},
    {"J3 bad q empty", "gzip;q=", GZIP, "identity"},
    {"J3 bad q dot", "gzip;q=.5", GZIP, "identity"},
    {"J3 bad q comma", "gzip;q=0,5", GZIP, "identity"},
    {"J3 bad q letter", "gzip;q=0.x", GZIP, "identity"},
    {"h62 1e9", "gzip;q=1e9", GZIP, "identity"},
    {"h62 -1", "gzip;q=-1", GZIP, "identity"},
    {"J3 no weight", "gzip;", GZIP, "identity"},
    {"J3 parameter", "gzip;level=9", GZIP, "identity"},
    {"J4 star", "*", GZIP, "gzip"},
    {"J4 gzip refused, star", "gzip;q=0, *", GZIP, "identity"},
    {"J4 gzip refused, star, br", "gzip;q=0, *", GZIP | BR, "br"},
    {"J4 star refused", "identity, *;q=0", GZIP, "identity"},
    {"J4 star refused, gzip", "gzip, *;q=0", ALL, "gzip"},
    {"J5 identity refused", "identity;q=0", GZIP, "identity"},
    {"J5 star refused alone", "*;q=0", GZIP, "identity"},
    {"h62 all refused", "identity;q=0,*;q=0", GZIP, "identity"},
    {"J6 case", "GZIP", GZIP, "gzip"},
    {"J6 x-gzip", "x-gzip", GZIP, "gzip"},
    {"J6 notgzip", "notgzip", GZIP, "identity"},
    {"J6 gzipx", "gzipx", GZIP, "identity"},
    {"J6 gzip-foo", "gzip-foo", GZIP, "identity"},
    {"J6 quoted", "\"gzip\"", GZIP, "identity"},
    {"browser", "gzip, deflate, br, zstd", ALL, "br"},
    {"browser, gzip only", "gzip, deflate, br, zstd", GZIP, "gzip"},
    {"browser, nothing", "gzip, deflate, br, zstd", 0, "identity"},
    {"weights", "br;q=0.5, gzip;q=0.8, zstd;q=0.1", ALL, "gzip"},
    {"identity preferred", "identity, gzip;q=0.5", GZIP, "identity"},
    {"identity equal", "identity;q=0.5, gzip;q=0.5", GZIP, "gzip"},
    {"identity below", "identity;q=0.4, gzip;q=0.5", GZIP, "gzip"},
    {"star below", "*;q=0.1, gzip;q=0.2", ALL, "gzip"},
    {"twice", "gzip;q=0, gzip", GZIP, "gzip"},
    {"empty members", ",, gzip ,,", GZIP, "gzip"},
    {"only weight", ";q=1", ALL, "identity"},
    {"garbage", "=;,;;q=,\"", ALL, "identity"},
};

static void accept_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct accept a;
        struct str value = copy_exact(str_z(rows[i].value));
        accept_init(&a);
        accept_add(&a, value);
        ROW_STR(rows[i].name, coding_name(accept_best(&a, rows[i].offered)), str_z(rows[i].want));
        free_exact(value);
    }
}

static void accept_lines(void **state)
{
    struct accept a;

    (void)state;
    accept_init(&a);
    assert_int_equal(accept_best(&a, ALL), CODING_IDENTITY); /* J2 */
    assert_int_equal(accept_quality(&a, CODING_IDENTITY), 1);
    accept_add(&a, STR("br;q=0.3"));
    accept_add(&a, STR("gzip;q=0.4"));
    assert_int_equal(accept_best(&a, ALL), CODING_GZIP);
    assert_int_equal(accept_quality(&a, CODING_BR), 300);
    assert_int_equal(accept_quality(&a, CODING_ZSTD), 0);
    accept_add(&a, STR("*;q=0"));
    assert_int_equal(accept_quality(&a, CODING_IDENTITY), 0);
    ROW_STR("suffix", coding_suffix(CODING_GZIP), STR(".gz"));
    ROW_STR("suffix", coding_suffix(CODING_IDENTITY), STR(""));
}

/* h62: 8,000 items; 2a: commas. */
static void accept_many(void **state)
{
    static char value[8000 * 8 + 4];
    struct accept a;

    (void)state;
    for (size_t i = 0; i < 8000; i++) {
        memcpy(value + i * 8, "x;q=0.5,", 8);
    }
    memcpy(value + 64000, "gzip", 4);
    accept_init(&a);
    accept_add(&a, str_make(value, sizeof(value)));
    assert_int_equal(accept_best(&a, ALL), CODING_GZIP);
    memset(value, ',', sizeof(value));
    accept_init(&a);
    accept_add(&a, str_make(value, sizeof(value)));
    assert_int_equal(accept_best(&a, ALL), CODING_IDENTITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accept_table),
        cmocka_unit_test(accept_lines),
        cmocka_unit_test(accept_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
