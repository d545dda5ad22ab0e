/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses from text, to text, compared. */
#include "os/addr.h"

#include "unit/os/unit.h"

static void parse_and_format(void **state)
{
    static const struct {
        const char *text;   /* what addr_parse reads */
        const char *full;   /* what addr_format writes; NULL: refused */
        const char *ip;     /* what addr_format_ip writes */
    } rows[] = {
        {"127.0.0.1:80", "127.0.0.1:80", "127.0.0.1"},
        {"255.255.255.255:65535", "255.255.255.255:65535", "255.255.255.255"},
        {"0.0.0.0:0", "0.0.0.0:0", "0.0.0.0"},
        {"[::1]:8080", "[::1]:8080", "::1"},
        {"[2001:DB8:0:0:0:0:0:1]:1", "[2001:db8::1]:1", "2001:db8::1"},
        {"[::]:443", "[::]:443", "::"},
        {"[::ffff:192.0.2.1]:443", "[::ffff:192.0.2.1]:443", "::ffff:192.0.2.1"},
        {"[fe80::1%7]:80", "[fe80::1%7]:80", "fe80::1%7"},
        {"unix:/run/x y.sock", "unix:/run/x y.sock", "unix:"},
        {"unix:", NULL, NULL},
        {"127.0.0.1", NULL, NULL},
        {"127.0.0.1:", NULL, NULL},
        {"127.0.0.1:65536", NULL, NULL},
        {"127.0.0.1:+1", NULL, NULL},
        {"127.0.0.1:1 ", NULL, NULL},
        {"127.0.0.01:1", NULL, NULL},
        {"127.1:1", NULL, NULL},
        {"::1:80", NULL, NULL},
        {"[::1]", NULL, NULL},
        {"[::1:80", NULL, NULL},
        {"[127.0.0.1]:80", NULL, NULL},
        {"[]:80", NULL, NULL},
        {":80", NULL, NULL},
        {"", NULL, NULL},
        {"[fe80::1%]:80", NULL, NULL},
        {"[fe80::1%nosuchdev0]:80", NULL, NULL},
        {"[fe80::1%0]:80", NULL, NULL},
        {"127.0.0.1%1:80", NULL, NULL},
        {"localhost:80", NULL, NULL},
        {"[1:2:3:4:5:6:7:8:9]:80", NULL, NULL},
    };
    char text[ADDR_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct addr a;
        bool ok = addr_parse(&a, str_z(rows[i].text));

        if (ok != (rows[i].full != NULL))
            fail_msg("%s: %s", rows[i].text, ok ? "taken" : "refused");
        if (!ok)
            continue;
        assert_int_equal(addr_format(&a, text), strlen(rows[i].full));
        assert_string_equal(text, rows[i].full);
        assert_int_equal(addr_format_ip(&a, text), strlen(rows[i].ip));
        assert_string_equal(text, rows[i].ip);
    }
}

static void zone_by_name(void **state)
{
    struct addr a;

    (void)state;
    assert_true(addr_from_ip(&a, STR("fe80::1%lo"), 1));
    assert_true(a.in6.sin6_scope_id != 0);
}

static void longest_texts_fit(void **state)
{
    char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1], text[ADDR_TEXT_MAX];
    struct addr a;

    (void)state;
    memset(path, 'p', sizeof(path));
    assert_false(addr_from_path(&a, str_make(path, sizeof(path))));
    assert_false(addr_from_path(&a, str_make(path, sizeof(path) - 1)));
    assert_true(addr_from_path(&a, str_make(path, sizeof(path) - 2)));
    assert_int_equal(addr_format(&a, text), 5 + 107);
    assert_false(addr_from_path(&a, STR("a\0b")));
    assert_false(addr_from_path(&a, STR("")));
    assert_true(addr_from_ip(&a, STR("1111:2222:3333:4444:5555:6666:7777:8888%4294967295"), 65535));
    assert_int_equal(addr_format(&a, text),
                     strlen("[1111:2222:3333:4444:5555:6666:7777:8888%4294967295]:65535"));
}

