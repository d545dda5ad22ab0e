/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries are read as they are sent: what they are used for has no byte that would be encoded. */
#include "autoindex_query.h"

#define CALLBACK_MAX 128

/* The next argument of *rest. */
static bool next_argument(struct str *rest, struct str *name, struct str *value)
{
    size_t n = 0;
    if (rest->n == 0)
        return false;
    while (n < rest->n && rest->p[n] != '&' && rest->p[n] != ';')
        n++;
    struct str arg = str_head(*rest, n);
    *rest = str_skip(*rest, n + 1);
    ssize_t equals = str_chr(arg, '=');
    *name = equals < 0 ? arg : str_head(arg, (size_t)equals);
    *value = equals < 0 ? STR("") : str_skip(arg, (size_t)equals + 1);
    return true;
}

/* The place in `letters` of the first value of `name` that is one of them; none: 0. */
static size_t choice(struct str args, struct str name, struct str letters)
{
    struct str n, value;
    while (next_argument(&args, &n, &value)) {
        ssize_t at = str_eq(n, name) && value.n == 1 ? str_chr(letters, value.p[0]) : -1;
        if (at >= 0)
            return (size_t)at;
    }
    return 0;
}

struct list_order query_order(struct str args)
{
    return (struct list_order){
        .key = (uint8_t)choice(args, STR("C"), STR("NMS")),
        .descending = choice(args, STR("O"), STR("AD")) == 1,
    };
}

static bool identifier(struct str s)
{
    bool begins = true;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i], lower = ascii_lower(c);
        bool letter = (lower >= 'a' && lower <= 'z') || c == '_' || c == '$';
        bool digit = c >= '0' && c <= '9';
        if (!letter && (begins || (!digit && c != '.')))
            return false;
        begins = c == '.';
    }
    return !begins && s.n <= CALLBACK_MAX;
}

struct str query_callback(struct str args)
{
    struct str name, value;
    while (next_argument(&args, &name, &value))
        if (str_eq(name, STR("callback")))
            return identifier(value) ? value : STR("");
    return STR("");
}
