/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accept-Encoding: the choice is on offer, is not refused, and no other has a higher quality; the
 * list may come as one line or as two.
 * Input: one byte for what is on offer, the value.
 */
#include "fuzz.h"

#include "proto/accept.h"
#include "proto/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size), member;
    unsigned offered = fuzz_byte(&in);
    struct str value = fuzz_copy(in), rest = value;
    struct accept a, lines;

    accept_init(&a);
    accept_add(&a, value);
    enum coding best = accept_best(&a, offered);
    CHECK((unsigned)best < CODING_COUNT);
    if (best != CODING_IDENTITY) {
        CHECK((offered & CODING_BIT(best)) != 0 && accept_quality(&a, best) != 0);
    }
    for (unsigned c = CODING_IDENTITY + 1; c < CODING_COUNT; c++) {
        unsigned q = accept_quality(&a, (enum coding)c);
        CHECK(q <= 1000);
        if (offered & CODING_BIT(c)) {
            CHECK(q <= accept_quality(&a, best) || (best == CODING_IDENTITY && q == 0));
        }
    }
    accept_init(&lines);
    while (token_list_next(&rest, &member)) {
        CHECK(member.n != 0 && fuzz_inside(member, value));
        CHECK(str_eq(str_trim(member), member));
        accept_add(&lines, member);
    }
    CHECK(memcmp(&a, &lines, sizeof(a)) == 0);
    fuzz_free(value);
    return 0;
}
