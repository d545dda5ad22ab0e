/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From arguments to typed fields.  Every message says which value is wrong and what would be
 * right; the place is that of the argument.
 */
#include "conf/convert.h"

#include "conf/bind.h"
#include "conf/value.h"
#include "core/check.h"

#include <stdio.h>

/* One value of any type but KEYED and BLOCK. */
union value {
    bool on;
    int64_t number;
    int choice;
    struct str text;
};

struct job {
    const struct converter *c;
    const struct directive *row;
    const struct place *at;
};

static struct str where(const struct job *j)
{
    return place_text(j->c->a, j->at);
}

static bool bad_value(const struct job *j, const struct arg *arg, const char *why)
{
    struct str shown = diag_excerpt(j->c->d, arg->text);
    diag_error(j->c->d, arg->pos, where(j), "\"" STR_FMT "\" is not valid, expected %s%s",
               STR_ARG(shown), why,
               (j->row->flags & ROW_UNLIMITED) != 0 ? ", or unlimited" : "");
    return false;
}

static struct str number_text(const struct job *j, int64_t v)
{
    if (j->row->type == CTYPE_SIZE)
        return value_size_text(j->c->a, v);
    if (j->row->type == CTYPE_TIME)
        return value_time_text(j->c->a, v);
    return arena_printf(j->c->a, "%lld", (long long)v);
}

static bool in_range(const struct job *j, const struct arg *arg, int64_t v)
{
    int64_t min = j->row->min, max = j->row->max;
    bool bounded = max >= min && (min != 0 || max != 0);
    if (v >= min && (!bounded || v <= max))
        return true;
    struct str low = number_text(j, min), high = number_text(j, max);
    struct str shown = diag_excerpt(j->c->d, arg->text);
    if (bounded)
        diag_error(j->c->d, arg->pos, where(j), STR_FMT " is outside " STR_FMT ".." STR_FMT,
                   STR_ARG(shown), STR_ARG(low), STR_ARG(high));
    else
        diag_error(j->c->d, arg->pos, where(j), STR_FMT " is too small, expected at least " STR_FMT,
                   STR_ARG(shown), STR_ARG(low));
    return false;
}

static bool read_number(const struct job *j, const struct arg *arg, int64_t *out)
{
    const char *why;
    if ((j->row->flags & ROW_UNLIMITED) != 0 && str_eq(arg->text, STR("unlimited"))) {
        *out = CONF_UNLIMITED;
        return true;
    }
    bool ok = j->row->type == CTYPE_INT    ? value_int(arg->text, out, &why)
              : j->row->type == CTYPE_SIZE ? value_size(arg->text, out, &why)
                                           : value_time(arg->text, out, &why);
    return ok ? in_range(j, arg, *out) : bad_value(j, arg, why);
}

static bool read_choice(const struct job *j, const struct arg *arg, int *out)
{
    const char *const *choices = j->row->choices;
    CHECK(choices != NULL);
    if (value_enum(arg->text, choices, out, NULL))
        return true;
    char list[256];
    size_t n = 0, count = 0;
    for (; choices[count] != NULL; count++) {
        int more = snprintf(list + n, sizeof(list) - n, "%s%s",
                            count == 0                   ? ""
                            : choices[count + 1] == NULL ? " or "
                                                         : ", ",
                            choices[count]);
        n += more > 0 && (size_t)more < sizeof(list) - n ? (size_t)more : 0;
    }
    list[n] = '\0';
    const char *near = diag_suggest(arg->text, choices, count);
    struct str shown = diag_excerpt(j->c->d, arg->text);
    struct str question = STR_NONE;
    if (near != NULL)
        question = arena_printf(j->c->a, "; did you mean \"%s\"?", near);
    diag_error(j->c->d, arg->pos, where(j), "\"" STR_FMT "\" is not valid, expected %s" STR_FMT,
               STR_ARG(shown), list, STR_ARG(question));
    return false;
}

