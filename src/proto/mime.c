/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The built-in media types.  mime.tbl is sorted by extension (the unit test holds it to that), so
 * a lookup is a binary search in constant data.
 */
#include "proto/mime.h"

#include "core/check.h"

static const struct {
    struct str extension, type;
} types[] = {
#define X(extension, type) {STR_INIT(extension), STR_INIT(type)},
#include "proto/mime.tbl"
#undef X
};

/* Order of `s`, in any case, against a lower-case name. */
static int mime_compare(struct str s, struct str name)
{
    size_t n = s.n < name.n ? s.n : name.n;

    for (size_t i = 0; i < n; i++) {
        int d = ascii_lower((unsigned char)s.p[i]) - (unsigned char)name.p[i];
        if (d != 0) {
            return d;
        }
    }
    return (s.n > name.n) - (s.n < name.n);
}

struct str mime_builtin(struct str extension)
{
    size_t low = 0, high = ARRAY_LEN(types);

    while (low < high) {
        size_t mid = (low + high) / 2;
        int d = mime_compare(extension, types[mid].extension);
        if (d == 0) {
            return types[mid].type;
        }
        if (d < 0) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return STR_NONE;
}

bool mime_builtin_at(size_t i, struct str *extension, struct str *type)
{
    if (i >= ARRAY_LEN(types)) {
        return false;
    }
    *extension = types[i].extension;
    *type = types[i].type;
    return true;
}
