/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways to keep a password: those of crypt(3) by libcrypt, Apache's own ones with the hashes
 * and the constant-time comparison of Nettle.
 */
#include "auth_hash.h"

#include "auth_digest.h"
#include "core/base64.h"
#include "core/check.h"

#include <crypt.h>
#include <nettle/md5.h>
#include <nettle/memops.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdlib.h>

#define HASH_MAX 384 /* of what crypt(3) makes */

bool auth_hash_is_slow(enum htpasswd_kind kind)
{
    return kind == HTPASSWD_CRYPT || kind == HTPASSWD_APR1;
}

static enum auth_result verdict(bool right)
{
    return right ? AUTH_RIGHT : AUTH_WRONG;
}

static bool same(struct str a, struct str b)
{
    return a.n == b.n && memeql_sec(a.p, b.p, a.n);
}

/* ---- crypt(3) ---- */

static enum auth_result check_crypt(struct str hash, struct str password)
{
    char setting[HASH_MAX], key[AUTH_PASSWORD_MAX + 1];
    enum auth_result res = AUTH_BROKEN;
    if (hash.n >= sizeof(setting))
        return AUTH_BROKEN;
    struct crypt_data *data = calloc(1, sizeof(*data)); /* 32 KB and more */
    if (data == NULL)
        return AUTH_BROKEN;
    memcpy(setting, hash.p, hash.n);
    setting[hash.n] = '\0';
    memcpy(key, password.p, password.n);
    key[password.n] = '\0';
    const char *made = crypt_r(key, setting, data);
    if (made != NULL && made[0] != '*')
        res = verdict(same(str_z(made), hash));
    explicit_bzero(key, sizeof(key));
    explicit_bzero(data, sizeof(*data));
    free(data);
    return res;
}

/* ---- $apr1$ ---- */

#define APR1_PREFIX STR("$apr1$")
#define APR1_SALT 8
#define APR1_DIGITS 22
#define APR1_ROUNDS 1000

static void md5_add(struct md5_ctx *ctx, struct str s)
{
    md5_update(ctx, s.n, (const uint8_t *)s.p);
}

/* The first `n` bytes of digest after digest. */
static void md5_add_digest(struct md5_ctx *ctx, const uint8_t digest[MD5_DIGEST_SIZE], size_t n)
{
    for (; n > MD5_DIGEST_SIZE; n -= MD5_DIGEST_SIZE)
        md5_update(ctx, MD5_DIGEST_SIZE, digest);
    md5_update(ctx, n, digest);
}

static void apr1_first(struct str password, struct str salt, uint8_t digest[MD5_DIGEST_SIZE])
{
    uint8_t inner[MD5_DIGEST_SIZE];
    struct md5_ctx ctx;
    md5_init(&ctx);
    md5_add(&ctx, password);
    md5_add(&ctx, salt);
    md5_add(&ctx, password);
    AUTH_DIGEST(md5, &ctx, inner);
    md5_init(&ctx);
    md5_add(&ctx, password);
    md5_add(&ctx, APR1_PREFIX);
    md5_add(&ctx, salt);
    md5_add_digest(&ctx, inner, password.n);
    for (size_t i = password.n; i != 0; i >>= 1) /* by the bits of the length */
        md5_update(&ctx, 1, (i & 1) != 0 ? (const uint8_t *)"" : (const uint8_t *)password.p);
    uint8_t made[MD5_DIGEST_SIZE];
    AUTH_DIGEST(md5, &ctx, made);
    memcpy(digest, made, sizeof(made));
    explicit_bzero(&ctx, sizeof(ctx));
    explicit_bzero(inner, sizeof(inner));
}

static void apr1_round(unsigned i, struct str password, struct str salt,
                       uint8_t digest[MD5_DIGEST_SIZE])
{
    struct str last = str_make((const char *)digest, MD5_DIGEST_SIZE);
    uint8_t made[MD5_DIGEST_SIZE];
    struct md5_ctx ctx;
    md5_init(&ctx);
    md5_add(&ctx, (i & 1) != 0 ? password : last);
    if (i % 3 != 0)
        md5_add(&ctx, salt);
    if (i % 7 != 0)
        md5_add(&ctx, password);
    md5_add(&ctx, (i & 1) != 0 ? last : password);
    AUTH_DIGEST(md5, &ctx, made);
    memcpy(digest, made, sizeof(made));
    explicit_bzero(&ctx, sizeof(ctx));
}

