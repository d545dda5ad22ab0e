/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluation of templates into URLs (encoded) and paths (decoded, normalised). */
#include "rewrite_url.h"

#include "http/request.h"
#include "proto/uri.h"

static const char hex[] = "0123456789ABCDEF";

static void put_encoded(struct wbuf *w, unsigned char c)
{
    wbuf_char(w, '%');
    wbuf_char(w, hex[c >> 4]);
    wbuf_char(w, hex[c & 15]);
}

/* What may stand in a URL as it is: everything that has a place in its grammar. */
static bool url_byte(unsigned char c)
{
    return c > 0x20 && c < 0x7f && strchr("\"<>\\^`{|}", c) == NULL;
}

/* Unreserved bytes and those that mean nothing in a query's "name=value&...". */
static bool query_byte(unsigned char c)
{
    unsigned char l = ascii_lower(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~/:@!$*,", c) != NULL);
}

static void put_where(struct wbuf *w, struct str s, bool (*plain)(unsigned char c))
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (plain(c))
            wbuf_char(w, (char)c);
        else
            put_encoded(w, c);
    }
}

static struct str value_of(const struct template_part *p, struct request *r)
{
    struct str value;
    if (p->var.var == NULL)
        return p->literal;
    return var_value(r, &p->var, &value) ? value : STR_NONE;
}

static void put_part(struct wbuf *w, const struct template_part *p, struct str value, bool query)
{
    if (p->var.var == NULL || !p->var.var->decoded)
        put_where(w, value, url_byte);
    else if (query)
        put_where(w, value, query_byte);
    else
        uri_encode_path(w, value);
}

/*
 * "/$1" with "/evil.example" in $1 would be a URL of another host: unless it was written so, a
 * local URL begins with one slash.
 */
static struct str one_slash(const struct template *t, struct str url)
{
    struct str first = t->count > 0 ? t->parts[0].literal : STR_NONE;
    if (str_starts(first, STR("//")))
        return url;
    while (str_starts(url, STR("//")))
        url = str_skip(url, 1);
    return url;
}

struct str rewrite_url(const struct template *t, struct request *r, bool query)
{
    struct str *values = arena_array(&r->mem, t->count, sizeof(*values));
    size_t room = 0;
    if (values == NULL)
        return STR_NONE;
    for (size_t i = 0; i < t->count; i++) {
        values[i] = value_of(&t->parts[i], r);
        room += URI_ENCODED_MAX(values[i].n);
    }
    char *mem = arena_bytes(&r->mem, room);
    if (mem == NULL || arena_overflowed(&r->mem))
        return STR_NONE;
    struct wbuf w = wbuf_make(mem, room);
    bool in_query = query;
    for (size_t i = 0; i < t->count; i++) {
        put_part(&w, &t->parts[i], values[i], in_query);
        if (t->parts[i].var.var == NULL && str_chr(values[i], '?') >= 0)
            in_query = true;
    }
    struct str url = str_between(mem, w.at);
    return query ? url : one_slash(t, url);
}

/* Might there be something to normalise? */
static bool suspicious(struct str path)
{
    return str_find(path, STR("//")) >= 0 || str_find(path, STR("/.")) >= 0;
}

enum rewrite_path rewrite_path(const struct template *t, struct request *r, struct str *out)
{
    struct str path = template_eval(t, r);
    if (arena_overflowed(&r->mem))
        return REWRITE_PATH_NO_MEMORY;
    if (path.n == 0 || path.p[0] != '/' || str_chr(path, '\0') >= 0)
        return REWRITE_PATH_BAD;
    *out = path;
    if (!suspicious(path))
        return REWRITE_PATH_OK;
    size_t room = URI_ENCODED_MAX(path.n);
    char *encoded = arena_bytes(&r->mem, room), *decoded = arena_bytes(&r->mem, room);
    if (encoded == NULL || decoded == NULL)
        return REWRITE_PATH_NO_MEMORY;
    struct wbuf w = wbuf_make(encoded, room);
    uri_encode_path(&w, path);
    bool merge = r->vhost->conf->merge_slashes;
    return uri_normalise(str_between(encoded, w.at), merge, decoded, out) == URI_OK
               ? REWRITE_PATH_OK
               : REWRITE_PATH_BAD;
}

bool rewrite_is_url(struct str text)
{
    return str_starts(text, STR("http://")) || str_starts(text, STR("https://")) ||
           str_starts(text, STR("$scheme")) || str_starts(text, STR("${scheme}"));
}