static void order_and_hash(void **state)
{
    static const char *const ordered[] = {
        "unix:/a", "unix:/ab", "unix:/b", "1.2.3.4:1", "1.2.3.4:2", "1.2.3.5:1", "[::1]:1", "[::1]:2",
        "[::2]:1", "[fe80::1%1]:1", "[fe80::1%2]:1",
    };
    size_t n = sizeof(ordered) / sizeof(ordered[0]);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            struct addr a, b;
            int c;

            assert_true(addr_parse(&a, str_z(ordered[i])));
            assert_true(addr_parse(&b, str_z(ordered[k])));
            c = addr_compare(&a, &b);
            assert_true(i < k ? c < 0 : i > k ? c > 0 : c == 0);
            assert_int_equal(addr_equal(&a, &b), i == k);
            assert_int_equal(addr_hash(&a, 7) == addr_hash(&b, 7), i == k);
        }
    }
}

static void flow_label_does_not_count(void **state)
{
    struct addr a, b;

    (void)state;
    assert_true(addr_parse(&a, STR("[::1]:1")));
    b = a;
    b.in6.sin6_flowinfo = 99;
    assert_true(addr_equal(&a, &b));
    assert_true(addr_hash(&a, 1) == addr_hash(&b, 1));
    addr_from_sockaddr(&b, &b.sa, b.len);
    assert_memory_equal(&a, &b, sizeof(a));
    addr_from_sockaddr(&b, &b.sa, 0);
    assert_int_equal(b.len, 0);
}

static void unmapping(void **state)
{
    char text[ADDR_TEXT_MAX];
    struct addr a;

    (void)state;
    assert_true(addr_parse(&a, STR("[::ffff:192.0.2.1]:99")));
    addr_unmap(&a);
    addr_format(&a, text);
    assert_string_equal(text, "192.0.2.1:99");
    assert_int_equal(addr_ip_bytes(&a).n, 4);
    assert_true(addr_parse(&a, STR("[::1]:99")));
    addr_unmap(&a);
    assert_int_equal(addr_ip_bytes(&a).n, 16);
    assert_true(addr_parse(&a, STR("unix:/x")));
    assert_int_equal(addr_ip_bytes(&a).n, 0);
    assert_true(str_eq(addr_path(&a), STR("/x")));
}

static void any_and_ports(void **state)
{
    struct addr a;

    (void)state;
    addr_any(&a, AF_INET, 80);
    assert_true(addr_is_any(&a));
    assert_int_equal(addr_port(&a), 80);
    addr_any(&a, AF_INET6, 81);
    assert_true(addr_is_any(&a));
    addr_set_port(&a, 82);
    assert_int_equal(addr_port(&a), 82);
    assert_true(addr_parse(&a, STR("127.0.0.1:1")));
    assert_false(addr_is_any(&a));
    assert_true(addr_parse(&a, STR("unix:/x")));
    addr_set_port(&a, 5);
    assert_int_equal(addr_port(&a), 0);
    memset(&a, 0, sizeof(a));
    assert_int_equal(addr_family(&a), AF_UNSPEC);
}

static void of_sockets(void **state)
{
    char text[ADDR_TEXT_MAX];
    struct addr bound, self, peer;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), pair[2];

    (void)state;
    assert_true(addr_parse(&bound, STR("127.0.0.1:0")));
    assert_int_equal(bind(fd, &bound.sa, bound.len), 0);
    assert_int_equal(addr_of_socket(fd, &self), STATUS_OK);
    assert_int_not_equal(addr_port(&self), 0);
    assert_int_equal(addr_of_peer(fd, &peer), STATUS_CLOSED);
    assert_int_equal(peer.len, 0);
    assert_int_equal(connect(fd, &self.sa, self.len), 0);
    assert_int_equal(addr_of_peer(fd, &peer), STATUS_OK);
    assert_true(addr_equal(&peer, &self));
    close(fd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(addr_of_peer(pair[0], &peer), STATUS_OK);
    addr_format(&peer, text);
    assert_string_equal(text, "unix:");
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_and_format), cmocka_unit_test(zone_by_name),
        cmocka_unit_test(longest_texts_fit), cmocka_unit_test(order_and_hash),
        cmocka_unit_test(flow_label_does_not_count), cmocka_unit_test(unmapping),
        cmocka_unit_test(any_and_ports), cmocka_unit_test(of_sockets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
