/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chunked decoder: the same result however the bytes are cut, and complete exactly where a
 * reference that reads whole lines says so, with the same data.
 * Input: one byte for the size of the pieces, the body.
 */
#include "fuzz.h"

#include "core/num.h"
#include "proto/h1_chunk.h"
#include "proto/token.h"

struct outcome {
    enum h1_chunk_result result;
    char *data;
    size_t n, used; /* bytes decoded, bytes of the input taken */
};

static struct outcome decode(struct str in, size_t step)
{
    struct outcome o = {.result = H1_CHUNK_MORE, .data = malloc(in.n + 1)};
    struct h1_chunk c;

    CHECK(o.data != NULL);
    h1_chunk_init(&c);
    while (o.result == H1_CHUNK_MORE && o.used < in.n) {
        struct str part = fuzz_copy(str_head(str_skip(in, o.used), step)), rest = part, data;
        while ((o.result = h1_chunk_next(&c, &rest, &data)) == H1_CHUNK_DATA) {
            CHECK(data.n != 0 && fuzz_inside(data, part));
            memcpy(o.data + o.n, data.p, data.n);
            o.n += data.n;
        }
        CHECK(o.result != H1_CHUNK_MORE || rest.n == 0);
        o.used += part.n - rest.n;
        fuzz_free(part);
    }
    CHECK(c.total == o.n);
    return o;
}

/* One line without its CRLF; false if there is none, or a CR or LF stands elsewhere. */
static bool take_line(struct str *in, struct str *line)
{
    ssize_t end = str_find(*in, STR("\r\n"));

    if (end < 0) {
        return false;
    }
    *line = str_head(*in, (size_t)end);
    *in = str_skip(*in, (size_t)end + 2);
    return str_chr(*line, '\r') < 0 && str_chr(*line, '\n') < 0;
}

static void skip_blanks(struct str *s)
{
    while (s->n != 0 && (s->p[0] == ' ' || s->p[0] == '\t')) {
        *s = str_skip(*s, 1);
    }
}

static bool take_token(struct str *s)
{
    size_t n = 0;

    while (n < s->n && token_is_tchar((unsigned char)s->p[n])) {
        n++;
    }
    *s = str_skip(*s, n);
    return n != 0;
}

static bool take_quoted(struct str *s)
{
    size_t i = 1;

    while (i < s->n && s->p[i] != '"') {
        i += s->p[i] == '\\' ? 2 : 1;
    }
    if (i >= s->n) {
        return false;
    }
    for (size_t k = 0; k < i; k++) {
        if (!token_is_value_byte((unsigned char)s->p[k])) {
            return false;
        }
    }
    *s = str_skip(*s, i + 1);
    return true;
}

/* *( BWS ";" BWS name [ BWS "=" BWS value ] ) */
static bool extensions_good(struct str s)
{
    while (s.n != 0) {
        skip_blanks(&s);
        if (s.n == 0 || s.p[0] != ';') {
            return false;
        }
        s = str_skip(s, 1);
        skip_blanks(&s);
        if (!take_token(&s)) {
            return false;
        }
        struct str value = s;
        skip_blanks(&value);
        if (value.n != 0 && value.p[0] == '=') {
            s = str_skip(value, 1);
            skip_blanks(&s);
            if (s.n != 0 && s.p[0] == '"' ? !take_quoted(&s) : !take_token(&s)) {
                return false;
            }
        }
    }
    return true;
}

/* True when the body is complete and good: its data, and the bytes it takes. */
static bool model(struct str in, struct outcome *o)
{
    struct str line, all = in;
    uint64_t chunk;

    o->n = 0;
    do {
        if (!take_line(&in, &line) || line.n + 2 > H1_CHUNK_LINE_MAX) {
            return false;
        }
        size_t digits = 0;
        while (digits < line.n && num_hexdigit((unsigned char)line.p[digits]) >= 0) {
            digits++;
        }
        if (!num_hex(str_head(line, digits), &chunk) || chunk > INT64_MAX ||
            !extensions_good(str_skip(line, digits))) {
            return false;
        }
        if (chunk != 0) {
            if (in.n < 2 || chunk > in.n - 2 || in.p[chunk] != '\r' || in.p[chunk + 1] != '\n') {
                return false;
            }
            memcpy(o->data + o->n, in.p, (size_t)chunk);
            o->n += (size_t)chunk;
            in = str_skip(in, (size_t)chunk + 2);
        }
    } while (chunk != 0);
    struct str trailer = in;
    while (take_line(&in, &line)) {
        if (in.p - trailer.p > H1_CHUNK_TRAILER_MAX) {
            return false;
        }
        if (line.n == 0) {
            o->used = (size_t)(in.p - all.p);
            return true;
        }
        ssize_t colon = str_chr(line, ':');
        if (colon < 0 || !token_is_token(str_head(line, (size_t)colon))) {
            return false;
        }
        for (size_t i = (size_t)colon; i < line.n; i++) {
            if (!token_is_value_byte((unsigned char)line.p[i])) {
                return false;
            }
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size);
    size_t step = fuzz_byte(&in) % 64 + 1u;
    struct outcome whole = decode(in, in.n), parts = decode(in, step);
    struct outcome want = {.data = malloc(in.n + 1)};

    CHECK(want.data != NULL);
    CHECK(whole.result == parts.result && whole.n == parts.n && whole.used == parts.used);
    CHECK(memcmp(whole.data, parts.data, whole.n) == 0);
    bool good = model(in, &want);
    CHECK(good == (whole.result == H1_CHUNK_DONE));
    if (good) {
        CHECK(want.n == whole.n && want.used == whole.used);
        CHECK(memcmp(want.data, whole.data, want.n) == 0);
    }
    free(whole.data);
    free(parts.data);
    free(want.data);
    return 0;
}
