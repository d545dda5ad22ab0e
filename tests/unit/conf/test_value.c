/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/value.c: every kind of value, its grammar and its limits (hostile.md 126). */
#include "conf/value.h"

#include "core/check.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>

#define BAD INT64_MIN

struct number_case {
    const char *text;
    int64_t want; /* BAD: refused */
};

typedef bool number_f(struct str s, int64_t *out, const char **why);

static void check_numbers(number_f *read, const struct number_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t v = 4711;
        const char *why = NULL;
        bool ok = read(str_z(cases[i].text), &v, &why);
        if (ok != (cases[i].want != BAD) || (ok && v != cases[i].want))
            fail_msg("\"%s\": ok %d, value %lld", cases[i].text, ok, (long long)v);
        if (!ok && (why == NULL || v != 4711))
            fail_msg("\"%s\": no reason, or the value was touched", cases[i].text);
        assert_int_equal(read(str_z(cases[i].text), &v, NULL), ok);
    }
}

static void ints(void **state)
{
    (void)state;
    static const struct number_case cases[] = {
        {"0", 0}, {"1", 1}, {"42", 42}, {"2147483648", INT64_C(2147483648)},
        {"4294967296", INT64_C(4294967296)},
        {"9223372036854775806", INT64_MAX - 1},
        {"9223372036854775807", BAD}, /* would be the word unlimited */
        {"9223372036854775808", BAD}, {"18446744073709551615", BAD},
        {"18446744073709551616", BAD}, {"18446744073709551617", BAD},
        {"99999999999999999999999999999999", BAD},
        {"", BAD}, {"-1", BAD}, {"+1", BAD}, {" 1", BAD}, {"1 ", BAD}, {"0x10", BAD},
        {"0o17", BAD}, {"017", BAD}, {"00", BAD}, {"1_000", BAD}, {"1e3", BAD}, {"1.0", BAD},
        {".inf", BAD}, {"60:30", BAD}, {"1k", BAD}, {"unlimited", BAD}, {"auto", BAD},
    };
    check_numbers(value_int, cases, ARRAY_LEN(cases));
}

static void sizes(void **state)
{
    (void)state;
    static const struct number_case cases[] = {
        {"0", 0}, {"1", 1}, {"8k", 8192}, {"8K", 8192}, {"1m", 1048576}, {"1M", 1048576},
        {"2g", INT64_C(2147483648)}, {"2G", INT64_C(2147483648)},
        {"8589934591g", INT64_C(8589934591) << 30},
        {"8589934592g", BAD}, {"9007199254740992k", BAD}, {"18014398509481984k", BAD},
        {"17179869184g", BAD}, {"10kk", BAD}, {"10 MB", BAD}, {"10mb", BAD}, {"10t", BAD},
        {"10b", BAD}, {"k", BAD}, {"", BAD}, {"-1k", BAD}, {"1.5m", BAD}, {"010k", BAD},
        {"0x1k", BAD}, {"1_0k", BAD}, {"10k ", BAD},
    };
    check_numbers(value_size, cases, ARRAY_LEN(cases));
}

static void times(void **state)
{
    (void)state;
    static const int64_t h = 3600 * 1000, d = 24 * h;
    const struct number_case cases[] = {
        {"0", 0}, {"1", 1000}, {"30", 30000}, {"30s", 30000}, {"500ms", 500}, {"1m", 60000},
        {"1h30m", h + h / 2}, {"1h 30m", h + h / 2}, {"1h30", h + 30000}, {"1h05m", h + 300000},
        {"1d", d}, {"1w", 7 * d}, {"1M", 30 * d}, {"1y", 365 * d}, {"1y1M1w1d1h1m1s1ms",
        365 * d + 30 * d + 7 * d + d + h + 60000 + 1000 + 1}, {"1s500ms", 1500},
        {"0s", 0}, {"292471208y", INT64_C(292471208) * 365 * d},
        {"292471209y", BAD}, {"9223372036854776s", BAD}, {"9223372036854775807", BAD},
        {"30m1h", BAD}, {"1s1s", BAD}, {"1 s", BAD}, {"1h30m ", BAD}, {" 1h", BAD}, {"1s30", BAD},
        {"5ms3", BAD}, {"1H", BAD}, {"1S", BAD}, {"1min", BAD}, {"s", BAD}, {"", BAD},
        {"-1s", BAD}, {"+5", BAD}, {"1.5h", BAD}, {"60:30", BAD}, {"010s", BAD}, {"1e3", BAD},
        {"unlimited", BAD}, {"1\xc3\xbc", BAD},
    };
    check_numbers(value_time, cases, ARRAY_LEN(cases));
}

