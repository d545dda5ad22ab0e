/* SPDX-License-Identifier: BSD-2-Clause */
/* A password file in memory: its users, found by name. */
#ifndef SLUICE_MODULES_AUTH_TABLE_H
#define SLUICE_MODULES_AUTH_TABLE_H

#include "core/map.h"
#include "proto/htpasswd.h"

#define AUTH_FILE_MAX (1u << 20)
#define AUTH_LINES_MAX 10000u

struct auth_table {
    struct arena *arena;
    char *text;                      /* the file, which the entries point into */
    size_t text_n;
    struct map users;                /* -> const struct htpasswd_entry * */
    const struct htpasswd_entry **usable; /* those whose kind is known */
    size_t usable_count;
    uint32_t bad, first_bad;         /* lines that are no entries; 0: none */
    uint32_t unknown, first_unknown; /* entries of an unknown kind */
};

/*
 * Takes over `text` (from malloc), whatever it returns.  The first of several entries of one name
 * counts.  NULL: no memory, or more than AUTH_LINES_MAX lines (*too_many).
 */
struct auth_table *auth_table_new(char *text, size_t n, bool *too_many);
void auth_table_delete(struct auth_table *t); /* wipes the text; NULL is fine */

/* NULL: there is no user of that name with a password that could be right. */
const struct htpasswd_entry *auth_table_find(const struct auth_table *t, struct str user);

/*
 * For a user that is not there: an entry to check the password against all the same, so that the
 * time of the answer does not tell.  It is one of the file's, the same one each time for a name.
 * NULL: there is none at all.
 */
const struct htpasswd_entry *auth_table_stand_in(const struct auth_table *t, struct str user);

#endif
