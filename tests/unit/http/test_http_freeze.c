/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of http and what is derived from them: defaults, every directive's value, inheritance,
 * root and alias, media types and charsets, and the place of every fault.
 */
#include "unit.h"

#include "http/errors.h"
#include "http/http_freeze.h"

#include <sys/stat.h>

static const struct http_conf *http_of(const struct site *s)
{
    return HTTP(s->cy.http);
}

static const struct http_conf *server_of(const struct site *s, size_t i)
{
    return s->cy.vhosts[i]->conf;
}

static const struct http_conf *loc(const struct site *s, const char *path)
{
    bool slash;
    return location_find(s->cy.vhosts[0], str_z(path), NULL, &slash)->conf;
}

static void defaults(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http: {server: {listen: 8081}}\n");
    const struct http_conf *c = server_of(&s, 0);
    assert_str(c->root_path, TEST_PREFIX "/html");
    assert_int_equal(c->alias.text.n, 0);
    assert_str(c->default_type_s, "application/octet-stream");
    assert_str(c->charset_s, "utf-8");
    assert_null(c->types_map);
    assert_int_equal(c->links, HTTP_LINKS_BENEATH);
    assert_int_equal(c->etag, HTTP_ETAG_ON);
    assert_int_equal(c->if_modified_since, HTTP_IMS_BEFORE);
    assert_int_equal(c->splice, HTTP_SPLICE_AUTO);
    assert_int_equal(c->splice_min_size, 65536);
    assert_int_equal(c->hidden_files, HTTP_HIDDEN_DENY);
    assert_true(c->merge_slashes);
    assert_true(c->log_not_found);
    assert_false(c->internal);
    assert_false(c->cache_off);
    assert_int_equal(c->cache_max, 10000);
    assert_int_equal(c->cache_inactive_ms, 60000);
    assert_int_equal(http_of(&s)->open_file_cache_valid, 60000);
    assert_int_equal(http_of(&s)->file_cache_memory, 64 << 20);
    assert_int_equal(http_of(&s)->file_cache_max_body, 65536);
    assert_true(http_of(&s)->open_file_cache_events);
    assert_true(http_of(&s)->open_file_cache_errors);
    assert_null(c->error_pages);
    assert_false(c->server_tokens);
    assert_false(c->absolute_redirect);
    assert_true(c->port_in_redirect);
    assert_false(c->server_name_in_redirect);
    assert_false(c->recursive_error_pages);
    assert_int_equal(c->keepalive_ms, 75000);
    assert_int_equal(c->keepalive_header_s, 0);
    assert_int_equal(c->keepalive_requests, 10000);
    assert_int_equal(c->keepalive_time, 3600000);
    assert_int_equal(c->client_header_timeout, 15000);
    assert_int_equal(c->client_body_timeout, 15000);
    assert_int_equal(c->send_timeout, 30000);
    assert_int_equal(c->client_header_buffer_size, 1024);
    assert_int_equal(c->line_max, 8192);
    assert_int_equal(c->field_max, 8192);
    assert_int_equal(c->head_max, 32768);
    assert_int_equal(c->max_headers, 100);
    assert_int_equal(c->client_max_body_size, 1 << 20);
    assert_int_equal(c->lingering_close, HTTP_LINGER_ON);
    assert_int_equal(c->lingering_time, 30000);
    assert_int_equal(c->lingering_timeout, 5000);
    assert_true(c->chunked_transfer_encoding);
    assert_false(c->lenient_line_ends);
    assert_false(c->ignore_invalid_headers);
    assert_true(c->underscores_in_headers);
    assert_false(c->reset_timedout_connection);
    assert_true(c->tcp_nodelay);
    assert_int_equal(s.diag.warnings, 0); /* the default root may be missing in silence */
    site_end(&s);
}

