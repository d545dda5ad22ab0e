/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/node.c: looking up keys. */
#include "conf/node.h"

#include "core/check.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void get(void **state)
{
    (void)state;
    struct node a = {.kind = NODE_SCALAR}, b = {.kind = NODE_LIST};
    struct node_entry entries[] = {
        {.key = STR("a"), .value = &a},
        {.key = STR("ab"), .value = &b},
    };
    struct node map = {.kind = NODE_MAP, .entries = entries, .count = ARRAY_LEN(entries)};
    assert_ptr_equal(node_get(&map, STR("a")), &a);
    assert_ptr_equal(node_get(&map, STR("ab")), &b);
    assert_null(node_get(&map, STR("abc")));
    assert_null(node_get(&map, STR("")));
    assert_null(node_get(&a, STR("a")));
    assert_null(node_get(NULL, STR("a")));
}

static void kinds(void **state)
{
    (void)state;
    assert_string_equal(node_kind_text(NODE_NULL), "nothing");
    assert_string_equal(node_kind_text(NODE_SCALAR), "a single value");
    assert_string_equal(node_kind_text(NODE_LIST), "a list");
    assert_string_equal(node_kind_text(NODE_MAP), "a map");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(get),
        cmocka_unit_test(kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
