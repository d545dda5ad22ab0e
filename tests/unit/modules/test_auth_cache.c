/* SPDX-License-Identifier: BSD-2-Clause */
/* What was verified: by everything that made it so, for a while, in bounded memory. */
#include "../http/unit.h"

#include "../../../modules/auth_basic/auth_cache.c"

static struct auth_tag tag_of(struct auth_cache *c, const char *user, const char *hash,
                              const char *password)
{
    struct auth_tag tag;
    auth_cache_tag(c, str_z(user), str_z(hash), str_z(password), &tag);
    return tag;
}

static void remembers(void **state)
{
    struct auth_cache *c = auth_cache_new();
    struct auth_tag tag = tag_of(c, "user", "hash", "password");
    (void)state;
    assert_false(auth_cache_has(c, &tag, 1000));
    auth_cache_add(c, &tag, 1000);
    assert_true(auth_cache_has(c, &tag, 1000));
    assert_true(auth_cache_has(c, &tag, 1000 + AUTH_CACHE_MS - 1));
    assert_false(auth_cache_has(c, &tag, 1000 + AUTH_CACHE_MS));
    auth_cache_add(c, &tag, 1000 + AUTH_CACHE_MS);
    assert_true(auth_cache_has(c, &tag, 1000 + AUTH_CACHE_MS));
    auth_cache_delete(c);
    auth_cache_delete(NULL);
}

static void only_the_same(void **state)
{
    static const char *const others[][3] = {
        {"usera", "hash", "password"}, {"user", "hashb", "password"}, {"user", "hash", "passwordb"},
        {"use", "rhash", "password"},  {"user", "hashp", "assword"},  {"", "userhash", "password"},
        {"user", "hash", ""},          {"user", "", "hashpassword"},  {"User", "hash", "password"},
    };
    struct auth_cache *c = auth_cache_new(), *other = auth_cache_new();
    struct auth_tag tag = tag_of(c, "user", "hash", "password");
    (void)state;
    auth_cache_add(c, &tag, 1);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct auth_tag not = tag_of(c, others[i][0], others[i][1], others[i][2]);
        assert_false(auth_cache_has(c, &not, 1));
    }
    struct auth_tag again = tag_of(c, "user", "hash", "password");
    assert_memory_equal(&again, &tag, sizeof(tag));
    struct auth_tag elsewhere = tag_of(other, "user", "hash", "password"); /* another key */
    assert_memory_not_equal(&elsewhere, &tag, sizeof(tag));
    struct auth_tag zero = {{0}}; /* an empty place is nobody's */
    assert_false(auth_cache_has(c, &zero, 0));
    auth_cache_delete(c);
    auth_cache_delete(other);
}

/* The oldest of a set makes room; the ones added last stay. */
static void bounded(void **state)
{
    struct auth_cache *c = auth_cache_new();
    struct auth_tag tag = {{7}};
    (void)state;
    for (unsigned char i = 0; i < WAYS + 2; i++) {
        tag.bytes[31] = i;
        auth_cache_add(c, &tag, 100 + i);
    }
    for (unsigned char i = 0; i < WAYS + 2; i++) {
        tag.bytes[31] = i;
        assert_int_equal(auth_cache_has(c, &tag, 200), i >= 2);
    }
    tag.bytes[31] = 2; /* the same one again takes no second place */
    auth_cache_add(c, &tag, 300);
    for (unsigned char i = 2; i < WAYS + 2; i++) {
        tag.bytes[31] = i;
        assert_true(auth_cache_has(c, &tag, 300));
    }
    auth_cache_delete(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembers),
        cmocka_unit_test(only_the_same),
        cmocka_unit_test(bounded),
    };
    return cmocka_run_group_tests_name("modules/auth_basic/auth_cache", tests, NULL, NULL);
}
