/* SPDX-License-Identifier: BSD-2-Clause */
/* PROXY protocol headers (behaviours.md V6), each row byte by byte. */
#include "proto/proxy_hdr.h"

#include "rows.h"

#include <arpa/inet.h>

#define SIG "\r\n\r\n\0\r\nQUIT\n"
#define V4  "\xc0\x00\x02\x01\xc6\x33\x64\x02\x30\x39\x01\xbb" /* 192.0.2.1:12345 198.51.100.2:443 \
                                                                */
#define V6                                                                                         \
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"                                                   \
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02"                                                   \
    "\x30\x39\x01\xbb"

static const struct proxy_row {
    const char *name;
    struct str in;
    enum proxy_result result;
    const char *want; /* "src port dst port", "local" or "none" */
    size_t known;     /* bytes after which it is known; 0: all */
} rows[] = {
#define OKAY(name, text, want)                                                                     \
    {                                                                                              \
        name, STR_INIT(text), PROXY_OK, want, 0                                                    \
    }
#define BAD(name, text, known)                                                                     \
    {                                                                                              \
        name, STR_INIT(text), PROXY_BAD, NULL, known                                               \
    }
    OKAY("v1 TCP4", "PROXY TCP4 192.0.2.1 198.51.100.2 12345 443\r\n",
         "192.0.2.1 12345 198.51.100.2 443"),
    OKAY("v1 TCP6", "PROXY TCP6 2001:db8::1 2001:db8::2 0 65535\r\n",
         "2001:db8::1 0 2001:db8::2 65535"),
    OKAY("v1 UNKNOWN", "PROXY UNKNOWN\r\n", "none"),
    OKAY("v1 UNKNOWN and more", "PROXY UNKNOWN ffff::1 x y z\r\n", "none"),
    OKAY("v1 longest",
         "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535 "
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
         "none"),
    BAD("v1 too long",
        "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535 "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
        107),
    BAD("v1 UNKNOWNX", "PROXY UNKNOWNX\r\n", 0),
    BAD("v1 bare LF", "PROXY UNKNOWN\n", 0),
    BAD("v1 bare LF, CR later", "PROXY UNKNOWN\nx\r", 14),
    BAD("v1 bare CR", "PROXY UNKNOWN\rx", 0),
    BAD("v1 nothing", "PROXY \r\n", 0),
    BAD("v1 two blanks", "PROXY TCP4  192.0.2.1 198.51.100.2 12345 443\r\n", 0),
    BAD("v1 blank behind", "PROXY TCP4 192.0.2.1 198.51.100.2 12345 443 \r\n", 0),
    BAD("v1 one more", "PROXY TCP4 192.0.2.1 198.51.100.2 12345 443 1\r\n", 0),
    BAD("v1 one less", "PROXY TCP4 192.0.2.1 198.51.100.2 12345\r\n", 0),
    BAD("v1 bad address", "PROXY TCP4 192.0.2.256 198.51.100.2 12345 443\r\n", 0),
    BAD("v1 v6 as v4", "PROXY TCP4 ::1 ::1 12345 443\r\n", 0),
    BAD("v1 v4 as v6", "PROXY TCP6 192.0.2.1 198.51.100.2 12345 443\r\n", 0),
    BAD("v1 NUL", "PROXY TCP4 192.0.2.1\0 198.51.100.2 12345 443\r\n", 0),
    BAD("v1 port 65536", "PROXY TCP4 192.0.2.1 198.51.100.2 65536 443\r\n", 0),
    BAD("v1 port 01", "PROXY TCP4 192.0.2.1 198.51.100.2 01 443\r\n", 0),
    BAD("v1 port sign", "PROXY TCP4 192.0.2.1 198.51.100.2 +1 443\r\n", 0),
    BAD("v1 case", "proxy TCP4", 1),
    BAD("no header", "GET / HTTP/1.1\r\n", 1),
    BAD("no header, P", "POST / HTTP/1.1\r\n", 2),
    BAD("no header, TLS", "\x16\x03\x01", 1),
    BAD("no header, CRLF", "\r\nGET", 3),
    OKAY("v2 TCP4", SIG "\x21\x11\0\x0c" V4, "192.0.2.1 12345 198.51.100.2 443"),
    OKAY("v2 UDP4", SIG "\x21\x12\0\x0c" V4, "192.0.2.1 12345 198.51.100.2 443"),
    OKAY("v2 TCP6", SIG "\x21\x21\0\x24" V6, "2001:db8::1 12345 2001:db8::2 443"),
    OKAY("v2 TLVs",
         SIG "\x21\x11\0\x13" V4 "\x01\0\x01"
             "a"
             "\x04\0\0",
         "192.0.2.1 12345 198.51.100.2 443"),
    OKAY("v2 local", SIG "\x20\0\0\0", "local"),
    OKAY("v2 local with junk",
         SIG "\x20\x11\0\x03"
             "abc",
         "local"),
    OKAY("v2 unspec",
         SIG "\x21\0\0\x04"
             "abcd",
         "none"),
    BAD("v2 version 1", SIG "\x11\x11\0\x0c", 13),
    BAD("v2 command 2", SIG "\x22\x11\0\x0c", 13),
    BAD("v2 family 4", SIG "\x21\x41\0\x0c", 14),
    BAD("v2 transport 3", SIG "\x21\x13\0\x0c", 14),
    BAD("v2 too long", SIG "\x21\x11\x0f\xf1" V4, 16),
    BAD("v2 block too short", SIG "\x21\x11\0\x0b" V4, 27),
    BAD("v2 v6 block too short", SIG "\x21\x21\0\x0c" V4, 28),
    BAD("v2 unix block too short", SIG "\x21\x31\0\x0c" V4, 28),
    BAD("v2 TLV cut", SIG "\x21\x11\0\x0e" V4 "\x01\0", 30),
    BAD("v2 TLV too long",
        SIG "\x21\x11\0\x10" V4 "\x01\0\x02"
            "a",
        32),
    OKAY("v2 checksum", SIG "\x21\x11\0\x13" V4 "\x03\0\x04\xc8\xcc\xd4\xb7",
         "192.0.2.1 12345 198.51.100.2 443"),
    BAD("v2 checksum wrong", SIG "\x21\x11\0\x13" V4 "\x03\0\x04\0\0\0\0", 35),
    BAD("v2 checksum short", SIG "\x21\x11\0\x11" V4 "\x03\0\x02\0\0", 33),
};

