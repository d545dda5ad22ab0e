/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PCRE2 behind regex.h.  Match data and context are made once per process and used by one match at
 * a time: a worker has one thread.  A group's number is its place in the request's captures, so
 * groups beyond REQUEST_CAPTURES can be matched but not asked for by number; names have no limit.
 */
#include "http/regex.h"

#include "config.h"
#include "http/request.h"

#if HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>

/* Steps and kilobytes of one match: what honest patterns need is far below. */
#define MATCH_LIMIT 200000u
#define DEPTH_LIMIT 10000u
#define HEAP_LIMIT_K 4096u

struct group_name {
    const struct var *var;
    uint32_t number;
};

struct regex {
    pcre2_code *code;
    struct str pattern;
    struct group_name *names;
    uint32_t name_count;
    uint32_t groups;
};

static pcre2_match_context *match_context;
static pcre2_match_data *match_data;

static bool prepare(void)
{
    if (match_data != NULL)
        return true;
    if (match_context == NULL)
        match_context = pcre2_match_context_create(NULL);
    if (match_context == NULL)
        return false;
    pcre2_set_match_limit(match_context, MATCH_LIMIT);
    pcre2_set_depth_limit(match_context, DEPTH_LIMIT);
    pcre2_set_heap_limit(match_context, HEAP_LIMIT_K);
    match_data = pcre2_match_data_create(256, NULL);
    return match_data != NULL;
}

static void release(void *arg)
{
    struct regex *re = arg;
    pcre2_code_free(re->code);
    re->code = NULL;
}

/* A named group as a variable: what the last match of a group of this name found. */
static bool get_named(struct request *r, const struct var *v, struct str arg, struct str *out)
{
    (void)arg;
    for (const struct named_capture *c = r->named; c != NULL; c = c->next) {
        if (c->var != v)
            continue;
        *out = c->value;
        return true;
    }
    return false;
}

/* The variable of that name, defined here unless another pattern has done so. */
static const struct var *name_variable(struct vars *vs, struct arena *a, struct str name)
{
    struct var_ref ref;
    if (vars_find(vs, name, &ref) && ref.var->get == get_named)
        return ref.var;
    struct var *v = ARENA_NEW(a, struct var);
    if (v == NULL)
        return NULL;
    *v = (struct var){.name = arena_strz(a, name), .get = get_named, .decoded = true};
    return v->name != NULL && vars_define(vs, v) ? v : NULL;
}

static bool take_names(struct regex *re, struct vars *vs, struct arena *a, struct diag *d,
                       const struct regex_source *src)
{
    uint32_t size = 0;
    PCRE2_SPTR table = NULL;
    pcre2_pattern_info(re->code, PCRE2_INFO_NAMECOUNT, &re->name_count);
    if (re->name_count == 0)
        return true;
    pcre2_pattern_info(re->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(re->code, PCRE2_INFO_NAMETABLE, &table);
    re->names = arena_array(a, re->name_count, sizeof(*re->names));
    if (re->names == NULL)
        return false;
    for (uint32_t i = 0; i < re->name_count; i++) {
        const unsigned char *row = table + (size_t)i * size;
        struct str name = str_z((const char *)row + 2);
        re->names[i].number = (uint32_t)row[0] << 8 | row[1];
        re->names[i].var = name_variable(vs, a, name);
        if (re->names[i].var == NULL) {
            diag_error(d, src->pos, src->path,
                       "the group \"" STR_FMT "\" cannot be a variable: there is $" STR_FMT
                       " already",
                       STR_ARG(name), STR_ARG(name));
            return false;
        }
    }
    return true;
}

struct regex *regex_compile(struct vars *vs, struct arena *a, struct diag *d,
                            const struct regex_source *src)
{
    int code;
    PCRE2_SIZE at;
    struct regex *re = ARENA_NEW(a, struct regex);
    if (re == NULL || !prepare())
        return NULL;
    uint32_t options = PCRE2_DOLLAR_ENDONLY | (src->nocase ? PCRE2_CASELESS : 0);
    re->pattern = src->pattern;
    re->code = pcre2_compile((PCRE2_SPTR)src->pattern.p, src->pattern.n, options, &code, &at, NULL);
    if (re->code == NULL) {
        PCRE2_UCHAR text[160];
        if (pcre2_get_error_message(code, text, sizeof(text)) < 0)
            snprintf((char *)text, sizeof(text), "error %d", code);
        diag_error(d, src->pos, src->path,
                   "\"" STR_FMT "\" is not a regular expression: %s at offset %zu",
                   STR_ARG(src->pattern), (const char *)text, (size_t)at);
        return NULL;
    }
    if (!arena_on_free(a, release, re)) {
        release(re);
        return NULL;
    }
    /* Without JIT (refused by the kernel, other hardware) the interpreter does the same, slower. */
    (void)pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);
    pcre2_pattern_info(re->code, PCRE2_INFO_CAPTURECOUNT, &re->groups);
    return take_names(re, vs, a, d, src) ? re : NULL;
}

