/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths: behaviours.md E and F, hostile.md B, and a million random ones against a model. */
#include "proto/uri.h"

#include "rows.h"
#include "uri_model.h"

static const struct uri_row {
    const char *name;
    struct str raw;
    const char *merged, *kept; /* with and without merge_slashes; NULL: refused */
} rows[] = {
#define SAME(name, raw, out)                                                                       \
    {                                                                                              \
        name, STR_INIT(raw), out, out                                                              \
    }
    SAME("plain", "/a/b.html", "/a/b.html"),
    SAME("root", "/", "/"),
    SAME("empty", "", NULL),
    SAME("relative", "a", NULL),
    SAME("asterisk", "*", NULL),
    SAME("E1 first", "/%69ndex.html", "/index.html"),
    SAME("E1 hex case", "/%4A%4a", "/JJ"),
    SAME("E1 once", "/%2561", "/%61"),
    SAME("E2 %", "/%", NULL),
    SAME("E2 %1", "/%1", NULL),
    SAME("E2 %zz", "/%zz", NULL),
    SAME("E2 %1g", "/%1g", NULL),
    SAME("E2 %4 and more", "/a%4/b", NULL),
    SAME("E3 h29 NUL", "/a%00", NULL),
    SAME("E3 NUL in the middle", "/a%00.html", NULL),
    SAME("2b nginx NUL", "/..%00/", NULL),
    SAME("E4 leaving", "/%2e%2e/", NULL),
    SAME("E4 mixed", "/a/.%2e/b", "/b"),
    SAME("E4 mixed 2", "/a/%2E./b", "/b"),
    SAME("E4 dot", "/a/%2e/b", "/a/b"),
    SAME("E4 at the end", "/a/b/%2e%2e", "/a/"),
    SAME("2b twice encoded", "/%252e%252e/x", "/%2e%2e/x"),
    SAME("2b half encoded", "/%%32%65/", NULL),
    SAME("E5 h26 slash", "/a%2fb", NULL),
    SAME("E5 slash upper", "/a%2Fb", NULL),
    SAME("E5 traversal", "/..%2f..%2fetc", NULL),
    SAME("E6 h27 back-slash", "/a%5c..%5cb", "/a\\..\\b"),
    SAME("E6 raw back-slash", "/\\evil", "/\\evil"),
    SAME("E7 CRLF", "/%0d%0aX:1", "/\r\nX:1"),
    SAME("E8 h28 overlong slash", "/%c0%af", "/\xc0\xaf"),
    SAME("E8 overlong dots", "/%c0%ae%c0%ae/", "/\xc0\xae\xc0\xae/"),
    SAME("E8 h28 three bytes", "/%e0%80%ae", "/\xe0\x80\xae"),
    SAME("E9 h39 marks", "/%3f%23%25%20", "/?#% "),
    SAME("F1 dot", "/a/./b", "/a/b"),
    SAME("F1 up", "/a/../b", "/b"),
    SAME("F1 trailing dot", "/a/.", "/a/"),
    SAME("F1 trailing up", "/a/b/..", "/a/"),
    SAME("F1 to the root", "/a/..", "/"),
    SAME("F1 root dot", "/.", "/"),
    SAME("F1 root dot slash", "/./", "/"),
    SAME("F2 /..", "/..", NULL),
    SAME("F2 /../", "/../", NULL),
    SAME("F2 deeper", "/a/../../x", NULL),
    SAME("F2 later", "/a/b/../../../x/", NULL),
    SAME("F4 h25 three dots", "/.../", "/.../"),
    SAME("F4 dots inside", "/do..ts.txt", "/do..ts.txt"),
    SAME("h25 dots semicolon", "/..;/x", "/..;/x"),
    SAME("h33 trailing dot", "/a.", "/a."),
    SAME("h33 dots behind", "/a..", "/a.."),
    SAME("h34 hidden", "/.git/config", "/.git/config"),
    SAME("h38", "/img../x", "/img../x"),
    {"F5 runs", STR_INIT("//a///b"), "/a/b", "//a///b"},
    {"F5 trailing", STR_INIT("/a//"), "/a/", "/a//"},
    {"F5 up over empty", STR_INIT("/a//../b"), "/b", "/a/b"},
    {"F5 up over empty root", STR_INIT("//.."), NULL, "/"},
    {"F5 two up", STR_INIT("//../.."), NULL, NULL},
    {"F5 h31 slashes", STR_INIT("////"), "/", "////"},
    {"2b merge and dots", STR_INIT("///..x"), "/..x", "///..x"},
    {"2b merge and dot", STR_INIT("/a//./b"), "/a/b", "/a//b"},
    {"F6 evil", STR_INIT("//evil.com/%2e%2e"), "/", "//"},
};

