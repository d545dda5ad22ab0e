/* SPDX-License-Identifier: BSD-2-Clause */
/* The chunked decoder (behaviours.md M2, M12-M16; hostile.md 2a, 17), each row at every split. */
#include "proto/h1_chunk.h"

#include "rows.h"

struct outcome {
    enum h1_chunk_result result;
    char data[256];
    size_t n, rest;
    uint64_t total;
};

/* Decodes in pieces of `step` bytes, the first of `first` bytes. */
static struct outcome decode(struct str in, size_t first, size_t step)
{
    struct outcome o = {.result = H1_CHUNK_MORE};
    struct h1_chunk c;
    size_t at = 0, end = first < in.n ? first : in.n;

    h1_chunk_init(&c);
    for (;;) {
        struct str part = copy_exact(str_make(in.p + at, end - at)), rest = part, data;
        while ((o.result = h1_chunk_next(&c, &rest, &data)) == H1_CHUNK_DATA) {
            if (o.n + data.n > sizeof(o.data)) {
                fail_msg("too much data");
            }
            memcpy(o.data + o.n, data.p, data.n);
            o.n += data.n;
        }
        o.rest = in.n - end + rest.n;
        if (o.result == H1_CHUNK_MORE && rest.n != 0) {
            fail_msg("MORE with bytes left");
        }
        free_exact(part);
        if (o.result != H1_CHUNK_MORE || end == in.n) {
            break;
        }
        at = end;
        end = at + step < in.n ? at + step : in.n;
    }
    o.total = c.total;
    return o;
}

static const struct chunk_row {
    const char *name;
    struct str in;
    enum h1_chunk_result result;
    const char *data;
    size_t rest;
} rows[] = {
#define DONE(name, text, data, rest)                                                               \
    {                                                                                              \
        name, STR_INIT(text), H1_CHUNK_DONE, data, rest                                            \
    }
#define MORE(name, text, data)                                                                     \
    {                                                                                              \
        name, STR_INIT(text), H1_CHUNK_MORE, data, 0                                               \
    }
#define BAD(name, text)                                                                            \
    {                                                                                              \
        name, STR_INIT(text), H1_CHUNK_BAD, NULL, 0                                                \
    }
    DONE("M2 empty", "0\r\n\r\n", "", 0),
    DONE("M2 plain", "5\r\nhello\r\n0\r\n\r\n", "hello", 0),
    DONE("M2 two", "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc", 0),
    DONE("M2 rest is the next request", "1\r\na\r\n0\r\n\r\nGET /", "a", 5),
    DONE("M2 lower hex", "a\r\n0123456789\r\n0\r\n\r\n", "0123456789", 0),
    DONE("M2 upper hex", "B\r\n0123456789A\r\n0\r\n\r\n", "0123456789A", 0),
    DONE("M2 leading zeros", "0000000000000000000005\r\nhello\r\n000\r\n\r\n", "hello", 0),
    DONE("M2 extension", "1;a\r\nx\r\n0;b=c;d=\"e\"\r\n\r\n", "x", 0),
    DONE("M2 extension with BWS", "1 ; a = b ;c=\t\"d\" ; e\r\nx\r\n0\r\n\r\n", "x", 0),
    DONE("M15 quoted", "1;a=\"b;\\\"\\\\ \xff\t\"\r\nx\r\n0\r\n\r\n", "x", 0),
    DONE("M2 trailers", "0\r\nA: b\r\nC:\r\n\r\nX", "", 1),
    DONE("M16 dropped", "0\r\nContent-Length: 5\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
         "", 0),
    DONE("M13 CRLF is data", "2\r\n\r\n\r\n0\r\n\r\n", "\r\n", 0),
    MORE("M17 nothing", "", ""),
    MORE("M17 size", "5", ""),
    MORE("M17 data", "5\r\nhel", "hel"),
    MORE("M17 end", "0\r\n", ""),
    MORE("M17 half end", "0\r\n\r", ""),
    BAD("M12 0x5", "0x5\r\nhello\r\n0\r\n\r\n"),
    BAD("M12 plus", "+5\r\nhello\r\n0\r\n\r\n"),
    BAD("M12 minus", "-1\r\n"),
    BAD("M12 blank before", " 5\r\n"),
    BAD("M12 blank behind", "5 \r\nhello\r\n"),
    BAD("M12 tab behind", "5\t\r\nhello\r\n"),
    BAD("M12 underscore", "1_0\r\n"),
    BAD("M12 empty", "\r\n"),
    BAD("M12 extension only", ";a\r\n"),
    BAD("M12 G", "G\r\n"),
    BAD("M12 2^63", "8000000000000000\r\n"),
    BAD("2a all F", "FFFFFFFFFFFFFFFF\r\n"),
    BAD("2a 17 digits", "10000000000000000\r\n"),
    BAD("2a 17 digits F", "FFFFFFFFFFFFFFFF0\r\n"),
    BAD("2a wraps to 5", "100000000000000005\r\nhello\r\n"),
    MORE("2a 2^63-1", "7FFFFFFFFFFFFFFF\r\na", "a"),
    MORE("2a 2^63-16", "7FFFFFFFFFFFFFF0\r\na", "a"),
    BAD("M13 longer", "4\r\nhello\r\n0\r\n\r\n"),
    BAD("M13 shorter", "6\r\nhello\r\n0\r\n\r\n"),
    BAD("M13 no CRLF", "5\r\nhello0\r\n\r\n"),
    BAD("M14 LF behind size", "5\nhello\r\n0\r\n\r\n"),
    BAD("M14 CR behind size", "5\rhello\r\n0\r\n\r\n"),
    BAD("M14 LF behind data", "5\r\nhello\n0\r\n\r\n"),
    BAD("M14 CR behind data", "5\r\nhello\r0\r\n\r\n"),
    BAD("M14 LF end", "0\r\n\n"),
    BAD("M14 LF LF end", "0\n\n"),
    BAD("M14 CR end", "0\r\n\rX"),
    BAD("M14 LF in trailer", "0\r\nA: b\n\r\n"),
    BAD("M14 CR in trailer", "0\r\nA: b\rc\r\n\r\n"),
    BAD("M14 h17 LF in extension", "1;a\nb\r\n"),
    BAD("M14 h17 CR in extension", "1;a\rb\r\n"),
    BAD("M14 LF in quoted", "1;a=\"\n\"\r\n"),
    BAD("M15 bare ;", "1;\r\nx\r\n0\r\n\r\n"),
    BAD("M15 ; ;", "1;;a\r\nx\r\n0\r\n\r\n"),
    BAD("M15 no value", "1;a=\r\nx\r\n0\r\n\r\n"),
    BAD("M15 blank at the end", "1;a \r\nx\r\n0\r\n\r\n"),
    BAD("M15 NUL", "1;a\0\r\n"),
    BAD("M15 CTL in quoted", "1;a=\"\x01\"\r\n"),
    BAD("M15 open quote", "1;a=\"b\r\n"),
    BAD("M15 text behind quote", "1;a=\"b\"c\r\n"),
    BAD("M15 NUL escaped", "1;a=\"\\\0\"\r\n"),
    BAD("M16 no colon", "0\r\nA\r\n\r\n"),
    BAD("M16 blank before colon", "0\r\nA : b\r\n\r\n"),
    BAD("M16 fold", "0\r\nA: b\r\n c\r\n\r\n"),
    BAD("M16 NUL", "0\r\nA: \0\r\n\r\n"),
};

