/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip written and read piece by piece; damaged and bombed input (J1, J3 of codings; hostile.md). */
#include "cache/fgzip.h"
#include "unit/cache/unit.h"

#define TEXT_N 100000u

static char *text_new(void)
{
    char *p = malloc(TEXT_N);
    for (size_t i = 0; i < TEXT_N; i++)
        p[i] = (char)('a' + i * i % 17);
    return p;
}

/* Runs a codec over all of in, in pieces of the given sizes; -1: FGZIP_BAD. */
static ssize_t run(struct fgzip *z, struct str in, size_t in_piece, char *out, size_t room,
                   size_t out_piece)
{
    size_t got = 0;
    for (;;) {
        struct str part = str_head(in, in_piece);
        size_t n = part.n;
        size_t space = room - got < out_piece ? room - got : out_piece;
        struct wbuf w = wbuf_make(out + got, space);
        enum fgzip_result result = fgzip_run(z, &part, n == in.n, &w);
        got = (size_t)(w.at - out);
        in = str_skip(in, n - part.n);
        if (result == FGZIP_END)
            return (ssize_t)got;
        if (result == FGZIP_BAD || (result == FGZIP_FULL && got == room))
            return -1;
    }
}

static void there_and_back(void **state)
{
    static const size_t pieces[] = {1, 7, 1000, TEXT_N};
    struct fgzip_pool *pool = fgzip_pool_new();
    char *text = text_new(), *zipped = malloc(2 * TEXT_N), *back = malloc(TEXT_N + 1);
    (void)state;
    for (int level = 1; level <= 9; level++) {
        for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
            struct fgzip *z = fgzip_get(pool, level);
            ssize_t n = run(z, str_make(text, TEXT_N), pieces[i], zipped, 2 * TEXT_N,
                            pieces[(i + 1) % 4]);
            fgzip_put(pool, z);
            assert_in_range(n, 20, fgzip_bound(TEXT_N));
            assert_true(fgzip_magic(str_make(zipped, (size_t)n)));
            z = fgzip_get(pool, FGZIP_UNZIP);
            assert_int_equal(run(z, str_make(zipped, (size_t)n), pieces[i], back, TEXT_N + 1,
                                 pieces[(i + 2) % 4]), TEXT_N);
            fgzip_put(pool, z);
            assert_memory_equal(back, text, TEXT_N);
        }
    }
    fgzip_pool_delete(pool);
    free(text);
    free(zipped);
    free(back);
}

/* What the codec was before must not show: same input and level, same bytes. */
static void reuse(void **state)
{
    struct fgzip_pool *pool = fgzip_pool_new();
    char *text = text_new(), *first = malloc(TEXT_N), *then = malloc(TEXT_N);
    (void)state;
    struct fgzip *z = fgzip_get(pool, 6);
    ssize_t n = run(z, str_make(text, TEXT_N), TEXT_N, first, TEXT_N, TEXT_N);
    fgzip_put(pool, z);
    z = fgzip_get(pool, 9);
    struct str part = str_make(text, 5000);
    struct wbuf w = wbuf_make(then, TEXT_N);
    assert_int_equal(fgzip_run(z, &part, false, &w), FGZIP_MORE); /* given up half way */
    fgzip_put(pool, z);
    z = fgzip_get(pool, 6);
    assert_int_equal(run(z, str_make(text, TEXT_N), TEXT_N, then, TEXT_N, TEXT_N), n);
    assert_memory_equal(first, then, (size_t)n);
    fgzip_put(pool, z);
    struct fgzip *many[8];
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        assert_non_null(many[i] = fgzip_get(pool, 1 + (int)i));
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        fgzip_put(pool, many[i]);
    fgzip_put(pool, NULL);
    fgzip_pool_delete(pool);
    fgzip_pool_delete(NULL);
    free(text);
    free(first);
    free(then);
}

static ssize_t unzip(struct fgzip_pool *pool, const char *in, size_t n, char *out, size_t room)
{
    struct fgzip *z = fgzip_get(pool, FGZIP_UNZIP);
    ssize_t got = run(z, str_make(in, n), n == 0 ? 1 : n, out, room, room);
    fgzip_put(pool, z);
    return got;
}

static void damaged(void **state)
{
    struct fgzip_pool *pool = fgzip_pool_new();
    char *text = text_new(), *zipped = malloc(2 * TEXT_N), *out = malloc(2 * TEXT_N);
    (void)state;
    struct fgzip *z = fgzip_get(pool, 6);
    size_t n = (size_t)run(z, str_make(text, TEXT_N), TEXT_N, zipped, TEXT_N, TEXT_N);
    fgzip_put(pool, z);
    for (size_t cut = 0; cut < n; cut += 1 + n / 50)
        assert_int_equal(unzip(pool, zipped, cut, out, 2 * TEXT_N), -1);
    zipped[n - 6] ^= 1; /* the checksum */
    assert_int_equal(unzip(pool, zipped, n, out, 2 * TEXT_N), -1);
    zipped[n - 6] ^= 1;
    assert_int_equal(unzip(pool, zipped, n, out, TEXT_N - 1), -1); /* no room */
    assert_int_equal(unzip(pool, "plain text", 10, out, TEXT_N), -1);
    memcpy(zipped + n, zipped, n); /* two members are one file */
    assert_int_equal(unzip(pool, zipped, 2 * n, out, 2 * TEXT_N), 2 * TEXT_N);
    zipped[2 * n] = 'x';           /* and what is none is not passed over */
    assert_int_equal(unzip(pool, zipped, 2 * n + 1, out, 2 * TEXT_N + 1), -1);
    fgzip_pool_delete(pool);
    free(text);
    free(zipped);
    free(out);
}

static void magic(void **state)
{
    (void)state;
    assert_true(fgzip_magic(STR("\x1f\x8b\x08...")));
    assert_false(fgzip_magic(STR("\x1f\x8b")));
    assert_false(fgzip_magic(STR("PK\3\4")));
    assert_false(fgzip_magic(STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(reuse),
        cmocka_unit_test(damaged),
        cmocka_unit_test(magic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
