/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks: what is one, what lies in it, and that IPv4 stays IPv4 however it is written. */
#include "os/cidr.h"

#include "core/check.h"

#include "unit/os/unit.h"

static struct addr address(const char *text)
{
    struct addr a;
    memset(&a, 0, sizeof(a));
    if (strncmp(text, "unix:", 5) == 0)
        assert_true(addr_from_path(&a, STR("/run/x")));
    else
        assert_true(addr_from_ip(&a, str_z(text), 4711));
    return a;
}

static void parse(void **state)
{
    static const struct {
        const char *text;
        bool good, host_bits;
    } rows[] = {
        {"192.0.2.1", true, false},      {"192.0.2.0/24", true, false},
        {"192.0.2.1/24", true, true},    {"192.0.2.1/32", true, false},
        {"0.0.0.0/0", true, false},      {"127.0.0.1/8", true, true},
        {"192.0.2.0/33", false, false},  {"192.0.2.0/", false, false},
        {"192.0.2.0/-1", false, false},  {"192.0.2.0/+8", false, false},
        {"192.0.2.0/024", true, false},  {"192.0.2.0/0024", false, false},
        {"192.0.2/24", false, false},    {"192.0.2.0/255.255.255.0", false, false},
        {"192.0.2.256", false, false},   {"192.0.2.1/24/8", false, false},
        {"2001:db8::/32", true, false},  {"2001:db8::1/32", true, true},
        {"2001:db8::1/64", true, true},  {"2001:db8::1/65", true, true},
        {"2001:db8::1/128", true, false},
        {"::/0", true, false},           {"::1", true, false},
        {"::1/129", false, false},       {"[::1]", false, false},
        {"[::1]/128", false, false},     {"fe80::1%1", false, false},
        {"::ffff:192.0.2.0/120", true, false},
        {"::ffff:192.0.2.1/120", true, true},
        {"::ffff:192.0.2.1/96", true, true},
        {"::ffff:0:0/90", true, true},
        {"all", true, false},            {"unix:", true, false},
        {"unix:/run/x", false, false},   {"ALL", false, false},
        {"", false, false},              {"/8", false, false},
        {"localhost", false, false},     {" 192.0.2.1", false, false},
        {"192.0.2.1:80", false, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cidr c;
        bool host_bits = true;
        if (cidr_parse(&c, str_z(rows[i].text), &host_bits) != rows[i].good)
            fail_msg("%s: %s", rows[i].text, rows[i].good ? "refused" : "taken");
        if (rows[i].good && host_bits != rows[i].host_bits)
            fail_msg("%s: host bits %d", rows[i].text, host_bits);
        assert_int_equal(cidr_parse(&c, str_z(rows[i].text), NULL), rows[i].good);
    }
}

static void match(void **state)
{
    static const struct {
        const char *net, *addr;
        bool in;
    } rows[] = {
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"192.0.2.0/24", "192.0.2.255", true},
        {"192.0.2.0/24", "192.0.3.0", false},
        {"192.0.2.77/24", "192.0.2.1", true},
        {"192.0.2.0/31", "192.0.2.1", true},
        {"192.0.2.0/31", "192.0.2.2", false},
        {"128.0.0.0/1", "255.255.255.255", true},
        {"128.0.0.0/1", "127.255.255.255", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "::1", false},
        {"::/0", "203.0.113.9", false},
        {"::/0", "2001:db8::1", true},
        {"0.0.0.0/0", "unix:", false},
        {"::/0", "unix:", false},
        {"2001:db8::/32", "2001:db8:ffff::1", true},
        {"2001:db8::/32", "2001:db9::1", false},
        {"2001:db8:0:1::/64", "2001:db8:0:1:ffff::", true},
        {"2001:db8:0:1::/64", "2001:db8:0:2::", false},
        {"2001:db8::8000:0:0:0/65", "2001:db8::ffff:0:0:1", true},
        {"2001:db8::8000:0:0:0/65", "2001:db8::7fff:0:0:1", false},
        {"2001:db8::1", "2001:db8::1", true},
        {"2001:db8::1", "2001:db8::2", false},
        {"192.0.2.0/24", "::ffff:192.0.2.7", true},
        {"::ffff:192.0.2.0/120", "192.0.2.7", true},
        {"::ffff:192.0.2.0/120", "::ffff:192.0.2.7", true},
        {"::ffff:192.0.2.0/120", "192.0.3.7", false},
        {"::ffff:0:0/96", "203.0.113.9", true},
        {"::ffff:0:0/96", "2001:db8::1", false},
        {"::ffff:0:0/80", "203.0.113.9", false},
        {"::ffff:0:0/80", "::1", true},
        {"unix:", "unix:", true},
        {"unix:", "127.0.0.1", false},
        {"all", "unix:", true},
        {"all", "127.0.0.1", true},
        {"all", "::1", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cidr c;
        struct addr a = address(rows[i].addr);
        assert_true(cidr_parse(&c, str_z(rows[i].net), NULL));
        if ((cidr_find(&c, 1, &a) == 0) != rows[i].in)
            fail_msg("%s in %s", rows[i].addr, rows[i].net);
    }
}

/* Every prefix length against the plain definition: the first n bits are the same. */
static void every_prefix(void **state)
{
    static const char *const addrs[] = {"85.170.85.170", "5555:aaaa:5555:aaaa:5555:aaaa:5555:aaaa"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        unsigned most = i == 0 ? 32 : 128;
        for (unsigned bits = 0; bits <= most; bits++) {
            char text[64];
            struct cidr c;
            snprintf(text, sizeof(text), "%s/%u", addrs[i], bits);
            assert_true(cidr_parse(&c, str_z(text), NULL));
            for (unsigned flip = 0; flip < most; flip++) {
                struct addr a = address(addrs[i]);
                unsigned char *p = i == 0 ? (unsigned char *)&a.in.sin_addr
                                          : (unsigned char *)&a.in6.sin6_addr;
                p[flip / 8] ^= (unsigned char)(0x80 >> flip % 8);
                if ((cidr_find(&c, 1, &a) == 0) != (flip >= bits))
                    fail_msg("%s: bit %u", text, flip);
            }
        }
    }
}

static void first_of_several(void **state)
{
    static const char *const nets[] = {"10.0.0.0/8", "2001:db8::/32", "10.1.0.0/16", "unix:",
                                       "all"};
    static const struct {
        const char *addr;
        size_t n;
        ssize_t found;
    } rows[] = {
        {"10.1.2.3", 5, 0}, {"2001:db8::1", 5, 1}, {"unix:", 5, 3}, {"192.0.2.1", 5, 4},
        {"192.0.2.1", 4, -1}, {"10.1.2.3", 0, -1},
    };
    struct cidr v[5];
    (void)state;
    for (size_t i = 0; i < 5; i++)
        assert_true(cidr_parse(&v[i], str_z(nets[i]), NULL));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct addr a = address(rows[i].addr);
        assert_int_equal(cidr_find(v, rows[i].n, &a), rows[i].found);
    }
    struct addr nobody;
    memset(&nobody, 0, sizeof(nobody));
    assert_int_equal(cidr_find(v, 4, &nobody), -1);
}

static void of_address(void **state)
{
    static const char *const addrs[] = {"192.0.2.1", "2001:db8::1", "unix:", "::ffff:192.0.2.1"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(addrs); i++) {
        struct cidr c;
        struct addr a = address(addrs[i]), other = address("192.0.2.2");
        cidr_of_addr(&c, &a);
        addr_set_port(&a, 1);
        assert_int_equal(cidr_find(&c, 1, &a), 0);
        assert_int_equal(cidr_find(&c, 1, &other), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse),
        cmocka_unit_test(match),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(first_of_several),
        cmocka_unit_test(of_address),
    };
    return cmocka_run_group_tests_name("os/cidr", tests, NULL, NULL);
}
