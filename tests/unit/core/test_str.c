/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * String views.  The views under test end exactly at the end of a heap block wherever it matters,
 * so that AddressSanitizer sees a read behind them.
 */
#include "core/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t random_state = 0x1234567;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* A copy without a spare byte behind it. */
static struct str tight(struct str s)
{
    char *p = malloc(s.n == 0 ? 1 : s.n);

    assert_non_null(p);
    if (s.n != 0)
        memcpy(p, s.p, s.n);
    return (struct str){s.n == 0 ? p + 1 : p, s.n};
}

static void tight_free(struct str s)
{
    union {
        const char *in;
        char *out;
    } p = {.in = s.n == 0 ? s.p - 1 : s.p};

    free(p.out);
}

static void test_make(void **state)
{
    static const struct str fixed = STR_INIT("abc");
    const char *text = "hello";

    (void)state;
    assert_int_equal(STR("").n, 0);
    assert_int_equal(STR("a\0b").n, 3);
    assert_true(str_eq(fixed, STR("abc")));
    assert_null(str_z(NULL).p);
    assert_int_equal(str_z(NULL).n, 0);
    assert_true(str_eq(str_z(text), STR("hello")));
    assert_true(str_eq(str_between(text + 1, text + 3), STR("el")));
    assert_true(str_eq(str_skip(STR("hello"), 2), STR("llo")));
    assert_int_equal(str_skip(str_z(text), 9).n, 0);
    assert_ptr_equal(str_skip(str_z(text), 9).p, text + 5);
    assert_null(str_skip(STR_NONE, 3).p);
    assert_true(str_eq(str_head(STR("hello"), 2), STR("he")));
    assert_true(str_eq(str_head(STR("hello"), 99), STR("hello")));
}

static void test_equal(void **state)
{
    static const struct {
        struct str a, b;
        bool same, same_nocase;
        int order;
    } cases[] = {
        {STR_INIT("abc"), STR_INIT("abc"), true, true, 0},
        {STR_INIT("abc"), STR_INIT("ABC"), false, true, 1},
        {STR_INIT("abc"), STR_INIT("abd"), false, false, -1},
        {STR_INIT("abc"), STR_INIT("ab"), false, false, 1},
        {STR_INIT("ab"), STR_INIT("abc"), false, false, -1},
        {STR_INIT(""), STR_INIT(""), true, true, 0},
        {{NULL, 0}, STR_INIT(""), true, true, 0},
        {{NULL, 0}, STR_INIT("a"), false, false, -1},
        {STR_INIT("a\0b"), STR_INIT("a\0c"), false, false, -1},
        {STR_INIT("@[`{"), STR_INIT("`{@["), false, false, -1}, /* neighbours of letters */
        {STR_INIT("\xc4"), STR_INIT("\xe4"), false, false, -1},  /* not ASCII: no folding */
        {STR_INIT("\xff"), STR_INIT("a"), false, false, 1},      /* bytes are unsigned */
        {STR_INIT("Az09-"), STR_INIT("aZ09-"), false, true, -1},
    };

    (void)state;
    for (size_t i = 0; i < LEN(cases); i++) {
        struct str a = cases[i].a, b = cases[i].b;
        assert_int_equal(str_eq(a, b), cases[i].same);
        assert_int_equal(str_eq_nocase(a, b), cases[i].same_nocase);
        int order = str_cmp(a, b);
        assert_int_equal((order > 0) - (order < 0), cases[i].order);
        order = str_cmp(b, a);
        assert_int_equal((order > 0) - (order < 0), -cases[i].order);
    }
}

static void test_lower(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        unsigned want = c >= 'A' && c <= 'Z' ? c + 32 : c;
        assert_int_equal(ascii_lower((unsigned char)c), want);
    }
}

