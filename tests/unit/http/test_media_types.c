/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of media types as directives give them: types, families, all; and what is none. */
#include "unit.h"

#include "http/media_types.h"

static void membership(void **state)
{
    static const struct {
        const char *list, *type;
        bool in;
    } rows[] = {
        {"application/json", "application/json", true},
        {"application/json", "Application/JSON", true},
        {"application/json", "application/json; charset=utf-8", true},
        {"application/json", "application/jsonp", false},
        {"application/json", "text/html", true}, /* always */
        {"application/json", "text/plain", false},
        {"text/*", "text/plain", true},
        {"text/*", "TEXT/CSS ;a=b", true},
        {"text/*", "textual/plain", false},
        {"*", "image/png", true},
        {"*", "", false},
        {"text/*", "text", false},
        {"a/b c/d", "c/d", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        char yaml[256];
        snprintf(yaml, sizeof(yaml), "http: {charset_types: '%s', server: {listen: 8081}}\n",
                 rows[i].list);
        site_good(&s, yaml);
        bool in = media_types_has(HTTP(s.cy.http)->charset_for, str_z(rows[i].type));
        if (in != rows[i].in)
            fail_msg("%s in %s: %d", rows[i].type, rows[i].list, in);
        site_end(&s);
    }
}

static void types(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        {"text/plain", true}, {"application/vnd.a+b", true}, {"text/*", true}, {"text", false},
        {"/plain", false},    {"text/", false},              {"a b/c", false}, {"a/b/c", false},
        {"", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(media_types_is_type(str_z(rows[i].text)), rows[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(membership),
        cmocka_unit_test(types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
