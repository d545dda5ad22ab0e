/* SPDX-License-Identifier: BSD-2-Clause */
/* Listings as text: any room gives the same bytes; sizes and times for people; queries. */
#include "../../../modules/autoindex/autoindex_query.h"
#include "../../../modules/autoindex/autoindex_view.h"

#include "core/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static size_t whole(const struct view *proto, char *to, size_t room, size_t piece)
{
    struct view v = *proto;
    size_t n = 0;
    for (;;) {
        struct wbuf w = wbuf_make(to + n, room - n < piece ? room - n : piece);
        enum view_more more = view_write(&v, &w);
        n = (size_t)(w.at - to);
        if (more == VIEW_END)
            break;
        assert_int_equal(more, VIEW_MORE);
        assert_true(n < room);
    }
    view_fini(&v);
    return n;
}

static void pieces(void **state)
{
    static const struct view_format *const formats[] = {&view_html, &view_json, &view_jsonp,
                                                        &view_xml};
    static char one[65536], other[65536];
    struct list_budget budget = {.max = 1 << 20};
    struct name_list l;
    char longest[255];
    (void)state;
    memset(longest, '<', sizeof(longest));
    name_list_init(&l, &budget);
    for (size_t k = 0; k < 2; k++) { /* empty, and with names */
        for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
            struct view v = {.format = formats[i], .list = &l, .path = STR("/a/b\"c/"),
                             .base = STR("/x&y/"), .callback = STR("f"), .cut = true};
            size_t n = whole(&v, one, sizeof(one), sizeof(one));
            for (size_t piece = 1; piece < 5000; piece = piece * 3 + 1) {
                assert_int_equal(whole(&v, other, sizeof(other), piece), n);
                assert_memory_equal(one, other, n);
            }
        }
        name_list_add(&l, STR("dir"), LIST_DIR, 0, 0);
        name_list_add(&l, str_make(longest, sizeof(longest)), LIST_FILE, UINT64_MAX, INT64_MAX / 4);
    }
    name_list_fini(&l);
}

static void numbers(void **state)
{
    static const struct {
        uint64_t size;
        const char *text;
    } rows[] = {
        {0, "0 B"}, {1023, "1023 B"}, {1024, "1.0 KiB"}, {1536, "1.5 KiB"}, {10239, "10 KiB"},
        {10240, "10 KiB"}, {1048575, "1.0 MiB"}, {1048576, "1.0 MiB"}, {123456789, "118 MiB"},
        {UINT64_C(1) << 40, "1.0 TiB"}, {UINT64_MAX, "16 EiB"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[32] = "";
        struct wbuf w = wbuf_make(text, sizeof(text) - 1);
        view_human_size(&w, rows[i].size);
        assert_string_equal(text, rows[i].text);
        assert_true(w.at - text <= 11);
    }
    char text[64] = "";
    struct wbuf w = wbuf_make(text, sizeof(text) - 1);
    view_time(&w, 1000000000, false);
    assert_string_equal(text, "2001-09-09 01:46");
}

static void queries(void **state)
{
    static const struct {
        const char *args, *callback;
        uint8_t key;
        bool descending;
    } rows[] = {
        {"", "", LIST_NAME, false},           {"C=S&O=D", "", LIST_SIZE, true},
        {"O=D;C=M", "", LIST_TIME, true},     {"C=M&C=S", "", LIST_TIME, false},
        {"C=MM&O=DD", "", LIST_NAME, false},  {"callback=f", "f", LIST_NAME, false},
        {"callback=a.b_1.$c", "a.b_1.$c", LIST_NAME, false},
        {"callback=1a", "", LIST_NAME, false}, {"callback=a..b", "", LIST_NAME, false},
        {"callback=a.", "", LIST_NAME, false}, {"callback=a(b)", "", LIST_NAME, false},
        {"callback=", "", LIST_NAME, false},   {"callback=%61", "", LIST_NAME, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct list_order order = query_order(str_z(rows[i].args));
        assert_int_equal(order.key, rows[i].key);
        assert_int_equal(order.descending, rows[i].descending);
        assert_true(str_eq(query_callback(str_z(rows[i].args)), str_z(rows[i].callback)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces),
        cmocka_unit_test(numbers),
        cmocka_unit_test(queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
