/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/rows.c: finding rows by name and scope, and what is said of other names. */
#include "conf/rows.h"

#include "load.h"

static struct arena arena;
static struct diag diag;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0, 4096, 0);
    diag_init(&diag, &arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

static void find(void **state)
{
    (void)state;
    struct rows rows;
    assert_int_equal(rows_init(&rows, &arena, &diag, test_sections), STATUS_OK);
    assert_int_equal(rows.section_count, 4);
    assert_int_equal(main_slot, 0);
    assert_int_equal(http_slot, 3);
    struct row *r = rows_find(&rows, STR("listen"), SCOPE_SERVER);
    assert_non_null(r);
    assert_string_equal(r->d->name, "listen");
    assert_ptr_equal(&test_sections[r->section]->directives[r->index], r->d);
    assert_null(rows_find(&rows, STR("listen"), SCOPE_LOCATION));
    assert_null(rows_find(&rows, STR("liste"), SCOPE_SERVER));
    assert_null(rows_find(&rows, STR("Listen"), SCOPE_SERVER));
    assert_non_null(rows_find(&rows, STR("error_log"), SCOPE_MAIN));
    assert_non_null(rows_find(&rows, STR("error_log"), SCOPE_LOCATION));
    assert_null(rows_find(&rows, STR("error_log"), SCOPE_EVENTS));
}

static unsigned slot_a, slot_b;

/* One name in two sections is fine as long as no block could mean both. */
static void same_name(void **state)
{
    (void)state;
    static const struct directive a_rows[] = {
        {"level", CTYPE_INT, .scopes = SCOPE_MAIN, .offset = 0}, {0}};
    static const struct directive b_rows[] = {
        {"level", CTYPE_INT, .scopes = SCOPE_HTTP, .offset = 0}, {0}};
    static const struct section a = {"a", a_rows, 8, &slot_a}, b = {"b", b_rows, 8, &slot_b};
    const struct section *const both[] = {&a, &b, NULL};
    const struct section *const twice[] = {&a, &b, &a, NULL};
    struct rows rows;
    assert_int_equal(rows_init(&rows, &arena, &diag, both), STATUS_OK);
    assert_int_equal(rows_find(&rows, STR("level"), SCOPE_MAIN)->section, 0);
    assert_int_equal(rows_find(&rows, STR("level"), SCOPE_HTTP)->section, 1);
    assert_null(rows_find(&rows, STR("level"), SCOPE_EVENTS));
    assert_int_equal(rows_init(&rows, &arena, &diag, twice), STATUS_INVALID);
    assert_true(str_eq(diag.entries[0].message,
                       STR("the directive level is defined by a and by a")));
    assert_true(rows_section_in(&b, SCOPE_HTTP));
    assert_true(rows_section_in(&b, SCOPE_LOCATION)); /* handed down */
    assert_false(rows_section_in(&b, SCOPE_MAIN));
    assert_false(rows_section_in(&a, SCOPE_HTTP));
}

static void refuse(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum scope scope;
        const char *want;
    } cases[] = {
        {"listen", SCOPE_MAIN, "not allowed in main, expected in server"},
        {"root", SCOPE_EVENTS, "not allowed in events, expected in http, server, location"},
        {"proxy_pass", SCOPE_LOCATION, "\"proxy_pass\" is not built in"},
        {"stub_status", SCOPE_LOCATION, "\"stub_status\" is not built in"},
        {"allow", SCOPE_SERVER, "\"allow\" is not built in; write it as an item of access"},
        {"lisen", SCOPE_SERVER, "unknown directive, did you mean \"listen\"?"},
        {"lisen", SCOPE_MAIN, "unknown directive, did you mean \"listen\" (in server)?"},
        {"inlcude", SCOPE_EVENTS, "unknown directive, did you mean \"include\"?"},
        {"frobnicate", SCOPE_HTTP, "unknown directive, nothing in http is called so"},
    };
    struct rows rows;
    assert_int_equal(rows_init(&rows, &arena, &diag, test_sections), STATUS_OK);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct node_entry e = {.key = str_z(cases[i].name), .key_pos = {"f", 1, 1}};
        diag_init(&diag, &arena);
        rows_refuse(&rows, &arena, &diag, &e, STR("b"), cases[i].scope);
        assert_int_equal(diag.count, 1);
        if (!str_eq(diag.entries[0].message, str_z(cases[i].want)))
            fail_msg("%s: " STR_FMT, cases[i].name, STR_ARG(diag.entries[0].message));
    }
}

static void scopes(void **state)
{
    (void)state;
    assert_true(str_eq(scope_text(&arena, SCOPE_MAIN), STR("main")));
    assert_true(str_eq(scope_text(&arena, SCOPE_ANY_HTTP), STR("http, server, location")));
    assert_true(str_eq(scope_text(&arena, 31), STR("main, events, http, server, location")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(find), TEST(same_name), TEST(refuse), TEST(scopes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
