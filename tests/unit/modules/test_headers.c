/* SPDX-License-Identifier: BSD-2-Clause */
/* add_header down the tree (R5, R6, D25b), what is refused, and the filter on responses. */
#include "../http/unit.h"

#include "../../../modules/headers/headers.c"

/* The lines of a response of the first location of the first server, as text. */
static const char *lines_of(struct site *s, unsigned status)
{
    static char text[2048];
    struct fake *f = fake_new(s);
    struct response *res = &f->r.res;
    struct location *l = location_find(s->cy.vhosts[0], STR("/l/m/x"), &f->r, &(bool){false});
    struct wbuf w = wbuf_make(text, sizeof(text) - 1);
    f->r.loc = l;
    f->r.uri = STR("/l/m/x");
    f->loop.wall.tv_sec = 1700000000;
    res->status = (uint16_t)status;
    res->etag = STR("\"tag\"");
    res->last_modified = STR("then");
    for (const struct filter **filter = l->filters; *filter != NULL; filter++)
        if (*filter == headers_module.filter)
            (*filter)->run(&f->r, res);
    for (const struct header *h = res->headers; h != NULL; h = h->next)
        wbuf_printf(&w, STR_FMT "=" STR_FMT ";", STR_ARG(h->name), STR_ARG(h->value));
    if (res->etag.n == 0)
        wbuf_str(&w, STR("no etag;"));
    else if (!str_eq(res->etag, STR("\"tag\"")))
        wbuf_printf(&w, "etag " STR_FMT ";", STR_ARG(res->etag));
    if (res->last_modified.n == 0)
        wbuf_str(&w, STR("no time;"));
    *w.at = '\0';
    fake_free(f);
    return text;
}

#define TREE(http, server, location, nested)                                                   \
    "http:\n" http "  server:\n    listen: 8080\n" server                                      \
    "    location:\n      /l/:\n        internal: off\n" location                              \
    "        location: {/l/m/: {internal: off" nested "}}\n"

static const struct {
    const char *name, *yaml;
    unsigned status;
    const char *want;
} rows[] = {
    {"D25b inherited by name", TREE("  add_header: [A a, B b]\n", "    add_header: B c\n",
                                    "        add_header: C d\n", ""), 200, "A=a;B=c;C=d;"},
    {"D25b names without case", TREE("  add_header: x-a 1\n", "", "", ", add_header: X-A 2"), 200,
     "X-A=2;"},
    {"R5 empty removes", TREE("  add_header: [A a, B b]\n", "    add_header: [[A, '']]\n", "", ""),
     200, "B=b;"},
    {"R5 comes back below", TREE("  add_header: A a\n", "    add_header: [[A, '']]\n",
                                 "        add_header: A z\n", ""), 200, "A=z;"},
    {"twice in one block", TREE("  add_header: A z\n", "    add_header: [A a, A b]\n", "", ""),
     200, "A=a;A=b;"},
    {"R5 not on errors", TREE("  add_header: [A a, B b always]\n", "", "", ""), 404, "B=b;"},
    {"R5 200 and 304", TREE("  add_header: A a\n", "", "", ""), 304, "A=a;"},
    {"R5 308", TREE("  add_header: A a\n", "", "", ""), 308, "A=a;"},
    {"R5 300", TREE("  add_header: A a\n", "", "", ""), 300, ""},
    {"variables", TREE("  add_header: A <$uri>\n", "", "", ""), 200, "A=</l/m/x>;"},
    {"an empty variable", TREE("  add_header: [A $arg_x, B b]\n", "", "", ""), 200, "B=b;"},
    {"R6 etag replaced", TREE("  add_header: 'ETag \\\"own\\\"'\n", "", "", ""), 200,
     "etag \"own\";"},
    {"R6 validators taken away", TREE("  add_header: [[etag, ''], [Last-Modified, '']]\n", "", "",
                                      ""), 200, "no etag;no time;"},
    {"R4 expires and Cache-Control", TREE("  expires: 1h\n", "    add_header: Cache-Control "
                                          "immutable\n", "", ""), 200,
     "Expires=Tue, 14 Nov 2023 23:13:20 GMT;Cache-Control=max-age=3600;Cache-Control=immutable;"},
    {"R4 expires off below", TREE("  expires: 1h\n", "", "", ", expires: off"), 200, ""},
    {"R4 no expires on errors", TREE("  expires: 1h\n", "", "", ""), 404, ""},
};

