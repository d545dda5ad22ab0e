/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration text to values: numbers, sizes, times, switches, words of a list, addresses, and
 * the splitting of a scalar into words.  The grammar is nginx's, but stricter: nothing wraps, and
 * no octal, hexadecimal or signed form is taken for a number.
 */
#include "conf/value.h"

#include "core/check.h"

/* INT64_MAX itself is the word `unlimited` (CONF_UNLIMITED), so no number may reach it. */
#define VALUE_MAX (INT64_MAX - 1)

static const char why_big[] = "a smaller number, this one does not fit";
static const char why_zero[] = "a decimal number without leading zeros";
static const char why_size[] = "a size: digits, then nothing, k, m or g";
static const char why_time[] = "a time such as 500ms, 30s or 1h30m";

static bool refuse(const char **why, const char *text)
{
    if (why != NULL)
        *why = text;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes the digits at the front of *s; `what` is what the caller wanted there. */
static bool take_number(struct str *s, int64_t *out, const char *what, const char **why)
{
    int64_t v = 0;
    size_t n = 0;
    while (n < s->n && is_digit(s->p[n])) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s->p[n] - '0', &v) ||
            v > VALUE_MAX)
            return refuse(why, why_big);
        n++;
    }
    if (n == 0)
        return refuse(why, what);
    if (n > 1 && s->p[0] == '0')
        return refuse(why, why_zero);
    *s = str_skip(*s, n);
    *out = v;
    return true;
}

bool value_switch(struct str s, bool *out, const char **why)
{
    static const struct {
        struct str word;
        bool on;
    } words[] = {
        {STR_INIT("on"), true},    {STR_INIT("off"), false}, {STR_INIT("true"), true},
        {STR_INIT("false"), false}, {STR_INIT("yes"), true},  {STR_INIT("no"), false},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq_nocase(s, words[i].word)) {
            *out = words[i].on;
            return true;
        }
    }
    return refuse(why, "on or off");
}

bool value_int(struct str s, int64_t *out, const char **why)
{
    static const char what[] = "a decimal number";
    int64_t v;
    if (!take_number(&s, &v, what, why))
        return false;
    if (s.n != 0)
        return refuse(why, what);
    *out = v;
    return true;
}

bool value_size(struct str s, int64_t *out, const char **why)
{
    int64_t v, unit = 1;
    if (!take_number(&s, &v, why_size, why))
        return false;
    if (s.n > 1)
        return refuse(why, why_size);
    if (s.n == 1) {
        switch (ascii_lower((unsigned char)s.p[0])) {
        case 'k':
            unit = 1024;
            break;
        case 'm':
            unit = 1024 * 1024;
            break;
        case 'g':
            unit = 1024 * 1024 * 1024;
            break;
        default:
            return refuse(why, why_size);
        }
    }
    if (__builtin_mul_overflow(v, unit, &v) || v > VALUE_MAX)
        return refuse(why, why_big);
    *out = v;
    return true;
}

/* Largest first: the units of one time must come in this order. */
static const struct time_unit {
    struct str name;
    int64_t ms;
} time_units[] = {
    {STR_INIT("y"), INT64_C(365) * 86400 * 1000},
    {STR_INIT("M"), INT64_C(30) * 86400 * 1000},
    {STR_INIT("w"), INT64_C(7) * 86400 * 1000},
    {STR_INIT("d"), INT64_C(86400) * 1000},
    {STR_INIT("h"), INT64_C(3600) * 1000},
    {STR_INIT("m"), 60 * 1000},
    {STR_INIT("s"), 1000},
    {STR_INIT("ms"), 1},
};
enum { TIME_SECONDS = 6 };

/* Takes the unit at the front of *s; no letter there means seconds. -1: no such unit. */
static int take_unit(struct str *s)
{
    size_t n = 0;
    while (n < s->n && s->p[n] != ' ' && !is_digit(s->p[n]))
        n++;
    if (n == 0)
        return TIME_SECONDS;
    for (size_t i = 0; i < ARRAY_LEN(time_units); i++) {
        if (str_eq(str_head(*s, n), time_units[i].name)) {
            *s = str_skip(*s, n);
            return (int)i;
        }
    }
    return -1;
}

