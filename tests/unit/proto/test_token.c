/* SPDX-License-Identifier: BSD-2-Clause */
/* Methods, fields, reasons and comma-separated lists. */
#include "proto/token.h"

#include "rows.h"

static void tokens(void **state)
{
    (void)state;
    assert_true(token_is_token(STR("Transfer_Encoding"))); /* B6 */
    assert_true(token_is_token(STR("a.b!#$%&'*+-^`|~")));
    assert_false(token_is_token(STR("")));
    assert_false(token_is_token(STR("a b")));
    assert_false(token_is_token(STR("a\0b")));
    assert_false(token_is_token(STR("\x80")));
}

static void methods(void **state)
{
    (void)state;
    for (unsigned m = METHOD_OTHER + 1; m < METHOD_COUNT; m++) {
        assert_int_equal(method_of(method_name((enum method)m)), m);
    }
    assert_int_equal(method_of(STR("get")), METHOD_OTHER); /* A8 */
    assert_int_equal(method_of(STR("GETT")), METHOD_OTHER);
    assert_int_equal(method_of(STR("GE")), METHOD_OTHER);
    assert_int_equal(method_of(STR("")), METHOD_OTHER);
    assert_int_equal(method_of(STR("PROPFIND")), METHOD_OTHER); /* A9 */
}

static void fields_by_name(void **state)
{
    (void)state;
    for (unsigned id = FIELD_OTHER + 1; id < FIELD_COUNT; id++) {
        struct str name = field_name((enum field_id)id);
        char buf[40];
        assert_in_range(name.n, 1, sizeof(buf) - 1);
        assert_int_equal(field_of(name), id);
        for (size_t i = 0; i < name.n; i++) {
            memcpy(buf, name.p, name.n);
            buf[i] = (char)(buf[i] >= 'a' ? buf[i] - 32 : buf[i]);
            assert_int_equal(field_of(str_make(buf, name.n)), id); /* B1 */
            buf[i] ^= 0x01;
            assert_int_equal(field_of(str_make(buf, name.n)), FIELD_OTHER);
            buf[i] = '\r'; /* has the bits of '-' but one */
            assert_int_equal(field_of(str_make(buf, name.n)), FIELD_OTHER);
        }
        assert_int_equal(field_of(str_head(name, name.n - 1)), FIELD_OTHER);
    }
    assert_int_equal(field_of(STR("")), FIELD_OTHER);
    assert_int_equal(field_of(STR("Transfer_Encoding")), FIELD_OTHER); /* M19 */
    assert_int_equal(field_of(STR("Content_Length")), FIELD_OTHER);    /* M19 */
    assert_int_equal(field_of(STR("Request-Range")), FIELD_OTHER);     /* hostile 2a */
    assert_int_equal(field_rule(FIELD_HOST), FIELD_RULE_SINGLE);
    assert_int_equal(field_rule(FIELD_IF_NONE_MATCH), FIELD_RULE_LIST); /* B18 */
    assert_int_equal(field_rule(FIELD_OTHER), FIELD_RULE_ANY);
}

static void reasons(void **state)
{
    (void)state;
    ROW_STR("200", status_reason(200), STR("OK"));
    ROW_STR("413", status_reason(413), STR("Content Too Large"));
    ROW_STR("416", status_reason(416), STR("Range Not Satisfiable"));
    ROW_STR("431", status_reason(431), STR("Request Header Fields Too Large"));
    ROW_STR("505", status_reason(505), STR("HTTP Version Not Supported"));
    ROW_STR("599", status_reason(599), STR(""));
    ROW_STR("0", status_reason(0), STR(""));
}

static void lists(void **state)
{
    static const struct {
        const char *name;
        struct str list;
        const char *members[5];
    } rows[] = {
        {"empty", STR_INIT(""), {0}},
        {"commas only", STR_INIT(",, ,\t,"), {0}},
        {"one", STR_INIT("close"), {"close"}},
        {"K3 leading comma", STR_INIT(",close"), {"close"}},
        {"K3 empty member", STR_INIT("close,,TE"), {"close", "TE"}},
        {"K3 blanks", STR_INIT(" Close ,\tfoo "), {"Close", "foo"}},
        {"2a lighttpd", STR_INIT("TE,,Keep-Alive"), {"TE", "Keep-Alive"}},
        {"quoted comma", STR_INIT("a=\"x,y\", b"), {"a=\"x,y\"", "b"}},
        {"quoted pair", STR_INIT("a=\"x\\\",y\",b"), {"a=\"x\\\",y\"", "b"}},
        {"open quote", STR_INIT("a,\"b,c"), {"a", "\"b,c"}},
        {"open escape", STR_INIT("\"a\\"), {"\"a\\"}},
        {"inner blank", STR_INIT("a b , c"), {"a b", "c"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str list = copy_exact(rows[i].list), rest = list, member;
        size_t n = 0;
        while (token_list_next(&rest, &member)) {
            ROW(rows[i].name, rows[i].members[n] != NULL);
            ROW_STR(rows[i].name, member, str_z(rows[i].members[n]));
            n++;
        }
        ROW(rows[i].name, rows[i].members[n] == NULL);
        ROW(rows[i].name, rest.n == 0);
        free_exact(list);
    }
    assert_true(token_list_has(STR("foo, CLOSE"), STR("close")));
    assert_false(token_list_has(STR("closed, disclose"), STR("close"))); /* K3 */
    assert_false(token_list_has(STR_NONE, STR("close")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(methods),
        cmocka_unit_test(fields_by_name),
        cmocka_unit_test(reasons),
        cmocka_unit_test(lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
