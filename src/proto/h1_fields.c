/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Field lines and their meaning for framing and persistence.  Everything two readers could
 * understand in two ways is refused: that is what request smuggling lives on.
 */
#include "proto/h1_fields.h"

#include "core/num.h"
#include "proto/byte.h"

/* A name with a byte that no name may have: may the line be left out?  *pp moves to the colon. */
static bool name_skippable(const char **pp, const char *end)
{
    const char *p = *pp;

    for (; p < end && *p != ':'; p++) {
        if ((unsigned char)*p <= 0x20 || *p == 0x7f) {
            return false;
        }
    }
    *pp = p;
    return p < end;
}

/* Length of the line end at p: 2 for CRLF, 1 for a bare LF if lenient, 0 for anything else. */
static size_t line_end(const char *p, const char *end, bool lenient)
{
    if (end - p >= 2 && p[0] == '\r' && p[1] == '\n') {
        return 2;
    }
    return lenient && p < end && *p == '\n' ? 1 : 0;
}

/* The value behind the colon at *pp, without white space around it; *pp moves to the next line. */
static bool parse_value(const char **pp, const char *end, bool lenient, struct str *value)
{
    const char *from = *pp + 1;

    while (from < end && (*from == ' ' || *from == '\t')) {
        from++;
    }
    const char *to = byte_find_bad_value(from, end);
    size_t eol = line_end(to, end, lenient);
    *pp = to + eol;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) {
        to--;
    }
    *value = str_between(from, to);
    return eol != 0;
}

enum h1_error h1_parse_fields(struct str lines, bool lenient, bool skip_invalid,
                              struct field *out, size_t room, size_t *n)
{
    const char *p = lines.p, *end = lines.p + lines.n;
    struct field f;

    for (*n = 0;;) {
        const char *name = p;
        size_t eol = line_end(p, end, lenient);
        if (eol != 0) {
            return p + eol == end ? H1_OK : H1_BAD;
        }
        while (p < end && byte_is(*p, BYTE_TCHAR)) {
            p++;
        }
        bool good = p < end && *p == ':';
        f.name = str_between(name, p);
        if ((good && p == name) || (!good && !(skip_invalid && name_skippable(&p, end))) ||
            !parse_value(&p, end, lenient, &f.value)) {
            return H1_BAD;
        }
        if (good) {
            if (*n == room) {
                return H1_HEAD_TOO_LARGE;
            }
            f.id = field_of(f.name);
            out[(*n)++] = f;
        }
    }
}

/* Transfer-Encoding: "chunked" alone is understood (RFC 9112 6.1). */
static enum h1_error digest_coding(struct str value)
{
    struct str member;
    bool unknown = false, chunked = false;

    while (token_list_next(&value, &member)) {
        ssize_t params = str_chr(member, ';');
        struct str coding = params < 0 ? member : str_trim(str_head(member, (size_t)params));
        bool is_chunked = str_eq_nocase(coding, STR("chunked"));
        if (chunked || !token_is_token(coding) || (is_chunked && params >= 0)) {
            return H1_BAD; /* chunked must be the last, once, without parameters */
        }
        chunked = is_chunked;
        unknown = unknown || !is_chunked;
    }
    if (!chunked && !unknown) {
        return H1_BAD;
    }
    return unknown ? H1_BAD_CODING : H1_OK;
}

static const struct field *field_first(const struct field *f, const struct h1_meta *m,
                                       enum field_id id)
{
    return m->first[id] != 0 ? &f[m->first[id] - 1] : NULL;
}

static enum h1_error digest_framing(const struct h1_line *line, const struct field *f,
                                    struct h1_meta *m)
{
    const struct field *length = field_first(f, m, FIELD_CONTENT_LENGTH);
    const struct field *coding = field_first(f, m, FIELD_TRANSFER_ENCODING);

    if (coding != NULL) {
        if (length != NULL || line->minor == 0) {
            return H1_BAD;
        }
        m->body = H1_BODY_CHUNKED;
        return digest_coding(coding->value);
    }
    if (length != NULL) {
        if (!num_dec(length->value, &m->content_length) || m->content_length > INT64_MAX) {
            return H1_BAD;
        }
        m->body = m->content_length != 0 ? H1_BODY_LENGTH : H1_BODY_NONE;
    }
    return H1_OK;
}

static void digest_connection(struct str value, struct h1_meta *m)
{
    struct str member;

    while (token_list_next(&value, &member)) {
        if (str_eq_nocase(member, STR("close"))) {
            m->connection_close = true;
        } else if (str_eq_nocase(member, STR("keep-alive"))) {
            m->keepalive = true;
        } else if (str_eq_nocase(member, STR("upgrade"))) {
            m->upgrade = true;
        }
    }
}

static void digest_expect(struct str value, struct h1_meta *m)
{
    struct str member;

    while (token_list_next(&value, &member)) {
        if (str_eq_nocase(member, STR("100-continue"))) {
            m->expect_continue = true;
        } else {
            m->expect_other = true;
        }
    }
}

enum h1_error h1_digest(const struct h1_line *line, const struct field *f, size_t n,
                        struct h1_meta *out)
{
    bool http11 = line->minor != 0;

    memset(out, 0, sizeof(*out));
    out->keepalive = http11;
    for (size_t i = 0; i < n; i++) {
        enum field_id id = f[i].id;
        if (id == FIELD_OTHER) {
            continue;
        }
        if (out->first[id] == 0) {
            out->first[id] = (uint16_t)(i + 1);
        } else if (field_rule(id) == FIELD_RULE_SINGLE) {
            return H1_BAD;
        }
        if (id == FIELD_CONNECTION) {
            digest_connection(f[i].value, out);
        } else if (id == FIELD_EXPECT && http11) {
            digest_expect(f[i].value, out);
        } else if (id == FIELD_HOST) {
            out->has_host = true;
            out->host = f[i].value;
        }
    }
    if (http11 && !out->has_host) {
        return H1_BAD;
    }
    out->keepalive = out->keepalive && !out->connection_close;
    out->upgrade = out->upgrade && out->first[FIELD_UPGRADE] != 0;
    return digest_framing(line, f, out);
}
