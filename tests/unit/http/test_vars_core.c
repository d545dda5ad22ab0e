/* SPDX-License-Identifier: BSD-2-Clause */
/* Every built-in variable, with the value it has and with nothing to tell. */
#include "unit.h"

#include "config.h"

static void value_of(struct site *s, struct fake *f, const char *name, char *to, size_t room)
{
    struct var_ref ref;
    struct str v = STR_NONE;
    assert_true(vars_find(&s->cy.vars, str_z(name), &ref));
    if (var_value(&f->r, &ref, &v))
        snprintf(to, room, STR_FMT, STR_ARG(v));
    else
        snprintf(to, room, "(none)");
}

struct row {
    const char *name, *want;
};

static void check(struct site *s, struct fake *f, const struct row *rows, size_t n)
{
    char got[512];
    for (size_t i = 0; i < n; i++) {
        value_of(s, f, rows[i].name, got, sizeof(got));
        if (strcmp(got, rows[i].want) != 0)
            print_error("$%s\n", rows[i].name);
        assert_string_equal(got, rows[i].want);
    }
}

static struct field fields[] = {
    {STR_INIT("Host"), STR_INIT("Example.org:8080"), FIELD_HOST},
    {STR_INIT("User-Agent"), STR_INIT("agent/1"), FIELD_USER_AGENT},
    {STR_INIT("X-Thing"), STR_INIT("one"), FIELD_OTHER},
    {STR_INIT("cookie"), STR_INIT("a=1; SID=x=y;b=2"), FIELD_COOKIE},
    {STR_INIT("x_thing"), STR_INIT("two"), FIELD_OTHER},
    {STR_INIT("Cookie"), STR_INIT("c=3; d="), FIELD_COOKIE},
    {STR_INIT("Content-Length"), STR_INIT("12"), FIELD_CONTENT_LENGTH},
    {STR_INIT("Content-Type"), STR_INIT("text/x"), FIELD_CONTENT_TYPE},
    {STR_INIT("Authorization"), STR_INIT("basic dXNlcjpwYXNzOndvcmQ="), FIELD_AUTHORIZATION},
};

static struct fake *full_request(struct site *s)
{
    struct fake *f = fake_new(s);
    struct request *r = &f->r;
    r->line = (struct h1_line){
        .method = METHOD_GET,
        .method_text = STR("GET"),
        .target = STR("/a%20b?x=1&Y=%20&z"),
        .form = H1_FORM_ORIGIN,
        .path = STR("/a%20b"),
        .query = STR("x=1&Y=%20&z"),
        .has_query = true,
        .major = 1,
        .minor = 1,
    };
    r->line_text = STR("GET /a%20b?x=1&Y=%20&z HTTP/1.1");
    r->fields = fields;
    r->field_count = ARRAY_LEN(fields);
    for (size_t i = ARRAY_LEN(fields); i-- > 0;)
        r->meta.first[fields[i].id] = (uint16_t)(i + 1);
    r->meta.first[FIELD_OTHER] = 0;
    r->host = STR("example.org");
    r->host_port = 8080;
    r->head_bytes = 100;
    r->body_bytes = 12;
    r->uri = STR("/a b");
    r->args = r->line.query;
    r->start_ms = 1000;
    f->loop.now_ms = 3045;
    f->loop.wall = (struct timespec){1700000000, 7000000};
    f->conn->id = 17;
    f->conn->requests = 3;
    f->conn->started_ms = 3000;
    addr_parse(&f->peer.remote, STR("192.0.2.7:4711"));
    addr_parse(&f->peer.local, STR("127.0.0.1:8080"));
    f->peer.text_n = (uint8_t)addr_format_ip(&f->peer.remote, f->peer.text);
    return f;
}