static void header_text(const struct proxy_hdr *h, char *text, size_t room)
{
    char src[INET6_ADDRSTRLEN] = "", dst[INET6_ADDRSTRLEN] = "";
    int af = h->family == PROXY_INET ? AF_INET : AF_INET6;

    if (h->local || h->family == PROXY_NONE) {
        snprintf(text, room, "%s", h->local ? "local" : "none");
        return;
    }
    inet_ntop(af, h->src.addr, src, sizeof(src));
    inet_ntop(af, h->dst.addr, dst, sizeof(dst));
    snprintf(text, room, "%s %u %s %u", src, h->src.port, dst, h->dst.port);
}

static void proxy_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct proxy_row *row = &rows[i];
        size_t known = row->known != 0 ? row->known : row->in.n;
        for (size_t n = 0; n <= row->in.n; n++) {
            struct proxy_hdr h;
            struct str in = copy_exact(str_head(row->in, n));
            enum proxy_result r = proxy_hdr_parse(in, &h);
            if (r != (n < known ? PROXY_MORE : row->result)) {
                fail_msg("row %s, %zu bytes: %d", row->name, n, r);
            }
            if (r == PROXY_OK) {
                char text[128];
                header_text(&h, text, sizeof(text));
                ROW_STR(row->name, str_z(text), str_z(row->want));
                ROW(row->name, h.size == row->in.n);
            }
            free_exact(in);
        }
    }
}

static void proxy_rest_is_left(void **state)
{
    struct proxy_hdr h;

    (void)state;
    assert_int_equal(proxy_hdr_parse(STR("PROXY UNKNOWN\r\nGET /"), &h), PROXY_OK);
    assert_int_equal(h.size, 15);
    assert_int_equal(h.version, 1);
    assert_int_equal(proxy_hdr_parse(STR(SIG "\x20\0\0\0GET /"), &h), PROXY_OK);
    assert_int_equal(h.size, 16);
    assert_int_equal(h.version, 2);
}

static void proxy_tlvs(void **state)
{
    struct proxy_hdr h;
    struct str value;
    uint8_t type;
    struct str in = STR(SIG "\x21\x11\0\x15" V4 "\x01\0\x03"
                            "h2c"
                            "\xea\0\0");

    (void)state;
    assert_int_equal(proxy_hdr_parse(in, &h), PROXY_OK);
    assert_true(proxy_hdr_tlv(&h.tlvs, &type, &value));
    assert_int_equal(type, 1);
    ROW_STR("alpn", value, STR("h2c"));
    assert_true(proxy_hdr_tlv(&h.tlvs, &type, &value));
    assert_int_equal(type, 0xea);
    assert_int_equal(value.n, 0);
    assert_false(proxy_hdr_tlv(&h.tlvs, &type, &value));
}

static void proxy_unix(void **state)
{
    char in[16 + 216] = SIG "\x21\x31\0\xd8";
    struct proxy_hdr h;

    (void)state;
    assert_int_equal(proxy_hdr_parse(str_make(in, sizeof(in)), &h), PROXY_OK);
    assert_int_equal(h.family, PROXY_UNIX);
    assert_int_equal(h.tlvs.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proxy_table),
        cmocka_unit_test(proxy_rest_is_left),
        cmocka_unit_test(proxy_tlvs),
        cmocka_unit_test(proxy_unix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
