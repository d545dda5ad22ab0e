/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/inherit.c: defaults, values handed down, what stays where it is, merged maps (config.md 3). */
#include "conf/inherit.h"

#include "load.h"

static void handed_down(void **state)
{
    (void)state;
    struct loaded *l = load_good("error_log: main.log\n"
                                 "http:\n"
                                 "  root: /http\n"
                                 "  etag: off\n"
                                 "  send_timeout: 5s\n"
                                 "  error_page: 404 /a\n"
                                 "  server:\n"
                                 "    - root: /server\n"
                                 "      return: 301 /x\n"
                                 "      error_log: server.log\n"
                                 "      location:\n"
                                 "        /a: {internal: , location: {/a/b: {etag: on}}}\n"
                                 "        /c: {error_page: [500 /b, 502 /c], root: /loc}\n"
                                 "    - {}\n");
    struct block *s0 = server_of(l, 0), *s1 = server_of(l, 1);
    struct block *a = s0->children[0], *ab = a->children[0], *c = s0->children[1];
    assert_string_equal(CONF(http_of(l), http)->root.text.p, "/http");
    assert_string_equal(CONF(s0, http)->root.text.p, "/server");
    assert_string_equal(CONF(s1, http)->root.text.p, "/http");
    assert_string_equal(CONF(ab, http)->root.text.p, "/server");
    assert_string_equal(CONF(c, http)->root.text.p, "/loc");
    assert_int_equal(CONF(s0, http)->etag, 1);
    assert_int_equal(CONF(a, http)->etag, 1);
    assert_int_equal(CONF(ab, http)->etag, 0);
    assert_int_equal(CONF(ab, http)->send_timeout, 5000);
    assert_int_equal(CONF(ab, http)->max_headers, 100); /* the default, all the way */
    /* a list is replaced whole */
    assert_string_equal(words_of(&CONF(a, http)->error_page), "404 /a");
    assert_string_equal(words_of(&CONF(c, http)->error_page), "500 /b|502 /c");
    /* not handed down */
    assert_true(CONF(a, http)->internal);
    assert_false(CONF(ab, http)->internal);
    assert_int_equal(CONF(s0, http)->ret.n, 1);
    assert_int_equal(CONF(a, http)->ret.n, 0);
    /* from main into http */
    assert_string_equal(words_of(&CONF(http_of(l), log)->error_log), "main.log");
    assert_string_equal(words_of(&CONF(s1, log)->error_log), "main.log");
    assert_string_equal(words_of(&CONF(ab, log)->error_log), "server.log");
    unload(l);
}

static void defaults(void **state)
{
    (void)state;
    struct loaded *l = load_good("http: {server: {location: {/: {}}}}\n");
    struct main_conf *m = CONF(l->top, main);
    assert_true(m->daemon);
    assert_string_equal(m->worker_processes.text.p, "auto");
    assert_int_equal(m->worker_shutdown_timeout, 300000);
    assert_int_equal(m->worker_rlimit_nofile, 0); /* no default: zero */
    assert_string_equal(m->pid.p, "/prefix/logs/sluice.pid");
    assert_int_equal(m->user.n, 0);
    struct events_conf *ev = CONF(child_of(l->top, SCOPE_EVENTS, 0), events);
    assert_int_equal(ev->registered_buffers, 4 << 20);
    assert_string_equal(words_of(&ev->recv_buffers), "1024 4k");
    struct http_conf *c = CONF(server_of(l, 0)->children[0], http);
    assert_true(c->limit_rate == CONF_UNLIMITED);
    assert_int_equal(c->if_modified_since, 2);
    assert_string_equal(words_of(&c->listen), "80");
    assert_null(c->password_file.p);
    assert_int_equal(c->types.n, 0);
    unload(l);
}

static void merged(void **state)
{
    (void)state;
    struct loaded *l = load_good("http:\n"
                                 "  types: {a/a: a, b/b: b}\n"
                                 "  server:\n"
                                 "    - types: {b/b: b2, c/c: c}\n"
                                 "      location: {/: {types: {d/d: d}}, /x: {types: {}}}\n"
                                 "    - {}\n");
    static const struct {
        const char *keys, *values;
    } want[] = {{"a/ab/b", "ab"}, {"a/ab/bc/c", "ab2c"}, {"a/ab/bc/cd/d", "ab2cd"},
                {"a/ab/bc/c", "ab2c"}, {"a/ab/b", "ab"}};
    const struct block *blocks[] = {http_of(l), server_of(l, 0), server_of(l, 0)->children[0],
                                    server_of(l, 0)->children[1], server_of(l, 1)};
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        struct buf keys, values;
        buf_init(&keys, 0);
        buf_init(&values, 0);
        const struct keyed *k = &CONF(blocks[i], http)->types;
        for (size_t e = 0; e < k->n; e++) {
            buf_str(&keys, k->v[e].key.v[0].text);
            buf_str(&values, str_z(words_of(&k->v[e].values)));
        }
        assert_true(str_eq(buf_view(&keys), str_z(want[i].keys)));
        assert_true(str_eq(buf_view(&values), str_z(want[i].values)));
        buf_fini(&keys);
        buf_fini(&values);
    }
    unload(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handed_down),
        cmocka_unit_test(defaults),
        cmocka_unit_test(merged),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
