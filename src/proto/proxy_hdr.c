/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both versions are recognised by their first bytes; no byte behind the header is needed or taken.
 * Version 1 is one line of at most 107 bytes in strict spelling; version 2 is binary with a length
 * in front, so a receiver always knows how much there is to wait for.
 */
#include "proto/proxy_hdr.h"

#include "core/check.h"
#include "core/num.h"

#include <arpa/inet.h>

#define V1_MAX 107 /* with CRLF */
#define V2_FIXED 16
#define TLV_CRC32C 0x03

static const struct str v1_start = STR_INIT("PROXY ");
static const struct str v2_start = STR_INIT("\r\n\r\n\0\r\nQUIT\n");

/* Is `in` a beginning of, or does it begin with, `start`? */
static bool may_start(struct str in, struct str start)
{
    size_t n = in.n < start.n ? in.n : start.n;

    return n == 0 || memcmp(in.p, start.p, n) == 0;
}

static bool v1_address(struct str s, int af, unsigned char *addr)
{
    char text[INET6_ADDRSTRLEN];

    if (s.n == 0 || s.n >= sizeof(text) || memchr(s.p, '\0', s.n) != NULL) {
        return false;
    }
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return inet_pton(af, text, addr) == 1;
}

/* Decimal without leading zeros. */
static bool v1_port(struct str s, uint16_t *port)
{
    uint64_t v;

    if (s.n > 5 || !num_dec(s, &v) || v > UINT16_MAX || (s.n > 1 && s.p[0] == '0')) {
        return false;
    }
    *port = (uint16_t)v;
    return true;
}

/* The line behind "PROXY ", without its line end. */
static bool v1_line(struct str s, struct proxy_hdr *out)
{
    struct str part[5];
    size_t n = 0;

    if (str_starts(s, STR("UNKNOWN")) && (s.n == 7 || s.p[7] == ' ')) {
        return true; /* whatever follows is to be ignored */
    }
    while (n < ARRAY_LEN(part) && str_split(&s, ' ', &part[n])) {
        n++;
    }
    if (n != ARRAY_LEN(part) || s.p != NULL) {
        return false;
    }
    bool v4 = str_eq(part[0], STR("TCP4"));
    if (!v4 && !str_eq(part[0], STR("TCP6"))) {
        return false;
    }
    int af = v4 ? AF_INET : AF_INET6;
    out->family = v4 ? PROXY_INET : PROXY_INET6;
    return v1_address(part[1], af, out->src.addr) && v1_address(part[2], af, out->dst.addr) &&
           v1_port(part[3], &out->src.port) && v1_port(part[4], &out->dst.port);
}

static enum proxy_result parse_v1(struct str in, struct proxy_hdr *out)
{
    struct str window = str_head(in, V1_MAX);
    const char *lf = memchr(window.p, '\n', window.n);
    const char *cr = memchr(window.p, '\r', lf != NULL ? (size_t)(lf - window.p) : window.n);

    if (cr == NULL) {
        return lf == NULL && window.n < V1_MAX ? PROXY_MORE : PROXY_BAD;
    }
    size_t line = (size_t)(cr - in.p);
    if (line + 1 == window.n) {
        return window.n < V1_MAX ? PROXY_MORE : PROXY_BAD;
    }
    if (cr[1] != '\n' || !v1_line(str_between(in.p + v1_start.n, cr), out)) {
        return PROXY_BAD;
    }
    out->version = 1;
    out->size = line + 2;
    return PROXY_OK;
}

static unsigned get_16(const char *p)
{
    return (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

bool proxy_hdr_tlv(struct str *tlvs, uint8_t *type, struct str *value)
{
    if (tlvs->n < 3) {
        return false;
    }
    size_t n = get_16(tlvs->p + 1);
    if (n > tlvs->n - 3) {
        return false;
    }
    *type = (uint8_t)tlvs->p[0];
    *value = str_make(tlvs->p + 3, n);
    *tlvs = str_skip(*tlvs, 3 + n);
    return true;
}

/* CRC-32c of the header, its own four bytes at `hole` taken as zero. */
static uint32_t crc32c(struct str s, const char *hole)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < s.n; i++) {
        const char *p = s.p + i;
        crc ^= p >= hole && p < hole + 4 ? 0u : (unsigned char)*p;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0u);
        }
    }
    return ~crc;
}

/* The TLVs fill their room exactly, and a checksum among them is right. */
static bool tlvs_good(struct str header, struct str tlvs)
{
    struct str value;
    uint8_t type;

    while (proxy_hdr_tlv(&tlvs, &type, &value)) {
        if (type != TLV_CRC32C) {
            continue;
        }
        if (value.n != 4 || ((uint32_t)get_16(value.p) << 16 | get_16(value.p + 2)) !=
                                crc32c(header, value.p)) {
            return false;
        }
    }
    return tlvs.n == 0;
}

/* Address block of one family: its size, and the addresses where we keep them. */
static size_t v2_addresses(const char *p, size_t room, unsigned family, struct proxy_hdr *out)
{
    static const struct {
        enum proxy_family family;
        size_t block, addr; /* bytes of the block, of one address in it */
    } kinds[] = {
        {PROXY_NONE, 0, 0}, {PROXY_INET, 12, 4}, {PROXY_INET6, 36, 16}, {PROXY_UNIX, 216, 0}};
    size_t addr = kinds[family].addr;

    if (room < kinds[family].block) {
        return SIZE_MAX;
    }
    out->family = kinds[family].family;
    if (addr != 0) {
        memcpy(out->src.addr, p, addr);
        memcpy(out->dst.addr, p + addr, addr);
        out->src.port = (uint16_t)get_16(p + 2 * addr);
        out->dst.port = (uint16_t)get_16(p + 2 * addr + 2);
    }
    return kinds[family].block;
}

static enum proxy_result parse_v2(struct str in, struct proxy_hdr *out)
{
    if (in.n > 12 && (in.p[12] & 0xfe) != 0x20) {
        return PROXY_BAD; /* version 2, LOCAL or PROXY */
    }
    if (in.n > 13 && ((unsigned char)in.p[13] > 0x3f || (in.p[13] & 0x0f) > 2)) {
        return PROXY_BAD;
    }
    if (in.n < V2_FIXED) {
        return PROXY_MORE;
    }
    size_t size = V2_FIXED + get_16(in.p + 14);
    if (size > PROXY_HDR_MAX) {
        return PROXY_BAD;
    }
    if (in.n < size) {
        return PROXY_MORE;
    }
    struct str header = str_head(in, size);
    out->version = 2;
    out->size = size;
    out->local = (in.p[12] & 0x01) == 0;
    unsigned family = (unsigned char)in.p[13] >> 4, transport = in.p[13] & 0x0f;
    if (out->local || family == 0 || transport == 0) {
        return PROXY_OK; /* what follows the fixed part has no meaning then */
    }
    size_t block = v2_addresses(in.p + V2_FIXED, size - V2_FIXED, family, out);
    if (block == SIZE_MAX) {
        return PROXY_BAD;
    }
    out->tlvs = str_skip(header, V2_FIXED + block);
    return tlvs_good(header, out->tlvs) ? PROXY_OK : PROXY_BAD;
}

enum proxy_result proxy_hdr_parse(struct str in, struct proxy_hdr *out)
{
    *out = (struct proxy_hdr){0};
    if (may_start(in, v1_start)) {
        return in.n > v1_start.n ? parse_v1(in, out) : PROXY_MORE;
    }
    if (may_start(in, v2_start)) {
        return parse_v2(in, out);
    }
    return PROXY_BAD;
}
