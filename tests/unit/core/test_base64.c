/* SPDX-License-Identifier: BSD-2-Clause */
/* Base64: the vectors of RFC 4648 section 10, both ways, and everything strict decoding refuses. */
#include "core/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    struct str plain, coded;
} vectors[] = {
    {STR_INIT(""), STR_INIT("")},
    {STR_INIT("f"), STR_INIT("Zg==")},
    {STR_INIT("fo"), STR_INIT("Zm8=")},
    {STR_INIT("foo"), STR_INIT("Zm9v")},
    {STR_INIT("foob"), STR_INIT("Zm9vYg==")},
    {STR_INIT("fooba"), STR_INIT("Zm9vYmE=")},
    {STR_INIT("foobar"), STR_INIT("Zm9vYmFy")},
    {STR_INIT("\xfb\xff\xfe"), STR_INIT("+//+")},
    {STR_INIT("\0\0\0"), STR_INIT("AAAA")},
    {STR_INIT("Aladdin:open sesame"), STR_INIT("QWxhZGRpbjpvcGVuIHNlc2FtZQ==")},
};

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(vectors); i++) {
        char text[64];
        unsigned char bytes[64];
        size_t n = 99;
        assert_int_equal(base64_encode(text, vectors[i].plain), vectors[i].coded.n);
        assert_int_equal(BASE64_ENCODED(vectors[i].plain.n), vectors[i].coded.n);
        assert_memory_equal(text, vectors[i].coded.p, vectors[i].coded.n);
        assert_true(base64_decode(bytes, vectors[i].coded, &n));
        assert_int_equal(n, vectors[i].plain.n);
        assert_memory_equal(bytes, vectors[i].plain.p, n);
    }
}

static void test_refused(void **state)
{
    static const struct str bad[] = {
        STR_INIT("Z"),         STR_INIT("Zg"),       STR_INIT("Zg="),      STR_INIT("Zm9vY"),
        STR_INIT("===="),      STR_INIT("Z==="),     STR_INIT("=g=="),     STR_INIT("Zg=a"),
        STR_INIT("Zg==Zg=="),  STR_INIT("Zm8=Zm9v"), STR_INIT("Zm9vZg= "), STR_INIT("Zm 9"),
        STR_INIT("Zm9v\n"),    STR_INIT("Zm9\n"),    STR_INIT("Zm9\0"),    STR_INIT("-__-"),
        STR_INIT("Zm9\xc3"),   STR_INIT("Zh=="), /* unused bits that are not zero */
        STR_INIT("Zm9="),      STR_INIT("Zm9v===="),
        {"Zm9v", 1},           {"Zm9v", 2},          {"Zm9v", 3}, /* the view ends there */
    };

    (void)state;
    for (size_t i = 0; i < LEN(bad); i++) {
        unsigned char bytes[64];
        size_t n;
        assert_false(base64_decode(bytes, bad[i], &n));
    }
}

/* The alphabet, against its definition: every byte that is not one of the 64 is refused. */
static void test_alphabet(void **state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char text[4] = {'A', 'A', 'A', (char)c};
        unsigned char bytes[3];
        size_t n;
        ssize_t value = str_chr(str_z(digits), (char)c);
        bool ok = value >= 0 || c == '=';
        assert_int_equal(base64_decode(bytes, (struct str){text, 4}, &n), ok);
        if (value >= 0)
            assert_int_equal(bytes[2], value);
    }
}

static void test_round_trip(void **state)
{
    uint64_t r = 5;

    (void)state;
    for (size_t n = 0; n < 300; n++) {
        char *plain = malloc(n + 1), *text = malloc(BASE64_ENCODED(n) + 1);
        unsigned char *back = malloc(BASE64_DECODED(BASE64_ENCODED(n)) + 1);
        size_t got;
        for (size_t i = 0; i < n; i++) {
            r = r * 6364136223846793005u + 1442695040888963407u;
            plain[i] = (char)(r >> 56);
        }
        size_t coded = base64_encode(text, (struct str){plain, n});
        assert_int_equal(coded, BASE64_ENCODED(n));
        assert_true(base64_decode(back, (struct str){text, coded}, &got));
        assert_int_equal(got, n);
        assert_memory_equal(back, plain, n);
        free(plain);
        free(text);
        free(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_alphabet),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests_name("core/base64", tests, NULL, NULL);
}
