/* SPDX-License-Identifier: BSD-2-Clause */
/* The output queue: what is in front, cut at a limit, and what is left when part of it is gone. */
#include "net/output.h"

#include <setjmp.h>
#include <stdarg.h>
/* behind the headers it needs */
#include <cmocka.h>

static unsigned released;

static void count(void *arg)
{
    (void)arg;
    released++;
}

struct queue {
    struct out_pool pool;
    struct output out;
};

static void begin(struct queue *q)
{
    *q = (struct queue){.out = {.first = NULL}};
    out_pool_init(&q->pool);
    released = 0;
}

static void end(struct queue *q)
{
    out_clear(&q->out, &q->pool, NULL);
    assert_int_equal(q->pool.bufs.in_use, 0);
    out_pool_fini(&q->pool);
}

/* The bytes that a send of at most `most` would take, as text. */
static size_t front(const struct queue *q, uint64_t most, char *to, bool *more)
{
    struct iovec iov[OUT_GATHER];
    size_t n = out_front(&q->out, iov, OUT_GATHER, most, more), bytes = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(iov[i].iov_len > 0);
        memcpy(to + bytes, iov[i].iov_base, iov[i].iov_len);
        bytes += iov[i].iov_len;
    }
    to[bytes] = '\0';
    return bytes;
}

static void limits(void **state)
{
    static const char text[] = "abcdefghijklmnopqrst";
    struct queue q;
    char got[64];
    bool more;
    (void)state;
    begin(&q);
    for (size_t i = 0; i < 20; i += 4) /* copies and references, over several buffers */
        if (i % 8 == 0)
            assert_true(out_copy(&q.out, &q.pool, text + i, 4));
        else
            assert_true(out_ref(&q.out, &q.pool, text + i, 4, (struct out_ref){count, NULL}));
    for (size_t most = 0; most <= 22; most++) {
        size_t n = front(&q, most, got, &more);
        assert_int_equal(n, most < 20 ? most : 20);
        assert_memory_equal(got, text, n);
        assert_false(more); /* what is held back does not follow at once */
    }
    assert_int_equal(front(&q, UINT64_MAX, got, &more), 20);
    out_advance(&q.out, &q.pool, 6);
    assert_int_equal(front(&q, 3, got, &more), 3);
    assert_string_equal(got, "ghi");
    assert_int_equal(released, 0);
    out_advance(&q.out, &q.pool, 3);
    assert_int_equal(released, 1);
    assert_int_equal(out_pending(&q.out), 11);
    end(&q);
    assert_int_equal(released, 2);
}

static void many_pieces(void **state)
{
    struct queue q;
    struct iovec iov[OUT_GATHER];
    bool more;
    (void)state;
    begin(&q);
    for (size_t i = 0; i < 2 * OUT_GATHER; i++)
        assert_true(out_ref(&q.out, &q.pool, "xy", 2, (struct out_ref){count, NULL}));
    assert_int_equal(out_front(&q.out, iov, OUT_GATHER, UINT64_MAX, &more), OUT_GATHER);
    assert_true(more);
    assert_int_equal(out_front(&q.out, iov, OUT_GATHER, 2 * OUT_GATHER, &more), OUT_GATHER);
    assert_false(more);
    assert_int_equal(out_front(&q.out, iov, OUT_GATHER, 7, &more), 4);
    assert_int_equal(iov[3].iov_len, 1);
    out_advance(&q.out, &q.pool, 4 * OUT_GATHER);
    assert_int_equal(released, 2 * OUT_GATHER);
    assert_true(out_empty(&q.out));
    end(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(many_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
