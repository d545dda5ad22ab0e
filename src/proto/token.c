/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tokens, comma-separated lists, and names of methods, fields and statuses.  field_of() runs for
 * every field line of every request: length and first byte leave one candidate, which is then
 * compared in full.
 */
#include "proto/token.h"

#include "core/check.h"
#include "proto/byte.h"

static const struct str method_names[METHOD_COUNT] = {
    [METHOD_OTHER] = STR_INIT(""),
#define X(id, token) [METHOD_##id] = STR_INIT(token),
#include "proto/method.tbl"
#undef X
};

static const struct {
    struct str name;
    enum field_rule rule;
} fields[FIELD_COUNT] = {
    [FIELD_OTHER] = {STR_INIT(""), FIELD_RULE_ANY},
#define X(id, name, rule) [FIELD_##id] = {STR_INIT(name), FIELD_RULE_##rule},
#include "proto/field.tbl"
#undef X
};

bool token_is_tchar(unsigned char c)
{
    return byte_is((char)c, BYTE_TCHAR);
}

bool token_is_value_byte(unsigned char c)
{
    return byte_is((char)c, BYTE_VALUE);
}

bool token_is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!byte_is(s.p[i], BYTE_TCHAR)) {
            return false;
        }
    }
    return s.n != 0;
}

enum method method_of(struct str token)
{
    for (unsigned m = METHOD_OTHER + 1; m < METHOD_COUNT; m++) {
        if (str_eq(token, method_names[m])) {
            return (enum method)m;
        }
    }
    return METHOD_OTHER;
}

struct str method_name(enum method m)
{
    CHECK((unsigned)m < METHOD_COUNT);
    return method_names[m];
}

#define KEY(n, first) ((n) << 8 | (unsigned char)(first))

/* The only field that a name of this length and first byte can be. */
static enum field_id field_candidate(struct str name)
{
    switch (KEY(name.n, ascii_lower((unsigned char)name.p[0]))) {
    case KEY(2, 't'): return FIELD_TE;
    case KEY(3, 'v'): return FIELD_VIA;
    case KEY(4, 'h'): return FIELD_HOST;
    case KEY(5, 'r'): return FIELD_RANGE;
    case KEY(6, 'a'): return FIELD_ACCEPT;
    case KEY(6, 'c'): return FIELD_COOKIE;
    case KEY(6, 'e'): return FIELD_EXPECT;
    case KEY(7, 'r'): return FIELD_REFERER;
    case KEY(7, 'u'): return FIELD_UPGRADE;
    case KEY(8, 'i'): return (name.p[3] | 0x20) == 'r' ? FIELD_IF_RANGE : FIELD_IF_MATCH;
    case KEY(9, 'x'): return FIELD_X_REAL_IP;
    case KEY(10, 'c'): return FIELD_CONNECTION;
    case KEY(10, 'k'): return FIELD_KEEP_ALIVE;
    case KEY(10, 'u'): return FIELD_USER_AGENT;
    case KEY(12, 'c'): return FIELD_CONTENT_TYPE;
    case KEY(13, 'a'): return FIELD_AUTHORIZATION;
    case KEY(13, 'i'): return FIELD_IF_NONE_MATCH;
    case KEY(14, 'c'): return FIELD_CONTENT_LENGTH;
    case KEY(14, 's'): return FIELD_SEC_FETCH_MODE;
    case KEY(15, 'a'): return FIELD_ACCEPT_ENCODING;
    case KEY(15, 'x'): return FIELD_X_FORWARDED_FOR;
    case KEY(17, 'i'): return FIELD_IF_MODIFIED_SINCE;
    case KEY(17, 't'): return FIELD_TRANSFER_ENCODING;
    case KEY(19, 'i'): return FIELD_IF_UNMODIFIED_SINCE;
    default: return FIELD_OTHER;
    }
}

enum field_id field_of(struct str name)
{
    if (name.n < 2 || name.n > 19) {
        return FIELD_OTHER;
    }
    enum field_id id = field_candidate(name);
    const char *want = fields[id].name.p;
    if (id == FIELD_OTHER) {
        return id;
    }
    for (size_t i = 0; i < name.n; i++) {
        if (ascii_lower((unsigned char)name.p[i]) != (unsigned char)want[i]) {
            return FIELD_OTHER;
        }
    }
    return id;
}

enum field_rule field_rule(enum field_id id)
{
    CHECK((unsigned)id < FIELD_COUNT);
    return fields[id].rule;
}

struct str field_name(enum field_id id)
{
    CHECK((unsigned)id < FIELD_COUNT);
    return fields[id].name;
}

struct str status_reason(unsigned http_status)
{
    switch (http_status) {
#define X(status, phrase) case status: return STR(phrase);
#include "proto/reason.tbl"
#undef X
    default: return STR("");
    }
}

/* Where the member that starts at p ends: a comma outside of quotes, or the end. */
static const char *member_end(const char *p, const char *end)
{
    bool quoted = false;

    for (; p < end; p++) {
        if (*p == '"') {
            quoted = !quoted;
        } else if (quoted && *p == '\\' && end - p > 1) {
            p++;
        } else if (!quoted && *p == ',') {
            return p;
        }
    }
    return end;
}

bool token_list_next(struct str *rest, struct str *member)
{
    const char *p = rest->p, *end = rest->p + rest->n;

    while (p < end && (*p == ',' || *p == ' ' || *p == '\t')) {
        p++;
    }
    if (p == end) {
        *rest = (struct str){end, 0};
        return false;
    }
    const char *stop = member_end(p, end);
    *rest = str_between(stop, end);
    while (stop[-1] == ' ' || stop[-1] == '\t') {
        stop--; /* ends at p at the latest: *p is neither */
    }
    *member = str_between(p, stop);
    return true;
}

bool token_list_has(struct str list, struct str token)
{
    struct str member;

    while (token_list_next(&list, &member)) {
        if (str_eq_nocase(member, token)) {
            return true;
        }
    }
    return false;
}