static void switches(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int want;
    } cases[] = {
        {"on", 1}, {"off", 0}, {"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0}, {"ON", 1},
        {"Off", 0}, {"", -1}, {"1", -1}, {"0", -1}, {"y", -1}, {"n", -1}, {"onn", -1},
        {"on ", -1}, {"enabled", -1}, {"null", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool v = false;
        const char *why = NULL;
        bool ok = value_switch(str_z(cases[i].text), &v, &why);
        if (ok != (cases[i].want >= 0) || (ok && v != cases[i].want))
            fail_msg("\"%s\"", cases[i].text);
        if (!ok)
            assert_string_equal(why, "on or off");
    }
}

static void enums(void **state)
{
    (void)state;
    static const char *const choices[] = {"off", "exact", "before", NULL};
    int v = -1;
    assert_true(value_enum(STR("before"), choices, &v, NULL));
    assert_int_equal(v, 2);
    assert_true(value_enum(STR("OFF"), choices, &v, NULL));
    assert_int_equal(v, 0);
    const char *why = NULL;
    v = 77;
    assert_false(value_enum(STR("befor"), choices, &v, &why));
    assert_false(value_enum(STR(""), choices, &v, &why));
    assert_non_null(why);
    assert_int_equal(v, 77);
}

static void addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        int v6, port, end; /* port -1: refused, -2: unix, host is the path */
    } cases[] = {
        {"80", "", 0, 80, 80}, {"1", "", 0, 1, 1}, {"65535", "", 0, 65535, 65535},
        {"8000-8010", "", 0, 8000, 8010}, {"*:80", "*", 0, 80, 80}, {"*", "*", 0, 0, 0},
        {"127.0.0.1", "127.0.0.1", 0, 0, 0}, {"127.0.0.1:8080", "127.0.0.1", 0, 8080, 8080},
        {"localhost:80", "localhost", 0, 80, 80}, {"a-b.example", "a-b.example", 0, 0, 0},
        {"[::]:80", "::", 1, 80, 80}, {"[::1]", "::1", 1, 0, 0},
        {"[fe80::1%eth0]:443", "fe80::1%eth0", 1, 443, 443},
        {"[::ffff:127.0.0.1]:1-2", "::ffff:127.0.0.1", 1, 1, 2},
        {"unix:/run/s.sock", "/run/s.sock", 0, -2, 0}, {"unix:/a b", "/a b", 0, -2, 0},
        {"", "", 0, -1, 0}, {"0", "", 0, -1, 0}, {"65536", "", 0, -1, 0}, {"-80", "", 0, -1, 0},
        {"080", "", 0, -1, 0}, {"4294967376", "", 0, -1, 0}, {"80-", "", 0, -1, 0},
        {"90-80", "", 0, -1, 0}, {"80-81-82", "", 0, -1, 0}, {"::1", "", 0, -1, 0},
        {"::1:80", "", 0, -1, 0}, {"[::1", "", 0, -1, 0}, {"[::1]80", "", 0, -1, 0},
        {"[::1]:", "", 0, -1, 0}, {"[]:80", "", 0, -1, 0}, {"[1.2.3.4]:80", "", 0, -1, 0},
        {"[::x]:80", "", 0, -1, 0}, {":80", "", 0, -1, 0}, {"a:", "", 0, -1, 0},
        {"a:b", "", 0, -1, 0}, {"a b:80", "", 0, -1, 0}, {"a/b", "", 0, -1, 0},
        {"unix:", "", 0, -1, 0}, {"unix:rel", "", 0, -1, 0}, {"unix:/", "", 0, -1, 0},
        {"http://a", "", 0, -1, 0}, {"80 ", "", 0, -1, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value_address a = {.port = 7};
        const char *why = NULL;
        bool ok = value_address(str_z(cases[i].text), &a, &why);
        if (ok != (cases[i].port != -1))
            fail_msg("\"%s\": ok %d (%s)", cases[i].text, ok, why);
        if (!ok) {
            assert_non_null(why);
            assert_int_equal(a.port, 7);
        } else if (cases[i].port == -2) {
            assert_int_equal(a.kind, VALUE_ADDRESS_UNIX);
            assert_true(str_eq(a.path, str_z(cases[i].host)));
        } else if (a.kind != VALUE_ADDRESS_IP || !str_eq(a.host, str_z(cases[i].host)) ||
                   a.v6 != cases[i].v6 || a.port != cases[i].port || a.port_end != cases[i].end) {
            fail_msg("\"%s\": host " STR_FMT " port %u-%u", cases[i].text, STR_ARG(a.host),
                     a.port, a.port_end);
        }
    }
}

