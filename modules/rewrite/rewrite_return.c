/* SPDX-License-Identifier: BSD-2-Clause */
/* `return`: an answer from the configuration. */
#include "rewrite.h"

#include "core/num.h"
#include "http/http.h"
#include "http/request.h"
#include "rewrite_url.h"

#define CODE_MIN 200 /* below are interim responses, which cannot be the last word */
#define CODE_MAX 999
#define CODE_CLOSE 444

#define REFUSE(cy, b, where, ...) (diag_error((cy)->diag, (where), (b)->path, __VA_ARGS__), false)

static bool is_redirect(unsigned code)
{
    return code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
}

static bool read_code(struct cycle_http *cy, struct block *b, const struct arg *arg,
                      struct answer *a)
{
    uint64_t code;
    if (!num_dec(arg->text, &code) || code < CODE_MIN || code > CODE_MAX)
        return REFUSE(cy, b, arg->pos, "return: \"" STR_FMT "\" is not valid, expected a status "
                      "from %d to %d or a URL", STR_ARG(diag_excerpt(cy->diag, arg->text)),
                      CODE_MIN, CODE_MAX);
    a->code = (uint16_t)code;
    return true;
}

bool answer_freeze(struct cycle_http *cy, struct block *b, struct rewrite_conf *conf)
{
    struct answer *a = &conf->answer;
    if (conf->return_.n == 0)
        return true;
    const struct args *in = &conf->return_.v[0];
    const struct arg *text = &in->v[in->n - 1];
    if (in->n == 1 && rewrite_is_url(text->text))
        a->code = 302;
    else if (!read_code(cy, b, &in->v[0], a))
        return false;
    a->url = is_redirect(a->code) && (in->n == 2 || rewrite_is_url(text->text));
    a->has_text = in->n == 2 || a->url;
    if (!a->has_text)
        return true;
    return template_compile(&a->text, &cy->vars, cy->arena, cy->diag, text->pos, b->path,
                            text->text);
}

/* ---- 444 ---- */

struct closing {
    struct turn turn;
    struct conn *conn;
};

static void close_now(struct turn *t)
{
    /* the answers before it in a pipeline go out */
    conn_close_sent(container_of(t, struct closing, turn)->conn, CLOSE_NO_ANSWER);
}

static void forget(void *arg)
{
    struct closing *c = arg;
    list_remove(&c->turn.link);
}

/* The request ends with its connection, so that has to wait until nobody looks at it any more. */
static enum verdict close_without_answer(struct request *r)
{
    struct closing *c = ARENA_NEW(&r->mem, struct closing);
    if (c == NULL)
        return response_error(r, 500);
    turn_init(&c->turn, close_now);
    c->conn = r->conn;
    if (!arena_on_free(&r->mem, forget, c))
        return response_error(r, 500);
    r->res.status = CODE_CLOSE;
    loop_at_turn_end(r->worker->loop, &c->turn);
    return VERDICT_PENDING;
}

enum verdict answer_give(struct request *r, const struct answer *a)
{
    if (a->code == CODE_CLOSE)
        return close_without_answer(r);
    if (a->url) {
        struct str location = rewrite_url(&a->text, r, false);
        return location.p != NULL ? response_redirect(r, a->code, location)
                                  : response_error(r, 500);
    }
    if (!a->has_text && a->code >= 300)
        return response_error(r, a->code);
    struct str text = a->has_text ? template_eval(&a->text, r) : STR("");
    if (arena_overflowed(&r->mem))
        return response_error(r, 500);
    response_bytes(r, a->code, a->has_text ? response_type(r) : STR_NONE, text);
    return VERDICT_DONE;
}
