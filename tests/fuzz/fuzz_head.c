/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heads: found in pieces as at once; then parsed, where every view must lie in the head, hold only
 * bytes its grammar allows, and agree with the count of the scan.
 * Input: one byte of options, one for the size of the pieces, the head.
 */
#include "fuzz.h"

#include "proto/h1_fields.h"
#include "proto/host.h"

#define ROOM 16

struct outcome {
    enum h1_scan_result result;
    enum h1_error err;
    struct h1_scan scan;
};

static struct outcome scan(struct str in, const struct h1_limits *lim, size_t step)
{
    struct outcome o = {.result = H1_SCAN_MORE};
    size_t n = 0;

    do {
        n = n + step < in.n ? n + step : in.n;
        struct str part = fuzz_copy(str_head(in, n));
        o.result = h1_scan_head(part, &o.scan, lim, &o.err);
        fuzz_free(part);
        CHECK((o.result == H1_SCAN_ERROR) == (o.err != H1_OK));
    } while (o.result == H1_SCAN_MORE && n < in.n);
    return o;
}

static void check_line(struct str line, const struct h1_line *l)
{
    struct host host;

    CHECK(l->major == 1 && l->minor <= 1);
    CHECK(token_is_token(l->method_text) && fuzz_inside(l->method_text, line));
    CHECK(fuzz_inside(l->target, line) && l->target.n != 0);
    CHECK(l->method_text.n + 1 + l->target.n + 9 == line.n);
    for (size_t i = 0; i < l->target.n; i++) {
        CHECK(l->target.p[i] > 0x20 && l->target.p[i] < 0x7f && l->target.p[i] != '#');
    }
    CHECK(l->path.n != 0 && str_chr(l->path, '?') < 0);
    CHECK(l->has_query || l->query.n == 0);
    CHECK((l->form == H1_FORM_AUTHORITY) == (l->method == METHOD_CONNECT));
    CHECK((l->form == H1_FORM_ASTERISK) == str_eq(l->path, STR("*")));
    CHECK((l->form == H1_FORM_ABSOLUTE) == (l->scheme.n != 0));
    if (l->authority.n != 0 && host_parse(l->authority, &host)) {
        CHECK(host.port >= -1 && host.port <= UINT16_MAX && host.name.n != 0);
        CHECK(host.name.p == l->authority.p && host.name.n <= l->authority.n);
    }
}

static void check_fields(struct str lines, const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(token_is_token(f[i].name) && fuzz_inside(f[i].name, lines));
        CHECK(f[i].id == field_of(f[i].name));
        CHECK(f[i].id == FIELD_OTHER || str_eq_nocase(f[i].name, field_name(f[i].id)));
        CHECK(f[i].value.n == 0 || fuzz_inside(f[i].value, lines));
        CHECK(str_eq(str_trim(f[i].value), f[i].value));
        for (size_t k = 0; k < f[i].value.n; k++) {
            CHECK(token_is_value_byte((unsigned char)f[i].value.p[k]));
        }
    }
}

static void check_meta(const struct h1_line *l, const struct field *f, size_t n,
                       const struct h1_meta *m)
{
    bool length = m->first[FIELD_CONTENT_LENGTH] != 0;
    bool coding = m->first[FIELD_TRANSFER_ENCODING] != 0;

    CHECK(!(length && coding) && !(coding && l->minor == 0));
    CHECK(m->has_host || l->minor == 0);
    CHECK((m->body == H1_BODY_CHUNKED) == coding);
    CHECK(m->content_length <= INT64_MAX && (m->body == H1_BODY_LENGTH) == (m->content_length != 0));
    CHECK(!(m->keepalive && m->connection_close));
    for (unsigned id = FIELD_OTHER + 1; id < FIELD_COUNT; id++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            count += f[i].id == id;
        }
        CHECK((m->first[id] != 0) == (count != 0));
        CHECK(count < 2 || field_rule((enum field_id)id) != FIELD_RULE_SINGLE);
    }
}

/* A head that the scan found complete. */
static void parse_head(struct str head, const struct h1_limits *lim, bool skip, size_t lines_seen)
{
    const char *lf = memchr(head.p, '\n', head.n);
    CHECK(lf != NULL);
    struct str lines = str_between(lf + 1, head.p + head.n);
    struct str line = str_between(head.p, lf[-1] == '\r' ? lf - 1 : lf);
    struct h1_line l;
    struct field f[ROOM];
    struct h1_meta meta;
    size_t n;

    enum h1_error err = h1_parse_line(line, &l);
    CHECK(err == H1_OK || err == H1_BAD || err == H1_METHOD_UNKNOWN);
    CHECK(line.n <= lim->line_max && head.n <= lim->head_max && lines_seen <= lim->fields_max);
    if (err == H1_OK) {
        check_line(line, &l);
    }
    enum h1_error ferr = h1_parse_fields(lines, lim->lenient, skip, f, ROOM, &n);
    CHECK(ferr == H1_OK || ferr == H1_BAD);
    if (ferr == H1_OK) {
        CHECK(skip ? n <= lines_seen : n == lines_seen);
        check_fields(lines, f, n);
        if (err == H1_OK && h1_digest(&l, f, n, &meta) == H1_OK) {
            check_meta(&l, f, n, &meta);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size);
    uint8_t options = fuzz_byte(&in), step = fuzz_byte(&in);
    bool small = options & 4;
    struct h1_limits lim = {.line_max = small ? 20 : 1000,
                            .head_max = small ? 60 : 4000,
                            .field_max = small ? 15 : 1000,
                            .fields_max = small ? 3 : ROOM,
                            .lenient = options & 1};
    struct outcome whole = scan(in, &lim, in.n + 1), parts = scan(in, &lim, step % 64 + 1u);

    CHECK(whole.result == parts.result && whole.err == parts.err);
    if (whole.result == H1_SCAN_DONE) {
        CHECK(memcmp(&whole.scan, &parts.scan, sizeof(whole.scan)) == 0);
        struct str head = fuzz_copy(str_between(in.p + whole.scan.start, in.p + whole.scan.pos));
        parse_head(head, &lim, options & 2, whole.scan.fields);
        fuzz_free(head);
    } else if (whole.result == H1_SCAN_MORE) {
        CHECK(in.n < (size_t)lim.head_max + 4);
    }
    return 0;
}