static void values(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n"
                  "  open_file_cache: max=5 inactive=2m\n"
                  "  open_file_cache_valid: 3s\n"
                  "  keepalive_timeout: 5s 4s\n"
                  "  large_client_header_buffers: 2 16k\n"
                  "  hidden_files: allow\n"
                  "  disable_symlinks: if_not_owner\n"
                  "  etag: content\n"
                  "  charset: off\n"
                  "  client_max_body_size: 0\n"
                  "  server:\n"
                  "    - listen: 8081\n"
                  "      keepalive_timeout: 0\n"
                  "      charset: iso-8859-1\n"
                  "      location: {/: {internal: , keepalive_timeout: 9s}, /a: {etag: off}}\n");
    assert_int_equal(http_of(&s)->cache_max, 5);
    assert_int_equal(http_of(&s)->cache_inactive_ms, 120000);
    assert_int_equal(http_of(&s)->keepalive_ms, 5000);
    assert_int_equal(http_of(&s)->keepalive_header_s, 4);
    assert_int_equal(server_of(&s, 0)->keepalive_ms, 0);
    assert_int_equal(server_of(&s, 0)->keepalive_header_s, 0);
    assert_int_equal(loc(&s, "/")->keepalive_ms, 9000);
    assert_int_equal(loc(&s, "/a")->keepalive_ms, 0);
    assert_int_equal(loc(&s, "/a")->head_max, 32768);
    assert_int_equal(loc(&s, "/a")->line_max, 16384);
    assert_true(loc(&s, "/")->internal);
    assert_false(loc(&s, "/a")->internal);
    assert_int_equal(loc(&s, "/")->etag, HTTP_ETAG_CONTENT);
    assert_int_equal(loc(&s, "/a")->etag, HTTP_ETAG_OFF);
    assert_int_equal(loc(&s, "/")->hidden_files, HTTP_HIDDEN_ALLOW);
    assert_int_equal(loc(&s, "/")->links, HTTP_LINKS_IF_NOT_OWNER);
    assert_int_equal(http_of(&s)->charset_s.n, 0);
    assert_str(loc(&s, "/")->charset_s, "iso-8859-1");
    assert_int_equal(loc(&s, "/")->client_max_body_size, 0);
    site_end(&s);
    site_good(&s, "http: {open_file_cache: off, server: {listen: 8081, location: {/: {}}}}\n");
    assert_true(loc(&s, "/")->cache_off);
    site_end(&s);
}

/* ---- root and alias ---- */

static void file_of(struct site *s, const char *path, char *out, size_t room)
{
    struct fake *f = fake_new(s);
    bool slash;
    struct str root, below;
    f->r.uri = str_z(path);
    f->r.host = STR("h.test");
    f->r.args = STR("d=x&up=../..");
    f->r.loc = location_find(s->cy.vhosts[0], f->r.uri, &f->r, &slash);
    if (request_file(&f->r, f->r.uri, &root, &below))
        snprintf(out, room, STR_FMT "|" STR_FMT, STR_ARG(root), STR_ARG(below));
    else
        snprintf(out, room, "refused");
    fake_free(f);
}