bool value_time(struct str s, int64_t *out, const char **why)
{
    int64_t total = 0;
    int last = -1;
    for (;;) {
        int64_t v;
        /* "1h05m" is how people write; a zero in front of the whole is not */
        while (last >= 0 && s.n > 1 && s.p[0] == '0' && is_digit(s.p[1]))
            s = str_skip(s, 1);
        if (!take_number(&s, &v, why_time, why))
            return false;
        int unit = take_unit(&s);
        if (unit <= last)
            return refuse(why, why_time);
        last = unit;
        if (__builtin_mul_overflow(v, time_units[unit].ms, &v) ||
            __builtin_add_overflow(total, v, &total) || total > VALUE_MAX)
            return refuse(why, why_big);
        if (s.n == 0)
            break;
        while (s.n > 1 && s.p[0] == ' ')
            s = str_skip(s, 1);
    }
    *out = total;
    return true;
}

struct str value_size_text(struct arena *a, int64_t v)
{
    static const char units[] = "kmg";
    size_t u = 0;
    while (v != 0 && v % 1024 == 0 && u < 3) {
        v /= 1024;
        u++;
    }
    return arena_printf(a, "%lld%.*s", (long long)v, u == 0 ? 0 : 1, units + u - (u != 0));
}

/* In the largest unit that divides it, but never months or years: those are rounded things. */
struct str value_time_text(struct arena *a, int64_t v)
{
    for (size_t i = 2; i < ARRAY_LEN(time_units); i++)
        if (v != 0 && v % time_units[i].ms == 0)
            return arena_printf(a, "%lld" STR_FMT, (long long)(v / time_units[i].ms),
                                STR_ARG(time_units[i].name));
    return arena_str(a, STR("0"));
}

bool value_enum(struct str s, const char *const *choices, int *out, const char **why)
{
    for (int i = 0; choices[i] != NULL; i++) {
        if (str_eq_nocase(s, str_z(choices[i]))) {
            *out = i;
            return true;
        }
    }
    return refuse(why, "one of the words allowed here");
}

static bool take_port(struct str *s, uint16_t *port, const char **why)
{
    static const char what[] = "a port between 1 and 65535";
    int64_t v;
    if (!take_number(s, &v, what, why))
        return false;
    if (v < 1 || v > 65535)
        return refuse(why, what);
    *port = (uint16_t)v;
    return true;
}

/* All of s is a port or a range of ports. */
static bool read_ports(struct str s, struct value_address *a, const char **why)
{
    if (!take_port(&s, &a->port, why))
        return false;
    a->port_end = a->port;
    if (s.n != 0 && s.p[0] == '-') {
        s = str_skip(s, 1);
        if (!take_port(&s, &a->port_end, why))
            return false;
        if (a->port_end < a->port)
            return refuse(why, "a range of ports that does not run backwards");
    }
    return s.n == 0 || refuse(why, "a port or a range such as 8000-8010");
}

static bool host_chars(struct str host, bool v6)
{
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        char l = (char)ascii_lower((unsigned char)c);
        if (v6 && c == '%')
            return i > 0 && host_chars(str_skip(host, i + 1), false);
        bool ok = v6 ? is_digit(c) || (l >= 'a' && l <= 'f') || c == ':' || c == '.'
                     : is_digit(c) || (l >= 'a' && l <= 'z') || c == '.' || c == '-' || c == '_';
        if (!ok)
            return false;
    }
    return host.n > 0;
}

static bool read_v6(struct str s, struct value_address *a, const char **why)
{
    ssize_t close = str_chr(s, ']');
    if (close < 0)
        return refuse(why, "\"]\" behind the IPv6 address");
    a->v6 = true;
    a->host = str_between(s.p + 1, s.p + close);
    if (!host_chars(a->host, true) || str_chr(a->host, ':') < 0)
        return refuse(why, "an IPv6 address in the brackets");
    struct str rest = str_skip(s, (size_t)close + 1);
    if (rest.n == 0)
        return true;
    if (rest.p[0] != ':')
        return refuse(why, "\":\" and a port behind the brackets");
    return read_ports(str_skip(rest, 1), a, why);
}

static bool read_host(struct str s, struct value_address *a, const char **why)
{
    ssize_t colon = str_rchr(s, ':');
    a->host = colon < 0 ? s : str_head(s, (size_t)colon);
    if (str_chr(a->host, ':') >= 0)
        return refuse(why, "an IPv6 address in brackets, as in [::1]:80");
    if (!str_eq(a->host, STR("*")) && !host_chars(a->host, false))
        return refuse(why, "an address: port, host:port, [v6]:port or unix:/path");
    return colon < 0 || read_ports(str_skip(s, (size_t)colon + 1), a, why);
}

