/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of media types. A whole family stands in the map as it is written: "text/" and a star. */
#include "http/media_types.h"

#include "proto/token.h"

bool media_types_is_type(struct str s)
{
    ssize_t slash = str_chr(s, '/');
    return slash > 0 && token_is_token(str_head(s, (size_t)slash)) &&
           token_is_token(str_skip(s, (size_t)slash + 1));
}

static bool add(struct media_types *set, struct cycle_http *cy, const struct block *b,
                const char *name, struct arg *arg)
{
    if (str_eq(arg->text, STR("*"))) {
        set->all = true;
        return true;
    }
    if (media_types_is_type(arg->text))
        return map_set(&set->map, arg->text, &arg->text) == STATUS_OK;
    diag_error(cy->diag, arg->pos, b->path,
               "%s: \"" STR_FMT "\" is not valid, expected a media type, a whole family as "
               "text/*, or *", name, STR_ARG(diag_excerpt(cy->diag, arg->text)));
    return false;
}

bool media_types_compile(struct media_types *set, struct cycle_http *cy, const struct block *b,
                         const char *name, const struct instances *in)
{
    static struct str html = STR_INIT("text/html");
    map_init(&set->map, cy->arena, true);
    bool good = map_set(&set->map, html, &html) == STATUS_OK;
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->v[i].n; k++)
            good = add(set, cy, b, name, &in->v[i].v[k]) && good;
    return good;
}

bool media_types_has(const struct media_types *set, struct str media_type)
{
    ssize_t semicolon = str_chr(media_type, ';');
    struct str type =
        str_trim(semicolon < 0 ? media_type : str_head(media_type, (size_t)semicolon));
    ssize_t slash = str_chr(type, '/');
    char family[64];
    if (set->all)
        return slash >= 0;
    if (map_get(&set->map, type) != NULL)
        return true;
    if (slash < 0 || (size_t)slash + 2 > sizeof(family))
        return false;
    memcpy(family, type.p, (size_t)slash + 1);
    family[slash + 1] = '*';
    return map_get(&set->map, str_make(family, (size_t)slash + 2)) != NULL;
}
