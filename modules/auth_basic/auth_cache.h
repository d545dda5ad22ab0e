/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a worker has verified lately, so that a client that sends its password with every request
 * pays for the slow hash once.  Kept is a tag of 256 bits: HMAC-SHA-256, under a random key of this
 * process, of the name, the line in the password file that the password was verified against, and
 * the password.  So a line that changes, in whatever file, is another tag; no two credentials share
 * one; and neither tag nor key gives a password away cheaper than the password file would, unless
 * both leave the process, which is why a tag is kept for a limited time only.
 */
#ifndef SLUICE_MODULES_AUTH_CACHE_H
#define SLUICE_MODULES_AUTH_CACHE_H

#include "core/str.h"

#define AUTH_TAG_SIZE 32
#define AUTH_CACHE_MS (5u * 60 * 1000) /* counted from the verification, not from the last use */

struct auth_tag {
    unsigned char bytes[AUTH_TAG_SIZE];
};

struct auth_cache;
struct auth_cache *auth_cache_new(void);  /* NULL: no memory */
void auth_cache_delete(struct auth_cache *c); /* wipes it; NULL is fine */

void auth_cache_tag(struct auth_cache *c, struct str user, struct str hash, struct str password,
                    struct auth_tag *out);
bool auth_cache_has(const struct auth_cache *c, const struct auth_tag *tag, uint64_t now_ms);
void auth_cache_add(struct auth_cache *c, const struct auth_tag *tag, uint64_t now_ms);

#endif
