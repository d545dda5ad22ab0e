/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that are known but have no row here.
 */
#include "conf/reference.h"

#include "conf/bind.h"
#include "core/check.h"

bool reference_unbuilt(struct str name, const char **hint)
{
    static const struct {
        struct str name;
        const char *hint;
    } table[] = {
#define X(text, words) {STR_INIT(text), words},
#include "conf/unbuilt.tbl"
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct str t = table[i].name;
        bool hit = t.p[t.n - 1] == '*' ? str_starts(name, str_head(t, t.n - 1)) : str_eq(name, t);
        if (hit) {
            *hint = table[i].hint;
            return true;
        }
    }
    return false;
}