static void options(void **state)
{
    (void)state;
    struct str v = STR_NONE;
    assert_true(value_option(STR("buffer=64k"), STR("buffer"), &v));
    assert_true(str_eq(v, STR("64k")));
    assert_true(value_option(STR("if="), STR("if"), &v));
    assert_int_equal(v.n, 0);
    assert_false(value_option(STR("buffer"), STR("buffer"), &v));
    assert_false(value_option(STR("buffers=1"), STR("buffer"), &v));
    assert_false(value_option(STR("buf=1"), STR("buffer"), &v));
    assert_false(value_option(STR(""), STR("buffer"), &v));
}

#define WORDS 5

static void split(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *words[WORDS]; /* words[0] NULL and at >= 0: refused at that offset */
        int at;
        unsigned offset[WORDS];
    } cases[] = {
        {"", {NULL}, -1, {0}},
        {" \t\r\n ", {NULL}, -1, {0}},
        {"a", {"a"}, -1, {0}},
        {"a b\tc\nd", {"a", "b", "c", "d"}, -1, {0, 2, 4, 6}},
        {"  404   /404.html ", {"404", "/404.html"}, -1, {2, 8}},
        {"X \"a b\" always", {"X", "a b", "always"}, -1, {0, 2, 8}},
        {"'a \"b\" c' d", {"a \"b\" c", "d"}, -1, {0, 10}},
        {"\"\" ''", {"", ""}, -1, {0, 3}},
        {"a\"b c'd", {"a\"b", "c'd"}, -1, {0, 4}}, /* quotes inside a word are plain */
        {"~ \\.js$", {"~", "\\.js$"}, -1, {0, 2}}, /* an unknown escape stays whole */
        {"\\\\.js \\\"q\\\" \\t", {"\\.js", "\"q\"", "\t"}, -1, {0, 6, 12}},
        {"a\\ b c", {"a\\ b", "c"}, -1, {0, 5}},
        {"\"a\\\"b\" \"a\\nb\" 'it\\'s'", {"a\"b", "a\nb", "it's"}, -1, {0, 7, 14}},
        {"k=\"v w\"", {"k=\"v", "w\""}, -1, {0, 5}},
        {"a;b {c} #d", {"a;b", "{c}", "#d"}, -1, {0, 4, 8}},
        {"a \"b", {NULL}, 2, {0}},
        {"'", {NULL}, 0, {0}},
        {"\"a\"b", {NULL}, 3, {0}},
        {"a b\\", {NULL}, 3, {0}},
        {"\"a\\", {NULL}, 2, {0}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a, NULL, 0, 4096, 0);
        struct value_words w = {0};
        size_t at = 99;
        const char *why = NULL;
        bool ok = value_split(&a, str_z(cases[i].text), &w, &at, &why);
        if (ok != (cases[i].at < 0) || (!ok && (at != (size_t)cases[i].at || why == NULL)))
            fail_msg("\"%s\": ok %d at %zu", cases[i].text, ok, at);
        for (size_t k = 0; k < w.n; k++) {
            if (cases[i].words[k] == NULL || !str_eq(w.v[k], str_z(cases[i].words[k])) ||
                w.v[k].p[w.v[k].n] != '\0' || w.offset[k] != cases[i].offset[k])
                fail_msg("\"%s\": word %zu is \"" STR_FMT "\" at %u", cases[i].text, k,
                         STR_ARG(w.v[k]), w.offset[k]);
        }
        assert_true(!ok || cases[i].words[w.n] == NULL);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ints),      cmocka_unit_test(sizes),   cmocka_unit_test(times),
        cmocka_unit_test(switches),  cmocka_unit_test(enums),   cmocka_unit_test(addresses),
        cmocka_unit_test(options),   cmocka_unit_test(split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
