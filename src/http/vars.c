/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of variables.  Names are found at load only and without case, as nginx does; a request
 * then goes straight to the getter.  $1 to $9 are the groups of the last regular expression.
 */
#include "http/vars.h"

#include "conf/diag.h"
#include "core/vec.h"
#include "http/module.h"
#include "http/request.h"

#include <stdlib.h>

#define DIGITS "123456789"

static bool get_group(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    size_t i = (size_t)(arg.p[0] - '0');
    (void)v;
    if (i >= r->capture_count || r->captures[i].p == NULL)
        return false;
    *out = r->captures[i];
    return true;
}

static const struct var group_var = {.name = DIGITS, .get = get_group, .decoded = true};

static bool name_byte(char c)
{
    unsigned char l = ascii_lower((unsigned char)c);
    return (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '_';
}

static bool good_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!name_byte(name.p[i]))
            return false;
    return name.n != 0 && (name.p[0] < '0' || name.p[0] > '9');
}

static void *mutable(const struct var *v)
{
    union {
        const struct var *from;
        void *to;
    } cast = {v};
    return cast.to; /* a map holds void *; nobody writes through it */
}

static int longest_first(const void *a, const void *b)
{
    const struct var *const *x = a, *const *y = b;
    size_t n = strlen((*x)->name), m = strlen((*y)->name);
    return n != m ? (n < m ? 1 : -1) : strcmp((*x)->name, (*y)->name);
}

struct prefix_list {
    struct var **v;
    size_t n, room;
};

static bool add_table(struct vars *vs, const struct var *table, struct prefix_list *prefixes)
{
    for (const struct var *v = table; v != NULL && v->name != NULL; v++) {
        if (!v->prefix) {
            enum status st = map_add(&vs->exact, str_z(v->name), mutable(v));
            CHECK(st != STATUS_EXISTS); /* two owners of one variable: a fault of the program */
            if (st != STATUS_OK)
                return false;
            continue;
        }
        struct var **slot = vec_push(prefixes, vs->arena);
        if (slot == NULL)
            return false;
        *slot = mutable(v);
    }
    return true;
}

bool vars_init(struct vars *vs, struct arena *a)
{
    struct prefix_list prefixes = {0};
    *vs = (struct vars){.arena = a};
    map_init(&vs->exact, a, true);
    if (!add_table(vs, core_vars, &prefixes))
        return false;
    for (const struct module *const *m = http_modules; *m != NULL; m++)
        if (!add_table(vs, (*m)->vars, &prefixes))
            return false;
    if (prefixes.n > 1)
        qsort(prefixes.v, prefixes.n, sizeof(*prefixes.v), longest_first);
    vs->prefixes = prefixes.v;
    vs->prefix_count = prefixes.n;
    return true;
}

static bool find_prefix(const struct vars *vs, struct str name, struct var_ref *out)
{
    for (size_t i = 0; i < vs->prefix_count; i++) {
        struct str prefix = str_z(vs->prefixes[i]->name);
        if (name.n <= prefix.n || !str_starts_nocase(name, prefix))
            continue;
        *out = (struct var_ref){vs->prefixes[i], str_skip(name, prefix.n)};
        return true;
    }
    return false;
}

bool vars_define(struct vars *vs, const struct var *v)
{
    struct var_ref taken;
    struct str name = str_z(v->name);
    if (v->prefix || !good_name(name) || find_prefix(vs, name, &taken))
        return false;
    return map_add(&vs->exact, name, mutable(v)) == STATUS_OK;
}

bool vars_find(const struct vars *vs, struct str name, struct var_ref *out)
{
    if (name.n == 1 && name.p[0] >= '1' && name.p[0] <= '9') {
        *out = (struct var_ref){&group_var, str_make(&DIGITS[name.p[0] - '1'], 1)};
        return true;
    }
    const struct var *v = map_get(&vs->exact, name);
    if (v != NULL) {
        *out = (struct var_ref){v, STR_NONE};
        return true;
    }
    return find_prefix(vs, name, out);
}

const char *vars_suggest(const struct vars *vs, struct str name)
{
    VEC(const char *) names = {0};
    for (size_t i = 0; i < vs->exact.room; i++) {
        const struct var *v = vs->exact.slots[i].value;
        const char **slot = v != NULL ? vec_push(&names, vs->arena) : NULL;
        if (slot != NULL)
            *slot = v->name;
    }
    return diag_suggest(name, names.v, names.n);
}

bool var_value(struct request *r, const struct var_ref *ref, struct str *out)
{
    return ref->var->get(r, ref->var, ref->arg, out);
}
