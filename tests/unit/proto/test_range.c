/* SPDX-License-Identifier: BSD-2-Clause */
/* Range values (behaviours.md group I, hostile.md 2a and 57), and random ones against a bitmap. */
#include "proto/range.h"

#include "rows.h"

#define MAX 16

static const struct range_row {
    const char *name, *value;
    uint64_t size;
    const char *want; /* "start+length ..."; "ignore"; "416" */
} rows[] = {
    {"I1", "bytes=0-8", 1000, "0+9"},
    {"I2 suffix", "bytes=-10", 1000, "990+10"},
    {"I2 open", "bytes=990-", 1000, "990+10"},
    {"I2 clamped", "bytes=990-1990", 1000, "990+10"},
    {"I2 one byte", "bytes=0-0", 1000, "0+1"},
    {"I2 last byte", "bytes=999-999", 1000, "999+1"},
    {"I2 whole", "bytes=0-", 1000, "0+1000"},
    {"I2 suffix longer", "bytes=-1001", 1000, "0+1000"},
    {"I3 beyond", "bytes=1000-", 1000, "416"},
    {"I3 -0", "bytes=-0", 1000, "416"},
    {"I4 alpha", "bytes=alpha", 1000, "416"},
    {"I4 number", "bytes=10", 1000, "416"},
    {"I4 10-alpha", "bytes=10-alpha", 1000, "416"},
    {"I4 0--", "bytes=0--", 1000, "416"},
    {"I4 -2-3", "bytes=-2-3", 1000, "416"},
    {"I4 no comma", "bytes=10-11 12-", 1000, "416"},
    {"I4 h57 empty", "bytes=", 1000, "416"},
    {"I4 comma", "bytes=,", 1000, "416"},
    {"I4 h57 dash", "bytes=-", 1000, "416"},
    {"I4 blank inside", "bytes=1 -2", 1000, "416"},
    {"I4 plus", "bytes=+1-2", 1000, "416"},
    {"I4 hex", "bytes=0x1-2", 1000, "416"},
    {"I4 bad behind good", "bytes=0-1,x", 1000, "416"},
    {"I5 h57 last before first", "bytes=5-2", 1000, "416"},
    {"I5 among good ones", "bytes=0-1,5-2", 1000, "416"},
    {"I6 unit", "items=0-5", 1000, "ignore"},
    {"I6 no unit", "0-3", 1000, "ignore"},
    {"I6 empty", "", 1000, "ignore"},
    {"I6 half a unit", "bytes", 1000, "ignore"},
    {"I6 blank", "bytes =0-1", 1000, "ignore"},
    {"I6 unit case", "Bytes=0-1", 1000, "0+2"},
    {"I7 two", "bytes=0-1,10-11", 1000, "0+2 10+2"},
    {"I7 order", "bytes=10-11,0-1,-1", 1000, "10+2 0+2 999+1"},
    {"I7 blanks", "bytes= 0-1 ,\t, 10-11,", 1000, "0+2 10+2"},
    {"I8 one satisfiable", "bytes=2000-,0-1", 1000, "0+2"},
    {"I9 dropped", "bytes=0-1,1000-1001,10-11,-0", 1000, "0+2 10+2"},
    {"I10 overlap", "bytes=0-10,5-20", 1000, "0+21"},
    {"I10 adjacent", "bytes=0-9,10-19", 1000, "0+20"},
    {"I10 inside", "bytes=0-99,5-6", 1000, "0+100"},
    {"I10 bridge", "bytes=0-9,20-29,500-501,10-19", 1000, "0+30 500+2"},
    {"I10 bridge, later first", "bytes=20-29,500-501,0-9,10-19", 1000, "0+30 500+2"},
    {"I10 gap of one", "bytes=0-9,11-19", 1000, "0+10 11+9"},
    {"I11 sum", "bytes=0-,0-", 1000, "ignore"},
    {"I11 sum, by one", "bytes=0-499,499-999", 1000, "ignore"},
    {"I11 sum, just", "bytes=0-499,500-999", 1000, "0+1000"},
    {"I11 17 ranges",
     "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,24-24,"
     "26-26,28-28,30-30,32-32",
     10000, "ignore"},
    {"I11 16 ranges",
     "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,24-24,"
     "26-26,28-28,30-30",
     10000,
     "0+1 2+1 4+1 6+1 8+1 10+1 12+1 14+1 16+1 18+1 20+1 22+1 24+1 26+1 "
     "28+1 30+1"},
    {"I11 17 with one beyond",
     "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,"
     "24-24,26-26,28-28,30-30,99999-",
     10000, "ignore"},
    {"I11 cost", "bytes=0-599,601-999,0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14", 1000, "ignore"},
    {"I12 2^63", "bytes=9223372036854775808-", 1000, "416"},
    {"I12 2^64", "bytes=0-18446744073709551616", 1000, "0+1000"},
    {"I12 first of 30 digits", "bytes=100000000000000000000000000000-", 1000, "416"},
    {"I12 30 digits last before first", "bytes=5-000000000000000000000000000004", 1000, "416"},
    {"2a suffix 2^63-1", "bytes=-9223372036854775807", 1000, "0+1000"},
    {"2a suffix 2^63", "bytes=-9223372036854775808", 1000, "0+1000"},
    {"2a suffix 2^64-1", "bytes=-18446744073709551615", 1000, "0+1000"},
    {"2a suffix 30 digits", "bytes=-999999999999999999999999999999", 1000, "0+1000"},
    {"2a pair of suffixes", "bytes=-9223372036854775608,-9223372036854776000", 1000, "ignore"},
    {"2a pair of 1 and huge", "bytes=-1,-18446744073709551615", 1000, "ignore"},
    {"2a 5 GiB", "bytes=-2147483649,0-2147483647", 5368709120,
     "3221225471+2147483649 0+2147483648"},
    {"I22 beyond 4 GiB", "bytes=4294967296-4294967297", 5368709120, "4294967296+2"},
    {"I22 largest", "bytes=9223372036854775806-9223372036854775807", UINT64_MAX,
     "9223372036854775806+2"},
    {"I22 largest, all", "bytes=0-18446744073709551615,0-0", UINT64_MAX, "ignore"},
    {"I20 empty file", "bytes=0-", 0, "416"},
    {"I20 empty file suffix", "bytes=-5", 0, "ignore"},
    {"I20 empty file -0", "bytes=-0", 0, "416"},
    {"I20 empty file 0-0", "bytes=0-0", 0, "416"},
    {"2a one byte", "bytes=-1", 1, "0+1"},
    {"2a one byte, beyond", "bytes=1-1", 1, "416"},
};

