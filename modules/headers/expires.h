/* SPDX-License-Identifier: BSD-2-Clause */
/* What the directive `expires` says, and the two header values it comes to. Pure. */
#ifndef SLUICE_HEADERS_EXPIRES_H
#define SLUICE_HEADERS_EXPIRES_H

#include "core/str.h"

enum expires_kind {
    EXPIRES_OFF,
    EXPIRES_EPOCH,     /* in the past, not to be kept */
    EXPIRES_MAX,       /* as far away as it gets */
    EXPIRES_ACCESS,    /* `seconds` from now */
    EXPIRES_MODIFIED,  /* `seconds` from when the file was changed */
    EXPIRES_DAILY,     /* when it is `seconds` after midnight, local time */
};

struct expires {
    enum expires_kind kind;
    int64_t seconds;
};

/*
 * Reads "30d", "-1", "+1h", "@15h30m", "epoch", "max" or "off"; `modified`: the word stood in front
 * of it.  False: it is none of these; *why says what was expected (a constant string).
 */
bool expires_parse(struct str text, bool modified, struct expires *out, const char **why);

#define EXPIRES_DATE_MAX 32
#define EXPIRES_CONTROL_MAX 40
struct expires_values {
    char date[EXPIRES_DATE_MAX];       /* Expires */
    size_t date_n;
    char control[EXPIRES_CONTROL_MAX]; /* Cache-Control */
    size_t control_n;
};

/* e->kind is not EXPIRES_OFF; mtime is -1 for what is not a file. */
void expires_values(const struct expires *e, int64_t now, int64_t mtime,
                    struct expires_values *out);

#endif
