/* SPDX-License-Identifier: BSD-2-Clause */
/* The built-in media types (behaviours.md R1, J12) and the order the search needs. */
#include "proto/mime.h"

#include "rows.h"

static const char *const rows[][2] = {
    {"html", "text/html"},
    {"JPG", "image/jpeg"}, /* R1 */
    {"Js", "text/javascript"},
    {"mjs", "text/javascript"},
    {"css", "text/css"},
    {"txt", "text/plain"},
    {"md", "text/markdown"},
    {"ics", "text/calendar"},
    {"vtt", "text/vtt"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"webmanifest", "application/manifest+json"},
    {"wasm", "application/wasm"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"gpx", "application/gpx+xml"},
    {"gz", "application/gzip"}, /* J12: of x.tar.gz */
    {"zip", "application/zip"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"svg", "image/svg+xml"},
    {"avif", "image/avif"},
    {"jxl", "image/jxl"},
    {"webp", "image/webp"},
    {"ico", "image/vnd.microsoft.icon"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"ttf", "font/ttf"},
    {"mp3", "audio/mpeg"},
    {"opus", "audio/opus"},
    {"flac", "audio/flac"},
    {"mp4", "video/mp4"},
    {"webm", "video/webm"},
    {"ts", "video/mp2t"},
    {"m3u8", "application/vnd.apple.mpegurl"},
    {"7z", "application/x-7z-compressed"},
    {"", NULL},
    {"htmlx", NULL},
    {"htm\xe4", NULL},
    {"zzzzzz", NULL},
    {"nosuchthing", NULL},
};

static void mime_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str ext = copy_exact(str_z(rows[i][0])), got = mime_builtin(ext);
        ROW(rows[i][0], (got.p == NULL) == (rows[i][1] == NULL));
        ROW_STR(rows[i][0], got, str_z(rows[i][1]));
        free_exact(ext);
    }
    assert_null(mime_builtin(STR("html\0")).p);
}

static void mime_sorted(void **state)
{
    struct str before = STR(""), ext, type;
    size_t i = 0;

    (void)state;
    for (; mime_builtin_at(i, &ext, &type); i++) {
        if (str_cmp(before, ext) >= 0) {
            fail_msg("%.*s is not behind %.*s", STR_ARG(ext), STR_ARG(before));
        }
        for (size_t k = 0; k < ext.n; k++) {
            assert_int_equal(ext.p[k], ascii_lower((unsigned char)ext.p[k]));
        }
        assert_int_equal(mime_builtin(ext).p == type.p, 1);
        assert_true(str_chr(type, '/') > 0);
        before = ext;
    }
    assert_in_range(i, 500, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mime_table),
        cmocka_unit_test(mime_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
