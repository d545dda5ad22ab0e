/* SPDX-License-Identifier: BSD-2-Clause */
/* The credentials of "Basic" authentication (RFC 7617) in an Authorization field. Pure. */
#ifndef SLUICE_PROTO_BASIC_H
#define SLUICE_PROTO_BASIC_H

#include "core/base64.h"

struct basic {
    struct str user, password;   /* may be empty; free of control bytes */
};

/* What decoding a field of n bytes needs. */
#define BASIC_ROOM(n) (BASE64_DECODED(n) + 1)

/*
 * Decodes the field's value into mem, which out then points into.  False: another scheme, not
 * strictly base64, no colon, or control bytes (section 2).  mem may hold a password in either case:
 * it is the caller's to wipe, all BASIC_ROOM bytes of it.
 */
bool basic_parse(struct str field, char *mem, struct basic *out);

#endif
