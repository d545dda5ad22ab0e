/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_basic in the configuration: down the tree of blocks, paths, and what is refused. */
#include "../http/unit.h"

#include "../../../modules/auth_basic/auth_basic.c"

static const struct auth_basic_conf *conf_of(struct site *s)
{
    struct location *l = location_find(s->cy.vhosts[0], STR("/l/x"), NULL, &(bool){false});
    return CONF(l->block, auth_basic);
}

#define TREE(http, server, location)                                                              \
    "http:\n" http "  server:\n    listen: 8080\n" server                                         \
    "    location:\n      /l/: {internal: off" location "}\n"

static void inherits(void **state)
{
    static const struct {
        const char *yaml;
        bool on;
        const char *path;
    } rows[] = {
        {TREE("", "", ""), false, ""},
        {TREE("  auth_basic_user_file: u\n", "", ""), false, TEST_PREFIX "/conf/u"},
        {TREE("  auth_basic: x\n  auth_basic_user_file: /u\n", "", ""), true, "/u"},
        {TREE("  auth_basic: x\n", "    auth_basic_user_file: u\n", ""), true,
         TEST_PREFIX "/conf/u"},
        {TREE("  auth_basic_user_file: u\n", "", ", auth_basic: x"), true, TEST_PREFIX "/conf/u"},
        {TREE("  auth_basic: x\n  auth_basic_user_file: u\n", "", ", auth_basic: off"), false,
         TEST_PREFIX "/conf/u"},
        {TREE("  auth_basic: x\n  auth_basic_user_file: u\n", "", ", auth_basic_user_file: v"),
         true, TEST_PREFIX "/conf/v"},
        {TREE("  auth_basic_user_file: u$host\n", "", ", auth_basic: $host"), true, ""},
        {TREE("  auth_basic: x\n", "    auth_basic: off\n",
              ", auth_basic: y, auth_basic_user_file: u"), true, TEST_PREFIX "/conf/u"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        site_good(&s, rows[i].yaml);
        const struct auth_basic_conf *conf = conf_of(&s);
        assert_int_equal(conf->on, rows[i].on);
        assert_int_equal(auth_basic_enabled(conf), rows[i].on);
        assert_str(conf->path, rows[i].path);
        site_end(&s);
    }
}

static void paths_with_variables(void **state)
{
    static const struct {
        const char *file, *want; /* NULL: not to be read */
    } rows[] = {
        {"u/$host", TEST_PREFIX "/conf/u/h.example"},
        {"/u/$host", "/u/h.example"},
        {"$host", NULL},
        {"$document_root/x", TEST_PREFIX "/html/x"},
        {"u/$arg_x", TEST_PREFIX "/conf/u/"},
        {"u/$arg_up", NULL},
        {"$arg_x", NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        char yaml[256];
        struct str path;
        snprintf(yaml, sizeof(yaml), "http:\n  server: {listen: 8080, auth_basic: x, "
                 "auth_basic_user_file: %s}\n", rows[i].file);
        site_good(&s, yaml);
        struct fake *f = fake_new(&s);
        f->r.host = STR("h.example");
        f->r.args = STR("up=../../etc/passwd");
        bool good = file_path(&f->r, &path);
        if (good != (rows[i].want != NULL))
            fail_msg("%s", rows[i].file);
        if (good)
            assert_str(path, rows[i].want);
        fake_free(f);
        site_end(&s);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *yaml, *want;
    } rows[] = {
        {TREE("", "", ", auth_basic: x"),
         "auth_basic: without an auth_basic_user_file nobody could come in"},
        {TREE("", "    auth_basic_user_file: ['']\n", ""), "auth_basic_user_file: \"\" is not valid"},
        {TREE("", "    auth_basic_user_file: $nothing\n", ""), "nothing"},
        {TREE("", "    auth_basic: $nothing\n    auth_basic_user_file: u\n", ""), "nothing"},
        {TREE("", "    auth_basic: Members only\n    auth_basic_user_file: u\n", ""),
         "auth_basic"},
        {TREE("", "    auth_delay: soon\n", ""), "auth_delay"},
        {TREE("", "    satisfy: some\n", ""), "satisfy"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        site_begin(&s, rows[i].yaml);
        if (s.good || strstr(s.report.p, rows[i].want) == NULL)
            fail_msg("%s\n%s", rows[i].yaml, s.report.p);
        assert_int_equal(s.diag.errors, 1);
        site_end(&s);
    }
}

/* In a server it may be for its locations. */
static void warns_of_no_file(void **state)
{
    static const struct {
        const char *yaml;
        size_t warnings; /* the file itself is missing too */
    } rows[] = {
        {TREE("", "    auth_basic: x\n", ""), 1},
        {TREE("  auth_basic: x\n", "", ", auth_basic_user_file: /nonexistent/u"), 2},
        {TREE("  auth_basic: x\n", "    auth_basic: off\n", ""), 0},
        {TREE("  auth_basic: x\n", "    auth_basic_user_file: /nonexistent/u\n", ""), 1},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        site_good(&s, rows[i].yaml);
        assert_int_equal(s.diag.warnings, rows[i].warnings);
        site_end(&s);
    }
}

static void warns_of_a_missing_file(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, TREE("", "    auth_basic: x\n    auth_basic_user_file: /nonexistent/u\n", ""));
    assert_non_null(strstr(s.report.p, "auth_basic_user_file: \"/nonexistent/u\" cannot be "
                                       "reached: No such file or directory"));
    site_end(&s);
}

static void challenges(void **state)
{
    static const struct {
        struct str realm;
        const char *want;
    } rows[] = {
        {STR_INIT("Members only"), "Basic realm=\"Members only\", charset=\"UTF-8\""},
        {STR_INIT(""), "Basic realm=\"\", charset=\"UTF-8\""},
        {STR_INIT("\"\\\""), "Basic realm=\"\\\"\\\\\\\"\", charset=\"UTF-8\""},
        {STR_INIT("a\r\nX: y\0\x7f"), "Basic realm=\"aX: y\", charset=\"UTF-8\""},
        {STR_INIT("\xc3\xa4"), "Basic realm=\"\xc3\xa4\", charset=\"UTF-8\""},
    };
    struct fake *f = fake_new(NULL);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_str(challenge(&f->r, rows[i].realm), rows[i].want);
    fake_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inherits),
        cmocka_unit_test(paths_with_variables),
        cmocka_unit_test(refuses),
        cmocka_unit_test(warns_of_no_file),
        cmocka_unit_test(warns_of_a_missing_file),
        cmocka_unit_test(challenges),
    };
    return cmocka_run_group_tests_name("modules/auth_basic", tests, NULL, NULL);
}