static void paths(void **state)
{
    struct site s;
    char dir[] = "/tmp/sluice-unit-XXXXXX", file[64], yaml[4096], got[256];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(file, sizeof(file), "%s/f.ico", dir);
    FILE *fp = fopen(file, "w");
    assert_non_null(fp);
    fclose(fp);
    snprintf(yaml, sizeof(yaml),
             "http:\n  server:\n    listen: 8081\n    root: site//\n    location:\n"
             "      /abs/: {root: /srv/}\n"
             "      /top/: {root: /}\n"
             "      /vars/: {root: /srv/$host/x}\n"
             "      /rel/: {root: v/$host}\n"
             "      /evil/: {root: /srv/$arg_up}\n"
             "      /lone/: {root: $arg_d}\n"
             "      /img: {alias: %s}\n"
             "      /pics/: {alias: %s/}\n"
             "      = /favicon.ico: {alias: %s}\n"
             "      /fav2: {alias: %s}\n"
             "      ~ ^/u/(\\w+)/(.+)$: {alias: /home/$1/pub/$2}\n"
             "      /out/: {alias: /data/, location: {/out/in/: {}, ~ \\.x$: {}, /out/root/: {root: /r}}}\n"
             "      ~ ^/w/(.*): {alias: $arg_up/$1}\n"
             "      /av/: {alias: \"/data/$host/\"}\n",
             dir, dir, file, file);
    site_good(&s, yaml);
    static const struct {
        const char *path, *want; /* % in want: the directory */
    } rows[] = {
        {"/", "/srv/test/site|/"},         {"/abs/x", "/srv|/abs/x"},
        {"/top/x", "/|/top/x"},            {"/vars/x", "/srv/h.test/x|/vars/x"},
        {"/rel/x", "/srv/test/v/h.test|/rel/x"},
        {"/evil/x", "refused"},            /* E4: what a client sends never leads out */
        {"/lone/x", "refused"},            /* not absolute */
        {"/img", "%|/"},                   {"/img/", "%|/"},
        {"/img/a/b", "%|/a/b"},            {"/imgx", "/srv/test/site|/imgx"},
        {"/pics/", "%|/"},                 {"/pics/a", "%|/a"},
        {"/favicon.ico", "%|/f.ico"},      {"/fav2", "%|/f.ico"},
        {"/fav2/x", "%/f.ico|/x"},         /* ENOTDIR later: 404 */
        {"/u/bob/a/b.c", "/home/bob/pub/a|/b.c"},
        {"/u/bob/a/", "/home/bob/pub/a|/"},
        {"/out/a", "/data|/a"},            {"/out/in/a", "/data|/in/a"},
        {"/out/a.x", "/data|/a.x"},        {"/out/root/a", "/r|/out/root/a"},
        {"/w/x", "refused"},               {"/av/x", "/data/h.test/|/x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char want[256];
        bool here = rows[i].want[0] == '%';
        snprintf(want, sizeof(want), "%s%s", here ? dir : "", rows[i].want + here);
        file_of(&s, rows[i].path, got, sizeof(got));
        if (strcmp(got, want) != 0)
            print_error("%s: got %s, want %s\n", rows[i].path, got, want);
        assert_string_equal(got, want);
    }
    unlink(file);
    rmdir(dir);
    site_end(&s);
}

static void missing_root(void **state)
{
    struct site s;
    (void)state;
    site_begin(&s, "http:\n  server:\n    listen: 8081\n    root: /no/such/place\n"
                   "    location: {/: {}, /a: {alias: /no/such/alias}}\n");
    assert_true(s.good);
    assert_int_equal(s.diag.warnings, 2); /* each where it stands, not where it is inherited */
    assert_non_null(strstr(s.report.p, ":4:11: warning: http.server[0]: root: \"/no/such/place\" cannot"));
    assert_non_null(strstr(s.report.p, "alias: \"/no/such/alias\" cannot be reached"));
    site_end(&s);
}

/* ---- media types ---- */

static void type_is(const struct http_conf *c, const char *ext, const char *want)
{
    const struct str *t =
        c->types_map != NULL ? map_get(&c->types_map->by_extension, str_z(ext)) : NULL;
    assert_str(t != NULL ? *t : STR("-"), want);
}

static void types(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n"
                  "  types: {text/a: one two, Text/B: THREE}\n"
                  "  server:\n"
                  "    - listen: 8081\n"
                  "      location:\n"
                  "        /same: {}\n"
                  "        /more: {types: {text/c: two four}}\n"
                  "        /again: {types: {text/a: five}, default_type: [\"text/plain; x=y\"]}\n"
                  "        /none: {default_type: [\"\"]}\n");
    const struct http_conf *same = loc(&s, "/same"), *more = loc(&s, "/more");
    assert_ptr_equal(same->types_map, http_of(&s)->types_map);
    type_is(same, "one", "text/a");
    type_is(same, "two", "text/a");
    type_is(same, "three", "text/b"); /* R1: extensions have no case */
    type_is(same, "four", "-");
    type_is(more, "one", "text/a");
    type_is(more, "two", "text/c");   /* an extension moves */
    type_is(more, "four", "text/c");
    type_is(loc(&s, "/again"), "five", "text/a");
    type_is(loc(&s, "/again"), "one", "text/a");
    assert_str(loc(&s, "/again")->default_type_s, "text/plain; x=y");
    assert_int_equal(loc(&s, "/none")->default_type_s.n, 0);
    site_end(&s);
    site_begin(&s, "http:\n  types: {text/a: x, text/b: x}\n  server: {listen: 8081}\n");
    assert_true(s.good);
    assert_non_null(strstr(s.report.p, "the extension \"x\" is text/a above, now text/b"));
    site_end(&s);
}

