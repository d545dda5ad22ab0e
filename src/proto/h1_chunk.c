/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chunked decoder: one state per place in the grammar of RFC 9112 7.1, one byte at a time for
 * the lines, whole runs for data.  White space is taken only where the grammar has BWS and
 * something must follow it; bare CR and bare LF are never taken.  Trailer fields are checked for
 * shape and dropped, so that none of them can ever count as a header field.
 */
#include "proto/h1_chunk.h"

#include "core/num.h"
#include "proto/byte.h"

enum {
    SIZE,          /* hex digits; the first one is still missing if c->digits is 0 */
    SIZE_BLANK,    /* blanks behind the size: an extension must follow */
    EXT_START,     /* behind ';' */
    EXT_NAME,
    EXT_NAME_BLANK,
    EXT_VALUE_START, /* behind '=' */
    EXT_VALUE,
    EXT_QUOTED,
    EXT_ESCAPED,
    EXT_QUOTED_END,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_START, /* at the first byte of a trailer line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    END_LF,
    DONE,
    BAD
};

void h1_chunk_init(struct h1_chunk *c)
{
    *c = (struct h1_chunk){.state = SIZE};
}

/* What may follow a size or a complete extension. */
static unsigned after_extension(char b)
{
    switch (b) {
    case ' ':
    case '\t': return SIZE_BLANK;
    case ';': return EXT_START;
    case '\r': return SIZE_LF;
    default: return BAD;
    }
}

static unsigned step_size(struct h1_chunk *c, char b)
{
    int digit = num_hexdigit((unsigned char)b);

    if (digit < 0) {
        return c->digits != 0 ? after_extension(b) : (unsigned)BAD;
    }
    if (c->left > INT64_MAX >> 4) {
        return BAD;
    }
    c->left = c->left << 4 | (unsigned)digit;
    c->digits = 1;
    return SIZE;
}

/* The size line is complete: data, or the trailer section behind the last chunk. */
static unsigned begin_data(struct h1_chunk *c)
{
    c->line = 0;
    c->digits = 0;
    return c->left != 0 ? DATA : TRAILER_START;
}

static unsigned step_extension(unsigned state, char b)
{
    bool blank = b == ' ' || b == '\t';
    bool tchar = byte_is(b, BYTE_TCHAR);

    switch (state) {
    case SIZE_BLANK: return blank ? SIZE_BLANK : b == ';' ? EXT_START : BAD;
    case EXT_START: return blank ? EXT_START : tchar ? EXT_NAME : BAD;
    case EXT_NAME:
        if (tchar) {
            return EXT_NAME;
        }
        return b == '=' ? (unsigned)EXT_VALUE_START : blank ? EXT_NAME_BLANK : after_extension(b);
    case EXT_NAME_BLANK:
        return blank ? EXT_NAME_BLANK : b == '=' ? EXT_VALUE_START : b == ';' ? EXT_START : BAD;
    case EXT_VALUE_START:
        return blank ? EXT_VALUE_START : b == '"' ? EXT_QUOTED : tchar ? EXT_VALUE : BAD;
    case EXT_VALUE: return tchar ? (unsigned)EXT_VALUE : after_extension(b);
    case EXT_QUOTED:
        return b == '"'    ? EXT_QUOTED_END
               : b == '\\' ? EXT_ESCAPED
                           : (byte_is(b, BYTE_VALUE) ? EXT_QUOTED : BAD);
    case EXT_ESCAPED: return byte_is(b, BYTE_VALUE) ? EXT_QUOTED : BAD;
    default: return after_extension(b); /* EXT_QUOTED_END */
    }
}

static unsigned step_trailer(unsigned state, char b)
{
    switch (state) {
    case TRAILER_START: return b == '\r' ? END_LF : byte_is(b, BYTE_TCHAR) ? TRAILER_NAME : BAD;
    case TRAILER_NAME:
        return byte_is(b, BYTE_TCHAR) ? TRAILER_NAME : b == ':' ? TRAILER_VALUE : BAD;
    case TRAILER_VALUE:
        return byte_is(b, BYTE_VALUE) ? TRAILER_VALUE : b == '\r' ? TRAILER_LF : BAD;
    case TRAILER_LF: return b == '\n' ? TRAILER_START : BAD;
    default: return b == '\n' ? DONE : BAD; /* END_LF */
    }
}

/* One byte that is not chunk data. */
static unsigned step(struct h1_chunk *c, char b)
{
    if (c->state >= TRAILER_START) {
        return ++c->trailer > H1_CHUNK_TRAILER_MAX ? (unsigned)BAD : step_trailer(c->state, b);
    }
    if (c->state <= SIZE_LF && ++c->line > H1_CHUNK_LINE_MAX) {
        return BAD;
    }
    switch (c->state) {
    case SIZE: return step_size(c, b);
    case SIZE_LF: return b == '\n' ? begin_data(c) : (unsigned)BAD;
    case DATA_CR: return b == '\r' ? DATA_LF : BAD;
    case DATA_LF: return b == '\n' ? SIZE : BAD;
    default: return step_extension(c->state, b);
    }
}

enum h1_chunk_result h1_chunk_next(struct h1_chunk *c, struct str *in, struct str *data)
{
    while (c->state < DONE) {
        if (in->n == 0) {
            return H1_CHUNK_MORE;
        }
        if (c->state == DATA) {
            *data = str_head(*in, c->left < in->n ? (size_t)c->left : in->n);
            *in = str_skip(*in, data->n);
            c->left -= data->n;
            c->total += data->n;
            if (c->left == 0) {
                c->state = DATA_CR;
            }
            return H1_CHUNK_DATA;
        }
        c->state = (uint8_t)step(c, in->p[0]);
        *in = str_skip(*in, 1);
    }
    return c->state == DONE ? H1_CHUNK_DONE : H1_CHUNK_BAD;
}