static void of_request(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http: {server: {listen: 8080, server_name: www.Example.org, root: /tmp/}}\n");
    struct fake *f = full_request(&s);
    static const struct row rows[] = {
        {"args", "x=1&Y=%20&z"}, {"query_string", "x=1&Y=%20&z"}, {"is_args", "?"},
        {"arg_x", "1"}, {"arg_y", "%20"}, {"arg_z", "(none)"}, {"arg_nn", "(none)"},
        {"content_length", "12"}, {"content_type", "text/x"},
        {"cookie_a", "1"}, {"cookie_sid", "x=y"}, {"cookie_b", "2"}, {"cookie_c", "3"},
        {"cookie_d", ""}, {"cookie_e", "(none)"},
        {"http_user_agent", "agent/1"}, {"http_x_thing", "one, two"}, {"http_none", "(none)"},
        {"http_cookie", "a=1; SID=x=y;b=2; c=3; d="}, {"http_host", "Example.org:8080"},
        {"host", "example.org"}, {"request_port", "8080"},
        {"request", "GET /a%20b?x=1&Y=%20&z HTTP/1.1"}, {"request_method", "GET"},
        {"request_uri", "/a%20b?x=1&Y=%20&z"}, {"uri", "/a b"}, {"document_uri", "/a b"},
        {"server_protocol", "HTTP/1.1"}, {"request_length", "112"}, {"remote_user", "user"},
        {"document_root", "/tmp"}, {"realpath_root", "/tmp"}, {"request_filename", "/tmp/a b"},
        {"server_name", "www.example.org"},
        {"connection", "17"}, {"connection_requests", "3"}, {"connection_time", "0.045"},
        {"request_time", "2.045"}, {"msec", "1700000000.007"},
        {"remote_addr", "192.0.2.7"}, {"remote_port", "4711"}, {"server_addr", "127.0.0.1"},
        {"server_port", "8080"}, {"scheme", "http"}, {"https", ""},
        {"status", "000"}, {"pipe", "."}, {"request_completion", ""},
        {"bytes_sent", "0"}, {"body_bytes_sent", "0"},
    };
    check(&s, f, rows, ARRAY_LEN(rows));
    f->listener.ssl = true;
    f->r.pipelined = true;
    f->r.completed = true;
    f->r.res.status = 404;
    f->r.responded = true;
    f->conn->out.sent = 500;
    f->r.out_start = 100;
    f->r.out_end = 400;
    f->r.head_sent = 60;
    static const struct row later[] = {
        {"https", "on"}, {"scheme", "https"}, {"pipe", "p"}, {"request_completion", "OK"},
        {"status", "404"}, {"bytes_sent", "300"}, {"body_bytes_sent", "240"},
    };
    check(&s, f, later, ARRAY_LEN(later));
    fake_free(f);
    site_end(&s);
}

static void special(void **state)
{
    struct site s;
    char got[512], again[512], host[256] = "", pid[32];
    (void)state;
    site_good(&s, "http: {server: {listen: 8080}}\n");
    struct fake *f = full_request(&s);
    value_of(&s, f, "request_id", got, sizeof(got));
    value_of(&s, f, "request_id", again, sizeof(again));
    assert_string_equal(got, again); /* one for the whole request */
    assert_int_equal(strspn(got, "0123456789abcdef"), 32);
    assert_int_equal(strlen(got), 32);
    f->r.id = STR_NONE;
    value_of(&s, f, "request_id", again, sizeof(again));
    assert_string_not_equal(got, again);

    gethostname(host, sizeof(host) - 1);
    value_of(&s, f, "hostname", got, sizeof(got));
    assert_string_equal(got, host);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    value_of(&s, f, "pid", got, sizeof(got));
    assert_string_equal(got, pid);

    struct var_ref ref;
    struct str v;
    assert_true(vars_find(&s.cy.vars, STR("binary_remote_addr"), &ref));
    assert_true(var_value(&f->r, &ref, &v));
    assert_int_equal(v.n, 4);
    assert_memory_equal(v.p, "\xc0\x00\x02\x07", 4);

    f->r.line.form = H1_FORM_ABSOLUTE; /* D1: the authority is no part of it */
    f->r.line.target = STR("http://example.org?x=1&Y=%20&z");
    f->r.line.path = STR("/");
    value_of(&s, f, "request_uri", got, sizeof(got));
    assert_string_equal(got, "/?x=1&Y=%20&z");
    f->r.host = STR_NONE; /* without one: the server's name */
    f->r.vhost->name = STR("fallback");
    value_of(&s, f, "host", got, sizeof(got));
    assert_string_equal(got, "fallback");
    fake_free(f);
    site_end(&s);
}

