/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of addresses from their end, and what is an address in them. */
#include "../http/unit.h"

#include "../../../modules/realip/forwarded.c"

static void from_the_end(void **state)
{
    static const struct {
        const char *list, *want;
    } rows[] = {
        {"", ""},
        {",", ""},
        {" , ,\t", ""},
        {"a", "a;"},
        {"a,b", "b;a;"},
        {"a, b,c", "c;b;a;"},
        {" a b ", "b;a;"},
        {",a,,b,", "b;a;"},
        {"unknown, 192.0.2.1:80, [::1]", "[::1];192.0.2.1:80;unknown;"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str list = str_z(rows[i].list), one;
        char text[128];
        struct wbuf w = wbuf_make(text, sizeof(text) - 1);
        while (forwarded_last(&list, &one)) {
            wbuf_str(&w, one);
            wbuf_char(&w, ';');
        }
        *w.at = '\0';
        assert_string_equal(text, rows[i].want);
    }
    struct str none = STR_NONE, one;
    assert_false(forwarded_last(&none, &one));
}

static void addresses(void **state)
{
    static const struct {
        const char *text, *want; /* as addr_format writes it; NULL: refused */
    } rows[] = {
        {"192.0.2.1", "192.0.2.1:0"},
        {"192.0.2.1:80", "192.0.2.1:80"},
        {"192.0.2.1:65535", "192.0.2.1:65535"},
        {"192.0.2.1:65536", NULL},
        {"192.0.2.1:0", NULL},
        {"192.0.2.1:", NULL},
        {"192.0.2.1:+1", NULL},
        {"192.0.2.1:080", "192.0.2.1:80"},
        {"192.0.2.1:000080", NULL},
        {"192.0.2", NULL},
        {"192.0.2.256", NULL},
        {"192.0.2.01", NULL},
        {"2001:db8::1", "[2001:db8::1]:0"},
        {"2001:DB8::1", "[2001:db8::1]:0"},
        {"[2001:db8::1]", "[2001:db8::1]:0"},
        {"[2001:db8::1]:80", "[2001:db8::1]:80"},
        {"[2001:db8::1]:", NULL},
        {"[2001:db8::1]80", NULL},
        {"[2001:db8::1", NULL},
        {"2001:db8::1]", NULL},
        {"[192.0.2.1]", NULL},
        {"[192.0.2.1]:80", NULL},
        {"::1", "[::1]:0"},
        {"::", "[::]:0"},
        {":80", NULL},
        {":", NULL},
        {"::ffff:192.0.2.1", "192.0.2.1:0"},
        {"[::ffff:192.0.2.1]:80", "192.0.2.1:80"},
        {"fe80::1%lo", NULL},
        {"fe80::1%1", NULL},
        {"[fe80::1%1]:80", NULL},
        {"unknown", NULL},
        {"_hidden", NULL},
        {"localhost", NULL},
        {"unix:/x", NULL},
        {"unix:", NULL},
        {"", NULL},
        {"[]", NULL},
        {"[", NULL},
        {"]", NULL},
        {"[]:80", NULL},
        {"\"[2001:db8::1]\"", NULL},
        {"192.0.2.1\xff", NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct addr a, before;
        char text[ADDR_TEXT_MAX];
        memset(&a, 0x5a, sizeof(a));
        before = a;
        bool good = forwarded_addr(&a, str_z(rows[i].text));
        if (good != (rows[i].want != NULL))
            fail_msg("%s: %s", rows[i].text, good ? "taken" : "refused");
        if (!good) {
            assert_memory_equal(&a, &before, sizeof(a));
            continue;
        }
        addr_format(&a, text);
        assert_string_equal(text, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_end),
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests_name("modules/realip/forwarded", tests, NULL, NULL);
}
