/* SPDX-License-Identifier: BSD-2-Clause */
/* Entity tags (behaviours.md H1-H5, H10, I15, I16; hostile.md 61). */
#include "proto/etag.h"

#include "rows.h"

static const struct etag own = {STR_INIT("x"), false};
static const struct etag own_weak = {STR_INIT("x"), true};

static const struct etag_row {
    const char *name;
    struct str list;
    bool weak, strong; /* matches "x" by weak and by strong comparison */
} rows[] = {
    {"H1", STR_INIT("\"x\""), true, true},
    {"H1 other", STR_INIT("\"y\""), false, false},
    {"H1 prefix", STR_INIT("\"xx\""), false, false},
    {"H1 case", STR_INIT("\"X\""), false, false},
    {"H2 weak", STR_INIT("W/\"x\""), true, false},
    {"H2 lower w", STR_INIT("w/\"x\""), false, false},
    {"H2 blank", STR_INIT("W/ \"x\""), false, false},
    {"H3 list", STR_INIT("\"a\", W/\"b\",\"x\""), true, true},
    {"H3 blanks and empty members", STR_INIT(", ,\t\"a\" ,, W/\"x\"\t,"), true, false},
    {"H3 comma in tag", STR_INIT("\"a,\"x\""), false, false},
    {"H3 comma in tag 2", STR_INIT("\"a,b\", \"x\""), true, true},
    {"H4 star", STR_INIT("*"), true, true},
    {"H4 star, blanks", STR_INIT(" * "), true, true},
    {"H4 quoted star", STR_INIT("\"*\""), false, false},
    {"H4 star and more", STR_INIT("*, \"x\""), false, false},
    {"H4 star behind", STR_INIT("\"a\", *"), false, false},
    {"H5 unquoted", STR_INIT("x"), false, false},
    {"H5 h61 unterminated", STR_INIT("\"x"), false, false},
    {"H5 quote", STR_INIT("\""), false, false},
    {"H5 weak nothing", STR_INIT("W/"), false, false},
    {"H5 quote behind", STR_INIT("x\""), false, false},
    {"H5 good before bad", STR_INIT("\"x\", y"), true, true},
    {"H5 bad before good", STR_INIT("y, \"x\""), false, false},
    {"H5 text behind", STR_INIT("\"x\"y"), false, false},
    {"H5 no comma", STR_INIT("\"x\"\"a\""), false, false},
    {"empty", STR_INIT(""), false, false},
    {"commas", STR_INIT(",,,"), false, false},
    {"empty tag", STR_INIT("\"\""), false, false},
};

static void etag_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str list = copy_exact(rows[i].list);
        bool is_star = str_eq(str_trim(list), STR("*"));
        ROW(rows[i].name, etag_list_matches(list, own, false, true) == rows[i].weak);
        ROW(rows[i].name, etag_list_matches(list, own, true, true) == rows[i].strong);
        ROW(rows[i].name, etag_list_matches(list, own_weak, false, true) == rows[i].weak);
        ROW(rows[i].name, etag_list_matches(list, own_weak, true, true) == is_star);
        ROW(rows[i].name, etag_list_matches(list, own, false, false) == (rows[i].weak && !is_star));
        free_exact(list);
    }
}

static void etag_members(void **state)
{
    struct str rest = STR(" W/\"a b\" , \"\",z");
    struct etag t;

    (void)state;
    assert_int_equal(etag_next(&rest, &t), ETAG_TAG);
    ROW_STR("weak", t.opaque, STR("a b"));
    assert_true(t.weak);
    assert_int_equal(etag_next(&rest, &t), ETAG_TAG);
    assert_int_equal(t.opaque.n, 0);
    assert_false(t.weak);
    assert_int_equal(etag_next(&rest, &t), ETAG_BAD);
    assert_int_equal(etag_next(&rest, &t), ETAG_END);
    assert_true(etag_equal_weak(own, own_weak));
    assert_false(etag_equal_strong(own, own_weak));
    assert_false(etag_equal_strong(own_weak, own_weak)); /* I16 */
    assert_true(etag_equal_strong(own, own));            /* I15 */
}

/* h61: ten thousand tags. */
static void etag_many(void **state)
{
    static char list[10000 * 6 + 3];

    (void)state;
    for (size_t i = 0; i < 10000; i++) {
        memcpy(list + i * 6, "\"abc\",", 6);
    }
    memcpy(list + 60000, "\"x\"", 3);
    assert_true(etag_list_matches(str_make(list, sizeof(list)), own, true, true));
    assert_false(etag_list_matches(str_make(list, 60000), own, true, true));
}

static void etag_written(void **state)
{
    char to[ETAG_MAX];

    (void)state;
    size_t n = etag_write(to, 0x66f0a1b2, 0x1dcd6500, 0x1f4, STR_NONE, false);
    ROW_STR("strong", str_make(to, n), STR("\"66f0a1b2-1dcd6500-1f4\""));
    n = etag_write(to, 1, 0, 0, STR("-gz"), true);
    ROW_STR("weak", str_make(to, n), STR("W/\"1-0-0-gz\""));
    n = etag_write(to, -1, UINT32_MAX, UINT64_MAX, STR("0123456789012345678901234567890"), true);
    ROW_STR("longest", str_make(to, n),
            STR("W/\"ffffffffffffffff-ffffffff-ffffffffffffffff012345678901234567\""));
    assert_int_equal(n, ETAG_MAX);

    struct str list = str_make(to, n);
    struct etag t;
    assert_int_equal(etag_next(&list, &t), ETAG_TAG);
    assert_true(t.weak);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(etag_table),
        cmocka_unit_test(etag_members),
        cmocka_unit_test(etag_many),
        cmocka_unit_test(etag_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
