/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One reader per kind of value; nothing else in the program turns configuration text into numbers.
 * Each returns false and leaves *out alone when the text is not exactly such a value; `why` (may be
 * NULL) then receives what was expected, a constant string.
 */
#ifndef SLUICE_CONF_VALUE_H
#define SLUICE_CONF_VALUE_H

#include "core/arena.h"
#include "core/str.h"

bool value_switch(struct str s, bool *out, const char **why);
bool value_int(struct str s, int64_t *out, const char **why);
bool value_size(struct str s, int64_t *out, const char **why);  /* bytes */
bool value_time(struct str s, int64_t *out, const char **why);  /* milliseconds */
bool value_enum(struct str s, const char *const *choices, int *out, const char **why);

/* A short text that reads back as v, in `a`. */
struct str value_size_text(struct arena *a, int64_t v);
struct str value_time_text(struct arena *a, int64_t v);

/* `port`, `host:port`, `host`, `[v6]:port`, `unix:/path`, `*:port`; port ranges as "8000-8010". */
struct value_address {
    enum { VALUE_ADDRESS_IP, VALUE_ADDRESS_UNIX } kind;
    struct str host;        /* empty or "*": any; without brackets */
    bool v6;                /* was in brackets */
    uint16_t port, port_end; /* 0 when no port was given */
    struct str path;        /* unix */
};
bool value_address(struct str s, struct value_address *out, const char **why);

/* "name=value": true and both parts if s begins with name and '='. */
bool value_option(struct str s, struct str name, struct str *value);

/*
 * Splits a scalar at blanks with nginx's quotes and backslashes. False on an open quote or a bad
 * escape: *at is the offset of the fault in s.
 */
struct value_words {
    struct str *v;
    uint32_t *offset;       /* where each word begins in s */
    size_t n;
};
bool value_split(struct arena *a, struct str s, struct value_words *out, size_t *at,
                 const char **why);

#endif
