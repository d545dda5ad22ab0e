/* SPDX-License-Identifier: BSD-2-Clause */
/* Is this the password that a line of a password file is about? */
#ifndef SLUICE_MODULES_AUTH_HASH_H
#define SLUICE_MODULES_AUTH_HASH_H

#include "proto/htpasswd.h"

/* A longer one is nobody's; crypt(3) takes no more, and htpasswd makes none above 255 bytes. */
#define AUTH_PASSWORD_MAX 511u

enum auth_result {
    AUTH_WRONG,
    AUTH_RIGHT,
    AUTH_BROKEN,  /* what is kept of it is not what it claims to be, or crypt(3) does not know it */
};

/* Takes milliseconds and more, on purpose: not for the loop. */
bool auth_hash_is_slow(enum htpasswd_kind kind);

/*
 * May be called from any thread.  The time it takes tells nothing about how near the password is.
 * What it makes of the password in memory is wiped.  The password holds no NUL.
 */
enum auth_result auth_hash_check(enum htpasswd_kind kind, struct str hash, struct str password);

#endif
