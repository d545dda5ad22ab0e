/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accept-Encoding.  A list that does not name identity still allows it, unless "*;q=0" does not;
 * but it is then the last choice, so that a bare "gzip" gets gzip (RFC 9110 12.5.3).
 */
#include "proto/accept.h"

#include "core/check.h"
#include "proto/token.h"

static const struct {
    struct str name, alias, suffix;
} codings[CODING_COUNT] = {
    [CODING_IDENTITY] = {STR_INIT("identity"), STR_INIT(""), STR_INIT("")},
#define X(id, name, alias, suffix)                                                                 \
    [CODING_##id] = {STR_INIT(name), STR_INIT(alias), STR_INIT(suffix)},
#include "proto/coding.tbl"
#undef X
};

struct str coding_name(enum coding c)
{
    CHECK((unsigned)c < CODING_COUNT);
    return codings[c].name;
}

struct str coding_suffix(enum coding c)
{
    CHECK((unsigned)c < CODING_COUNT);
    return codings[c].suffix;
}

void accept_init(struct accept *a)
{
    for (unsigned c = 0; c < CODING_COUNT; c++) {
        a->q[c] = ACCEPT_UNSAID;
    }
    a->any = ACCEPT_UNSAID;
}

/* qvalue: "0" or "1" and at most three decimals, not above 1; anything else is 0. */
static int16_t parse_qvalue(struct str s)
{
    static const int16_t weight[] = {100, 10, 1};

    if (s.n == 0 || s.n > 5 || (s.p[0] != '0' && s.p[0] != '1') || (s.n > 1 && s.p[1] != '.')) {
        return 0;
    }
    int q = s.p[0] == '1' ? 1000 : 0;
    for (size_t i = 2; i < s.n; i++) {
        unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';
        if (digit > 9) {
            return 0;
        }
        q += (int)digit * weight[i - 2];
    }
    return (int16_t)(q <= 1000 ? q : 0);
}

/* Splits "gzip ; q=0.5" into the coding and its quality. */
static int16_t parse_member(struct str member, struct str *name)
{
    ssize_t semicolon = str_chr(member, ';');

    if (semicolon < 0) {
        *name = member;
        return 1000;
    }
    *name = str_trim(str_head(member, (size_t)semicolon));
    struct str weight = str_trim(str_skip(member, (size_t)semicolon + 1));
    return str_starts_nocase(weight, STR("q=")) ? parse_qvalue(str_skip(weight, 2)) : 0;
}

void accept_add(struct accept *a, struct str value)
{
    struct str member, name;

    while (token_list_next(&value, &member)) {
        int16_t q = parse_member(member, &name);
        if (str_eq(name, STR("*"))) {
            a->any = q > a->any ? q : a->any;
            continue;
        }
        for (unsigned c = 0; c < CODING_COUNT; c++) {
            bool same = str_eq_nocase(name, codings[c].name) ||
                        (name.n != 0 && str_eq_nocase(name, codings[c].alias));
            if (same && q > a->q[c]) {
                a->q[c] = q;
            }
        }
    }
}

unsigned accept_quality(const struct accept *a, enum coding c)
{
    int q = a->q[c] != ACCEPT_UNSAID ? a->q[c] : a->any;

    if (q == ACCEPT_UNSAID) {
        return c == CODING_IDENTITY ? 1 : 0;
    }
    return (unsigned)q;
}

enum coding accept_best(const struct accept *a, unsigned offered)
{
    enum coding best = CODING_IDENTITY;
    unsigned best_q = 0;

    for (unsigned c = CODING_IDENTITY + 1; c < CODING_COUNT; c++) {
        unsigned q = offered & CODING_BIT(c) ? accept_quality(a, (enum coding)c) : 0;
        if (q > best_q) {
            best = (enum coding)c;
            best_q = q;
        }
    }
    /* "*" alone says nothing for identity: only naming it can put it before a coding */
    unsigned identity = a->q[CODING_IDENTITY] != ACCEPT_UNSAID
                            ? (unsigned)a->q[CODING_IDENTITY]
                            : 0;
    return identity > best_q ? CODING_IDENTITY : best;
}
