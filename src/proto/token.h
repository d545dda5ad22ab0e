/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte classes and the closed sets of HTTP: methods, fields, statuses (RFC 9110, 9112). Pure. */
#ifndef SLUICE_PROTO_TOKEN_H
#define SLUICE_PROTO_TOKEN_H

#include "core/str.h"

enum method {
    METHOD_OTHER,
#define X(id, token) METHOD_##id,
#include "proto/method.tbl"
#undef X
    METHOD_COUNT
};

enum field_id {
    FIELD_OTHER,
#define X(id, name, rule) FIELD_##id,
#include "proto/field.tbl"
#undef X
    FIELD_COUNT
};

enum field_rule { FIELD_RULE_ANY, FIELD_RULE_LIST, FIELD_RULE_SINGLE };

/* tchar of RFC 9110 5.6.2; VCHAR, SP, HTAB and obs-text of a field value. */
bool token_is_tchar(unsigned char c);
bool token_is_value_byte(unsigned char c);      /* no CTL but HTAB, no DEL */
bool token_is_token(struct str s);              /* one tchar at least, nothing else */

enum method method_of(struct str token);        /* case-sensitive; METHOD_OTHER */
struct str method_name(enum method m);
enum field_id field_of(struct str name);        /* any case; FIELD_OTHER */
enum field_rule field_rule(enum field_id id);
struct str field_name(enum field_id id);        /* lower case */

/* Reason phrase of RFC 9110 15 and RFC 6585; empty for a status that has none. */
struct str status_reason(unsigned http_status);

/*
 * The next member of a comma-separated list (RFC 9110 5.6.1): OWS is trimmed, empty members are
 * passed over, a comma inside a quoted-string does not split. False at the end.
 */
bool token_list_next(struct str *rest, struct str *member);

/* Is there a member equal to `token` without case (parameters are part of the member)? */
bool token_list_has(struct str list, struct str token);

#endif
