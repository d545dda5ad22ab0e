/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf/bind.c: what -g changes, required rows, memory that runs out, and size (h132).
 * test_bind_blocks.c and test_bind_values.c have the two halves of a block.
 * timeout: 240
 */
#include "conf/bind.h"

#include "load.h"

/* config.md 5: -g keys win over the file's, maps are merged key by key. */
static void overrides(void **state)
{
    (void)state;
    static const char yaml[] = "daemon: on\n"
                               "error_log: [a.log, b.log]\n"
                               "include: over.inc\n"
                               "events: {use: epoll, worker_connections: 100}\n"
                               "http:\n"
                               "  types: {text/html: html, image/png: png}\n"
                               "  server: [{server_name: a}, {server_name: b}]\n";
    put_text("over.inc", "worker_processes: 4\n");
    struct loaded *l = load_text_with(yaml, "{daemon: off, worker_processes: 1, error_log: c.log, "
                                            "events: {worker_connections: 7}, "
                                            "http: {types: {image/png: apng, a/b: c}, etag: off}}");
    assert_int_equal(l->status, STATUS_OK);
    assert_false(CONF(l->top, main)->daemon);
    assert_string_equal(CONF(l->top, main)->worker_processes.text.p, "1");
    assert_string_equal(words_of(&CONF(l->top, log)->error_log), "c.log");
    struct events_conf *ev = CONF(child_of(l->top, SCOPE_EVENTS, 0), events);
    assert_int_equal(ev->use, 2);
    assert_int_equal(ev->worker_connections, 7);
    struct http_conf *c = CONF(http_of(l), http);
    assert_int_equal(c->types.n, 3);
    assert_string_equal(words_of(&c->types.v[0].values), "html");
    assert_string_equal(words_of(&c->types.v[1].values), "apng");
    assert_string_equal(words_of(&c->types.v[2].values), "c");
    assert_int_equal(c->etag, 1);
    assert_int_equal(http_of(l)->child_count, 2);
    unload(l);

    l = load_text_with(yaml, "http: {server: {server_name: c, location: {/: {root: /c}}}}");
    assert_int_equal(http_of(l)->child_count, 1);
    assert_string_equal(words_of(&CONF(server_of(l, 0), http)->server_name), "c");
    unload(l);

    l = load_text_with("daemon: on\n", "pid: x"); /* a key the file has not */
    assert_string_equal(CONF(l->top, main)->pid.p, "/prefix/x");
    unload(l);

    static const struct {
        const char *extra, *want;
    } bad[] = {
        {"daemon: maybe", "-g:1:9: daemon: \"maybe\" is not valid, expected on or off\n"
                          "    daemon: maybe\n"
                          "            ^\n"},
        {"daemon off;", "-g:1:1: expected a map of directives, found a single value\n"
                        "    daemon off;\n"
                        "    ^\n"},
        {"", "-g:1:1: there is nothing in it, expected a map of directives\n"},
        {"a: [b", "-g:1:4: \"[\" without its \"]\", expected \",\" or \"]\"\n"
                 "    a: [b\n"
                 "       ^\n"},
        {"{daemon: on, daemon: off}",
         "-g:1:14: \"daemon\" is given twice, the first time in line 1\n"
         "    {daemon: on, daemon: off}\n"
         "                 ^\n"},
        {"\xff", "-g:1:1: byte 0xFF is not valid UTF-8, expected UTF-8 text\n"
                 "    ?\n"
                 "    ^\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        l = load_text_with("daemon: on\n", bad[i].extra);
        assert_int_equal(l->status, STATUS_INVALID);
        assert_string_equal(l->report, bad[i].want);
        unload(l);
    }
}

struct need_conf {
    struct str path;
};
static unsigned need_slot;
static const struct directive need_rows[] = {
    {"http", CTYPE_BLOCK, SCOPE_MAIN, .flags = ROW_REQUIRED, .block = SCOPE_HTTP},
    {"server", CTYPE_BLOCK, SCOPE_HTTP, .flags = ROW_REQUIRED | ROW_BLOCK_LIST,
     .block = SCOPE_SERVER},
    {"root", CTYPE_PATH, SCOPE_SERVER, .offset = offsetof(struct need_conf, path),
     .flags = ROW_REQUIRED},
    {0},
};
static const struct section need_section = {"need", need_rows, sizeof(struct need_conf),
                                            &need_slot};
static const struct section *const need_sections[] = {&need_section, NULL};

static void required(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"http: {server: {root: /a}}\n", ""},
        {"{}\n", "main.yaml:1:1: \"http\" is missing, every main block needs it\n    {}\n    ^\n"},
        {"http: {}\n", "main.yaml:1:1: http: \"server\" is missing, every http block needs it\n"
                       "    http: {}\n    ^\n"},
        {"http:\n  server:\n    - {root: /a}\n    - {}\n",
         "main.yaml:4:7: http.server[1]: \"root\" is missing, every server block needs it\n"
         "    - {}\n      ^\n"},
        /* what is missing may be in the file that is */
        {"http: {include: gone.inc}\n", "main.yaml:1:17: http.include: cannot open \"gone.inc\": "
                                        "No such file or directory\n"
                                        "    http: {include: gone.inc}\n"
                                        "                    ^\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct loaded *l = calloc(1, sizeof(*l));
        assert_non_null(l);
        put_text("main.yaml", cases[i].yaml);
        arena_init(&l->a, NULL, 0, 4096, 0);
        diag_init(&l->d, &l->a);
        struct conf_source src = {scratch("main.yaml"), "/", NULL};
        l->status = conf_load(&l->a, &l->d, &src, need_sections, &l->top);
        keep_report(l, scratch_dir);
        assert_string_equal(l->report, cases[i].want);
        unload(l);
    }
}