static void nothing(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http: {server: {listen: 8080}}\n");
    struct fake *f = fake_new(&s);
    static const struct row rows[] = {
        {"args", ""}, {"is_args", ""}, {"arg_x", "(none)"}, {"cookie_a", "(none)"},
        {"http_host", "(none)"}, {"content_length", "(none)"}, {"remote_user", "(none)"},
        {"request", "(none)"}, {"request_method", "(none)"}, {"request_uri", "(none)"},
        {"uri", "(none)"}, {"server_protocol", "(none)"}, {"request_port", "(none)"},
        {"server_name", ""}, {"remote_port", "(none)"}, {"server_port", "(none)"},
        {"sent_http_etag", "(none)"}, {"1", "(none)"},
    };
    check(&s, f, rows, ARRAY_LEN(rows));
    fake_free(f);
    f = fake_new(NULL); /* a head that could not be read has neither server nor location */
    static const struct row bare[] = {
        {"server_name", "(none)"}, {"document_root", "(none)"}, {"request_filename", "(none)"},
        {"host", "(none)"},
    };
    check(&s, f, bare, ARRAY_LEN(bare));
    fake_free(f);
    site_end(&s);
}

static void credentials(void **state)
{
    static const struct {
        const char *value, *user;
    } rows[] = {
        {"Basic YTpi", "a"}, {"Basic YTo=", "a"}, {"Basic OmI=", "(none)"}, {"Basic YQ==", "(none)"},
        {"Basic !!!!", "(none)"}, {"Basic ", "(none)"}, {"Bearer YTpi", "(none)"},
    };
    struct site s;
    char got[64];
    (void)state;
    site_good(&s, "http: {server: {listen: 8080}}\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fake *f = fake_new(&s);
        struct field one = {STR("Authorization"), str_z(rows[i].value), FIELD_AUTHORIZATION};
        f->r.fields = &one;
        f->r.field_count = 1;
        f->r.meta.first[FIELD_AUTHORIZATION] = 1;
        value_of(&s, f, "remote_user", got, sizeof(got));
        assert_string_equal(got, rows[i].user);
        fake_free(f);
    }
    site_end(&s);
}

static void clock_texts(void **state)
{
    struct site s;
    char got[64];
    (void)state;
    setenv("TZ", "IST-5:30", 1);
    tzset();
    site_good(&s, "http: {server: {listen: 8080}}\n");
    struct fake *f = full_request(&s);
    value_of(&s, f, "time_local", got, sizeof(got));
    assert_string_equal(got, "15/Nov/2023:03:43:20 +0530");
    value_of(&s, f, "time_iso8601", got, sizeof(got));
    assert_string_equal(got, "2023-11-15T03:43:20+05:30");
    setenv("TZ", "BRT3", 1);
    tzset();
    value_of(&s, f, "time_local", got, sizeof(got)); /* kept for this second */
    assert_string_equal(got, "15/Nov/2023:03:43:20 +0530");
    f->loop.wall.tv_sec++;
    value_of(&s, f, "time_local", got, sizeof(got));
    assert_string_equal(got, "14/Nov/2023:19:13:21 -0300");
    value_of(&s, f, "time_iso8601", got, sizeof(got));
    assert_string_equal(got, "2023-11-14T19:13:21-03:00");
    fake_free(f);
    site_end(&s);
}

