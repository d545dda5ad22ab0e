/* SPDX-License-Identifier: BSD-2-Clause */
/* Tags in sets of a few: a new one takes the place of the one that ends first. */
#include "auth_cache.h"

#include "auth_digest.h"
#include "core/rand.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <stdlib.h>

#define SETS 256u /* by the first byte of the tag, which is as good as random */
#define WAYS 4u

struct kept {
    struct auth_tag tag;
    uint64_t until_ms;      /* 0: empty */
};

struct auth_cache {
    unsigned char key[32];
    struct kept sets[SETS][WAYS];
};

struct auth_cache *auth_cache_new(void)
{
    struct auth_cache *c = calloc(1, sizeof(*c));
    if (c != NULL)
        rand_bytes(c->key, sizeof(c->key));
    return c;
}

void auth_cache_delete(struct auth_cache *c)
{
    if (c == NULL)
        return;
    explicit_bzero(c, sizeof(*c));
    free(c);
}

/* With its length in front, so that no two lists of texts are the same bytes. */
static void add(struct hmac_sha256_ctx *ctx, struct str s)
{
    uint64_t n = s.n;
    hmac_sha256_update(ctx, sizeof(n), (const uint8_t *)&n);
    hmac_sha256_update(ctx, s.n, (const uint8_t *)s.p);
}

void auth_cache_tag(struct auth_cache *c, struct str user, struct str hash, struct str password,
                    struct auth_tag *out)
{
    struct hmac_sha256_ctx ctx;
    hmac_sha256_set_key(&ctx, sizeof(c->key), c->key);
    add(&ctx, user);
    add(&ctx, hash);
    add(&ctx, password);
    AUTH_DIGEST(hmac_sha256, &ctx, out->bytes);
    explicit_bzero(&ctx, sizeof(ctx));
}

bool auth_cache_has(const struct auth_cache *c, const struct auth_tag *tag, uint64_t now_ms)
{
    const struct kept *set = c->sets[tag->bytes[0] % SETS];
    for (unsigned i = 0; i < WAYS; i++)
        if (set[i].until_ms > now_ms && memeql_sec(&set[i].tag, tag, sizeof(*tag)))
            return true;
    return false;
}

void auth_cache_add(struct auth_cache *c, const struct auth_tag *tag, uint64_t now_ms)
{
    struct kept *set = c->sets[tag->bytes[0] % SETS], *to = set;
    for (unsigned i = 0; i < WAYS; i++) {
        if (memeql_sec(&set[i].tag, tag, sizeof(*tag))) {
            to = &set[i];
            break;
        }
        if (set[i].until_ms < to->until_ms)
            to = &set[i];
    }
    *to = (struct kept){*tag, now_ms + AUTH_CACHE_MS};
}
