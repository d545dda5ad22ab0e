/* SPDX-License-Identifier: BSD-2-Clause */
/* struct os_error: status, errno and text of a failure. */
#include "os/error.h"

#include "unit/os/unit.h"

static void fills(void **state)
{
    struct os_error e;

    (void)state;
    errno = 0;
    assert_int_equal(os_fail(&e, EACCES, "open() \"%s\" failed", "/x"), STATUS_DENIED);
    assert_int_equal(errno, EACCES);
    assert_int_equal(e.err, EACCES);
    assert_string_equal(e.text, "open() \"/x\" failed");
    assert_int_equal(os_fail(NULL, ENOENT, "x"), STATUS_NOTFOUND);
    assert_int_equal(os_fail(&e, 0, "not a number"), STATUS_ERROR);
    assert_int_equal(e.err, 0);
}

static void long_text_is_cut(void **state)
{
    static char text[2 * OS_ERROR_TEXT];
    struct os_error e;

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    os_fail(&e, EIO, "%s", text);
    assert_int_equal(strlen(e.text), OS_ERROR_TEXT - 1);
}

static void writes(void **state)
{
    char text[200];
    struct wbuf w = wbuf_make(text, sizeof(text));
    struct os_error e;

    (void)state;
    os_fail(&e, EACCES, "open() failed");
    os_error_write(&e, &w);
    wbuf_char(&w, '|');
    os_fail(&e, 0, "no");
    os_error_write(&e, &w);
    wbuf_char(&w, '\0');
    assert_string_equal(text, "open() failed (13: Permission denied)|no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