static void chunk_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct chunk_row *row = &rows[i];
        for (size_t split = 0; split <= row->in.n; split++) {
            /* in two pieces cut at `split`; then in equal pieces of that size */
            struct outcome o[2] = {decode(row->in, split, row->in.n),
                                   decode(row->in, split + 1, split + 1)};
            for (int k = 0; k < 2; k++) {
                if (o[k].result != row->result) {
                    fail_msg("row %s, split %zu: result %d", row->name, split, o[k].result);
                }
                if (row->data != NULL) {
                    ROW_STR(row->name, str_make(o[k].data, o[k].n), str_z(row->data));
                    ROW(row->name, o[k].total == o[k].n && o[k].rest == row->rest);
                }
            }
        }
    }
}

static enum h1_chunk_result feed(struct h1_chunk *c, const char *p, size_t n)
{
    struct str in = str_make(p, n), data;
    enum h1_chunk_result r;

    while ((r = h1_chunk_next(c, &in, &data)) == H1_CHUNK_DATA) {
    }
    return r;
}

/* M15, M16, 2a: the limits, to the byte. */
static void chunk_limits(void **state)
{
    static char big[70000];
    struct h1_chunk c;

    (void)state;
    memset(big, '0', sizeof(big));
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, big, sizeof(big)), H1_CHUNK_BAD); /* 64 KiB of leading zeros */
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, big, H1_CHUNK_LINE_MAX - 2), H1_CHUNK_MORE);
    assert_int_equal(feed(&c, "\r\n\r\n", 4), H1_CHUNK_DONE);
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, big, H1_CHUNK_LINE_MAX - 1), H1_CHUNK_MORE);
    assert_int_equal(feed(&c, "\r\n\r\n", 4), H1_CHUNK_BAD);

    memset(big, 'a', sizeof(big));
    memcpy(big, "1;", 2);
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, big, sizeof(big)), H1_CHUNK_BAD); /* h17 */

    memcpy(big, "0\r\nA:", 5);
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, big, sizeof(big)), H1_CHUNK_BAD); /* h17 */
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, big, 3 + H1_CHUNK_TRAILER_MAX - 4), H1_CHUNK_MORE);
    assert_int_equal(feed(&c, "\r\n\r\n", 4), H1_CHUNK_DONE);
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, big, 3 + H1_CHUNK_TRAILER_MAX - 3), H1_CHUNK_MORE);
    assert_int_equal(feed(&c, "\r\n\r\n", 4), H1_CHUNK_BAD);
}

/* Many chunks: the line limit is per line, and the end is final. */
static void chunk_many(void **state)
{
    struct h1_chunk c;
    struct str in = STR("x"), data;

    (void)state;
    h1_chunk_init(&c);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(feed(&c, "1;a=b\r\nx\r\n", 10), H1_CHUNK_MORE);
    }
    assert_int_equal(c.total, 10000);
    assert_int_equal(feed(&c, "0\r\n\r\n", 5), H1_CHUNK_DONE);
    assert_int_equal(h1_chunk_next(&c, &in, &data), H1_CHUNK_DONE);
    assert_int_equal(in.n, 1);
    h1_chunk_init(&c);
    assert_int_equal(feed(&c, "x", 1), H1_CHUNK_BAD);
    assert_int_equal(feed(&c, "0\r\n\r\n", 5), H1_CHUNK_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunk_table),
        cmocka_unit_test(chunk_limits),
        cmocka_unit_test(chunk_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
