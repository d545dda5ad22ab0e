/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Range values: what is given lies in the file, once, within the promised cost.
 * Input: one byte for the most ranges, eight for the size, the value.
 */
#include "fuzz.h"

#include "proto/range.h"

#define ROOM 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size);
    size_t max = fuzz_byte(&in) % (ROOM + 1), n;
    struct range out[ROOM];
    uint64_t file = 0, sum = 0;

    for (int i = 0; i < 8; i++) {
        file = file << 8 | fuzz_byte(&in);
    }
    struct str value = fuzz_copy(in);
    enum range_result r = range_parse(value, file, max, out, &n);
    CHECK(n <= max && (r == RANGE_OK) == (n != 0));
    for (size_t i = 0; i < n; i++) {
        CHECK(out[i].length != 0 && out[i].start < file && out[i].length <= file - out[i].start);
        for (size_t k = 0; k < i; k++) {
            uint64_t a = out[i].start, b = out[k].start;
            CHECK(a > b ? a - b > out[k].length : b - a > out[i].length);
        }
        CHECK(out[i].length <= file - sum); /* disjoint, so they cannot exceed it together */
        sum += out[i].length;
    }
    CHECK(n < 2 || n * RANGE_PART_COST <= RANGE_SLACK || n * RANGE_PART_COST - RANGE_SLACK <= file - sum);
    CHECK(max != 0 || r == RANGE_IGNORE);
    CHECK(str_starts_nocase(value, STR("bytes=")) || r == RANGE_IGNORE);
    fuzz_free(value);
    return 0;
}
