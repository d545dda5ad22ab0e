/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Password files.  The kind of a password is told by its beginning alone; text that looks like
 * nothing known is not taken for a password in the clear, which would make every mistake a secret
 * that anybody can read off the file.
 */
#include "proto/htpasswd.h"

#define DES_LENGTH 13  /* 2 of salt, 11 of hash */
#define BSDI_LENGTH 20 /* "_", 4 of count, 4 of salt, 11 of hash */

/* The digits of crypt(3)'s own base 64. */
static bool is_crypt_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i], lower = ascii_lower(c);
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '.' && c <= '9'))
            return false;
    }
    return true;
}

/* "$6$...": a name of at least one character between dollars, and something behind it. */
static bool is_modular(struct str s)
{
    if (s.n < 4 || s.p[0] != '$')
        return false;
    ssize_t end = str_chr(str_skip(s, 1), '$');
    return end > 0 && (size_t)end + 2 < s.n;
}

enum htpasswd_kind htpasswd_kind_of(struct str hash)
{
    if (str_starts(hash, STR("$apr1$")))
        return HTPASSWD_APR1;
    if (str_starts(hash, STR("{SHA}")))
        return HTPASSWD_SHA;
    if (str_starts(hash, STR("{SSHA}")))
        return HTPASSWD_SSHA;
    if (str_starts(hash, STR("{PLAIN}")))
        return HTPASSWD_PLAIN;
    if (is_modular(hash) || (hash.n == DES_LENGTH && is_crypt_text(hash)) ||
        (hash.n == BSDI_LENGTH && hash.p[0] == '_' && is_crypt_text(str_skip(hash, 1))))
        return HTPASSWD_CRYPT;
    return HTPASSWD_UNKNOWN;
}

static bool clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return true;
}

/* The next line that is not a comment. False: the text is at its end. */
static bool next_line(struct str *rest, uint32_t *line, struct str *out)
{
    while (rest->n > 0) {
        ssize_t lf = str_chr(*rest, '\n');
        *out = lf < 0 ? *rest : str_head(*rest, (size_t)lf);
        *rest = str_skip(*rest, lf < 0 ? rest->n : (size_t)lf + 1);
        ++*line;
        if (out->n > 0 && out->p[out->n - 1] == '\r')
            out->n--;
        if (out->n > 0 && out->p[0] != '#')
            return true;
    }
    return false;
}

enum htpasswd_result htpasswd_next(struct str *rest, uint32_t *line, struct htpasswd_entry *out)
{
    struct str text;
    if (!next_line(rest, line, &text))
        return HTPASSWD_END;
    ssize_t colon = str_chr(text, ':');
    if (colon <= 0 || !clean(text))
        return HTPASSWD_BAD;
    struct str hash = str_skip(text, (size_t)colon + 1);
    ssize_t more = str_chr(hash, ':');
    out->user = str_head(text, (size_t)colon);
    out->hash = more < 0 ? hash : str_head(hash, (size_t)more);
    out->kind = htpasswd_kind_of(out->hash);
    out->line = *line;
    return HTPASSWD_ENTRY;
}
