/* SPDX-License-Identifier: BSD-2-Clause */
/* set_real_ip_from and its relatives: down the tree of blocks, and what they refuse. */
#include "../http/unit.h"

#include "../../../modules/realip/realip.c"

static void inherits(void **state)
{
    static const struct {
        const char *http, *location;
        size_t count;
        enum realip_source source;
        enum field_id field;
    } rows[] = {
        {"", "", 0, REALIP_FIELD, FIELD_X_REAL_IP},
        {"set_real_ip_from: 10.0.0.1", "", 1, REALIP_FIELD, FIELD_X_REAL_IP},
        {"set_real_ip_from: [10.0.0.1, '::1', 'unix:']", "", 3, REALIP_FIELD, FIELD_X_REAL_IP},
        {"set_real_ip_from: [10.0.0.1, '::1']", "set_real_ip_from: 10.0.0.0/8", 1, REALIP_FIELD,
         FIELD_X_REAL_IP},
        {"set_real_ip_from: 10.0.0.1", "real_ip_header: x-forwarded-for", 1, REALIP_FIELD,
         FIELD_X_FORWARDED_FOR},
        {"set_real_ip_from: 10.0.0.1", "real_ip_header: proxy_protocol", 1, REALIP_PROXY,
         FIELD_OTHER},
        {"real_ip_header: CF-Connecting-IP", "", 0, REALIP_FIELD, FIELD_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        char yaml[512];
        snprintf(yaml, sizeof(yaml),
                 "http:\n  %s\n  server: {listen: 8080, location: {/l/: {%s}}}\n", rows[i].http,
                 rows[i].location);
        site_good(&s, yaml);
        struct location *l = location_find(s.cy.vhosts[0], STR("/l/x"), NULL, &(bool){false});
        const struct realip_conf *conf = CONF(l->block, realip);
        assert_int_equal(conf->trusted.n, rows[i].count);
        assert_int_equal(conf->source, rows[i].source);
        assert_int_equal(conf->field, rows[i].field);
        assert_int_equal(realip_enabled(conf), rows[i].count > 0);
        site_end(&s);
    }
}

static void resolves(void **state)
{
    struct site s;
    struct addr home;
    (void)state;
    site_good(&s, "http:\n  set_real_ip_from: localhost\n  server: {listen: 8080}\n");
    const struct realip_conf *conf = CONF(s.cy.http, realip);
    assert_true(addr_from_ip(&home, STR("127.0.0.1"), 0) || addr_from_ip(&home, STR("::1"), 0));
    assert_true(conf->trusted.n >= 1);
    assert_true(cidr_find(conf->trusted.v, conf->trusted.n, &home) >= 0);
    site_end(&s);
}

static void refuses(void **state)
{
    static const struct {
        const char *line, *want;
    } rows[] = {
        {"set_real_ip_from: all", "set_real_ip_from: \"all\" is not valid, expected an address, a "
                                  "network as 192.0.2.0/24 or 2001:db8::/32, the name of a host, or "
                                  "unix:"},
        {"set_real_ip_from: 10.0.0.0/33", "\"10.0.0.0/33\" is not valid"},
        {"set_real_ip_from: 10.0.0", "\"10.0.0\" is not valid"},
        {"set_real_ip_from: 10.0.0.1:80", "\"10.0.0.1:80\" is not valid"},
        {"set_real_ip_from: no.such.host.invalid", "cannot resolve \"no.such.host.invalid\""},
        {"set_real_ip_from: [[10.0.0.1, 10.0.0.2]]", "set_real_ip_from"},
        {"real_ip_header: 'X Y'", "real_ip_header"},
        {"real_ip_header: 'X:'", "real_ip_header: \"X:\" is not valid, expected the name of a "
                                 "header, or proxy_protocol"},
        {"real_ip_recursive: maybe", "real_ip_recursive"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        char yaml[256];
        snprintf(yaml, sizeof(yaml), "http:\n  %s\n  server: {listen: 8080, location: {/: {}}}\n",
                 rows[i].line);
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, rows[i].want) == NULL)
            fail_msg("%s\n%s", rows[i].line, s.report.p);
        assert_int_equal(s.diag.errors, 1);
        site_end(&s);
    }
}

static void warns_of_host_bits(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  set_real_ip_from: 10.1.1.1/8\n  server: {listen: 8080}\n");
    assert_int_equal(s.diag.warnings, 1);
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inherits),
        cmocka_unit_test(resolves),
        cmocka_unit_test(refuses),
        cmocka_unit_test(warns_of_host_bits),
    };
    return cmocka_run_group_tests_name("modules/realip", tests, NULL, NULL);
}
