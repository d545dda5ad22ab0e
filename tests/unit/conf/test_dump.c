/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/dump.c: the normal form, and that it loads to the same whatever the text (config.md 4, -T). */
#include "conf/bind.h"

#include "load.h"

static void check_dump(const char *yaml, const char *want)
{
    struct loaded *l = load_good(yaml);
    struct buf b;
    dump_to(l, &b);
    /* without the comments, which list the defaults */
    char *to = b.p;
    for (char *line = b.p, *end; *line != '\0'; line = end) {
        end = strchr(line, '\n') + 1;
        bool comment = line[strspn(line, " ")] == '#' || line[0] == '\n';
        if (!comment) {
            memmove(to, line, (size_t)(end - line));
            to += end - line;
        }
    }
    *to = '\0';
    if (strcmp(b.p, want) != 0)
        fail_msg("%s\nfound\n%s\nexpected\n%s", yaml, b.p, want);
    buf_fini(&b);
    unload(l);
}

static void forms(void **state)
{
    (void)state;
    put_text("dump.inc", "server_tokens: YES\n");
    check_dump("{}\n", "");
    check_dump("worker_shutdown_timeout: unlimited\nevents: {}\n",
               "worker_shutdown_timeout: unlimited\nevents: {}\n");
    check_dump("http:\n  include: dump.inc\n  send_timeout: 90\n  client_max_body_size: 2048k\n"
               "  if_modified_since: EXACT\n  max_headers: 3\n",
               "http:\n  send_timeout: 90s\n  client_max_body_size: 2m\n"
               "  if_modified_since: exact\n  max_headers: 3\n  server_tokens: on\n");
    check_dump("http: {keepalive_requests: 7, client_max_body_size: 0, etag: OFF}\n",
               "http:\n  keepalive_requests: 7\n  client_max_body_size: 0\n  etag: off\n");
    check_dump("http: {send_timeout: 1h30m, limit_rate: unlimited}\n",
               "http:\n  send_timeout: 90m\n  limit_rate: unlimited\n");
}

static void lists(void **state)
{
    (void)state;
    check_dump("pid: x\nerror_log: [a, b info]\n",
               "pid: /prefix/x\nerror_log:\n  - a\n  - b info\n");
    check_dump("http: {access_log: []}\n", "http:\n  access_log: []\n");
    check_dump("http: {error_page: [[404, /a b]]}\n", "http:\n  error_page: '404 \"/a b\"'\n");
    check_dump("http: {types: {}}\n", "http:\n  types: {}\n");
    check_dump("http: {types: {a/b: [c, d], 'e \"f g\"': h}}\n",
               "http:\n  types:\n    a/b: c d\n    'e \"f g\"': h\n");
    check_dump("http: {map: {$a $b: {default: ~, ~x: [1, '2 3', {}], y: {c: d}}}}\n",
               "http:\n  map:\n    $a $b: {default: ~, \"~x\": [1, 2 3, {}], y: {c: d}}\n");
}

static void nested(void **state)
{
    (void)state;
    check_dump("http:\n  server:\n    - {}\n    - location: {/: {}, /a: {location: {'= /b': {}}}}\n"
               "      listen: [80, '81 ssl']\n",
               "http:\n"
               "  server:\n"
               "    - {}\n"
               "    - listen:\n"
               "        - 80\n"
               "        - 81 ssl\n"
               "      location:\n"
               "        /: {}\n"
               "        /a:\n"
               "          location:\n"
               "            \"= /b\": {}\n");
}

/* What is not set is told as a comment. */
static void defaults(void **state)
{
    (void)state;
    struct loaded *l = load_good("http: {etag: off}\n");
    struct buf b;
    dump_to(l, &b);
    assert_non_null(strstr(b.p, "# worker_processes: auto\n"));
    assert_non_null(strstr(b.p, "# events, not set:\n# use: auto\n"));
    assert_non_null(strstr(b.p, "# recv_buffers: 1024 4k\n"));
    assert_null(strstr(b.p, "# etag"));
    assert_null(strstr(b.p, "# server_name"));
    buf_fini(&b);
    unload(l);
}

/* Any words at all survive: quotes, blanks, backslashes, line ends, odd characters. */
static void any_words(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a", " ", "\"", "'", "\\", "\\\\", "\\\"", "\n", "\t", "\r", "#", ": ", ":", "- ", "{", "}",
        "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`", "$x", "~", "null", "\xc3\xa4",
        "\xc2\x85", "\xe2\x80\xa8", "\xef\xbb\xbf", "\xf0\x9f\x98\x80", "\x01", "\x7f", "=", "?",
    };
    unsigned seed = 7;
    for (unsigned round = 0; round < 300; round++) {
        char text[128], yaml[1200];
        struct wbuf w = wbuf_make(yaml, sizeof(yaml) - 1);
        text[0] = '\0';
        for (unsigned i = 0; i < 6; i++) {
            seed = seed * 1103515245 + 12345;
            unsigned pick = seed >> 16;
            if (pick % 5 != 0)
                strcat(text, pieces[pick / 5 % ARRAY_LEN(pieces)]);
        }
        wbuf_printf(&w, "http: {root: [\"");
        for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
            wbuf_printf(&w, *p < 0x80 ? "\\x%02x" : "%c", *p);
        wbuf_printf(&w, "\"]}\n");
        *w.at = '\0';
        /* U+FEFF may not stand as it is in a file */
        char *bom = strstr(yaml, "\xef\xbb\xbf");
        if (bom != NULL || strstr(text, "\xc2\x85") != NULL || strstr(text, "\xe2\x80\xa8") != NULL)
            continue;
        struct loaded *l = load_good(yaml);
        assert_string_equal(CONF(http_of(l), http)->root.text.p, text);
        struct buf b;
        dump_to(l, &b);
        struct loaded *again = load_text(b.p);
        if (again->status != STATUS_OK ||
            strcmp(CONF(http_of(again), http)->root.text.p, text) != 0)
            fail_msg("%s\n%s\n%s", yaml, b.p, again->report);
        buf_fini(&b);
        unload(again);
        unload(l);
    }
    struct loaded *l = load_good("http: {root: [\"a\\u0085\\u2028\\ufeff\\uffff b\\U0001F600\"]}\n");
    struct buf b;
    dump_to(l, &b);
    struct loaded *again = load_good(b.p);
    assert_string_equal(CONF(http_of(again), http)->root.text.p,
                        "a\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbf b\xf0\x9f\x98\x80");
    buf_fini(&b);
    unload(again);
    unload(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),    cmocka_unit_test(lists),     cmocka_unit_test(nested),
        cmocka_unit_test(defaults), cmocka_unit_test(any_words),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
