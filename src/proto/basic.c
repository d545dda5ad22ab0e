/* SPDX-License-Identifier: BSD-2-Clause */
/* Basic credentials: "Basic" and base64 of USER:PASSWORD. A name holds no colon, a password may. */
#include "proto/basic.h"

static bool clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return true;
}

bool basic_parse(struct str field, char *mem, struct basic *out)
{
    size_t n;
    if (!str_starts_nocase(field, STR("Basic ")))
        return false;
    struct str coded = str_trim(str_skip(field, 6));
    if (!base64_decode((unsigned char *)mem, coded, &n))
        return false;
    struct str pair = str_make(mem, n);
    ssize_t colon = str_chr(pair, ':');
    if (colon < 0 || !clean(pair))
        return false;
    out->user = str_head(pair, (size_t)colon);
    out->password = str_skip(pair, (size_t)colon + 1);
    return true;
}