static void adds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        site_good(&s, rows[i].yaml);
        const char *got = lines_of(&s, rows[i].status);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s: %s", rows[i].name, got);
        site_end(&s);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *value, *want;
    } bad[] = {
        {"Server x", "\"Server\" cannot be set here, server_tokens says it"},
        {"content-length 1", "cannot be set here, it follows from the body"},
        {"Connection close", "cannot be set here"},
        {"Transfer-Encoding chunked", "cannot be set here"},
        {"Content-Type text/plain", "types, default_type and charset say it"},
        {"Date now", "cannot be set here"},
        {"'X A' b", "\"X A\" is not the name of a header"},
        {"'' b", "is not the name of a header"},
        {"X b c", "\"c\" is not valid, expected always"},
        {"X $nothing", "unknown variable $nothing"},
        {"X", "takes 2 to 3 arguments"},
    };
    static const struct {
        const char *value, *want;
    } bad_trailers[] = {
        {"Content-Length 1", "add_trailer: \"Content-Length\" cannot be set here, it says how"},
        {"set-cookie a", "add_trailer: \"set-cookie\" cannot be set here, it has to be known before"},
        {"'X A' b", "add_trailer: \"X A\" is not the name of a header"},
        {"X b c", "add_trailer: \"c\" is not valid, expected always"},
    };
    char yaml[512];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  add_header:\n    - \"%s\"\n  server: {listen: 80}\n",
                 bad[i].value);
        site_begin(&s, yaml);
        assert_false(s.good);
        if (strstr(s.report.p, bad[i].want) == NULL)
            fail_msg("%s: %s", bad[i].value, s.report.p);
        site_end(&s);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad_trailers); i++) {
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  add_trailer:\n    - \"%s\"\n  server: {listen: 80}\n",
                 bad_trailers[i].value);
        site_begin(&s, yaml);
        assert_false(s.good);
        if (strstr(s.report.p, bad_trailers[i].want) == NULL)
            fail_msg("%s: %s", bad_trailers[i].value, s.report.p);
        site_end(&s);
    }
}

static void control_bytes(void **state)
{
    struct site s;
    (void)state;
    site_begin(&s, "http:\n  add_header:\n    - [X, \"a\\r\\nSet-Cookie: b\"]\n"
                   "  server: {listen: 80}\n");
    assert_false(s.good);
    assert_non_null(strstr(s.report.p, "a control byte in the value"));
    site_end(&s);
}

/* Which heads may be kept with a file. */
static void constant(void **state)
{
    static const struct {
        const char *line;
        bool want;
    } kept[] = {
        {"add_header: A a", true},      {"add_header: A $uri", false}, {"expires: max", true},
        {"expires: epoch", true},       {"expires: 1h", false},        {"expires: $arg_e", false},
        {"add_header: A $server_name", true}, {"add_trailer: A a", false},
    };
    char yaml[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  %s\n  server: {listen: 80}\n", kept[i].line);
        site_good(&s, yaml);
        if (headers_constant(CONF(s.cy.vhosts[0]->block, headers)) != kept[i].want)
            fail_msg("%s", kept[i].line);
        site_end(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds),
        cmocka_unit_test(refuses),
        cmocka_unit_test(control_bytes),
        cmocka_unit_test(constant),
    };
    return cmocka_run_group_tests_name("headers", tests, NULL, NULL);
}