static struct str result_text(enum range_result r, const struct range *out, size_t n, char *text)
{
    size_t used = 0;

    if (r != RANGE_OK) {
        assert_int_equal(n, 0);
        return r == RANGE_IGNORE ? STR("ignore") : STR("416");
    }
    for (size_t i = 0; i < n; i++) {
        used += (size_t)sprintf(text + used, "%s%ju+%ju", i != 0 ? " " : "",
                                (uintmax_t)out[i].start, (uintmax_t)out[i].length);
    }
    return str_make(text, used);
}

static void range_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[1024];
        struct range out[MAX];
        size_t n;
        struct str value = copy_exact(str_z(rows[i].value));
        enum range_result r = range_parse(value, rows[i].size, MAX, out, &n);
        ROW_STR(rows[i].name, result_text(r, out, n, text), str_z(rows[i].want));
        free_exact(value);
    }
}

/* 2a: Apache CVE-2011-3192 and its like. */
static void range_floods(void **state)
{
    static char value[100000];
    struct range out[MAX];
    size_t n, used = (size_t)sprintf(value, "bytes=0-");

    (void)state;
    for (int i = 0; i < 1300; i++) {
        used += (size_t)sprintf(value + used, ",5-%d", i + 5);
    }
    assert_int_equal(range_parse(str_make(value, used), 10000000, MAX, out, &n), RANGE_IGNORE);
    used = (size_t)sprintf(value, "bytes=0-0");
    for (int i = 1; i < 4000; i++) {
        used += (size_t)sprintf(value + used, ",%d-%d", i * 2, i * 2);
    }
    assert_int_equal(range_parse(str_make(value, used), 10000000, MAX, out, &n), RANGE_IGNORE);
    assert_int_equal(range_parse(STR("bytes=0-0"), 1000, 0, out, &n), RANGE_IGNORE); /* I21 */
    assert_int_equal(range_parse(STR("bytes=0-0,5-5"), 1000, 1, out, &n), RANGE_IGNORE);
    assert_int_equal(range_parse(STR("bytes=0-0"), 1000, 1, out, &n), RANGE_OK);
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* The ranges are disjoint, not adjacent, and cover just the bytes asked for; never too dear. */
static void range_equals_bitmap(void **state)
{
    uint64_t seed = 7;
    int ok = 0;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        char value[256];
        unsigned char asked[41] = {0}, given[41] = {0};
        uint64_t size = random_next(&seed) % 40, sum = 0, cost = 0;
        size_t used = (size_t)sprintf(value, "bytes="), members = random_next(&seed) % 5 + 1, n;
        struct range out[4];

        for (size_t i = 0; i < members; i++) {
            uint64_t a = random_next(&seed) % 44, b = a + random_next(&seed) % 6;
            uint64_t from = a, to = b + 1; /* [from, to) */
            const char *comma = i != 0 ? "," : "";
            switch (random_next(&seed) % 3) {
            case 0:
                used +=
                    (size_t)sprintf(value + used, "%s%ju-%ju", comma, (uintmax_t)a, (uintmax_t)b);
                break;
            case 1:
                used += (size_t)sprintf(value + used, "%s%ju-", comma, (uintmax_t)a);
                to = size;
                break;
            default:
                used += (size_t)sprintf(value + used, "%s-%ju", comma, (uintmax_t)a);
                from = a < size ? size - a : 0;
                to = size;
            }
            for (uint64_t k = from; k < to && k < size; k++) {
                asked[k] = 1;
                sum++;
            }
        }
        enum range_result r = range_parse(str_make(value, used), size, ARRAY_LEN(out), out, &n);
        if (members > ARRAY_LEN(out) || sum > size) {
            ROW(value, r == RANGE_IGNORE);
        }
        if (r != RANGE_OK) {
            ROW(value,
                r == RANGE_IGNORE ? members > ARRAY_LEN(out) || sum > size || size == 0 : sum == 0);
            continue;
        }
        ok++;
        for (size_t i = 0; i < n; i++) {
            ROW(value, out[i].length != 0 && out[i].start + out[i].length <= size);
            ROW(value, out[i].start == 0 || given[out[i].start - 1] == 0);
            ROW(value, given[out[i].start + out[i].length] == 0);
            for (uint64_t k = 0; k < out[i].length; k++) {
                ROW(value, given[out[i].start + k]++ == 0);
            }
            cost += out[i].length + (n > 1 ? RANGE_PART_COST : 0);
        }
        ROW(value, memcmp(asked, given, sizeof(asked)) == 0);
        ROW(value, cost <= size + RANGE_SLACK);
    }
    assert_in_range(ok, 40000, 190000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_table),
        cmocka_unit_test(range_floods),
        cmocka_unit_test(range_equals_bitmap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
