/* SPDX-License-Identifier: BSD-2-Clause */
/* enum status: every row of the table has a text of its own; errno values find their status. */
#include "core/status.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    enum status st;
    const char *text;
} rows[] = {
#define X(name, value, text) {STATUS_##name, text},
#include "core/status.tbl"
#undef X
};

#define ROWS (sizeof rows / sizeof rows[0])

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        assert_string_equal(status_text(rows[i].st), rows[i].text);
        assert_true(rows[i].st <= 0);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(rows[i].st, rows[k].st);
            assert_string_not_equal(rows[i].text, rows[k].text);
        }
    }
    assert_string_equal(status_text(STATUS_OK), "ok");
    assert_string_equal(status_text((enum status)1), "unknown status");
    assert_string_equal(status_text((enum status) - 9999), "unknown status");
}

static void test_errno(void **state)
{
    static const struct {
        int err;
        enum status st;
    } cases[] = {
        {0, STATUS_OK},
        {EAGAIN, STATUS_AGAIN},
        {EWOULDBLOCK, STATUS_AGAIN},
        {ENOMEM, STATUS_NOMEM},
        {EINVAL, STATUS_INVALID},
        {ENOENT, STATUS_NOTFOUND},
        {ENOTDIR, STATUS_NOTFOUND},
        {ENAMETOOLONG, STATUS_NOTFOUND},
        {EACCES, STATUS_DENIED},
        {EPERM, STATUS_DENIED},
        {ELOOP, STATUS_DENIED},
        {EXDEV, STATUS_DENIED},
        {EEXIST, STATUS_EXISTS},
        {EMFILE, STATUS_LIMIT},
        {ENFILE, STATUS_LIMIT},
        {ENOSPC, STATUS_LIMIT},
        {ENOSYS, STATUS_UNSUPPORTED},
        {EOPNOTSUPP, STATUS_UNSUPPORTED},
        {EPIPE, STATUS_CLOSED},
        {ECONNRESET, STATUS_CLOSED},
        {ECANCELED, STATUS_CANCELED},
        {ETIMEDOUT, STATUS_TIMEDOUT},
        {EBUSY, STATUS_BUSY},
        {EADDRINUSE, STATUS_BUSY},
        {EIO, STATUS_ERROR},
        {-EAGAIN, STATUS_ERROR},
        {123456, STATUS_ERROR},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(status_from_errno(cases[i].err), cases[i].st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_errno),
    };
    return cmocka_run_group_tests_name("core/status", tests, NULL, NULL);
}
