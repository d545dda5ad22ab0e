/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text form of a set of listening sockets.  It comes from the environment, so it is read as
 * strictly as anything from outside: one bad entry spoils all of it.
 */
#include "os/handover.h"
#include "core/num.h"

#include <limits.h>

static bool is_plain(unsigned char c)
{
    return c > 0x20 && c < 0x7f && c != '%' && c != '=' && c != ';';
}

bool handover_encode(struct buf *to, const struct handover *v, size_t n)
{
    char text[ADDR_TEXT_MAX];

    for (size_t i = 0; i < n; i++) {
        size_t len = addr_format(&v[i].addr, text);

        if (i != 0)
            buf_char(to, ';');
        for (size_t k = 0; k < len; k++) {
            unsigned char c = (unsigned char)text[k];

            if (is_plain(c))
                buf_char(to, text[k]);
            else
                buf_printf(to, "%%%02x", c);
        }
        buf_printf(to, "=%d", v[i].fd);
    }
    return !to->failed;
}

static bool unescape(struct str s, char to[ADDR_TEXT_MAX], size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        uint64_t v;

        if (*n == ADDR_TEXT_MAX)
            return false;
        if (c == '%') {
            if (s.n - i < 3 || !num_hex(str_make(s.p + i + 1, 2), &v))
                return false;
            c = (unsigned char)v;
            i += 2;
        } else if (!is_plain(c)) {
            return false;
        }
        to[(*n)++] = (char)c;
    }
    return true;
}

static bool decode_entry(struct str entry, struct handover *out)
{
    ssize_t eq = str_chr(entry, '=');
    char text[ADDR_TEXT_MAX];
    uint64_t fd;
    size_t n;

    if (eq < 0 || !unescape(str_head(entry, (size_t)eq), text, &n))
        return false;
    if (!addr_parse(&out->addr, str_make(text, n)))
        return false;
    if (!num_dec(str_skip(entry, (size_t)eq + 1), &fd) || fd < 3 || fd > INT_MAX)
        return false;
    out->fd = (int)fd;
    return true;
}

static bool fd_taken(const struct handover_list *list, int fd)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i].fd == fd)
            return true;
    }
    return false;
}

enum status handover_decode(struct arena *mem, struct str text, struct handover_list *out)
{
    struct str rest = text, entry;
    size_t count = text.n != 0;

    *out = (struct handover_list){NULL, 0};
    for (size_t i = 0; i < text.n; i++)
        count += text.p[i] == ';';
    if (count == 0)
        return STATUS_OK;
    if (count > HANDOVER_MAX)
        return STATUS_INVALID;
    out->v = arena_array(mem, count, sizeof(*out->v));
    if (out->v == NULL)
        return STATUS_NOMEM;
    while (out->n < count && str_split(&rest, ';', &entry)) {
        struct handover h;

        if (!decode_entry(entry, &h) || fd_taken(out, h.fd)) {
            out->n = 0;
            return STATUS_INVALID;
        }
        out->v[out->n++] = h;
    }
    return STATUS_OK;
}
