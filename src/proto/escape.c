/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escapes.  Runs of harmless bytes are copied at once; each function looks at its input one time
 * and writes through the bounded writer, so there is no computed length to disagree with.
 */
#include "proto/escape.h"

static const char hex_upper[] = "0123456789ABCDEF";
static const char hex_lower[] = "0123456789abcdef";

/* Eight bytes at a time: the top bit of some byte is set if one of them is what its name says. */
#define BYTES(c) (UINT64_C(0x0101010101010101) * (c))
static inline uint64_t any_zero(uint64_t x)
{
    return (x - BYTES(1)) & ~x & BYTES(0x80);
}

static inline uint64_t any_special(uint64_t x) /* controls, 0x7f and above, '"', '\\' */
{
    return ((x - BYTES(0x20)) & ~x & BYTES(0x80)) | (x & BYTES(0x80)) |
           any_zero(x ^ BYTES(0x7f)) | any_zero(x ^ BYTES('"')) | any_zero(x ^ BYTES('\\'));
}

/* Passes over harmless bytes, eight by eight; what is left is to be looked at one by one. */
static inline const char *skip_plain(const char *p, const char *end, bool angles)
{
    uint64_t x;
    for (; end - p >= (ptrdiff_t)sizeof(x); p += sizeof(x)) {
        memcpy(&x, p, sizeof(x));
        if (any_special(x) ||
            (angles && (any_zero(x ^ BYTES('<')) | any_zero(x ^ BYTES('>'))) != 0))
            break;
    }
    return p;
}

static struct str html_entity(char c)
{
    switch (c) {
    case '&': return STR("&amp;");
    case '<': return STR("&lt;");
    case '>': return STR("&gt;");
    case '"': return STR("&quot;");
    case '\'': return STR("&#39;");
    default: return STR_NONE;
    }
}

void escape_html(struct wbuf *w, struct str s)
{
    const char *from = s.p, *end = s.p + s.n;

    for (const char *p = s.p; p < end; p++) {
        struct str entity = html_entity(*p);
        if (entity.n != 0) {
            wbuf_str(w, str_between(from, p));
            wbuf_str(w, entity);
            from = p + 1;
        }
    }
    wbuf_str(w, str_between(from, end));
}

#define REPLACEMENT STR("\xef\xbf\xbd") /* U+FFFD */

/* What stands in HTML for the n bytes at p (0: no UTF-8); none: they stand for themselves. */
static struct str html_symbol(const char *p, size_t n, char symbol[3])
{
    unsigned char c = (unsigned char)*p;

    if (n != 1) {
        return n == 0 ? REPLACEMENT : STR_NONE;
    }
    if (c >= 0x20 && c != 0x7f) {
        return html_entity(*p);
    }
    memcpy(symbol, "\xe2\x90", 2); /* U+2400: symbols for controls */
    symbol[2] = (char)(c == 0x7f ? 0xa1 : 0x80 + c);
    return (struct str){symbol, 3};
}

static struct str xml_symbol(const char *p, size_t n)
{
    switch (n) {
    case 0:
        return REPLACEMENT;
    case 1:
        switch (*p) {
        case '\t': return STR("&#9;");
        case '\n': return STR("&#10;");
        case '\r': return STR("&#13;");
        default: return (unsigned char)*p < 0x20 ? REPLACEMENT : html_entity(*p);
        }
    case 3: /* U+FFFE and U+FFFF */
        return memcmp(p, "\xef\xbf", 2) == 0 && (unsigned char)p[2] >= 0xbe ? REPLACEMENT
                                                                            : STR_NONE;
    default:
        return STR_NONE;
    }
}

static void escape_utf8(struct wbuf *w, struct str s, bool xml)
{
    const char *from = s.p, *end = s.p + s.n;

    for (const char *p = s.p; p < end;) {
        char symbol[3];
        size_t n = str_utf8_length(p, end);
        struct str instead = xml ? xml_symbol(p, n) : html_symbol(p, n, symbol);
        if (instead.n != 0) {
            wbuf_str(w, str_between(from, p));
            wbuf_str(w, instead);
            from = p + (n == 0 ? 1 : n);
        }
        p += n == 0 ? 1 : n;
    }
    wbuf_str(w, str_between(from, end));
}

void escape_html_name(struct wbuf *w, struct str s)
{
    escape_utf8(w, s, false);
}

void escape_xml(struct wbuf *w, struct str s)
{
    escape_utf8(w, s, true);
}

/* The letter behind the back-slash of a short escape, 0 if there is none. */
static char json_short(unsigned char c)
{
    switch (c) {
    case '"':
    case '\\': return (char)c;
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

static void json_escape(struct wbuf *w, unsigned char c)
{
    char letter = json_short(c);

    if (letter != 0) {
        wbuf_str(w, (struct str){(char[]){'\\', letter}, 2});
    } else {
        wbuf_str(w, (struct str){(char[]){'\\', 'u', '0', '0', hex_lower[c >> 4],
                                          hex_lower[c & 15]}, 6});
    }
}

void escape_json(struct wbuf *w, struct str s)
{
    const char *from = s.p, *end = s.p + s.n;

    for (const char *p = skip_plain(s.p, end, true); p < end;) {
        unsigned char c = (unsigned char)*p;
        size_t n = str_utf8_length(p, end);
        if (n > 1 || (n == 1 && c >= 0x20 && c != 0x7f && c != '"' && c != '\\' && c != '<' &&
                      c != '>')) {
            p += n;
            continue;
        }
        wbuf_str(w, str_between(from, p));
        json_escape(w, c);
        from = ++p;
        p = skip_plain(p, end, true);
    }
    wbuf_str(w, str_between(from, end));
}

void escape_log(struct wbuf *w, struct str s)
{
    const char *from = s.p, *end = s.p + s.n;

    for (const char *p = skip_plain(s.p, end, false); p < end; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            continue;
        }
        wbuf_str(w, str_between(from, p));
        wbuf_str(w, (struct str){(char[]){'\\', 'x', hex_upper[c >> 4], hex_upper[c & 15]}, 4});
        from = p + 1;
    }
    wbuf_str(w, str_between(from, end));
}