static void normalise_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int merge = 0; merge < 2; merge++) {
            const char *want = merge ? rows[i].merged : rows[i].kept;
            struct str raw = copy_exact(rows[i].raw), mem = copy_exact(rows[i].raw), out;
            enum uri_result r = uri_normalise(raw, merge, (char *)(uintptr_t)mem.p, &out);
            ROW(rows[i].name, (r == URI_OK) == (want != NULL));
            if (r == URI_OK) {
                ROW_STR(rows[i].name, out, str_z(want));
            }
            free_exact(raw);
            free_exact(mem);
        }
    }
}

static void plain_is_not_copied(void **state)
{
    struct str out, raw = STR("/a/b.c/d%41");
    char to[16] = "untouched";

    (void)state;
    assert_int_equal(uri_normalise(str_head(raw, 8), true, to, &out), URI_OK);
    assert_ptr_equal(out.p, raw.p);
    assert_string_equal(to, "untouched");
    assert_int_equal(uri_normalise(raw, true, to, &out), URI_OK);
    assert_ptr_equal(out.p, to);
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void normalise_equals_model(void **state)
{
    static const char *const pieces[] = {"/",  "/",   "/",    ".",   ".",   "..",  "%2e", "%2E",
                                         "a",  "bcd", "%41",  "%",   "%2f", "%00", "~",   "%25",
                                         "/.", "/..", "/../", "%5c", ";",   "//"};
    uint64_t seed = 20261;
    int good = 0;

    (void)state;
    for (int round = 0; round < 1000000; round++) {
        char raw[128] = "/", to[128], want[256];
        int n = 1;
        for (uint64_t k = random_next(&seed) % 12; k > 0; k--) {
            const char *piece = pieces[random_next(&seed) % ARRAY_LEN(pieces)];
            if ((piece[0] == '%' && piece[1] == '\0') || strcmp(piece, "%2f") == 0 ||
                strcmp(piece, "%00") == 0) {
                if (random_next(&seed) % 16 != 0) {
                    continue; /* seldom, or hardly a path would be good */
                }
            }
            n += sprintf(raw + n, "%s", piece);
        }
        bool merge = random_next(&seed) & 1;
        int len = uri_model(raw, n, merge, want);
        struct str out;
        enum uri_result r = uri_normalise(str_make(raw, (size_t)n), merge, to, &out);
        if ((r == URI_OK) != (len >= 0) ||
            (r == URI_OK && !str_eq(out, str_make(want, (size_t)len)))) {
            fail_msg("%s (merge %d): %d", raw, merge, r);
        }
        good += r == URI_OK;
    }
    assert_in_range(good, 300000, 900000); /* both kinds are well tried */
}

static void hidden(void **state)
{
    static const struct {
        const char *path, *want;
    } hidden_rows[] = {
        {"/", NULL},
        {"/a/b.c", NULL},
        {"/.git/config", ".git"},
        {"/a/.htpasswd", ".htpasswd"},
        {"/.well-known/acme", NULL},
        {"/.well-known", NULL},
        {"/.well-known/.x/y", ".x"},
        {"/.well-knownx", ".well-knownx"},
        {"/a/.well-known/b", ".well-known"},
        {"//.well-known/b", ".well-known"},
        {"/.../x", "..."},
        {"/.", "."},
        {"/a.b/.", "."},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hidden_rows); i++) {
        struct str path = copy_exact(str_z(hidden_rows[i].path));
        struct str got = uri_hidden_segment(path);
        ROW(hidden_rows[i].path, (got.p != NULL) == (hidden_rows[i].want != NULL));
        ROW_STR(hidden_rows[i].path, got, str_z(hidden_rows[i].want));
        free_exact(path);
    }
}