static void test_affixes(void **state)
{
    (void)state;
    assert_true(str_starts(STR("hello"), STR("he")));
    assert_true(str_starts(STR("hello"), STR("")));
    assert_true(str_starts(STR_NONE, STR_NONE));
    assert_false(str_starts(STR("he"), STR("hello")));
    assert_false(str_starts(STR("Hello"), STR("he")));
    assert_true(str_starts_nocase(STR("Hello"), STR("hE")));
    assert_false(str_starts_nocase(STR("H"), STR("he")));
    assert_true(str_ends(STR("hello"), STR("llo")));
    assert_true(str_ends(STR("hello"), STR("hello")));
    assert_true(str_ends(STR("hello"), STR_NONE));
    assert_false(str_ends(STR("llo"), STR("hello")));
    assert_false(str_ends(STR("hello"), STR("ll")));
}

static void test_search(void **state)
{
    (void)state;
    assert_int_equal(str_chr(STR("a/b/c"), '/'), 1);
    assert_int_equal(str_rchr(STR("a/b/c"), '/'), 3);
    assert_int_equal(str_chr(STR("abc"), 'x'), -1);
    assert_int_equal(str_rchr(STR("abc"), 'x'), -1);
    assert_int_equal(str_chr(STR_NONE, 'x'), -1);
    assert_int_equal(str_rchr(STR_NONE, 'x'), -1);
    assert_int_equal(str_chr(STR("a\xff"), '\xff'), 1);
    assert_int_equal(str_chr(STR("abc"), '\0'), -1); /* the literal's NUL is not in the view */
    assert_int_equal(str_find(STR("abcabd"), STR("abd")), 3);
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_int_equal(str_find(STR_NONE, STR_NONE), 0);
    assert_int_equal(str_find(STR_NONE, STR("a")), -1);
    assert_int_equal(str_find(STR("ab"), STR("abc")), -1);
    assert_int_equal(str_find(str_head(STR("abcd"), 3), STR("cd")), -1);
}

static ssize_t find_slowly(struct str s, struct str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++) {
        size_t k = 0;
        while (k < needle.n && s.p[i + k] == needle.p[k])
            k++;
        if (k == needle.n)
            return (ssize_t)i;
    }
    return -1;
}

static void test_find_random(void **state)
{
    char a[80], b[20];

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t an = next_random() % sizeof a, bn = next_random() % sizeof b;
        unsigned letters = 1 + (unsigned)(next_random() % 3);
        for (size_t i = 0; i < an; i++)
            a[i] = (char)('a' + next_random() % letters);
        for (size_t i = 0; i < bn; i++)
            b[i] = (char)('a' + next_random() % letters);
        struct str s = tight((struct str){a, an}), needle = tight((struct str){b, bn});
        assert_int_equal(str_find(s, needle), find_slowly(s, needle));
        tight_free(s);
        tight_free(needle);
    }
}

static void test_trim(void **state)
{
    (void)state;
    assert_true(str_eq(str_trim(STR(" \t a b\t ")), STR("a b")));
    assert_true(str_eq(str_trim(STR("ab")), STR("ab")));
    assert_int_equal(str_trim(STR(" \t ")).n, 0);
    assert_int_equal(str_trim(STR_NONE).n, 0);
    assert_true(str_eq(str_trim(STR("\r\na\r\n")), STR("\r\na\r\n"))); /* SP and HTAB only */
}

static void test_split(void **state)
{
    static const struct {
        struct str whole;
        const char *pieces[5];
    } cases[] = {
        {STR_INIT("a,bc,d"), {"a", "bc", "d"}},
        {STR_INIT("a"), {"a"}},
        {STR_INIT(""), {""}},
        {STR_INIT(","), {"", ""}},
        {STR_INIT("a,"), {"a", ""}},
        {STR_INIT(",a"), {"", "a"}},
        {STR_INIT("a,,b"), {"a", "", "b"}},
        {{NULL, 0}, {NULL}},
    };

    (void)state;
    for (size_t i = 0; i < LEN(cases); i++) {
        struct str rest = cases[i].whole, piece;
        for (size_t k = 0; cases[i].pieces[k] != NULL; k++) {
            assert_true(str_split(&rest, ',', &piece));
            assert_true(str_eq(piece, str_z(cases[i].pieces[k])));
        }
        assert_false(str_split(&rest, ',', &piece));
        assert_false(str_split(&rest, ',', &piece));
    }
}

