/* SPDX-License-Identifier: BSD-2-Clause */
/* Log lines (V3), formats, which block logs where, and what access_log refuses (D30). */
#include "../http/unit.h"

#include "../../../modules/access_log/access_log.c"

static struct field fields[] = {
    {STR_INIT("Referer"), STR_INIT("http://r/\"x\\"), FIELD_REFERER},
    {STR_INIT("User-Agent"), STR_INIT("a\t\xc3\xa9\xff\x7f"), FIELD_USER_AGENT},
    {STR_INIT("Authorization"), STR_INIT("Basic dXNlcjpwYXNz"), FIELD_AUTHORIZATION},
};

static struct fake *request(struct site *s, bool full)
{
    struct fake *f = fake_new(s);
    struct request *r = &f->r;
    f->loop.wall = (struct timespec){1700000000, 0};
    f->loop.now_ms = 12345;
    addr_parse(&f->peer.remote, STR("192.0.2.7:4711"));
    f->peer.text_n = (uint8_t)addr_format_ip(&f->peer.remote, f->peer.text);
    r->start_ms = 12300;
    r->res.status = full ? 206 : 400;
    if (!full)
        return f;
    r->line_text = STR("GET /a?\"b HTTP/1.1");
    r->line = (struct h1_line){.method = METHOD_GET, .method_text = STR("GET"),
                               .target = STR("/a?\"b"), .major = 1, .minor = 1};
    r->uri = STR("/a");
    r->host = STR("h");
    r->fields = fields;
    r->field_count = ARRAY_LEN(fields);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        r->meta.first[fields[i].id] = (uint16_t)(i + 1);
    r->responded = true;
    r->out_start = 1000;
    r->head_sent = 200;
    f->conn->out.sent = 1000 + 200 + 77; /* not all of it has gone out */
    r->out_end = 1000 + 200 + 100;
    return f;
}

static void expect_line(const char *format, bool full, const char *want)
{
    struct site s;
    char got[1024], yaml[512];
    snprintf(yaml, sizeof(yaml),
             "http:\n  log_format:\n    f: %s\n  access_log: x.log %s\n  server: {listen: 80}\n",
             format[0] == '!' ? "x" : format, format[0] == '!' ? format + 1 : "f");
    site_good(&s, yaml);
    struct fake *f = request(&s, full);
    struct wbuf w = wbuf_make(got, sizeof(got) - 1);
    access_format_write(CONF(s.cy.http, access_log)->targets[0].format, &f->r, &w);
    assert_false(w.overflow);
    *w.at = '\0';
    assert_string_equal(got, want);
    fake_free(f);
    site_end(&s);
}

/* V3: bytes = body bytes really sent; escapes \xHH. */
static void combined(void **state)
{
    (void)state;
    expect_line("!combined", true,
                "192.0.2.7 - user [14/Nov/2023:22:13:20 +0000] \"GET /a?\\x22b HTTP/1.1\" 206 77 "
                "\"http://r/\\x22x\\x5C\" \"a\\x09\\xC3\\xA9\\xFF\\x7F\"");
    expect_line("!combined", false,
                "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"-\" 400 0 \"-\" \"-\"");
}

static void json(void **state)
{
    (void)state;
    expect_line("!json", true,
                "{\"time\":\"2023-11-14T22:13:20+00:00\",\"remote_addr\":\"192.0.2.7\","
                "\"request_method\":\"GET\",\"request_uri\":\"/a?\\\"b\",\"protocol\":\"HTTP/1.1\","
                "\"status\":206,\"body_bytes_sent\":77,\"request_time\":0.045,"
                "\"http_referer\":\"http://r/\\\"x\\\\\","
                "\"http_user_agent\":\"a\\t\xc3\xa9\\u00ff\\u007f\",\"host\":\"h\"}");
}

static void own_formats(void **state)
{
    (void)state;
    expect_line("'$request_time $bytes_sent $sent_http_x'", true, "0.045 277 -");
    expect_line("[\"escape=none\", \"$http_user_agent|$http_x|\", $status]", true,
                "a\t\xc3\xa9\xff\x7f||206");
    expect_line("[\"escape=json\", \"$http_x|$request\"]", true, "|GET /a?\\\"b HTTP/1.1");
    expect_line("escape=default $request", true, "GET /a?\\x22b HTTP/1.1");
    expect_line("constant", true, "constant");
}

