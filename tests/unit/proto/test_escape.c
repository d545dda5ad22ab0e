/* SPDX-License-Identifier: BSD-2-Clause */
/* Escapes for HTML, JSON and log lines (behaviours.md P1, P5, Q2, S9, V3; hostile.md 2a). */
#include "proto/escape.h"

#include "rows.h"

typedef void escape_f(struct wbuf *w, struct str s);

static const struct escape_row {
    const char *name;
    escape_f *escape;
    struct str in;
    const char *want;
} rows[] = {
    {"html empty", escape_html, STR_INIT(""), ""},
    {"html plain", escape_html, STR_INIT("abc \xc3\xa4"), "abc \xc3\xa4"},
    {"P1 html all", escape_html, STR_INIT("&<>\"'"), "&amp;&lt;&gt;&quot;&#39;"},
    {"Q2 script", escape_html, STR_INIT("a<script>b"), "a&lt;script&gt;b"},
    {"html twice", escape_html, STR_INIT("&amp;"), "&amp;amp;"},
    {"P1 name all", escape_html_name, STR_INIT("&<>\"'\xc3\xa4"),
     "&amp;&lt;&gt;&quot;&#39;\xc3\xa4"},
    {"P1 name controls", escape_html_name,
     STR_INIT("\0\n\x1b\x7f"
              "a"),
     "\xe2\x90\x80\xe2\x90\x8a\xe2\x90\x9b\xe2\x90\xa1"
     "a"},
    {"P4 name not UTF-8", escape_html_name, STR_INIT("a\xff\xe2\x82<\xed\xa0\x80"),
     "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd&lt;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"name four bytes", escape_html_name, STR_INIT("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80"},
    {"P5 xml all", escape_xml, STR_INIT("&<>\"'\xc3\xa4"), "&amp;&lt;&gt;&quot;&#39;\xc3\xa4"},
    {"P5 xml blanks", escape_xml, STR_INIT("a\t\n\r b"), "a&#9;&#10;&#13; b"},
    {"P5 xml cannot hold", escape_xml, STR_INIT("\0\x1b\xff\xef\xbf\xbe\xef\xbf\xbd"),
     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"xml may hold DEL", escape_xml, STR_INIT("\x7f\xef\xbb\xbf"), "\x7f\xef\xbb\xbf"},
    {"json plain", escape_json, STR_INIT("abc/ \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
     "abc/ \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"P5 json quotes", escape_json, STR_INIT("a\"b\\c"), "a\\\"b\\\\c"},
    {"P5 json tags", escape_json, STR_INIT("<a>"), "\\u003ca\\u003e"},
    {"P5 json short", escape_json, STR_INIT("\b\f\n\r\t"), "\\b\\f\\n\\r\\t"},
    {"json control", escape_json, STR_INIT("\0\x1f\x7f"), "\\u0000\\u001f\\u007f"},
    {"V3 not UTF-8", escape_json,
     STR_INIT("\xff\x80"
              "a"),
     "\\u00ff\\u0080a"},
    {"json cut sequence", escape_json, STR_INIT("\xe2\x82"), "\\u00e2\\u0082"},
    {"json cut by ASCII", escape_json, STR_INIT("\xe2\"x"), "\\u00e2\\\"x"},
    {"json overlong", escape_json, STR_INIT("\xc0\xaf\xe0\x80\xaf"),
     "\\u00c0\\u00af\\u00e0\\u0080\\u00af"},
    {"json surrogate", escape_json, STR_INIT("\xed\xa0\x80"), "\\u00ed\\u00a0\\u0080"},
    {"json beyond", escape_json, STR_INIT("\xf4\x90\x80\x80"), "\\u00f4\\u0090\\u0080\\u0080"},
    {"json last", escape_json, STR_INIT("\xf4\x8f\xbf\xbf"), "\xf4\x8f\xbf\xbf"},
    {"json five bytes", escape_json, STR_INIT("\xf8\x88\x80\x80\x80"),
     "\\u00f8\\u0088\\u0080\\u0080\\u0080"},
    {"log plain", escape_log, STR_INIT("GET / 'x' <~>"), "GET / 'x' <~>"},
    {"S9 log", escape_log, STR_INIT("\n\x1b\"\\\r\t\0"), "\\x0A\\x1B\\x22\\x5C\\x0D\\x09\\x00"},
    {"V3 log high", escape_log,
     STR_INIT("a\x7f\x80\xff"
              "b"),
     "a\\x7F\\x80\\xFFb"},
};

static void escape_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct escape_row *row = &rows[i];
        struct str in = copy_exact(row->in), want = str_z(row->want);
        /* every room: what fits is a beginning of the answer, what does not is flagged */
        for (size_t room = 0; room <= want.n; room++) {
            char *mem = malloc(room + 1);
            assert_non_null(mem);
            memset(mem, 0xdb, room + 1);
            struct wbuf w = wbuf_make(mem, room);
            row->escape(&w, in);
            size_t n = (size_t)(w.at - mem);
            ROW(row->name, w.overflow == (room < want.n));
            ROW_STR(row->name, str_make(mem, n), str_head(want, n));
            ROW(row->name, w.overflow || n == want.n);
            ROW(row->name, (unsigned char)mem[room] == 0xdb);
            free(mem);
        }
        free_exact(in);
    }
}

/* One line, no raw quote, whatever the bytes. */
static void log_every_byte(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char mem[16], in[3] = {'a', (char)c, 'b'};
        struct wbuf w = wbuf_make(mem, sizeof(mem));
        escape_log(&w, str_make(in, 3));
        struct str out = str_between(mem, w.at);
        bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
        assert_int_equal(out.n, plain ? 3 : 6);
        for (size_t i = 0; i < out.n; i++) {
            assert_true(out.p[i] >= 0x20 && out.p[i] < 0x7f && out.p[i] != '"');
        }
    }
}

/* Every byte at every place of runs that are longer than what is looked at in one step. */
static void every_byte_everywhere(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 20; n++) {
        for (size_t at = 0; at < n; at++) {
            for (int c = 0; c < 256; c++) {
                char in[20], json[160], line[160], one[2][16];
                memset(in, 'a', sizeof(in));
                in[at] = (char)c;
                struct wbuf j = wbuf_make(json, sizeof(json)), l = wbuf_make(line, sizeof(line));
                struct wbuf j1 = wbuf_make(one[0], 16), l1 = wbuf_make(one[1], 16);
                escape_json(&j, str_make(in, n));
                escape_log(&l, str_make(in, n));
                escape_json(&j1, str_make(in + at, 1));
                escape_log(&l1, str_make(in + at, 1));
                size_t jn = (size_t)(j1.at - one[0]), ln = (size_t)(l1.at - one[1]);
                assert_int_equal(j.at - json, n - 1 + jn);
                assert_int_equal(l.at - line, n - 1 + ln);
                assert_memory_equal(json + at, one[0], jn);
                assert_memory_equal(line + at, one[1], ln);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escape_table),
        cmocka_unit_test(log_every_byte),
        cmocka_unit_test(every_byte_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
