/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PROXY headers: more bytes never change a result that was known; the size and the TLVs lie in the
 * input; what follows the header does not matter.
 */
#include "fuzz.h"

#include "proto/proxy_hdr.h"

static enum proxy_result parse(struct str in, struct proxy_hdr *h)
{
    struct str copy = fuzz_copy(in), value, tlvs;
    enum proxy_result r = proxy_hdr_parse(copy, h);
    uint8_t type;

    if (r == PROXY_OK) {
        CHECK(h->size <= copy.n && h->size >= 15 && h->size <= PROXY_HDR_MAX);
        CHECK(h->version == 1 || h->version == 2);
        CHECK(h->tlvs.n == 0 || fuzz_inside(h->tlvs, copy));
        for (tlvs = h->tlvs; proxy_hdr_tlv(&tlvs, &type, &value);) {
            CHECK(fuzz_inside(value, h->tlvs));
        }
        CHECK(tlvs.n == 0);
    }
    h->tlvs.p = NULL; /* the copy is gone */
    fuzz_free(copy);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size);
    struct proxy_hdr whole, part;
    enum proxy_result r = parse(in, &whole), known = PROXY_MORE;
    size_t last = in.n < 300 ? in.n : 300;

    for (size_t n = 0; n <= last; n++) {
        enum proxy_result now = parse(str_head(in, n), &part);
        CHECK(known == PROXY_MORE || now == known);
        known = now;
        if (now == PROXY_OK) {
            CHECK(r == PROXY_OK && part.size == whole.size && part.size <= n);
            CHECK(memcmp(&part.src, &whole.src, sizeof(part.src)) == 0);
            CHECK(memcmp(&part.dst, &whole.dst, sizeof(part.dst)) == 0);
        }
    }
    CHECK(known == PROXY_MORE || known == r);
    CHECK(r != PROXY_MORE || in.n < PROXY_HDR_MAX);
    return 0;
}
