/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of addresses, read from their end. Whatever a client sends may be in them. */
#include "forwarded.h"

#include "core/num.h"

static bool parts(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

bool forwarded_last(struct str *list, struct str *out)
{
    size_t end = list->n;
    *out = STR_NONE;
    if (end == 0)
        return false;
    while (end > 0 && parts(list->p[end - 1]))
        end--;
    size_t from = end;
    while (from > 0 && !parts(list->p[from - 1]))
        from--;
    *out = str_make(list->p + from, end - from);
    *list = str_head(*list, from);
    return out->n > 0;
}

/* ":80" */
static bool take_port(struct str text, uint16_t *port)
{
    uint64_t n;
    if (text.n < 2 || text.n > 6 || text.p[0] != ':' || !num_dec(str_skip(text, 1), &n) || n == 0 ||
        n > UINT16_MAX)
        return false;
    *port = (uint16_t)n;
    return true;
}

bool forwarded_addr(struct addr *a, struct str text)
{
    uint16_t port = 0;
    struct str ip = text;
    ssize_t end = str_chr(text, ']'), colon = str_chr(text, ':');
    bool bracketed = text.n > 0 && text.p[0] == '[';
    if (str_chr(text, '%') >= 0 || (bracketed && end < 0) || (!bracketed && end >= 0))
        return false; /* a zone names an interface of ours: no client may ask for it */
    if (bracketed)
        ip = str_head(text, (size_t)end + 1);
    else if (colon >= 0 && colon == str_rchr(text, ':')) /* one colon: IPv4 and a port */
        ip = str_head(text, (size_t)colon);
    if (ip.n != text.n && !take_port(str_skip(text, ip.n), &port))
        return false;
    if (!addr_from_ip(a, ip, port))
        return false;
    addr_unmap(a);
    return true;
}
