/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_trailer.  Values are made when the body has been written, so that they can say something of
 * it; the names are announced in the head (RFC 9110 6.6.2).
 */
#include "trailers.h"

#include "http/request.h"

/* What counts before the body has been read, or says how to read it (RFC 9110 6.5.1). */
#define FRAMING "it says how a message is read"
#define CONTROL "it has to be known before the body"
static const struct refused_name refused[] = {
    {"age", CONTROL},
    {"authorization", CONTROL},
    {"cache-control", CONTROL},
    {"connection", FRAMING},
    {"content-encoding", FRAMING},
    {"content-length", FRAMING},
    {"content-range", FRAMING},
    {"content-type", FRAMING},
    {"date", CONTROL},
    {"expires", CONTROL},
    {"host", FRAMING},
    {"keep-alive", FRAMING},
    {"location", CONTROL},
    {"retry-after", CONTROL},
    {"set-cookie", CONTROL},
    {"te", FRAMING},
    {"trailer", FRAMING},
    {"transfer-encoding", FRAMING},
    {"upgrade", FRAMING},
    {"vary", CONTROL},
    {"www-authenticate", CONTROL},
    {NULL, NULL},
};

static bool join(struct arena *a, const struct added_lines *lines, bool always, struct str *to)
{
    *to = STR("");
    for (size_t i = 0; i < lines->count && to->p != NULL; i++) {
        const struct added_line *line = &lines->v[i];
        if (line->empty || (always && !line->always))
            continue;
        struct str parts[] = {*to, to->n != 0 ? STR(", ") : STR(""), line->name};
        *to = arena_cat(a, parts, ARRAY_LEN(parts));
    }
    return to->p != NULL;
}

bool trailers_freeze(struct cycle_http *cy, struct block *b, const struct instances *in,
                     const struct trailer_lines *above, struct trailer_lines *to)
{
    if (in->n == 0 && above != NULL) {
        *to = *above;
        return true;
    }
    return lines_freeze(cy, b, "add_trailer", in, refused, above != NULL ? &above->lines : NULL,
                        &to->lines) &&
           join(cy->arena, &to->lines, false, &to->names) &&
           join(cy->arena, &to->lines, true, &to->names_always);
}

static void write_trailers(struct request *r, const void *arg)
{
    const struct trailer_lines *t = arg;
    bool good = lines_good_status(r->res.status);
    for (size_t i = 0; i < t->lines.count; i++) {
        const struct added_line *line = &t->lines.v[i];
        if (line->empty || (!good && !line->always))
            continue;
        struct str value = template_eval(&line->value, r);
        if (value.n != 0 && !trailer_add(r, line->name, value))
            log_error(&r->log, "the trailer " STR_FMT " has a value that cannot be sent",
                      STR_ARG(line->name));
    }
}

void trailers_announce(struct request *r, struct response *res, const struct trailer_lines *t)
{
    struct str names = lines_good_status(res->status) ? t->names : t->names_always;
    if (names.n == 0 || r->line.minor == 0 || !r->loc->conf->chunked_transfer_encoding)
        return;
    res->trailer_names = names;
    res->write_trailers = write_trailers;
    res->trailer_arg = t;
}
