/* SPDX-License-Identifier: BSD-2-Clause */
/* The compilation as a whole: what it lists, log files, hooks in every location, no http at all. */
#include "unit.h"

static void lists(void **state)
{
    struct site s;
    bool slash;
    (void)state;
    site_good(&s, "http:\n  server:\n"
                  "    - {listen: [8081, 8082], server_name: a, location: {/: {location: {/b: {}}}}}\n"
                  "    - {listen: 8082, server_name: b}\n");
    assert_int_equal(s.cy.vhost_count, 2);
    assert_int_equal(s.cy.listener_count, 2);
    for (size_t i = 0; i < s.cy.vhost_count; i++) {
        struct vhost *v = s.cy.vhosts[i];
        assert_int_equal(v->index, i);
        assert_int_equal(v->own.kind, LOCATION_SERVER);
        assert_ptr_equal(v->own.block, v->block);
        assert_ptr_equal(v->own.vhost, v);
        assert_non_null(v->own.phases[PHASE_SERVER_REWRITE]);
        for (unsigned p = PHASE_REWRITE; p < PHASES; p++)
            assert_non_null(v->own.phases[p]);
        assert_non_null(v->own.filters);
    }
    struct location *inner = location_find(s.cy.vhosts[0], STR("/b"), NULL, &slash);
    assert_str(inner->name, "/b");
    assert_non_null(inner->phases[PHASE_CONTENT]);
    assert_null(inner->phases[PHASE_SERVER_REWRITE]);
    assert_non_null(inner->filters);
    assert_ptr_equal(inner->vhost, s.cy.vhosts[0]);
    site_end(&s);
}

static void log_files(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http: {server: {listen: 8081}}\n");
    size_t before = s.cy.log_file_count;
    char path[] = "/var/log/a";
    struct log_file *a = cycle_log_file(&s.cy, str_z(path));
    memset(path, 'x', sizeof(path) - 1); /* the text is copied */
    struct log_file *b = cycle_log_file(&s.cy, STR("/var/log/b"));
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(cycle_log_file(&s.cy, STR("/var/log/a")), a);
    assert_int_equal(s.cy.log_file_count, before + 2);
    assert_int_equal(a->fd, -1);
    assert_string_equal(a->path.p, "/var/log/a");
    for (unsigned i = 0; i < 100; i++) {
        snprintf(path, sizeof(path), "/l/%u", i);
        assert_non_null(cycle_log_file(&s.cy, str_z(path)));
    }
    assert_int_equal(s.cy.log_file_count, before + 102);
    assert_ptr_equal(s.cy.log_files[before], a);
    site_end(&s);
}

static void sections(void **state)
{
    size_t n, m;
    (void)state;
    const struct section *const *list = http_sections(&n);
    assert_true(n >= 1);
    assert_ptr_equal(list[0], &http_section);
    assert_null(list[n]);
    assert_ptr_equal(http_sections(&m), list);
    assert_int_equal(n, m);
}

static void no_server(void **state)
{
    struct site s;
    (void)state;
    site_begin(&s, "http: {}\n");
    assert_true(s.good);
    assert_int_equal(s.cy.listener_count, 0);
    assert_int_equal(s.diag.warnings, 1);
    assert_non_null(strstr(s.report.p, "there is no server in it"));
    site_end(&s);
}

/* hostile 132: 10^5 routes in one second; the build with sanitizers may take its time. */
static void load_time(void **state)
{
    enum { N = 100000 };
    struct buf b;
    struct site s;
    (void)state;
    buf_init(&b, 0);
    buf_str(&b, STR("http:\n  server:\n"));
    for (unsigned i = 0; i < N; i++) {
        if (i % 100 == 0)
            buf_printf(&b, "    - listen: 8081\n      server_name: h%u.test\n      location:\n", i);
        buf_printf(&b, "        /route/%u/: {etag: off}\n", i);
    }
    buf_char(&b, '\0');
    struct timespec t0, t1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    site_good(&s, b.p);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    double seconds = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
    print_message("%d routes loaded in %.2f s\n", N, seconds);
#ifdef __SANITIZE_ADDRESS__
    assert_true(seconds < 20);
#else
    assert_true(seconds < 8); /* what is no slower than linear, on a machine in use */
#endif
    site_end(&s);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),     cmocka_unit_test(log_files), cmocka_unit_test(sections),
        cmocka_unit_test(no_server), cmocka_unit_test(load_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
