/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks: the text is read once, at load; a match is a few instructions. */
#include "os/cidr.h"

#include "core/check.h"
#include "core/num.h"

#include <endian.h>

/* The bytes of an IP address as numbers, so that masks are shifts. False for other addresses. */
static bool words_of(const struct addr *a, int *family, uint64_t w[2])
{
    struct addr plain = *a;
    unsigned char bytes[16] = {0};
    addr_unmap(&plain);
    struct str ip = addr_ip_bytes(&plain);
    if (ip.n == 0)
        return false;
    memcpy(bytes, ip.p, ip.n);
    *family = addr_family(&plain);
    for (int i = 0; i < 2; i++) {
        memcpy(&w[i], bytes + 8 * i, sizeof(w[i]));
        w[i] = be64toh(w[i]);
    }
    return true;
}

/* The upper `bits` of a word. */
static uint64_t mask_of(unsigned bits)
{
    return bits == 0 ? 0 : bits >= 64 ? UINT64_MAX : UINT64_MAX << (64 - bits);
}

static void set_bits(struct cidr *c, unsigned bits)
{
    c->mask[0] = mask_of(bits);
    c->mask[1] = mask_of(bits > 64 ? bits - 64 : 0);
}

/* "/n" of an address as it was written; a mapped one of 96 bits or more is IPv4's n - 96. */
static bool take_prefix(const struct addr *a, struct str text, unsigned *bits, bool *mapped)
{
    uint64_t n;
    unsigned most = addr_family(a) == AF_INET ? 32 : 128;
    *bits = most;
    if (text.p != NULL && (!num_dec(text, &n) || text.n > 3 || n > most))
        return false;
    if (text.p != NULL)
        *bits = (unsigned)n;
    *mapped = most == 128 && IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr) && *bits >= 96;
    if (*mapped)
        *bits -= 96;
    return true;
}

static bool parse_ip(struct cidr *c, struct str text, bool *host_bits)
{
    struct addr a;
    unsigned bits;
    bool mapped;
    ssize_t slash = str_chr(text, '/');
    struct str ip = slash < 0 ? text : str_head(text, (size_t)slash);
    struct str prefix = slash < 0 ? STR_NONE : str_skip(text, (size_t)slash + 1);
    if (str_chr(ip, '[') >= 0 || str_chr(ip, '%') >= 0 || !addr_from_ip(&a, ip, 0) ||
        !take_prefix(&a, prefix, &bits, &mapped))
        return false;
    struct cidr out = {.family = AF_INET6};
    if (addr_family(&a) == AF_INET6 && !mapped) {
        /* Not by words_of: ::ffff:0:0/90 is a network of IPv6, with no IPv4 peer in it. */
        memcpy(out.net, &a.in6.sin6_addr, sizeof(out.net));
        out.net[0] = be64toh(out.net[0]);
        out.net[1] = be64toh(out.net[1]);
    } else {
        CHECK(words_of(&a, &out.family, out.net));
    }
    set_bits(&out, bits);
    *host_bits = (out.net[0] & ~out.mask[0]) != 0 || (out.net[1] & ~out.mask[1]) != 0;
    out.net[0] &= out.mask[0];
    out.net[1] &= out.mask[1];
    *c = out;
    return true;
}

bool cidr_parse(struct cidr *c, struct str text, bool *host_bits)
{
    bool ignored;
    if (host_bits == NULL)
        host_bits = &ignored;
    *host_bits = false;
    if (str_eq(text, STR("all"))) {
        *c = (struct cidr){.family = AF_UNSPEC};
        return true;
    }
    if (str_eq(text, STR("unix:"))) {
        *c = (struct cidr){.family = AF_UNIX};
        return true;
    }
    return parse_ip(c, text, host_bits);
}

void cidr_of_addr(struct cidr *c, const struct addr *a)
{
    *c = (struct cidr){.family = addr_family(a)};
    if (words_of(a, &c->family, c->net))
        set_bits(c, c->family == AF_INET ? 32 : 128);
}

static bool matches(const struct cidr *c, int family, const uint64_t w[2])
{
    if (c->family != family)
        return c->family == AF_UNSPEC;
    return ((w[0] & c->mask[0]) ^ c->net[0]) == 0 && ((w[1] & c->mask[1]) ^ c->net[1]) == 0;
}

ssize_t cidr_find(const struct cidr *v, size_t n, const struct addr *a)
{
    uint64_t w[2] = {0, 0};
    int family = addr_family(a);
    (void)words_of(a, &family, w);
    for (size_t i = 0; i < n; i++)
        if (matches(&v[i], family, w))
            return (ssize_t)i;
    return -1;
}