/* A default that is no value of its row is a fault of the program, and is said so. */
static void bad_default(void **state)
{
    (void)state;
    static unsigned slot;
    static const struct directive rows[] = {{"n", CTYPE_INT, SCOPE_MAIN, .dflt = "many"}, {0}};
    static const struct section section = {"s", rows, 8, &slot};
    const struct section *const sections[] = {&section, NULL};
    struct arena a;
    struct diag d;
    struct block *top;
    put_text("main.yaml", "n: 1\n");
    arena_init(&a, NULL, 0, 4096, 0);
    diag_init(&d, &a);
    struct conf_source src = {scratch("main.yaml"), "/", NULL};
    assert_int_equal(conf_load(&a, &d, &src, sections, &top), STATUS_INVALID);
    assert_null(top);
    assert_true(str_eq(d.entries[0].path, STR("(default).n")));
    arena_fini(&a);
}

static void main_file(void **state)
{
    (void)state;
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"absent.yaml", "cannot open \"absent.yaml\": No such file or directory\n"},
        {"folder", "\"folder\" is a directory, expected a file\n"},
        {"pipe", "\"pipe\" is not a regular file\n"},
    };
    assert_int_equal(mkdir(scratch("folder"), 0755), 0);
    assert_int_equal(mkfifo(scratch("pipe"), 0644), 0);
    alarm(20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct loaded *l = load_path(scratch(cases[i].name), scratch_dir, NULL);
        assert_string_equal(l->report, cases[i].want);
        unload(l);
    }
    alarm(0);
}

static void join_paths(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0, 4096, 0);
    assert_string_equal(conf_path(&a, STR("/a"), STR("b/c")).p, "/a/b/c");
    assert_string_equal(conf_path(&a, STR("/"), STR("b")).p, "/b");
    assert_string_equal(conf_path(&a, STR("/a"), STR("/b")).p, "/b");
    arena_fini(&a);
}

/* Memory that runs out is said so, at whatever point it does. */
static void no_memory(void **state)
{
    (void)state;
    put_text("main.yaml", "user: a\nhttp:\n  types: {a/b: c}\n  server:\n    - server_name: a b\n"
                          "      location: {/: {add_header: [a b, c d]}}\n");
    struct conf_source src = {scratch("main.yaml"), "/p", "daemon: off"};
    bool done = false;
    for (size_t cap = 512; !done; cap += 256) {
        struct arena a;
        struct diag d;
        struct block *top;
        arena_init(&a, NULL, 0, 256, cap);
        diag_init(&d, &a);
        enum status st = conf_load(&a, &d, &src, test_sections, &top);
        done = st == STATUS_OK;
        if (!done)
            assert_int_equal(st, STATUS_NOMEM);
        assert_int_equal(top != NULL, done);
        arena_fini(&a);
        assert_true(cap < 1 << 20);
    }
}

static void big(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 0);
    buf_str(&b, STR("http:\n  server:\n"));
    for (unsigned i = 0; i < 10000; i++)
        buf_printf(&b,
                   "    - listen: 127.0.0.1:8080\n"
                   "      server_name: host%u.example www.host%u.example\n"
                   "      root: /srv/www/host%u\n"
                   "      location:\n"
                   "        /: {index: index.html}\n"
                   "        ~* \\.png$: {add_header: Cache-Control immutable}\n",
                   i, i, i);
    put_bytes("big.yaml", b.p, b.n);
    alarm(100);
    struct loaded *l = load_path(scratch("big.yaml"), scratch_dir, NULL);
    assert_int_equal(l->status, STATUS_OK);
    assert_int_equal(http_of(l)->child_count, 10000);
    assert_int_equal(server_of(l, 9999)->child_count, 2);
    unload(l);

    b.n = 0;
    buf_str(&b, STR("http:\n  server:\n    location:\n"));
    for (unsigned i = 0; i < 100000; i++)
        buf_printf(&b, "      /path/%u: {return: 204}\n", i);
    put_bytes("big.yaml", b.p, b.n);
    buf_fini(&b);
    l = load_path(scratch("big.yaml"), scratch_dir, NULL);
    assert_int_equal(l->status, STATUS_OK);
    assert_int_equal(server_of(l, 0)->child_count, 100000);
    assert_string_equal(server_of(l, 0)->children[99999]->key.v[0].text.p, "/path/99999");
    unload(l);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides),   cmocka_unit_test(required),  cmocka_unit_test(bad_default),
        cmocka_unit_test(main_file),   cmocka_unit_test(join_paths), cmocka_unit_test(no_memory),
        cmocka_unit_test(big),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
