/* SPDX-License-Identifier: BSD-2-Clause */
/* error_page rows ("404 /404.html", "500 502 =200 /busy", "403 @login") and the built-in pages. */
#include "http/errors.h"

#include "config.h"
#include "core/num.h"
#include "http/request.h"

#define CODE_MIN 300
#define CODE_MAX 599

static bool read_code(struct str s, uint16_t *code)
{
    uint64_t v;
    if (!num_dec(s, &v) || v < CODE_MIN || v > CODE_MAX)
        return false;
    *code = (uint16_t)v;
    return true;
}

/* "400-403" is short for each of them. */
static bool read_codes(struct str s, uint16_t *from, uint16_t *to)
{
    ssize_t dash = str_chr(s, '-');
    if (dash < 0)
        return read_code(s, from) && ((*to = *from), true);
    return read_code(str_head(s, (size_t)dash), from) &&
           read_code(str_skip(s, (size_t)dash + 1), to) && *from <= *to;
}

static bool add_codes(struct cycle_http *cy, struct block *b, struct error_page *p,
                      const struct arg *arg)
{
    uint16_t from, to;
    if (!read_codes(arg->text, &from, &to)) {
        diag_error(cy->diag, arg->pos, b->path,
                   "error_page: \"" STR_FMT "\" is not a status from %d to %d or a range of them",
                   STR_ARG(arg->text), CODE_MIN, CODE_MAX);
        return false;
    }
    for (unsigned c = from; c <= to; c++)
        p->codes[p->code_count++] = (uint16_t)c;
    return true;
}

static size_t count_codes(const struct args *in, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t from, to;
        count += read_codes(in->v[i].text, &from, &to) ? (size_t)(to - from) + 1 : 1;
    }
    return count;
}

/* "=200" or "=" in front of the target. */
static bool read_answer(struct cycle_http *cy, struct block *b, struct error_page *p,
                        const struct arg *arg)
{
    struct str s = str_skip(arg->text, 1);
    uint64_t v;
    if (s.n == 0) {
        p->answer = 0;
        return true;
    }
    if (!num_dec(s, &v) || v < 100 || v > CODE_MAX) {
        diag_error(cy->diag, arg->pos, b->path, "error_page: \"" STR_FMT "\" is not =STATUS",
                   STR_ARG(arg->text));
        return false;
    }
    p->answer = (int32_t)v;
    return true;
}

static struct error_page *page_compile(struct cycle_http *cy, struct block *b,
                                       const struct args *in)
{
    struct error_page *p = ARENA_NEW(cy->arena, struct error_page);
    if (p == NULL)
        return NULL;
    if (in->n < 2) {
        diag_error(cy->diag, in->pos, b->path,
                   "error_page: expected \"STATUS... [=STATUS] TARGET\"");
        return NULL;
    }
    size_t codes = in->n - 1;
    p->answer = -1;
    if (in->v[codes - 1].text.n > 0 && in->v[codes - 1].text.p[0] == '=' && codes > 1) {
        codes--;
        if (!read_answer(cy, b, p, &in->v[codes]))
            return NULL;
    }
    p->codes = arena_array(cy->arena, count_codes(in, codes), sizeof(*p->codes));
    if (p->codes == NULL)
        return NULL;
    for (size_t i = 0; i < codes; i++)
        if (!add_codes(cy, b, p, &in->v[i]))
            return NULL;
    const struct arg *target = &in->v[in->n - 1];
    p->named = target->text.n > 0 && target->text.p[0] == '@';
    p->external = str_starts(target->text, STR("http://")) ||
                  str_starts(target->text, STR("https://")) ||
                  str_starts(target->text, STR("$scheme"));
    if (!p->named && !p->external && (target->text.n == 0 || target->text.p[0] != '/')) {
        diag_error(cy->diag, target->pos, b->path,
                   "error_page: \"" STR_FMT "\" is not a path, an @name or a URL",
                   STR_ARG(target->text));
        return NULL;
    }
    if (!template_compile(&p->target, &cy->vars, cy->arena, cy->diag, target->pos, b->path,
                          target->text))
        return NULL;
    return p;
}

bool errors_freeze(struct cycle_http *cy, struct block *b, struct http_conf *conf)
{
    bool good = true;
    conf->error_pages = NULL;
    for (size_t i = 0; i < conf->error_page.n; i++) {
        struct error_page *p = page_compile(cy, b, &conf->error_page.v[i]);
        if (p == NULL) {
            good = false;
            continue;
        }
        p->next = conf->error_pages; /* the last one is looked at first */
        conf->error_pages = p;
    }
    return good;
}

const struct error_page *errors_find(const struct http_conf *conf, unsigned status)
{
    for (const struct error_page *p = conf->error_pages; p != NULL; p = p->next)
        for (size_t i = 0; i < p->code_count; i++)
            if (p->codes[i] == status)
                return p;
    return NULL;
}

struct str errors_builtin(struct request *r, unsigned status)
{
    struct str reason = status_reason(status);
    return arena_printf(&r->mem,
                        "<!DOCTYPE html>\n<html>\n<head><title>%u " STR_FMT "</title></head>\n"
                        "<body>\n<h1>%u " STR_FMT "</h1>\n<hr>\n<p>%s</p>\n</body>\n</html>\n",
                        status, STR_ARG(reason), status, STR_ARG(reason),
                        r->loc->conf->server_tokens ? "sluice/" SLUICE_VERSION : "sluice");
}