/* 24 bits are four digits, the lowest first. */
static char *apr1_digits(char *to, uint32_t v, unsigned n)
{
    static const char digits[] =
        "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (; n > 0; n--, v >>= 6)
        *to++ = digits[v & 63];
    return to;
}

static void apr1_text(const uint8_t d[MD5_DIGEST_SIZE], char to[APR1_DIGITS])
{
    for (unsigned i = 0; i < 5; i++) {
        unsigned third = i == 4 ? 5 : i + 12;
        to = apr1_digits(to, (uint32_t)d[i] << 16 | (uint32_t)d[i + 6] << 8 | d[third], 4);
    }
    apr1_digits(to, d[11], 2);
}

static enum auth_result check_apr1(struct str hash, struct str password)
{
    uint8_t digest[MD5_DIGEST_SIZE];
    char text[APR1_DIGITS];
    struct str salt = str_skip(hash, APR1_PREFIX.n);
    ssize_t end = str_chr(salt, '$');
    if (end < 0)
        return AUTH_BROKEN;
    struct str kept = str_skip(salt, (size_t)end + 1);
    salt = str_head(salt, (size_t)end < APR1_SALT ? (size_t)end : APR1_SALT);
    apr1_first(password, salt, digest);
    for (unsigned i = 0; i < APR1_ROUNDS; i++)
        apr1_round(i, password, salt, digest);
    apr1_text(digest, text);
    explicit_bzero(digest, sizeof(digest));
    return kept.n != sizeof(text) ? AUTH_BROKEN
                                  : verdict(same(str_make(text, sizeof(text)), kept));
}

/* ---- {SHA}, {SSHA}, {PLAIN} ---- */

static enum auth_result check_sha(struct str coded, struct str password, bool salted)
{
    unsigned char kept[BASE64_DECODED(HASH_MAX)];
    uint8_t digest[SHA1_DIGEST_SIZE];
    struct sha1_ctx ctx;
    size_t n;
    if (coded.n > HASH_MAX || !base64_decode(kept, coded, &n) || n < sizeof(digest) ||
        (n > sizeof(digest)) != salted)
        return AUTH_BROKEN;
    sha1_init(&ctx);
    sha1_update(&ctx, password.n, (const uint8_t *)password.p);
    sha1_update(&ctx, n - sizeof(digest), kept + sizeof(digest));
    AUTH_DIGEST(sha1, &ctx, digest);
    explicit_bzero(&ctx, sizeof(ctx));
    enum auth_result res = verdict(memeql_sec(kept, digest, sizeof(digest)));
    explicit_bzero(digest, sizeof(digest));
    return res;
}

/* By their digests, which are of one length whatever the passwords' are. */
static enum auth_result check_plain(struct str kept, struct str password)
{
    uint8_t digests[2][SHA256_DIGEST_SIZE];
    struct str texts[2] = {kept, password};
    for (int i = 0; i < 2; i++) {
        struct sha256_ctx ctx;
        sha256_init(&ctx);
        sha256_update(&ctx, texts[i].n, (const uint8_t *)texts[i].p);
        AUTH_DIGEST(sha256, &ctx, digests[i]);
        explicit_bzero(&ctx, sizeof(ctx));
    }
    enum auth_result res = verdict(memeql_sec(digests[0], digests[1], sizeof(digests[0])));
    explicit_bzero(digests, sizeof(digests));
    return res;
}

enum auth_result auth_hash_check(enum htpasswd_kind kind, struct str hash, struct str password)
{
    if (password.n > AUTH_PASSWORD_MAX)
        return AUTH_WRONG;
    switch (kind) {
    case HTPASSWD_CRYPT: return check_crypt(hash, password);
    case HTPASSWD_APR1: return check_apr1(hash, password);
    case HTPASSWD_SHA: return check_sha(str_skip(hash, 5), password, false);
    case HTPASSWD_SSHA: return check_sha(str_skip(hash, 6), password, true);
    case HTPASSWD_PLAIN: return check_plain(str_skip(hash, 7), password);
    case HTPASSWD_UNKNOWN: break;
    }
    return AUTH_BROKEN;
}