/* R2: a charset for texts, once, and for nothing else. */
static void charsets(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n"
                  "    - {listen: 8081}\n"
                  "    - {listen: 8081, server_name: b, charset_types: application/x}\n"
                  "    - {listen: 8081, server_name: c, charset_types: \"*\"}\n"
                  "    - {listen: 8081, server_name: d, charset: off}\n");
    static const struct {
        const char *type;
        bool want[4];
    } rows[] = {
        {"text/html", {true, true, true, false}},
        {"TEXT/HTML", {true, true, true, false}},
        {"text/css", {true, false, true, false}},
        {"text/x; a=b", {true, false, true, false}},
        {"text/html; charset=x", {false, false, false, false}},
        {"application/javascript", {true, false, true, false}},
        {"application/x", {false, true, true, false}},
        {"image/png", {false, false, true, false}},
        {"text", {false, false, false, false}},
        {"", {false, false, false, false}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(http_charset(server_of(&s, k), str_z(rows[i].type)).n != 0,
                             rows[i].want[k]);
    site_end(&s);
}

static void error_pages(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  error_page: 404 /x\n  server:\n    listen: 8081\n"
                  "    location: {/: {}, /a: {error_page: 500 /y}}\n");
    assert_ptr_equal(loc(&s, "/")->error_pages, http_of(&s)->error_pages);
    assert_non_null(errors_find(loc(&s, "/"), 404));
    assert_null(errors_find(loc(&s, "/a"), 404)); /* replaced as a whole */
    assert_non_null(errors_find(loc(&s, "/a"), 500));
    site_end(&s);
}

/* A variable may be used above and before the place that makes it. */
static void definition_order(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n"
                  "  root: /srv/$made/$user/$tail\n"
                  "  server:\n"
                  "    listen: 8081\n"
                  "    server_name: ~^(?<user>.*)$\n"
                  "    location: {~ (?<tail>.)$: {}}\n"
                  "  map: {$host $made: {default: x}}\n");
    site_end(&s);
}

