/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/reference.c: names without rows, and the tables of the manual. */
#include "conf/reference.h"

#include "load.h"

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool known;
        const char *hint;
    } cases[] = {
        {"proxy_pass", true, NULL}, {"proxy_", true, NULL}, {"proxy", false, NULL},
        {"upstream", true, NULL}, {"upstreams", false, NULL}, {"http2", true, NULL},
        {"http2_max_concurrent_streams", true, NULL}, {"geo", true, NULL}, {"geoip", false, NULL},
        {"split_clients", true, NULL}, {"valid_referers", true, NULL}, {"secure_link", true, NULL},
        {"sub_filter", true, NULL}, {"auth_request", true, NULL}, {"limit_except", true, NULL},
        {"if", true, "map chooses values by variables"},
        {"allow", true, "write it as an item of access"},
        {"gzip", true, NULL}, {"limit_req_dry_run", true, NULL}, {"ssl_early_data", true, NULL},
        {"", false, NULL}, {"frobnicate", false, NULL}, {"Gzip", false, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *hint = NULL;
        if (reference_unbuilt(str_z(cases[i].name), &hint) != cases[i].known)
            fail_msg("%s", cases[i].name);
        if (cases[i].hint == NULL)
            assert_null(hint);
        else
            assert_string_equal(hint, cases[i].hint);
    }
}

static unsigned slot;
static const char *const words[] = {"a", "b", NULL};
static const struct directive rows[] = {
    {"size", CTYPE_SIZE, SCOPE_ANY_HTTP, .flags = ROW_UNLIMITED, .dflt = "1m",
     .doc = ".begins with a dot, has a \\ in it. Goes on."},
    {"choice", CTYPE_ENUM, SCOPE_SERVER, .choices = words},
    {"list", CTYPE_ARGS, SCOPE_MAIN | SCOPE_HTTP, .flags = ROW_REPEATABLE,
     .args_doc = "say \"x\" ...", .doc = "A list."},
    {0},
};
static const struct section section = {"s", rows, 8, &slot};

static void tables(void **state)
{
    (void)state;
    const struct section *const sections[] = {&section, NULL};
    struct buf b;
    buf_init(&b, 0);
    conf_reference(sections, &b);
    buf_char(&b, '\0');
    assert_string_equal(b.p, ".Ss Directives of main\n"
                             ".Bl -tag -width Ds\n"
                             ".It Ic include : Ar pattern\n"
                             "The files hold keys of the block that includes them.\n"
                             "A pattern may match none, a plain name must be there.\n"
                             "Stands in any block, repeatable.\n"
                             ".It Ic list : Ar \"say \\(dqx\\(dq ...\"\n"
                             "A list.\n"
                             "Stands in main, http, repeatable.\n"
                             ".El\n"
                             ".Ss Directives of http, server and location\n"
                             ".Bl -tag -width Ds\n"
                             ".It Ic size : Ar \"size | unlimited\"\n"
                             "\\&.begins with a dot, has a \\e in it.\n"
                             "Goes on.\n"
                             "Default:\n"
                             ".Ql \"1m\" .\n"
                             "Stands in http, server, location.\n"
                             ".El\n"
                             ".Ss Directives of server\n"
                             ".Bl -tag -width Ds\n"
                             ".It Ic choice : Ar \"a | b\"\n"
                             "Stands in server.\n"
                             ".El\n");
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
