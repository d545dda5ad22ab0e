/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ${env:NAME} in configuration text.  Templates use ${name} too, so only the prefix "env:" is
 * taken here; a variable of that name cannot exist.
 */
#include "conf/env.h"

#include "core/vec.h"

#include <stdlib.h>

static const struct str opening = STR_INIT("${env:");

bool env_refers(struct str s)
{
    return str_find(s, opening) >= 0;
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        char l = (char)ascii_lower((unsigned char)c);
        if (!((l >= 'a' && l <= 'z') || c == '_' || (i > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return s.n > 0;
}

/* The value of one reference, given what stands between "${env:" and "}". */
static bool look_up(struct arena *a, struct str inside, struct str *value, struct str *why)
{
    ssize_t cut = str_find(inside, STR(":-"));
    struct str name = cut < 0 ? inside : str_head(inside, (size_t)cut);
    if (!is_name(name)) {
        *why = arena_printf(a, "\"" STR_FMT "\" is not the name of an environment variable",
                            STR_ARG(str_head(name, 40)));
        return false;
    }
    const char *z = arena_strz(a, name);
    const char *set = z == NULL ? NULL : getenv(z);
    if (cut >= 0 && env_refers(inside)) {
        *why = STR("a reference inside of a default, expected plain text");
        return false;
    }
    if (cut >= 0 && (set == NULL || set[0] == '\0')) {
        *value = str_skip(inside, (size_t)cut + 2);
        return true;
    }
    if (set == NULL) {
        *why = arena_printf(a,
                            "the environment variable " STR_FMT " is not set; "
                            "${env:" STR_FMT ":-default} gives a default",
                            STR_ARG(name), STR_ARG(name));
        return false;
    }
    *value = str_z(set);
    return true;
}

bool env_expand(struct arena *a, struct str s, struct str *out, size_t *at, struct str *why)
{
    VEC(struct str) parts = {0};
    size_t from = 0;
    *why = STR_NONE;
    for (;;) {
        ssize_t next = str_find(str_skip(s, from), opening);
        size_t end = next < 0 ? s.n : from + (size_t)next;
        struct str *text = vec_push(&parts, a);
        if (text == NULL)
            return false;
        *text = str_make(s.p + from, end - from);
        if (next < 0)
            break;
        *at = end;
        struct str inside = str_skip(s, end + opening.n);
        ssize_t close = str_chr(inside, '}');
        if (close < 0) {
            *why = STR("\"${env:\" without a closing \"}\"");
            return false;
        }
        from = end + opening.n + (size_t)close + 1;
        inside.n = (size_t)close;
        struct str *value = vec_push(&parts, a);
        if (value == NULL || !look_up(a, inside, value, why))
            return false;
    }
    *out = arena_cat(a, parts.v, parts.n);
    return out->p != NULL;
}
