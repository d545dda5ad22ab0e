/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Password files as Apache's htpasswd makes them: a line USER:PASSWORD[:anything] each, lines that
 * begin with # and empty ones apart.  Lines end in LF or CRLF.  Pure; everything is a view.
 */
#ifndef SLUICE_PROTO_HTPASSWD_H
#define SLUICE_PROTO_HTPASSWD_H

#include "core/str.h"

/* How the password is kept. */
enum htpasswd_kind {
    HTPASSWD_CRYPT,    /* for crypt(3): $1$, $2y$, $5$, $6$, $y$, ...; 13 or 20 characters of DES */
    HTPASSWD_APR1,     /* $apr1$: Apache's own way with MD5 */
    HTPASSWD_SHA,      /* {SHA} and base64 */
    HTPASSWD_SSHA,     /* {SSHA} and base64 of digest and salt */
    HTPASSWD_PLAIN,    /* {PLAIN} and the password itself */
    HTPASSWD_UNKNOWN,  /* anything else, plain text too: nobody's password matches it */
};

struct htpasswd_entry {
    struct str user;
    struct str hash;       /* all of it, with what tells the kind */
    enum htpasswd_kind kind;
    uint32_t line;         /* its number, from 1 */
};

enum htpasswd_result { HTPASSWD_ENTRY, HTPASSWD_BAD, HTPASSWD_END };

/*
 * Takes the next entry off *rest; *line counts the lines taken so far, 0 at first.  HTPASSWD_BAD: a
 * line (number *line) that is none: no colon, no name, or control bytes; go on with the next.
 */
enum htpasswd_result htpasswd_next(struct str *rest, uint32_t *line, struct htpasswd_entry *out);

enum htpasswd_kind htpasswd_kind_of(struct str hash);

#endif
