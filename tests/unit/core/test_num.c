/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text: the whole text is the number or there is no number; nothing wraps around. */
#include "core/num.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define UNTOUCHED 0xdeadbeefu

static void test_dec(void **state)
{
    static const struct {
        struct str text;
        bool ok;
        uint64_t value;
    } cases[] = {
        {STR_INIT("0"), true, 0},
        {STR_INIT("7"), true, 7},
        {STR_INIT("0007"), true, 7},
        {STR_INIT("00000000000000000000000000000000042"), true, 42},
        {STR_INIT("18446744073709551615"), true, UINT64_MAX},
        {STR_INIT("18446744073709551616"), false, 0},
        {STR_INIT("18446744073709551620"), false, 0},
        {STR_INIT("28446744073709551615"), false, 0},
        {STR_INIT("184467440737095516150"), false, 0},
        {STR_INIT("99999999999999999999999999"), false, 0},
        {STR_INIT(""), false, 0},
        {{NULL, 0}, false, 0},
        {STR_INIT("-1"), false, 0},
        {STR_INIT("+1"), false, 0},
        {STR_INIT(" 1"), false, 0},
        {STR_INIT("1 "), false, 0},
        {STR_INIT("1\0"), false, 0},
        {STR_INIT("0x10"), false, 0},
        {STR_INIT("1e3"), false, 0},
        {STR_INIT("1_000"), false, 0},
        {STR_INIT("\xb2"), false, 0},
        {STR_INIT("/"), false, 0},
        {STR_INIT(":"), false, 0},
    };

    (void)state;
    for (size_t i = 0; i < LEN(cases); i++) {
        uint64_t v = UNTOUCHED;
        assert_int_equal(num_dec(cases[i].text, &v), cases[i].ok);
        assert_true(v == (cases[i].ok ? cases[i].value : UNTOUCHED));
    }
}

static void test_hex(void **state)
{
    static const struct {
        struct str text;
        bool ok;
        uint64_t value;
    } cases[] = {
        {STR_INIT("0"), true, 0},
        {STR_INIT("aF"), true, 0xaf},
        {STR_INIT("00000000000000000000001"), true, 1},
        {STR_INIT("ffffffffffffffff"), true, UINT64_MAX},
        {STR_INIT("FFFFFFFFFFFFFFFF"), true, UINT64_MAX},
        {STR_INIT("10000000000000000"), false, 0},
        {STR_INIT("fffffffffffffffff"), false, 0},
        {STR_INIT(""), false, 0},
        {STR_INIT("0x1"), false, 0},
        {STR_INIT("g"), false, 0},
        {STR_INIT("1 "), false, 0},
        {STR_INIT("-1"), false, 0},
    };

    (void)state;
    for (size_t i = 0; i < LEN(cases); i++) {
        uint64_t v = UNTOUCHED;
        assert_int_equal(num_hex(cases[i].text, &v), cases[i].ok);
        assert_true(v == (cases[i].ok ? cases[i].value : UNTOUCHED));
    }
}

static void test_hexdigit(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        int want = c >= '0' && c <= '9'   ? (int)c - '0'
                   : c >= 'a' && c <= 'f' ? (int)c - 'a' + 10
                   : c >= 'A' && c <= 'F' ? (int)c - 'A' + 10
                                          : -1;
        assert_int_equal(num_hexdigit((unsigned char)c), want);
    }
}

static void check_both_ways(uint64_t v)
{
    char want[32], got[32];
    uint64_t back;

    int n = snprintf(want, sizeof want, "%" PRIu64, v);
    assert_int_equal(num_put(got, v), n);
    assert_memory_equal(got, want, n);
    assert_true(num_dec((struct str){got, (size_t)n}, &back));
    assert_true(back == v);

    n = snprintf(want, sizeof want, "%" PRIx64, v);
    assert_int_equal(num_put_hex(got, v), n);
    assert_memory_equal(got, want, n);
    assert_true(num_hex((struct str){got, (size_t)n}, &back));
    assert_true(back == v);
}

/* Against the C library, on numbers of every size and around every power. */
static void test_reference(void **state)
{
    uint64_t r = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        r ^= r << 13;
        r ^= r >> 7;
        r ^= r << 17;
        check_both_ways(r >> i % 64);
    }
    for (uint64_t p = 1; p <= UINT64_MAX / 10; p *= 10) {
        check_both_ways(p - 1);
        check_both_ways(p);
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        check_both_ways((uint64_t)1 << bit);
        check_both_ways(((uint64_t)1 << bit) - 1);
    }
    check_both_ways(UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dec),
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_hexdigit),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests_name("core/num", tests, NULL, NULL);
}
