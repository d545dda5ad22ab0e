/* SPDX-License-Identifier: BSD-2-Clause */
/* The items of `rewrite`: set, break, and a pattern with what takes its place. */
#include "rewrite.h"

#include "http/request.h"
#include "proto/uri.h"
#include "rewrite_url.h"

#define REFUSE(cy, b, where, ...) (diag_error((cy)->diag, (where), (b)->path, __VA_ARGS__), false)

/* ---- variables of set ---- */

/* What was set in a request, newest first. */
struct set_value {
    struct set_value *next;
    const struct var *var;
    struct str value;
};

static bool get_set(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    void **list = request_data(r, rewrite_slot);
    (void)arg;
    for (const struct set_value *s = list != NULL ? *list : NULL; s != NULL; s = s->next) {
        if (s->var != v)
            continue;
        *out = s->value;
        return true;
    }
    return false;
}

static bool set_var(struct request *r, const struct var *var, struct str value)
{
    void **list = request_data(r, rewrite_slot);
    struct set_value *s = ARENA_NEW(&r->mem, struct set_value);
    if (list == NULL || s == NULL)
        return false;
    *s = (struct set_value){*list, var, value};
    *list = s;
    return true;
}

static bool define_var(struct cycle_http *cy, struct block *b, struct rule *rule)
{
    const struct arg *arg = &rule->args->v[1];
    struct str name = str_skip(arg->text, 1);
    struct var_ref known;
    if (!str_starts(arg->text, STR("$")))
        return REFUSE(cy, b, arg->pos, "set: expected $variable, found \"" STR_FMT "\"",
                      STR_ARG(diag_excerpt(cy->diag, arg->text)));
    if (vars_find(&cy->vars, name, &known) && known.var->get == get_set) {
        rule->var = known.var;
        return true;
    }
    struct var *var = ARENA_NEW(cy->arena, struct var);
    if (var == NULL)
        return false;
    *var = (struct var){.name = arena_strz(cy->arena, name), .get = get_set};
    if (var->name == NULL)
        return false;
    rule->var = var;
    if (vars_define(&cy->vars, var))
        return true;
    return arena_overflowed(cy->arena)
               ? false
               : REFUSE(cy, b, arg->pos, "set: $" STR_FMT " cannot be set: %s", STR_ARG(name),
                        vars_find(&cy->vars, name, &known) ? "there is such a variable already"
                                                           : "this is not a name");
}

/* ---- reading ---- */

static bool take_flag(struct cycle_http *cy, struct block *b, struct rule *rule)
{
    static const struct {
        const char *word;
        enum rule_flag flag;
        uint16_t status;
    } flags[] = {
        {"last", RULE_LAST, 0},
        {"break", RULE_STOP, 0},
        {"redirect", RULE_REDIRECT, 302},
        {"permanent", RULE_REDIRECT, 301},
    };
    if (rule->args->n < 3)
        return true;
    const struct arg *arg = &rule->args->v[2];
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (!str_eq(arg->text, str_z(flags[i].word)))
            continue;
        rule->flag = flags[i].flag;
        rule->redirect = flags[i].status;
        return true;
    }
    return REFUSE(cy, b, arg->pos, "rewrite: \"" STR_FMT "\" is not valid, expected last, break, "
                  "redirect or permanent", STR_ARG(diag_excerpt(cy->diag, arg->text)));
}

static bool define_regex(struct cycle_http *cy, struct block *b, struct rule *rule)
{
    struct regex_source src = {
        .pattern = rule->args->v[0].text, .pos = rule->args->v[0].pos, .path = b->path};
    rule->kind = RULE_REGEX;
    rule->regex = regex_compile(&cy->vars, cy->arena, cy->diag, &src);
    return take_flag(cy, b, rule) && rule->regex != NULL;
}

static bool define_rule(struct cycle_http *cy, struct block *b, struct rule *rule)
{
    struct str first = rule->args->v[0].text;
    size_t n = rule->args->n;
    if (str_eq(first, STR("set"))) {
        rule->kind = RULE_SET;
        return n == 3 ? define_var(cy, b, rule)
                      : REFUSE(cy, b, rule->args->pos, "set: expected \"set $variable value\"");
    }
    if (str_eq(first, STR("break"))) {
        rule->kind = RULE_BREAK;
        return n == 1 || REFUSE(cy, b, rule->args->v[1].pos, "break: takes no arguments");
    }
    if (n == 1)
        return REFUSE(cy, b, rule->args->pos, "rewrite: expected \"regex replacement "
                      "[last|break|redirect|permanent]\", \"set $variable value\" or break");
    return define_regex(cy, b, rule);
}

bool rules_define(struct cycle_http *cy, struct block *b, struct rewrite_conf *conf)
{
    const struct instances *in = &conf->rewrite;
    bool good = true;
    conf->rules = arena_array(cy->arena, in->n, sizeof(*conf->rules));
    if (conf->rules == NULL)
        return false;
    for (size_t i = 0; i < in->n; i++) {
        struct rule *rule = &conf->rules[conf->count];
        rule->args = &in->v[i];
        if (define_rule(cy, b, rule)) {
            conf->count++;
        } else {
            *rule = (struct rule){0};
            good = false;
        }
    }
    return good;
}