static struct str group(const PCRE2_SIZE *v, uint32_t i, struct str subject)
{
    if (v[2 * i] == PCRE2_UNSET || v[2 * i + 1] == PCRE2_UNSET || v[2 * i] > v[2 * i + 1])
        return STR_NONE;
    return str_between(subject.p + v[2 * i], subject.p + v[2 * i + 1]);
}

/* Only the first `filled` groups are valid: none behind the last that took part. */
static bool keep_groups(const struct regex *re, struct str subject, struct request *r, int filled)
{
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(match_data);
    uint32_t n = re->groups + 1 < REQUEST_CAPTURES ? re->groups + 1 : REQUEST_CAPTURES;
    for (uint32_t i = 0; i < n; i++)
        r->captures[i] = (int)i < filled ? group(v, i, subject) : STR_NONE;
    r->capture_count = (uint8_t)n;
    for (uint32_t i = 0; i < re->name_count; i++) {
        struct named_capture *c = ARENA_NEW(&r->mem, struct named_capture);
        uint32_t number = re->names[i].number;
        if (c == NULL)
            return false;
        c->var = re->names[i].var;
        c->value = (int)number < filled ? group(v, number, subject) : STR_NONE;
        c->next = r->named;
        r->named = c;
    }
    return true;
}

enum regex_result regex_match(const struct regex *re, struct str subject, struct request *r)
{
    const char *bytes = subject.p != NULL ? subject.p : "";
    int n = pcre2_match(re->code, (PCRE2_SPTR)bytes, subject.n, 0, 0, match_data, match_context);
    if (n == PCRE2_ERROR_NOMATCH)
        return REGEX_NO;
    if (n < 0) {
        PCRE2_UCHAR text[160] = "";
        pcre2_get_error_message(n, text, sizeof(text));
        log_error(r != NULL ? &r->log : &log_process,
                  "matching \"" STR_FMT "\" was given up: %s", STR_ARG(re->pattern),
                  (const char *)text);
        return REGEX_FAILED;
    }
    if (r == NULL)
        return REGEX_YES;
    /* 0: more groups than the vector has room for, which is all of them then */
    int filled = n == 0 ? (int)pcre2_get_ovector_count(match_data) : n;
    return keep_groups(re, subject, r, filled) ? REGEX_YES : REGEX_FAILED;
}

unsigned regex_groups(const struct regex *re)
{
    return re->groups;
}

const char *regex_version(void)
{
    static char text[64];
    char version[40] = "";
    uint32_t jit = 0;
    pcre2_config(PCRE2_CONFIG_VERSION, version);
    pcre2_config(PCRE2_CONFIG_JIT, &jit);
    snprintf(text, sizeof(text), "PCRE2 %.*s%s", (int)strcspn(version, " "), version,
             jit ? ", JIT" : "");
    return text;
}

#else

struct regex *regex_compile(struct vars *vs, struct arena *a, struct diag *d,
                            const struct regex_source *src)
{
    (void)vs;
    (void)a;
    diag_error(d, src->pos, src->path,
               "\"" STR_FMT "\": regular expressions are not built in (PCRE2)",
               STR_ARG(src->pattern));
    return NULL;
}

enum regex_result regex_match(const struct regex *re, struct str subject, struct request *r)
{
    (void)re;
    (void)subject;
    (void)r;
    return REGEX_NO;
}

unsigned regex_groups(const struct regex *re)
{
    (void)re;
    return 0;
}

const char *regex_version(void)
{
    return NULL;
}

#endif