static void faults(void **state)
{
    static const struct {
        const char *line;  /* in http, line 2 */
        const char *want;
    } rows[] = {
        {"root: [\"\"]", ":2:10: http: root: \"\" is not valid, expected a path"},
        {"root: $nope", ":2:9: http: unknown variable $nope"},
        {"root: /a/$document_root", "root: $document_root is made of root itself"},
        {"root: /a/$request_filename", "root: $request_filename is made of root itself"},
        {"root: a b", "takes 1 argument, found 2"},
        {"alias: /x", "not allowed in http, expected in location"},
        {"default_type: text", ":2:17: http: default_type: \"text\" is not valid"},
        {"charset: \"a b\"", "takes 1 argument"},
        {"charset: [\"a b\"]", "charset: \"a b\" is not valid, expected the name"},
        {"charset_types: text/html x", ":2:28: http: charset_types: \"x\" is not valid"},
        {"types: {text: x}", ":2:11: http: types: \"text\" is not valid, expected a media type"},
        {"types: {text/a: .x}", ":2:19: http: types: \".x\" is not valid, expected an extension"},
        {"types: {text/a: {b: c}}", "types: expected extensions, found a map"},
        {"open_file_cache: max=0", "max= and a number from 1"},
        {"open_file_cache: max=5 inactive=x", "inactive= and a time"},
        {"open_file_cache: inactive=5s", "expected max=N beside it"},
        {"open_file_cache: off max=5", "\"off\" is not valid, expected max=N"},
        {"open_file_cache: on", "expected max=N, inactive=TIME or off"},
        {"keepalive_timeout: x", ":2:22: http: keepalive_timeout: \"x\" is not valid, expected"},
        {"keepalive_timeout: 5s x", ":2:25: http: keepalive_timeout: \"x\" is not valid"},
        {"keepalive_timeout: 5s 5s 5s", "takes 1 to 2 arguments, found 3"},
        {"large_client_header_buffers: 0 8k", "a number from 1 to 1024"},
        {"large_client_header_buffers: 4 1", "a size from 512 to 1m"},
        {"large_client_header_buffers: 5 256k", "number times size up to 1m"},
        {"large_client_header_buffers: 4", "takes 2 arguments, found 1"},
        {"send_timeout: 0", "http.send_timeout: 0 is outside"},
        {"max_headers: 0", "http.max_headers: 0 is outside 1..10000"},
        {"etag: maybe", "expected on, off or content"},
        {"hidden_files: on", "expected deny or allow"},
        {"disable_symlinks: beneth", "off, on, if_not_owner or beneath"},
        {"disable_symlinks: on from=/srv", "from=$document_root"},
        {"error_page: 404", "takes at least 2 arguments"},
        {"error_page: 99 /x", "error_page: \"99\" is not a status"},
        {"error_page: 404 x", "is not a path, an @name or a URL"},
        {"auth_request: /x", "is not built in"},
        {"keepalive_disable: msie7", "msie6, safari, or none alone"},
        {"keepalive_disable: msie6 none", "msie6, safari, or none alone"},
        {"limit_rate: 5x", "bytes such as 500k, unlimited, or a text"},
        {"proxy_pass: http://x", "is not built in"},
        {"merge_slashez: on", "did you mean \"merge_slashes\"?"},
        {"internal: on", "not allowed in http, expected in location"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char yaml[512];
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  %s\n  server: {listen: 8081, location: {/: {}}}\n",
                 rows[i].line);
        site_begin(&s, yaml);
        bool once = s.diag.errors == 1; /* not again for each block that inherits it */
        if (s.good || !once || strstr(s.report.p, rows[i].want) == NULL)
            print_error("%swant: %s\n got: %s\n", yaml, rows[i].want, s.report.p);
        assert_false(s.good);
        assert_true(once);
        assert_non_null(strstr(s.report.p, rows[i].want));
        site_end(&s);
    }
}

/* All faults of all kinds come in one run. */
static void all_at_once(void **state)
{
    struct site s;
    (void)state;
    site_begin(&s, "http:\n  keepalive_timeout: x\n  map: {a b: {c: d}}\n"
                   "  server: [{listen: 8080 ssl, server_name: a*b, location: {b: {root: $q}}}]\n");
    assert_false(s.good);
    static const char *const want[] = {
        "keepalive_timeout: \"x\"", "map: expected a variable", "TLS is not built in",
        "server_name: \"a*b\"", "\"b\" can never match", "unknown variable $q",
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        if (strstr(s.report.p, want[i]) == NULL)
            print_error("%s\n", s.report.p);
        assert_non_null(strstr(s.report.p, want[i]));
    }
    assert_int_equal(s.diag.errors, ARRAY_LEN(want));
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),     cmocka_unit_test(values),
        cmocka_unit_test(paths),        cmocka_unit_test(missing_root),
        cmocka_unit_test(types),        cmocka_unit_test(charsets),
        cmocka_unit_test(error_pages),  cmocka_unit_test(definition_order),
        cmocka_unit_test(faults),       cmocka_unit_test(all_at_once),
    };
    if (regex_version() == NULL)
        return 77; /* patterns are everywhere in it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
