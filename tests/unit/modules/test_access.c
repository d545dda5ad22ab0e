/* SPDX-License-Identifier: BSD-2-Clause */
/* access: rules down the tree of blocks, and what is no rule. */
#include "../http/unit.h"

#include "../../../modules/access/access.c"

#define TREE(http, server, location)                                                              \
    "http:\n" http "  server:\n    listen: 8080\n" server                                         \
    "    location:\n      /l/: {internal: off" location "}\n"

/* "allow 0, deny 1" of the location /l/, as it is compiled. */
static void rules_of(struct site *s, char *to, size_t room)
{
    struct location *l = location_find(s->cy.vhosts[0], STR("/l/x"), NULL, &(bool){false});
    const struct access_conf *conf = CONF(l->block, access);
    struct wbuf w = wbuf_make(to, room - 1);
    for (size_t i = 0; i < conf->count; i++)
        wbuf_printf(&w, "%c%d/%016llx ", conf->denied[i] ? '-' : '+', conf->nets[i].family,
                    (unsigned long long)conf->nets[i].net[0]);
    *w.at = '\0';
}

static void inherits_whole(void **state)
{
    static const struct {
        const char *yaml, *want;
    } rows[] = {
        {TREE("", "", ""), ""},
        {TREE("  access: [allow 10.0.0.0/8, deny all]\n", "", ""),
         "+2/0a00000000000000 -0/0000000000000000 "},
        {TREE("  access: [allow 10.0.0.0/8, deny all]\n", "    access: deny 10.1.1.1\n", ""),
         "-2/0a01010100000000 "},
        {TREE("  access: deny all\n", "", ", access: ['allow ::1']"), "+10/0000000000000000 "},
        {TREE("", "    access: [[deny, 'unix:']]\n", ""), "-1/0000000000000000 "},
    };
    char text[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        site_good(&s, rows[i].yaml);
        rules_of(&s, text, sizeof(text));
        assert_string_equal(text, rows[i].want);
        assert_int_equal(s.diag.warnings, 0);
        site_end(&s);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *rule, *want;
    } rows[] = {
        {"permit all", "http: access: \"permit\" is not valid, expected allow or deny"},
        {"deny", "http.access"},
        {"deny 10.0.0.1 10.0.0.2", "http.access"},
        {"deny 10.0.0.0/33", "\"10.0.0.0/33\" is not valid, expected an address, a network as "
                             "192.0.2.0/24 or 2001:db8::/32, unix: or all"},
        {"deny localhost", "\"localhost\" is not valid"},
        {"deny $remote_addr", "\"$remote_addr\" is not valid"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        char yaml[256];
        snprintf(yaml, sizeof(yaml), "http:\n  access: [%s]\n  server: {listen: 8080}\n",
                 rows[i].rule);
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, rows[i].want) == NULL)
            fail_msg("%s\n%s", rows[i].rule, s.report.p);
        assert_int_equal(s.diag.errors, 1);
        site_end(&s);
    }
}

static void warns_of_host_bits(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, TREE("  access: deny 127.0.0.1/8\n", "", ""));
    assert_int_equal(s.diag.warnings, 1);
    assert_non_null(strstr(s.report.p, "http: access: the bits of \"127.0.0.1/8\" behind the "
                                       "prefix mean nothing"));
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inherits_whole),
        cmocka_unit_test(refuses),
        cmocka_unit_test(warns_of_host_bits),
    };
    return cmocka_run_group_tests_name("modules/access", tests, NULL, NULL);
}
