/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the module rewrite: its struct, the list of rules, `return`. */
#ifndef SLUICE_REWRITE_H
#define SLUICE_REWRITE_H

#include "http/regex.h"
#include "http/site.h"

enum rule_kind { RULE_SET, RULE_BREAK, RULE_REGEX };
enum rule_flag { RULE_GO_ON, RULE_LAST, RULE_STOP, RULE_REDIRECT };

struct rule {
    enum rule_kind kind;
    const struct args *args;
    const struct var *var;       /* set: what is set */
    struct template value;       /* set: to what; regex: the path or the URL up to its "?" */
    struct regex *regex;
    enum rule_flag flag;
    uint16_t redirect;           /* its status */
    bool has_query;              /* the replacement brings arguments of its own */
    bool drop_args;              /* ends in "?": the request's arguments are not appended */
    struct template query;
};

struct answer {
    uint16_t code;               /* 0: no `return` here */
    bool has_text;
    bool url;                    /* the text is a Location */
    struct template text;
};

struct rewrite_conf {
    struct instances rewrite, return_;
    /* derived */
    struct rule *rules;
    size_t count;
    struct answer answer;
};

extern unsigned rewrite_slot;

/* ---- rules ---- */

/* Reads the shape of the rules, defines the variables of `set` and of named groups. */
bool rules_define(struct cycle_http *cy, struct block *b, struct rewrite_conf *conf);
/* Compiles the templates. */
bool rules_freeze(struct cycle_http *cy, struct block *b, struct rewrite_conf *conf);

enum rules_end {
    RULES_THROUGH, /* the last rule was passed: `return` is next */
    RULES_STOPPED, /* break or last */
    RULES_ANSWER,  /* *v is to be returned: a redirect or an error */
};

/* Runs the rules; *moved: the path was changed and wants a location of its own. */
enum rules_end rules_run(struct request *r, const struct rewrite_conf *conf, bool *moved,
                         enum verdict *v);

/* ---- return ---- */

bool answer_freeze(struct cycle_http *cy, struct block *b, struct rewrite_conf *conf);
enum verdict answer_give(struct request *r, const struct answer *a);

#endif
