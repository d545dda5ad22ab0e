/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/bind_blocks.c: plain blocks, lists of blocks and keyed ones, from one file or several. */
#include "conf/bind.h"

#include "load.h"

static void blocks(void **state)
{
    (void)state;
    struct loaded *l = load_good("user: www www\n"
                                 "events: {use: epoll}\n"
                                 "http:\n"
                                 "  server:\n"
                                 "    - server_name: a\n"
                                 "      location:\n"
                                 "        /: {root: /r}\n"
                                 "        \"~*   \\\\.php$\": {location: {= /x: {return: 200}}}\n"
                                 "    - {}\n");
    assert_int_equal(l->top->scope, SCOPE_MAIN);
    assert_null(l->top->parent);
    assert_int_equal(l->top->path.n, 0);
    assert_string_equal(words_of(&CONF(l->top, main)->user), "www www");
    assert_int_equal(l->top->child_count, 2);
    assert_int_equal(l->top->children[0]->scope, SCOPE_EVENTS);
    assert_int_equal(CONF(l->top->children[0], events)->use, 2);
    assert_null(l->top->children[0]->conf[http_slot]);
    /* main has the sections of other blocks too, at their defaults */
    assert_int_equal(CONF(l->top, events)->use, 0);
    assert_null(l->top->set[events_slot]);
    assert_false(block_is_set(l->top, &events_section, "use"));

    struct block *s = server_of(l, 0);
    assert_int_equal(s->pos.line, 5);
    assert_int_equal(s->child_count, 2);
    assert_int_equal(s->key.n, 0);
    struct block *php = s->children[1];
    assert_int_equal(php->scope, SCOPE_LOCATION);
    assert_ptr_equal(php->parent, s);
    assert_int_equal(php->key.n, 2);
    assert_string_equal(php->key.v[0].text.p, "~*");
    assert_string_equal(php->key.v[1].text.p, "\\.php$");
    assert_string_equal(php->children[0]->path.p,
                        "http.server[0].location[\"~*   \\.php$\"].location[\"= /x\"]");
    assert_true(block_is_set(s, &http_section, "server_name"));
    assert_true(block_is_set(s, &http_section, "location"));
    assert_false(block_is_set(s, &http_section, "root"));
    assert_false(block_is_set(php, &http_section, "server_name"));
    assert_false(block_is_set(s, &events_section, "use"));
    assert_false(block_is_set(s, &http_section, "nonsense"));
    assert_int_equal(server_of(l, 1)->child_count, 0);
    unload(l);
}

/* Blocks that no file has: everything at its default, and not set. */
static void implied(void **state)
{
    (void)state;
    struct loaded *l = load_good("daemon: off\n");
    assert_false(CONF(l->top, main)->daemon);
    assert_int_equal(l->top->child_count, 2);
    assert_int_equal(CONF(child_of(l->top, SCOPE_EVENTS, 0), events)->worker_connections, 16384);
    assert_string_equal(CONF(http_of(l), http)->root.text.p, "html");
    assert_false(block_is_set(l->top, &main_section, "http"));
    unload(l);
}

struct pool_conf {
    struct str path;
};
static unsigned pool_slot;
static const struct directive pool_rows[] = {
    {"http", CTYPE_BLOCK, SCOPE_MAIN, .block = SCOPE_HTTP},
    {"pool", CTYPE_BLOCK, SCOPE_HTTP, .flags = ROW_BLOCK_KEYED, .block = SCOPE_SERVER},
    {"root", CTYPE_PATH, SCOPE_SERVER, .offset = offsetof(struct pool_conf, path)},
    {0},
};
static const struct section pool_section = {"pool", pool_rows, sizeof(struct pool_conf),
                                            &pool_slot};
static const struct section *const pool_sections[] = {&pool_section, NULL};

/* -g reaches into the blocks of a map by their keys. */
static void override_keyed(void **state)
{
    (void)state;
    struct arena a;
    struct diag d;
    struct block *top;
    put_text("main.yaml", "http: {pool: {a x: {root: /a}, b: {root: /b}}}\n");
    arena_init(&a, NULL, 0, 4096, 0);
    diag_init(&d, &a);
    struct conf_source src = {scratch("main.yaml"), "/",
                              "http: {pool: {b: {root: /other}, 'a  x': {}, c: {root: /c}}}"};
    assert_int_equal(conf_load(&a, &d, &src, pool_sections, &top), STATUS_OK);
    static const char *const want[] = {"/a", "/other", "/c"};
    struct block *http = child_of(top, SCOPE_HTTP, 0);
    assert_int_equal(http->child_count, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct pool_conf *c = http->children[i]->conf[pool_slot];
        assert_string_equal(c->path.p, want[i]);
    }
    arena_fini(&a);
}

