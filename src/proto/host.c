/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host and authority.  Stricter than RFC 3986: a registered name is letters, digits and "-._~",
 * at most 255 bytes, since anything else is no name in the DNS but may be mischief in a path, a
 * log line or a redirect.
 */
#include "proto/host.h"

#include "core/num.h"
#include "proto/byte.h"

#include <arpa/inet.h>

#define NAME_LEN_MAX 255

/* ":" *DIGIT behind the name, or nothing. */
static bool parse_port(struct str s, int32_t *port)
{
    uint64_t v;

    *port = -1;
    if (s.n == 0) {
        return true;
    }
    if (s.p[0] != ':') {
        return false;
    }
    s = str_skip(s, 1);
    if (s.n == 0) {
        return true;
    }
    if (!num_dec(s, &v) || v > UINT16_MAX) {
        return false;
    }
    *port = (int32_t)v;
    return true;
}

/* "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ) */
static bool is_ip_future(struct str s)
{
    size_t i = 1;

    while (i < s.n && num_hexdigit((unsigned char)s.p[i]) >= 0) {
        i++;
    }
    if (i == 1 || i >= s.n || s.p[i] != '.' || i + 1 == s.n) {
        return false;
    }
    for (i++; i < s.n; i++) {
        if (!byte_is(s.p[i], BYTE_PATH) || s.p[i] == '/' || s.p[i] == '@') {
            return false;
        }
    }
    return true;
}

/* What stands between the brackets. */
static bool is_ip_literal(struct str s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr addr;

    if (s.n != 0 && ascii_lower((unsigned char)s.p[0]) == 'v') {
        return s.n <= NAME_LEN_MAX && is_ip_future(s);
    }
    if (s.n < 2 || s.n >= sizeof(text) || memchr(s.p, '\0', s.n) != NULL) {
        return false;
    }
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return inet_pton(AF_INET6, text, &addr) == 1;
}

static bool is_name(struct str s)
{
    char before = '.'; /* refuses a leading dot */

    if (s.n > NAME_LEN_MAX) {
        return false;
    }
    for (size_t i = 0; i < s.n; i++) {
        if (!byte_is(s.p[i], BYTE_NAME) || (s.p[i] == '.' && before == '.')) {
            return false;
        }
        before = s.p[i];
    }
    return s.n != 0;
}

bool host_parse(struct str s, struct host *out)
{
    size_t n;

    if (s.n == 0) {
        return false;
    }
    if (s.p[0] == '[') {
        const char *close = memchr(s.p, ']', s.n);
        if (close == NULL || !is_ip_literal(str_between(s.p + 1, close))) {
            return false;
        }
        n = (size_t)(close - s.p) + 1;
        out->name = str_head(s, n);
        return parse_port(str_skip(s, n), &out->port);
    }
    const char *colon = memchr(s.p, ':', s.n);
    n = colon != NULL ? (size_t)(colon - s.p) : s.n;
    if (!is_name(str_head(s, n))) {
        return false;
    }
    out->name = str_head(s, s.p[n - 1] == '.' ? n - 1 : n);
    return parse_port(str_skip(s, n), &out->port);
}