static void sent(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http: {keepalive_timeout: 75s 20s, server: {listen: 8080}}\n");
    struct fake *f = full_request(&s);
    struct response *res = &f->r.res;
    memcpy(f->worker.date, "Sun, 06 Nov 1994 08:49:37 GMT", DATE_LEN);
    res->status = 200;
    res->content_type = STR("text/html");
    res->charset = STR("utf-8");
    res->length = 5;
    res->etag = STR("\"e\"");
    res->etag_weak = true;
    res->last_modified = STR("then");
    res->location = STR("/there");
    res->accept_ranges = true;
    f->r.keepalive = true;
    header_add(&f->r, STR("X-A"), STR("1"));
    header_add(&f->r, STR("x-a"), STR("2"));
    static const struct row rows[] = {
        {"sent_http_content_type", "text/html; charset=utf-8"}, {"sent_http_content_length", "5"},
        {"sent_http_etag", "W/\"e\""}, {"sent_http_last_modified", "then"},
        {"sent_http_location", "/there"}, {"sent_http_accept_ranges", "bytes"},
        {"sent_http_date", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"sent_http_server", "sluice"},
        {"sent_http_connection", "keep-alive"}, {"sent_http_keep_alive", "timeout=20"},
        {"sent_http_transfer_encoding", "(none)"}, {"sent_http_x_a", "1, 2"},
        {"sent_http_x_b", "(none)"},
    };
    check(&s, f, rows, ARRAY_LEN(rows));
    res->status = 304;
    f->r.keepalive = false;
    static const struct row not_modified[] = {
        {"sent_http_content_type", "(none)"}, {"sent_http_content_length", "(none)"},
        {"sent_http_connection", "close"}, {"sent_http_keep_alive", "(none)"},
    };
    check(&s, f, not_modified, ARRAY_LEN(not_modified));
    res->status = 200;
    res->length = LENGTH_UNKNOWN;
    res->body = BODY_STREAM;
    static const struct row stream[] = {
        {"sent_http_content_length", "(none)"}, {"sent_http_transfer_encoding", "chunked"},
    };
    check(&s, f, stream, ARRAY_LEN(stream));
    /* A kept head is what goes out, whatever the response says. */
    static const char bytes[] = "Content-Type: a/b\r\nETag: \"k\"\r\nX-A: 3\r\nX-A: 4\r\n";
    struct fhead *head = calloc(1, sizeof(*head) + sizeof(bytes));
    assert_non_null(head);
    head->n = sizeof(bytes) - 1;
    memcpy(head->bytes, bytes, sizeof(bytes));
    res->head = head;
    static const struct row kept[] = {
        {"sent_http_content_type", "a/b"}, {"sent_http_etag", "\"k\""}, {"sent_http_x_a", "3, 4"},
        {"sent_http_location", "(none)"}, {"sent_http_server", "sluice"},
        {"sent_http_connection", "close"},
    };
    check(&s, f, kept, ARRAY_LEN(kept));
    free(head);
    fake_free(f);
    site_end(&s);
}

/* Every row of the table answers without a fault for a request that is hardly there. */
static void whole_table(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http: {server: {listen: 8080}}\n");
    struct fake *f = fake_new(&s);
    size_t n = 0;
    for (const struct var *v = core_vars; v->name != NULL; v++, n++) {
        struct var_ref ref = {v, v->prefix ? STR("x_y") : STR_NONE};
        struct str out = STR_NONE;
        (void)var_value(&f->r, &ref, &out);
    }
    assert_true(n > 40);
    fake_free(f);
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_request),  cmocka_unit_test(special),     cmocka_unit_test(nothing),
        cmocka_unit_test(credentials), cmocka_unit_test(clock_texts), cmocka_unit_test(sent),
        cmocka_unit_test(whole_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