static void encode(void **state)
{
    static const struct {
        const char *name;
        struct str path;
        const char *want;
    } encode_rows[] = {
        {"plain", STR_INIT("/a-b_c.~/d"), "/a-b_c.~/d"},
        {"sub-delims", STR_INIT("/!$&'()*+,;=:@"), "/!$&'()*+,;=:@"},
        {"N3 marks", STR_INIT("/ \"<>\\^`{|}%#?[]"),
         "/%20%22%3C%3E%5C%5E%60%7B%7C%7D%25%23%3F%5B%5D"},
        {"N3 CTL and high", STR_INIT("/\r\n\x7f\xc3\xa4\0"), "/%0D%0A%7F%C3%A4%00"},
        {"F6 two slashes", STR_INIT("//evil.com/"), "/evil.com/"},
        {"F6 many", STR_INIT("////"), "/"},
        {"F6 back-slash", STR_INIT("/\\evil"), "/%5Cevil"},
        {"inner slashes", STR_INIT("/a//b"), "/a//b"},
        {"empty", STR_INIT(""), ""},
        {"name", STR_INIT("a b"), "a%20b"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(encode_rows); i++) {
        char mem[128];
        struct str path = copy_exact(encode_rows[i].path);
        struct wbuf w = wbuf_make(mem, URI_ENCODED_MAX(path.n));
        uri_encode_path(&w, path);
        assert_false(w.overflow);
        ROW_STR(encode_rows[i].name, str_between(mem, w.at), str_z(encode_rows[i].want));
        free_exact(path);
    }
    char mem[4];
    struct wbuf w = wbuf_make(mem, sizeof(mem));
    uri_encode_path(&w, STR("/a b"));
    assert_true(w.overflow);
}

static void extension(void **state)
{
    static const char *const ext_rows[][2] = {
        {"/a.html", "html"}, {"/a.tar.gz", "gz"}, {"/a", ""}, {"/a.b/c", ""},
        {"/a.", ""},         {"/.x", "x"},        {"", ""},   {"/a.b/", ""},
        {"a.JPG", "JPG"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ext_rows); i++) {
        ROW_STR(ext_rows[i][0], uri_extension(str_z(ext_rows[i][0])), str_z(ext_rows[i][1]));
    }
}

/* h31, h32: long ones. */
static void lengths(void **state)
{
    static char raw[40000], to[40000];
    struct str out;

    (void)state;
    memset(raw, '/', sizeof(raw));
    assert_int_equal(uri_normalise(str_make(raw, 10000), true, to, &out), URI_OK);
    assert_int_equal(out.n, 1);
    for (size_t i = 0; i < sizeof(raw); i += 4) {
        memcpy(raw + i, i % 8 != 0 ? "/../" : "/abc", 4);
    }
    assert_int_equal(uri_normalise(str_make(raw, sizeof(raw)), true, to, &out), URI_OK);
    ROW_STR("up and down", out, STR("/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalise_table),
        cmocka_unit_test(plain_is_not_copied),
        cmocka_unit_test(normalise_equals_model),
        cmocka_unit_test(hidden),
        cmocka_unit_test(encode),
        cmocka_unit_test(extension),
        cmocka_unit_test(lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
