/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Byte classes against the grammar's words for them, and the word-wise searches against the plain
 * definition: every byte, every place, every length, without a spare byte behind the end.
 */
#include "proto/byte.h"
#include "proto/token.h"

#include "rows.h"

static void classes_match_the_grammar(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool tchar = alnum || (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
        bool value = c == '\t' || (c >= 0x20 && c != 0x7f);
        bool path = alnum || (c != 0 && strchr("-._~!$&'()*+,;=:@/", c) != NULL);
        bool name = alnum || (c != 0 && strchr("-._~", c) != NULL);
        char row[8];
        snprintf(row, sizeof(row), "0x%02x", (unsigned)c);
        ROW(row, byte_is((char)c, BYTE_TCHAR) == tchar);
        ROW(row, token_is_tchar((unsigned char)c) == tchar);
        ROW(row, byte_is((char)c, BYTE_VALUE) == value);
        ROW(row, token_is_value_byte((unsigned char)c) == value);
        ROW(row, byte_is((char)c, BYTE_TARGET) == (c > 0x20 && c < 0x7f && c != '#'));
        ROW(row, byte_is((char)c, BYTE_PATH) == path);
        ROW(row, byte_is((char)c, BYTE_NAME) == name);
    }
}

/* Every byte at every place of a word, against the plain definition. */
static void searches_find_the_first(void **state)
{
    char buf[40];

    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t at = 0; at < sizeof(buf); at++) {
            memset(buf, 'a', sizeof(buf));
            buf[at] = (char)c;
            if (at > 3) {
                buf[at - 3] = '\t';
            }
            const char *end = buf + sizeof(buf);
            const char *want = c == '\t' || (c >= 0x20 && c != 0x7f) ? end : buf + at;
            assert_ptr_equal(byte_find_bad_value(buf, end), want);
            if (at > 3) {
                buf[at - 3] = '~';
            }
            want = c >= 0x20 && c < 0x7f ? end : buf + at;
            assert_ptr_equal(byte_find_unprintable(buf, end), want);
        }
    }
}

/* The answer of byte_word_ctl is exact as a yes or no, whatever the other seven bytes are. */
static void word_test_is_exact(void **state)
{
    static const unsigned char others[] = {0x20, 0x21, 0x7e, 0x80, 0x9f, 0xff};

    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t at = 0; at < 8; at++) {
            for (size_t k = 0; k < ARRAY_LEN(others); k++) {
                unsigned char bytes[8];
                uint64_t x;
                memset(bytes, others[k], sizeof(bytes));
                bytes[at] = (unsigned char)c;
                memcpy(&x, bytes, 8);
                assert_int_equal(byte_word_ctl(x) != 0, c < 0x20 || c == 0x7f);
            }
        }
    }
}

/* Lengths that end in and between words; nothing at or behind the end is looked at. */
static void searches_end_at_the_end(void **state)
{
    char text[64];

    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t n = 0; n < sizeof(text); n++) {
        struct str exact = copy_exact(str_make(text, n));
        assert_ptr_equal(byte_find_bad_value(exact.p, exact.p + n), exact.p + n);
        assert_ptr_equal(byte_find_unprintable(exact.p, exact.p + n), exact.p + n);
        free((void *)(uintptr_t)exact.p);
        char was = text[n];
        text[n] = '\n';
        assert_ptr_equal(byte_find_bad_value(text, text + n), text + n);
        assert_ptr_equal(byte_find_unprintable(text, text + n), text + n);
        assert_ptr_equal(byte_find_bad_value(text, text + sizeof(text)), text + n);
        text[n] = was;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_match_the_grammar),
        cmocka_unit_test(word_test_is_exact),
        cmocka_unit_test(searches_find_the_first),
        cmocka_unit_test(searches_end_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