bool value_address(struct str s, struct value_address *out, const char **why)
{
    struct value_address a = {.kind = VALUE_ADDRESS_IP};
    size_t digits = 0;
    while (digits < s.n && (is_digit(s.p[digits]) || s.p[digits] == '-'))
        digits++;

    bool ok;
    if (str_starts(s, STR("unix:"))) {
        a.kind = VALUE_ADDRESS_UNIX;
        a.path = str_skip(s, 5);
        ok = (a.path.n > 1 && a.path.p[0] == '/') || refuse(why, "an absolute path behind unix:");
    } else if (s.n != 0 && s.p[0] == '[') {
        ok = read_v6(s, &a, why);
    } else if (s.n != 0 && digits == s.n) {
        ok = read_ports(s, &a, why);
    } else {
        ok = read_host(s, &a, why);
    }
    if (ok)
        *out = a;
    return ok;
}

bool value_option(struct str s, struct str name, struct str *value)
{
    if (s.n <= name.n || !str_starts(s, name) || s.p[name.n] != '=')
        return false;
    *value = str_skip(s, name.n + 1);
    return true;
}

/* The state of value_split: a reader over s and a writer into one buffer for all words. */
struct splitter {
    struct str s;
    size_t at;
    char *to;
};

/*
 * Copies one character or escape.  As in nginx only \" \' \\ \t \r \n are escapes; before anything
 * else the backslash stays, so that "\." reaches a regular expression whole.
 */
static bool split_char(struct splitter *x)
{
    static const char from[] = "\"'\\trn", into[] = "\"'\\\t\r\n";
    char c = x->s.p[x->at++];
    if (c != '\\') {
        *x->to++ = c;
        return true;
    }
    if (x->at == x->s.n) {
        x->at--;
        return false;
    }
    char next = x->s.p[x->at++];
    const char *hit = next == '\0' ? NULL : strchr(from, next);
    if (hit != NULL) {
        *x->to++ = into[hit - from];
    } else {
        *x->to++ = c;
        *x->to++ = next;
    }
    return true;
}

static bool split_word(struct splitter *x, size_t *at, const char **why)
{
    size_t start = x->at;
    char quote = x->s.p[start];
    bool quoted = quote == '"' || quote == '\'';
    x->at += quoted;
    while (x->at < x->s.n && (quoted ? x->s.p[x->at] != quote : !is_blank(x->s.p[x->at]))) {
        if (!split_char(x)) {
            *at = x->at;
            return refuse(why, "a character behind the backslash");
        }
    }
    if (!quoted)
        return true;
    if (x->at == x->s.n) {
        *at = start;
        return refuse(why, "a closing quote");
    }
    x->at++;
    if (x->at < x->s.n && !is_blank(x->s.p[x->at])) {
        *at = x->at;
        return refuse(why, "a blank behind the closing quote");
    }
    return true;
}

bool value_split(struct arena *a, struct str s, struct value_words *out, size_t *at,
                 const char **why)
{
    struct value_words w = {0};
    size_t most = 0; /* blanks inside quotes make this too many, never too few */
    for (size_t i = 0; i < s.n; i++)
        most += !is_blank(s.p[i]) && (i == 0 || is_blank(s.p[i - 1]));
    /* each word is followed by a blank or the end, so the NULs fit into one more byte */
    struct splitter x = {.s = s, .to = arena_bytes(a, s.n + 1)};
    w.v = arena_array(a, most, sizeof(*w.v));
    w.offset = arena_array(a, most, sizeof(*w.offset));
    if (x.to == NULL || w.v == NULL || w.offset == NULL) {
        *at = 0;
        return refuse(why, "more memory");
    }
    for (;;) {
        while (x.at < s.n && is_blank(s.p[x.at]))
            x.at++;
        if (x.at == s.n)
            break;
        char *begin = x.to;
        w.offset[w.n] = (uint32_t)x.at;
        if (!split_word(&x, at, why))
            return false;
        w.v[w.n++] = str_between(begin, x.to);
        *x.to++ = '\0';
    }
    *out = w;
    return true;
}