/* Equal views hash alike wherever they lie; length, case and seed matter as they should. */
static void test_hash(void **state)
{
    char text[64], upper[64];

    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        for (size_t i = 0; i < n; i++) {
            text[i] = (char)next_random();
            upper[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 32) : text[i];
        }
        struct str a = tight((struct str){text, n}), b = tight((struct str){upper, n});
        assert_true(str_hash(a, 7) == str_hash((struct str){text, n}, 7));
        assert_true(str_hash(a, 7) != str_hash(a, 8));
        assert_true(str_hash_nocase(a, 7) == str_hash_nocase(b, 7));
        assert_int_equal(str_hash(a, 7) == str_hash(b, 7), str_eq(a, b));
        tight_free(a);
        tight_free(b);
    }
    assert_true(str_hash(STR("a"), 0) != str_hash(STR("a\0"), 0));
    assert_true(str_hash(STR(""), 0) != str_hash(STR("\0"), 0));
    assert_true(str_hash(STR_NONE, 3) == str_hash(STR(""), 3));
}

/* Folding in the hash is ascii_lower, for every byte in every place of a word. */
static void test_hash_folding(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        for (size_t place = 0; place < 11; place++) {
            char raw[11], low[11];
            memset(raw, 'A' + (int)place, sizeof raw);
            raw[place] = (char)c;
            for (size_t i = 0; i < sizeof raw; i++)
                low[i] = (char)ascii_lower((unsigned char)raw[i]);
            assert_true(str_hash_nocase((struct str){raw, sizeof raw}, 1) ==
                        str_hash((struct str){low, sizeof low}, 1));
        }
    }
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Similar keys: no collision in 64 bits, and the low bits, which tables use, spread evenly. */
static void test_hash_spread(void **state)
{
    enum { KEYS = 1 << 14, SLOTS = 1 << 8 };
    static uint64_t hashes[KEYS];
    static unsigned slots[SLOTS];

    (void)state;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[32];
        int n = snprintf(key, sizeof key, "/static/img/%u.png", i);
        hashes[i] = str_hash((struct str){key, (size_t)n}, 99);
        slots[hashes[i] % SLOTS]++;
    }
    qsort(hashes, KEYS, sizeof hashes[0], compare_u64);
    for (unsigned i = 1; i < KEYS; i++)
        assert_true(hashes[i] != hashes[i - 1]);
    for (unsigned i = 0; i < SLOTS; i++) { /* 64 expected; six standard deviations are 48 */
        assert_true(slots[i] > 64 - 48);
        assert_true(slots[i] < 64 + 48);
    }
}

/* One changed bit of input changes about half of the output bits. */
static void test_hash_avalanche(void **state)
{
    char key[24];
    unsigned long changed = 0, rounds = 0;

    (void)state;
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < sizeof key; i++)
            key[i] = (char)next_random();
        struct str s = {key, 1 + next_random() % sizeof key};
        uint64_t before = str_hash(s, 5);
        for (size_t bit = 0; bit < s.n * 8; bit++, rounds++) {
            key[bit / 8] = (char)(key[bit / 8] ^ 1 << bit % 8);
            unsigned bits = (unsigned)__builtin_popcountll(before ^ str_hash(s, 5));
            key[bit / 8] = (char)(key[bit / 8] ^ 1 << bit % 8);
            assert_true(bits >= 8);
            changed += bits;
        }
    }
    assert_true(changed > rounds * 31);
    assert_true(changed < rounds * 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make),         cmocka_unit_test(test_equal),
        cmocka_unit_test(test_lower),        cmocka_unit_test(test_affixes),
        cmocka_unit_test(test_search),       cmocka_unit_test(test_find_random),
        cmocka_unit_test(test_trim),         cmocka_unit_test(test_split),
        cmocka_unit_test(test_hash),         cmocka_unit_test(test_hash_folding),
        cmocka_unit_test(test_hash_spread),  cmocka_unit_test(test_hash_avalanche),
    };
    return cmocka_run_group_tests_name("core/str", tests, NULL, NULL);
}
