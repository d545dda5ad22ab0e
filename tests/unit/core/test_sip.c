/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash-2-4-128 against the vectors of its authors: secret 00..0f, texts 00 01 02 .. */
#include "core/sip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* behind the headers it needs */
#include <cmocka.h>

static const uint64_t secret[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

static const struct {
    size_t n;
    uint64_t v[2]; /* little-endian words of the 16 bytes published */
} vectors[] = {
    {0, {UINT64_C(0xe6a825ba047f81a3), UINT64_C(0x930255c71472f66d)}},
    {1, {UINT64_C(0x44af996bd8c187da), UINT64_C(0x45fc229b11597634)}},
};

static void published(void **state)
{
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        struct sip got = sip_hash(str_make(text, vectors[i].n), secret);
        if (got.v[0] != vectors[i].v[0] || got.v[1] != vectors[i].v[1])
            fail_msg("%zu bytes: %016llx %016llx", vectors[i].n, (unsigned long long)got.v[0],
                     (unsigned long long)got.v[1]);
    }
}

/* Every byte, the length and both words of the secret count. */
static void all_counts(void **state)
{
    char text[40];
    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t n = 1; n <= sizeof(text); n++) {
        struct sip whole = sip_hash(str_make(text, n), secret);
        assert_false(sip_eq(whole, sip_hash(str_make(text, n - 1), secret)));
        assert_true(sip_eq(whole, sip_hash(str_make(text, n), secret)));
        for (size_t i = 0; i < n; i++) {
            text[i] ^= 1;
            assert_false(sip_eq(whole, sip_hash(str_make(text, n), secret)));
            text[i] ^= 1;
        }
        for (int i = 0; i < 2; i++) {
            uint64_t other[2] = {secret[0], secret[1]};
            other[i] ^= UINT64_C(1) << 40;
            assert_false(sip_eq(whole, sip_hash(str_make(text, n), other)));
        }
    }
    assert_true(sip_eq(sip_hash(STR_NONE, secret), sip_hash(STR(""), secret)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published),
        cmocka_unit_test(all_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