static bool read_path(const struct job *j, struct arg *arg)
{
    const char *why = NULL;
    if (arg->text.n == 0)
        why = "the name of a file or directory";
    else if (str_eq(arg->text, STR("~")) || str_starts(arg->text, STR("~/")))
        why = "the whole path, ~ is not replaced";
    else if (str_chr(arg->text, '$') >= 0)
        why = "a path without variables";
    if (why != NULL)
        return bad_value(j, arg, why);
    struct str dir = j->row->type == CTYPE_PATH ? j->c->prefix : j->c->conf_dir;
    arg->text = conf_path(j->c->a, dir, arg->text);
    return arg->text.p != NULL;
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* "2 arguments", "1 to 3 arguments", … */
static struct str arity_text(struct arena *a, int64_t min, int64_t max)
{
    if (min == max)
        return arena_printf(a, "%lld argument%s", (long long)min, plural(min));
    if (max < min)
        return arena_printf(a, "at least %lld argument%s", (long long)min, plural(min));
    if (min == 0)
        return arena_printf(a, "at most %lld argument%s", (long long)max, plural(max));
    return arena_printf(a, "%lld to %lld arguments", (long long)min, (long long)max);
}

/* The number of arguments; those of a one-argument type are always one. */
static bool check_arity(const struct job *j, const struct args *args)
{
    bool free_form = j->row->type == CTYPE_ARGS || j->row->type == CTYPE_KEYED;
    int64_t min = free_form ? j->row->min : 1, max = free_form ? j->row->max : 1;
    int64_t n = (int64_t)args->n;
    if ((min == 0 && max == 0) || (n >= min && (max < min || n <= max)))
        return true;
    bool many = n > max && max >= min;
    struct str takes = arity_text(j->c->a, min, max);
    enum ctype t = j->row->type;
    bool blanks = many && (t == CTYPE_TEXT || t == CTYPE_PATH || t == CTYPE_CONF_PATH);
    diag_error(j->c->d, many ? args->v[max].pos : args->pos, where(j),
               "takes " STR_FMT ", found %lld%s", STR_ARG(takes), (long long)n,
               blanks ? "; a value with blanks goes into a list: [\"a b\"]" : "");
    return false;
}

/* Reads one argument as the row's type; paths are made absolute in place. */
static bool read_value(const struct job *j, struct arg *arg, union value *v)
{
    const char *why;
    switch (j->row->type) {
    case CTYPE_SWITCH:
        return value_switch(arg->text, &v->on, &why) || bad_value(j, arg, why);
    case CTYPE_INT:
    case CTYPE_SIZE:
    case CTYPE_TIME:
        return read_number(j, arg, &v->number);
    case CTYPE_ENUM:
        return read_choice(j, arg, &v->choice);
    case CTYPE_PATH:
    case CTYPE_CONF_PATH:
        return read_path(j, arg);
    default:
        return true;
    }
}

static bool read_instance(const struct job *j, struct args *args, union value *v)
{
    if (j->row->type == CTYPE_SWITCH && (j->row->flags & ROW_BARE) != 0 && args->n == 0) {
        v->on = true;
        return true;
    }
    if (!check_arity(j, args))
        return false;
    return j->row->type == CTYPE_ARGS || read_value(j, &args->v[0], v);
}

static bool own_check(const struct job *j, const struct args *args, void *conf)
{
    return j->row->check == NULL || j->row->check(j->c->d, where(j), j->row, args, conf);
}

static void store(const struct directive *row, const struct args *args, const union value *v,
                  void *field)
{
    switch (row->type) {
    case CTYPE_SWITCH:
        memcpy(field, &v->on, sizeof(v->on));
        break;
    case CTYPE_ENUM:
        memcpy(field, &v->choice, sizeof(v->choice));
        break;
    case CTYPE_TEXT:
        memcpy(field, &args->v[0], sizeof(args->v[0]));
        break;
    case CTYPE_PATH:
    case CTYPE_CONF_PATH:
        memcpy(field, &args->v[0].text, sizeof(args->v[0].text));
        break;
    default:
        memcpy(field, &v->number, sizeof(v->number));
        break;
    }
}

bool convert_values(const struct converter *c, const struct directive *row,
                    const struct instances *values, const struct place *at, void *conf)
{
    bool many = (row->flags & ROW_REPEATABLE) != 0 || row->type == CTYPE_ARGS;
    void *field = (char *)conf + row->offset;
    bool ok = true;
    for (size_t i = 0; i < values->n; i++) {
        struct place item = *at;
        item.index = values->n > 1 ? (int64_t)i : -1;
        struct job j = {c, row, &item};
        union value v = {0};
        if (!read_instance(&j, &values->v[i], &v)) {
            ok = false;
            continue;
        }
        if (!many)
            store(row, &values->v[i], &v, field);
        ok = own_check(&j, &values->v[i], conf) && ok;
    }
    if (many)
        memcpy(field, values, sizeof(*values));
    return ok;
}

bool convert_keyed_entry(const struct converter *c, const struct directive *row,
                         const struct keyed_entry *e, const struct place *at, void *conf)
{
    struct job j = {c, row, at};
    bool ok = true;
    for (size_t i = 0; i < e->values.n; i++)
        ok = check_arity(&j, &e->values.v[i]) && own_check(&j, &e->values.v[i], conf) && ok;
    return ok;
}

size_t convert_field_size(const struct directive *row)
{
    static const size_t sizes[] = {
        [CTYPE_SWITCH] = sizeof(bool),         [CTYPE_INT] = sizeof(int64_t),
        [CTYPE_SIZE] = sizeof(int64_t),        [CTYPE_TIME] = sizeof(int64_t),
        [CTYPE_ENUM] = sizeof(int),            [CTYPE_TEXT] = sizeof(struct arg),
        [CTYPE_PATH] = sizeof(struct str),     [CTYPE_CONF_PATH] = sizeof(struct str),
        [CTYPE_ARGS] = sizeof(struct instances), [CTYPE_KEYED] = sizeof(struct keyed),
        [CTYPE_BLOCK] = 0,
    };
    CHECK((size_t)row->type < ARRAY_LEN(sizes));
    bool many = (row->flags & ROW_REPEATABLE) != 0 && row->type != CTYPE_KEYED &&
                row->type != CTYPE_BLOCK;
    return many ? sizeof(struct instances) : sizes[row->type];
}