/* A set access_log replaces that of the enclosing block whole. */
static void blocks(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n"
                  "  server:\n"
                  "    - listen: 80\n"
                  "      location: {/off: {access_log: off}, /on: {}}\n"
                  "    - listen: 81\n"
                  "      access_log: [a.log combined buffer=4k flush=3s, b.log json if=$arg_x]\n"
                  "      location: {/: {access_log: a.log json}}\n");
    const struct access_shared *shared = CONF(s.cy.http, access_log)->shared;
    assert_int_equal(CONF(s.cy.http, access_log)->count, 1);
    struct block *first = s.cy.vhosts[0]->block, *second = s.cy.vhosts[1]->block;
    assert_int_equal(CONF(first, access_log)->count, 1);
    assert_int_equal(CONF(first->children[0], access_log)->count, 0);
    assert_int_equal(CONF(first->children[1], access_log)->count, 1);
    assert_int_equal(CONF(second, access_log)->count, 2);
    assert_null(CONF(second, access_log)->targets[0].condition);
    assert_non_null(CONF(second, access_log)->targets[1].condition);
    assert_int_equal(CONF(second->children[0], access_log)->count, 1);
    assert_int_equal(CONF(second->children[0], access_log)->targets[0].file,
                     CONF(second, access_log)->targets[0].file);
    assert_int_equal(shared->files.n, 3);
    assert_int_equal(s.cy.log_file_count, 3);
    const struct access_file *a = &shared->files.v[CONF(second, access_log)->targets[0].file];
    assert_str(a->log->path, TEST_PREFIX "/a.log");
    assert_int_equal(a->buffer, 4096);
    assert_int_equal(a->flush_ms, 3000);
    site_end(&s);
}

static void conditions(void **state)
{
    static const struct {
        const char *args;
        bool want;
    } rows[] = {{"x=1", true}, {"x=0", false}, {"x=", false}, {"", false}, {"x=00", true}};
    struct site s;
    (void)state;
    site_good(&s, "http:\n  access_log: b.log json if=$arg_x\n  server: {listen: 80}\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fake *f = request(&s, true);
        f->r.args = str_z(rows[i].args);
        if (wanted(&CONF(s.cy.http, access_log)->targets[0], &f->r) != rows[i].want)
            fail_msg("%s", rows[i].args);
        fake_free(f);
    }
    site_end(&s);
}

static void refuses(void **state)
{
    static const struct {
        const char *name, *http, *want;
    } bad[] = {
        {"gzip", "access_log: a.log combined gzip=9", "gzip is not built in"},
        {"syslog", "access_log: syslog:server=x", "syslog is not built in"},
        {"variables", "access_log: logs/$host.log", "without variables"},
        {"format", "access_log: a.log combinde", "did you mean \"combined\"?"},
        {"option", "access_log: a.log combined bufer=4k", "\"bufer=4k\" is not valid"},
        {"buffer", "access_log: a.log buffer=1", "buffer=1 is outside 1k..64m"},
        {"buffer text", "access_log: a.log buffer=x", "buffer=x: expected a size"},
        {"flush", "access_log: a.log flush=0", "flush=0 is outside 1ms..1d"},
        {"off and more", "access_log: [off, a.log]", "off stands alone"},
        {"off with an option", "access_log: off json", "off stands alone"},
        {"condition", "access_log: a.log if=$nothing", "unknown variable $nothing"},
        {"two sizes", "access_log: [a.log buffer=4k, a.log json buffer=8k]",
         "with another buffer= or flush= elsewhere"},
        {"built in", "log_format: {combined: x}", "\"combined\" is built in"},
        {"escape", "log_format: {f: [escape=xml, x]}", "expected escape=default, escape=json or"},
        {"unknown variable", "log_format: {f: $statis}", "did you mean $status?"},
    };
    char yaml[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  %s\n  server: {listen: 80}\n", bad[i].http);
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, bad[i].want) == NULL)
            fail_msg("%s: %s", bad[i].name, s.report.p);
        site_end(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(combined),   cmocka_unit_test(json),       cmocka_unit_test(own_formats),
        cmocka_unit_test(blocks),     cmocka_unit_test(conditions), cmocka_unit_test(refuses),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests_name("access_log", tests, NULL, NULL);
}