static bool compile(struct cycle_http *cy, struct block *b, struct template *t,
                    const struct arg *arg, struct str text)
{
    return template_compile(t, &cy->vars, cy->arena, cy->diag, arg->pos, b->path, text);
}

static bool freeze_replacement(struct cycle_http *cy, struct block *b, struct rule *rule)
{
    const struct arg *arg = &rule->args->v[1];
    struct str text = arg->text;
    if (rewrite_is_url(text) && rule->flag != RULE_REDIRECT) {
        rule->flag = RULE_REDIRECT;
        rule->redirect = 302;
    }
    if (rule->flag != RULE_REDIRECT && !str_starts(text, STR("/")) && !str_starts(text, STR("$")))
        return REFUSE(cy, b, arg->pos, "rewrite: \"" STR_FMT "\" is not valid, expected a path or "
                      "a URL", STR_ARG(diag_excerpt(cy->diag, text)));
    rule->drop_args = str_ends(text, STR("?"));
    text.n -= rule->drop_args;
    ssize_t q = str_chr(text, '?');
    rule->has_query = q >= 0;
    bool good = compile(cy, b, &rule->value, arg, q < 0 ? text : str_head(text, (size_t)q));
    return (q < 0 || compile(cy, b, &rule->query, arg, str_skip(text, (size_t)q + 1))) && good;
}

bool rules_freeze(struct cycle_http *cy, struct block *b, struct rewrite_conf *conf)
{
    bool good = true;
    for (size_t i = 0; i < conf->count; i++) {
        struct rule *rule = &conf->rules[i];
        if (rule->kind == RULE_SET)
            good = compile(cy, b, &rule->value, &rule->args->v[2], rule->args->v[2].text) && good;
        else if (rule->kind == RULE_REGEX)
            good = freeze_replacement(cy, b, rule) && good;
    }
    return good;
}

/* ---- running ---- */

/* The arguments after a rule: its own, then those of the request. p NULL: no memory. */
static struct str new_args(const struct rule *rule, struct request *r)
{
    struct str own = rule->has_query ? rewrite_url(&rule->query, r, true) : STR("");
    if (own.p == NULL)
        return own;
    if (rule->drop_args || r->args.n == 0)
        return own;
    if (own.n == 0)
        return r->args;
    struct str parts[] = {own, STR("&"), r->args};
    return arena_cat(&r->mem, parts, ARRAY_LEN(parts));
}

static enum verdict redirect(struct request *r, const struct rule *rule)
{
    struct str url = rewrite_url(&rule->value, r, false), args = new_args(rule, r);
    struct str parts[] = {url, args.n != 0 ? STR("?") : STR(""), args};
    struct str location = arena_cat(&r->mem, parts, ARRAY_LEN(parts));
    if (url.p == NULL || args.p == NULL || location.p == NULL)
        return response_error(r, 500);
    return response_redirect(r, rule->redirect, location);
}

/* The request's path becomes what the rule says. False: *v is the answer. */
static bool move(struct request *r, const struct rule *rule, enum verdict *v)
{
    struct str path, args = new_args(rule, r);
    enum rewrite_path result = rewrite_path(&rule->value, r, &path);
    if (args.p == NULL || result == REWRITE_PATH_NO_MEMORY) {
        *v = response_error(r, 500);
        return false;
    }
    if (result == REWRITE_PATH_BAD) {
        log_error(&r->log, "the rewritten path of \"" STR_FMT "\" is not a path", STR_ARG(r->uri));
        *v = response_error(r, 400);
        return false;
    }
    if (!r->loc->conf->hidden_files && uri_hidden_segment(path).n != 0) {
        log_info(&r->log, "\"" STR_FMT "\" is hidden", STR_ARG(path));
        *v = response_error(r, 404);
        return false;
    }
    r->uri = path;
    r->args = args;
    r->extension = uri_extension(path);
    r->internal = true;
    return true;
}

enum rules_end rules_run(struct request *r, const struct rewrite_conf *conf, bool *moved,
                         enum verdict *v)
{
    for (size_t i = 0; i < conf->count; i++) {
        const struct rule *rule = &conf->rules[i];
        if (rule->kind == RULE_BREAK) {
            *moved = false;
            return RULES_STOPPED;
        }
        if (rule->kind == RULE_SET) {
            if (set_var(r, rule->var, template_eval(&rule->value, r)))
                continue;
            *v = response_error(r, 500);
            return RULES_ANSWER;
        }
        enum regex_result match = regex_match(rule->regex, r->uri, r);
        if (match == REGEX_NO)
            continue;
        if (match == REGEX_FAILED || rule->flag == RULE_REDIRECT) {
            *v = match == REGEX_FAILED ? response_error(r, 500) : redirect(r, rule);
            return RULES_ANSWER;
        }
        if (!move(r, rule, v))
            return RULES_ANSWER;
        *moved = rule->flag != RULE_STOP;
        if (rule->flag != RULE_GO_ON)
            return RULES_STOPPED;
    }
    return RULES_THROUGH;
}
