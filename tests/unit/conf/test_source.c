/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/source.c: reading files whatever they are (h125, h128, h129), and places in them. */
#include "conf/source.h"

#include "load.h"

static struct arena arena;
static struct diag diag;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0, 4096, 0);
    diag_init(&diag, &arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

static const char *message(void)
{
    static char text[256];
    assert_int_equal(diag.count, 1);
    (void)snprintf(text, sizeof(text), "%u:%u " STR_FMT, diag.entries[0].pos.line,
                   diag.entries[0].pos.column, STR_ARG(diag.entries[0].message));
    return text;
}

static void lines(void **state)
{
    (void)state;
    struct source *s = source_from_text(&arena, "x", STR("ab\ncd\r\ne\rf\n\ngh"));
    assert_non_null(s);
    assert_true(s->ascii);
    assert_int_equal(s->line_count, 6);
    static const struct {
        size_t offset;
        unsigned line, column;
    } places[] = {{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1}, {6, 2, 4}, {7, 3, 1}, {9, 4, 1},
                  {11, 5, 1}, {12, 6, 1}, {13, 6, 2}, {14, 6, 3}};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct pos p = source_pos(s, places[i].offset);
        assert_string_equal(p.file, "x");
        assert_int_equal(p.line, places[i].line);
        assert_int_equal(p.column, places[i].column);
    }
    static const char *const texts[] = {"", "ab", "cd", "e", "f", "", "gh", ""};
    for (uint32_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_true(str_eq(source_line(s, i), str_z(texts[i])));
    s = source_from_text(&arena, "x", STR(""));
    assert_int_equal(s->line_count, 1);
    assert_int_equal(source_line(s, 1).n, 0);
}

static void text_checks(void **state)
{
    (void)state;
#define T(lit) lit, sizeof(lit) - 1
    static const struct {
        const char *text;
        size_t n;
        const char *want; /* NULL: fine */
    } cases[] = {
        {T("a: b\n"), NULL},
        {T("\xef\xbb\xbf" "a: b\n"), NULL},
        {T("a: \xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80\xc2\x85\n"), NULL},
        {T("a\tb\r\n"), NULL},
        {T("a\nb\0c"), "2:2 a NUL byte, expected UTF-8 text"},
        {T("a\n\x01"), "2:1 control character U+0001, expected UTF-8 text"},
        {T("\x7f"), "1:1 control character U+007F, expected UTF-8 text"},
        {T("\x1b[1m"), "1:1 control character U+001B, expected UTF-8 text"},
        {T("\xc2\x80"), "1:1 control character U+0080, expected UTF-8 text"},
        {T("a\xef\xbf\xbe"), "1:2 control character U+FFFE, expected UTF-8 text"},
        {T("a\xef\xbb\xbf"), "1:2 control character U+FEFF, expected UTF-8 text"},
        {T("\xff"), "1:1 byte 0xFF is not valid UTF-8, expected UTF-8 text"},
        {T("\x80"), "1:1 byte 0x80 is not valid UTF-8, expected UTF-8 text"},
        {T("\xc0\x80"), "1:1 byte 0xC0 is not valid UTF-8, expected UTF-8 text"},
        {T("\xc3"), "1:1 byte 0xC3 is not valid UTF-8, expected UTF-8 text"},
        {T("\xc3("), "1:1 byte 0xC3 is not valid UTF-8, expected UTF-8 text"},
        {T("\xe0\x80\x80"), "1:1 byte 0xE0 is not valid UTF-8, expected UTF-8 text"},
        {T("\xed\xa0\x80"), "1:1 byte 0xED is not valid UTF-8, expected UTF-8 text"},
        {T("\xf4\x90\x80\x80"), "1:1 byte 0xF4 is not valid UTF-8, expected UTF-8 text"},
        {T("\xff\xfe" "a\0"), "0:0 the file is UTF-16, expected UTF-8"},
        {T("\xfe\xff\0a"), "0:0 the file is UTF-16, expected UTF-8"},
        {T("\xff\xfe\0\0"), "0:0 the file is UTF-32, expected UTF-8"},
        {T("\0\0\xfe\xff"), "0:0 the file is UTF-32, expected UTF-8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        diag_init(&diag, &arena);
        struct source *s = source_from_text(&arena, "x", str_make(cases[i].text, cases[i].n));
        assert_non_null(s);
        bool ok = source_check(&diag, s);
        if (ok != (cases[i].want == NULL))
            fail_msg("case %zu", i);
        if (!ok)
            assert_string_equal(message(), cases[i].want);
    }
    assert_true(source_is_utf8(STR("a\xc3\xa4")));
    assert_true(source_is_utf8(STR("")));
    assert_false(source_is_utf8(STR("a\xc3")));
}

static struct source *read_scratch(const char *name)
{
    struct str path = arena_str(&arena, str_z(scratch(name)));
    diag_init(&diag, &arena);
    return source_read(&arena, &diag, path.p, (struct pos){"who", 3, 4}, STR("include"));
}

static void check_refused(const char *name, const char *want)
{
    assert_null(read_scratch(name));
    assert_int_equal(diag.count, 1);
    assert_int_equal(diag.entries[0].pos.line, 3);
    assert_true(str_find(diag.entries[0].message, str_z(want)) >= 0);
    assert_true(str_find(diag.entries[0].message, str_z(scratch(name))) >= 0);
    assert_true(str_eq(diag.entries[0].path, STR("include")));
}

static void files(void **state)
{
    (void)state;
    put_text("plain", "\xef\xbb\xbf" "a: b\n");
    struct source *s = read_scratch("plain");
    assert_non_null(s);
    assert_true(str_eq(s->text, STR("a: b\n")));
    assert_true(s->ino != 0);

    check_refused("missing", "\": No such file or directory");
    assert_int_equal(mkdir(scratch("dir"), 0755), 0);
    check_refused("dir", "\" is a directory, expected a file");
    assert_int_equal(mkfifo(scratch("fifo"), 0644), 0);
    alarm(10); /* a blocking open would hang here */
    check_refused("fifo", "\" is not a regular file");
    alarm(0);
    assert_int_equal(symlink("/dev/null", scratch("null")), 0);
    check_refused("null", "\" is not a regular file");
    /* it claims to be empty and is not: as a file that grows under the reader */
    assert_int_equal(symlink("/proc/self/status", scratch("grows")), 0);
    check_refused("grows", "\" changed while it was read");
    assert_int_equal(symlink("loop", scratch("loop")), 0);
    check_refused("loop", "\": Too many levels of symbolic links");
}

static void sizes(void **state)
{
    (void)state;
    put_text("big", "");
    assert_int_equal(truncate(scratch("big"), (off_t)SOURCE_SIZE_MAX + 1), 0);
    check_refused("big", "\" is larger than 16 MiB");
    assert_int_equal(truncate(scratch("big"), (off_t)100 << 20), 0);
    check_refused("big", "\" is larger than 16 MiB");
    assert_int_equal(truncate(scratch("big"), (off_t)SOURCE_SIZE_MAX), 0);
    struct source *s = read_scratch("big");
    assert_non_null(s);
    assert_false(source_check(&diag, s)); /* it is full of NUL */
    assert_string_equal(message(), "1:1 a NUL byte, expected UTF-8 text");
}

static void rights(void **state)
{
    (void)state;
    put_text("open", "a: b\n");
    assert_int_equal(chmod(scratch("open"), 0666), 0);
    if (geteuid() == 0) {
        check_refused("open", "\" can be written by everybody, refused when root starts the "
                              "server (chmod o-w)");
        assert_int_equal(chmod(scratch("open"), 0664), 0);
    }
    assert_non_null(read_scratch("open"));
    if (geteuid() != 0) {
        assert_int_equal(chmod(scratch("open"), 0), 0);
        check_refused("open", "\": Permission denied");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines), TEST(text_checks), TEST(files), TEST(sizes), TEST(rights),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