/* events and http are made of all maps of that name, wherever they stand. */
static void joined(void **state)
{
    (void)state;
    put_text("more.inc", "http: {root: /r, server: [{server_name: b}, {server_name: c}]}\n"
                         "events: {use: epoll}\n");
    struct loaded *l = load_good("events: {worker_connections: 5}\n"
                                 "http: {etag: off, server: {server_name: a}}\n"
                                 "include: more.inc\n");
    static const char *const names[] = {"a", "b", "c"};
    struct events_conf *ev = CONF(child_of(l->top, SCOPE_EVENTS, 0), events);
    assert_int_equal(ev->worker_connections, 5);
    assert_int_equal(ev->use, 2);
    assert_int_equal(l->top->child_count, 2);
    assert_int_equal(http_of(l)->child_count, ARRAY_LEN(names));
    assert_string_equal(CONF(http_of(l), http)->root.text.p, "/r");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[32];
        (void)snprintf(path, sizeof(path), "http.server[%zu]", i);
        assert_string_equal(words_of(&CONF(server_of(l, i), http)->server_name), names[i]);
        assert_true(str_eq(server_of(l, i)->path, str_z(path)));
        assert_ptr_equal(server_of(l, i)->parent, http_of(l));
    }
    assert_string_equal(server_of(l, 1)->pos.file, scratch("more.inc"));
    unload(l);
}

/* Children keep the order of the file, past each power of two at which the array grows. */
static void order(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 33; n++) {
        struct buf b;
        buf_init(&b, 0);
        buf_str(&b, STR("http:\n  server:\n    location:\n"));
        for (unsigned i = 0; i < n; i++)
            buf_printf(&b, "      /p%u: {root: /r%u}\n", i * 7 % n, i);
        buf_char(&b, '\0');
        struct loaded *l = n % 7 == 0 ? load_text(b.p) : load_good(b.p);
        if (n % 7 == 0) { /* all of them have one name then */
            assert_int_equal(l->status, STATUS_INVALID);
        } else {
            assert_int_equal(server_of(l, 0)->child_count, n);
            for (unsigned i = 0; i < n; i++) {
                char root[16];
                (void)snprintf(root, sizeof(root), "/r%u", i);
                assert_string_equal(CONF(server_of(l, 0)->children[i], http)->root.text.p, root);
            }
        }
        unload(l);
        buf_fini(&b);
    }
}

/* What is no map, what is given twice: each fault by itself, at its place, and all of them. */
static void refused(void **state)
{
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"http: []\n", "main.yaml:1:7: http: expected a map of directives ({} for none), found a "
                       "list\n    http: []\n          ^\n"},
        {"http: {server: [a]}\n",
         "main.yaml:1:17: http.server[0]: expected a map of directives ({} for none), found a "
         "single value\n    http: {server: [a]}\n                    ^\n"},
        {"http: {server: []}\n", "main.yaml:1:16: http.server: an empty list, expected a map\n"
                                 "    http: {server: []}\n                   ^\n"},
        {"http: {server: [{}, [], {etag: 7}]}\n",
         "main.yaml:1:21: http.server[1]: expected a map of directives ({} for none), found a list\n"
         "    http: {server: [{}, [], {etag: 7}]}\n                        ^\n"
         "main.yaml:1:32: http.server[2].etag: \"7\" is not valid, expected on, off or content\n"
         "    http: {server: [{}, [], {etag: 7}]}\n                                   ^\n"},
        {"http: {server: {location: [a]}}\n",
         "main.yaml:1:27: http.server[0].location: expected a map of directives ({} for none), "
         "found a list\n    http: {server: {location: [a]}}\n                              ^\n"},
        {"http: {server: {location: {/a: 7}}}\n",
         "main.yaml:1:32: http.server[0].location[\"/a\"]: expected a map of directives ({} for "
         "none), found a single value\n"
         "    http: {server: {location: {/a: 7}}}\n                                   ^\n"},
        {"http: {server: {location: {\"\": {}}}}\n",
         "main.yaml:1:28: http.server[0].location[\"\"]: an empty key, expected a name\n"
         "    http: {server: {location: {\"\": {}}}}\n                               ^\n"},
        {"http:\n  server:\n    location:\n      = /a: {}\n      \"=   /a\": {}\n",
         "main.yaml:5:7: http.server[0].location[\"=   /a\"]: given twice, the first time in line "
         "4\n    \"=   /a\": {}\n    ^\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(report_of(cases[i].yaml), cases[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks), cmocka_unit_test(implied), cmocka_unit_test(override_keyed),
        cmocka_unit_test(joined), cmocka_unit_test(order),   cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
