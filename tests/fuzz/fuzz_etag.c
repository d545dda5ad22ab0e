/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of entity tags: each member is quoted in the list, matching agrees with walking the list,
 * and a list put together again from its members has the same ones.
 */
#include "fuzz.h"

#include "proto/etag.h"

/* Writes the member and a comma. */
static size_t put_member(char *to, struct etag t)
{
    size_t n = 0;

    if (t.weak) {
        memcpy(to, "W/", 2);
        n = 2;
    }
    to[n++] = '"';
    memcpy(to + n, t.opaque.p, t.opaque.n);
    n += t.opaque.n;
    to[n++] = '"';
    to[n++] = ',';
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str list = fuzz_copy(fuzz_input(data, size)), rest = list;
    struct etag tag, again, own = {STR("x"), false};
    char *text = malloc(2 * list.n + 8);
    bool weak = false, strong = false;
    enum etag_next next;
    size_t n = 0;

    CHECK(text != NULL);
    while ((next = etag_next(&rest, &tag)) == ETAG_TAG) {
        CHECK(fuzz_inside(tag.opaque, list) && str_chr(tag.opaque, '"') < 0);
        CHECK(tag.opaque.p[-1] == '"' && tag.opaque.p[tag.opaque.n] == '"');
        weak = weak || etag_equal_weak(tag, own);
        strong = strong || etag_equal_strong(tag, own);
        n += put_member(text + n, tag);
    }
    CHECK(rest.n == 0);
    bool star = next == ETAG_STAR && n == 0;
    CHECK(etag_list_matches(list, own, false, true) == (weak || star));
    CHECK(etag_list_matches(list, own, true, true) == (strong || star));
    CHECK(etag_list_matches(list, own, false, false) == weak);
    CHECK(!strong || weak);

    struct str first = list, second = str_make(text, n);
    while (etag_next(&first, &tag) == ETAG_TAG) {
        CHECK(etag_next(&second, &again) == ETAG_TAG);
        CHECK(tag.weak == again.weak && str_eq(tag.opaque, again.opaque));
    }
    CHECK(etag_next(&second, &again) == ETAG_END);
    free(text);
    fuzz_free(list);
    return 0;
}
