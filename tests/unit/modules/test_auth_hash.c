/* SPDX-License-Identifier: BSD-2-Clause */
/* Passwords against what htpasswd, openssl passwd and mkpasswd have made of them. */
#include "../http/unit.h"

#include "../../../modules/auth_basic/auth_hash.c"

#define X70 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct {
    const char *name, *password, *hash;
} right[] = {
    {"htpasswd -m", "secret", "$apr1$VVY3thN8$P4wHDVv80ztcQiM0r.gJM1"},
    {"htpasswd -m, empty", "", "$apr1$9SO./aM6$VIUosOxvegcYz1ANLOpiS0"},
    {"htpasswd -m, odd", "p:a ss", "$apr1$Z01Cu/wR$VzlGjbTDBy66BuEKA6sui."},
    {"openssl passwd -apr1", "secret", "$apr1$JnbX6/N8$oXDpvn5d1cAaqZEOSZfyH1"},
    {"apr1, long", X70, "$apr1$abcdefgh$2RAcZSBiRoikyetBc6PNx."},
    {"apr1, 16 bytes, short salt", "sixteen-byte-pw!", "$apr1$ab$lbDp9nBcLBOo8hhOsFDXx."},
    {"apr1, no salt", "a", "$apr1$$ny0TwGBt5/BPT4.mbWBKk."},
    {"htpasswd -s", "secret", "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="},
    {"htpasswd -s, empty", "", "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk="},
    {"{SSHA}", "secret", "{SSHA}Wcm1xEisNjqp921ALcHfuQ7avFdzYWx0MTIzNA=="},
    {"htpasswd -d", "secret", "y5Jz2GEZ2FF1M"},
    {"htpasswd -B", "secret", "$2y$05$4ZN/c9K3dQrxcAkm9CRiJeuwKtRiP.5bhEf7A9rhpLVcBz2d0SDt."},
    {"htpasswd -B, empty", "", "$2y$05$R/0x8Xhmyg6liZ4HQeqtLeFRsELnuLnbb6G/URBBpxq4m0jl8zLR2"},
    {"openssl passwd -5", "secret", "$5$0xlJzMScrDryi6N5$Mv.o.IxHgUqC0GcvDq5l3tBf5ku5xfJip9.eFOyooQA"},
    {"openssl passwd -6", "secret",
     "$6$JU0slKqmNtWyEz.S$Rr5sjwnk3YOOd6mT9.4mK1VJmsWtzt6S7Nhmk8UKiRwELL1ICA8Ae.tGgf4A4rK/"
     "3ygopdozeGVfpVtGkFvSG/"},
    {"htpasswd -5, odd", "p:a ss",
     "$6$3PLP5YCdDWg8Cpwc$C1xkZG7lr4YiOhpCRsEsJMlY7NFT636kGwvtNLQtViL6SKR66.hPhEzAn9hJBGvH6muyy45ik"
     "7somxUO5aHir."},
    {"openssl passwd -1", "secret", "$1$.UkaWvWs$JbdOtYn9LvKf8wR6/AsQP."},
    {"mkpasswd -m yescrypt", "secret",
     "$y$j9T$r5YAk2GA0Mc/6iV8oPoSY/$w42U0R.TAMDhML0MHlggrUEw3nCnxygF9ScAqUgYJg1"},
    {"mkpasswd -m yescrypt, empty", "",
     "$y$j9T$38THoXseIB7z0ty6stWgB/$X7SGTNnCatRyALVprr95SgtXYxoMBVkJKH8QHy5lLT2"},
    {"mkpasswd -m bsdicrypt", "secret", "_J9..TS2OV7hg8ArUC5w"},
    {"{PLAIN}", "secret", "{PLAIN}secret"},
    {"{PLAIN}, empty", "", "{PLAIN}"},
};

static enum auth_result check(const char *hash, struct str password)
{
    struct str h = str_z(hash);
    return auth_hash_check(htpasswd_kind_of(h), h, password);
}

static void takes_the_right_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(right); i++)
        if (check(right[i].hash, str_z(right[i].password)) != AUTH_RIGHT)
            fail_msg("%s", right[i].name);
}

static void refuses_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        char near[128];
        size_t n = strlen(right[i].password);
        memcpy(near, right[i].password, n + 1);
        if (check(right[i].hash, STR("Secret")) != AUTH_WRONG)
            fail_msg("%s: taken", right[i].name);
        near[n] = 'x';
        bool des = str_eq(str_z(right[i].name), STR("htpasswd -d"));
        if (!des && check(right[i].hash, str_make(near, n + 1)) != AUTH_WRONG)
            fail_msg("%s: one more byte is taken", right[i].name);
        if (n > 0 && check(right[i].hash, str_make(near, n - 1)) != AUTH_WRONG)
            fail_msg("%s: one byte less is taken", right[i].name);
    }
}

/* A hash whose last digit another one takes the place of is another hash. */
static void looks_at_all_of_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        char hash[256];
        size_t n = strlen(right[i].hash);
        memcpy(hash, right[i].hash, n + 1);
        size_t at = hash[n - 1] == '=' ? n - 4 : n - 1;
        hash[at] = hash[at] == 'A' ? 'B' : 'A';
        if (check(hash, str_z(right[i].password)) == AUTH_RIGHT)
            fail_msg("%s", right[i].name);
    }
}

static void broken(void **state)
{
    static const struct {
        const char *hash;
        enum auth_result want;
    } rows[] = {
        {"plain", AUTH_BROKEN},
        {"", AUTH_BROKEN},
        {"$nosuch$salt$hash", AUTH_BROKEN},
        {"$apr1$nosaltend", AUTH_BROKEN},
        {"$apr1$salt$short", AUTH_BROKEN},
        {"$apr1$salt$", AUTH_BROKEN},
        {"{SHA}", AUTH_BROKEN},
        {"{SHA}not base64", AUTH_BROKEN},
        {"{SHA}5en6G6MezRroT3XKqkdPOg==", AUTH_BROKEN},           /* too short */
        {"{SHA}5en6G6MezRroT3XKqkdPOmY/BfQhISEh", AUTH_BROKEN},   /* that is {SSHA} */
        {"{SSHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", AUTH_BROKEN},      /* no salt */
        {"{SSHA}", AUTH_BROKEN},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (check(rows[i].hash, STR("secret")) != rows[i].want)
            fail_msg("%s", rows[i].hash);
    char big[4096] = "{SHA}";
    memset(big + 5, 'A', sizeof(big) - 6);
    assert_int_equal(check(big, STR("secret")), AUTH_BROKEN);
    memcpy(big, "$6$", 3);
    assert_int_equal(check(big, STR("secret")), AUTH_BROKEN);
}

static void too_long(void **state)
{
    static char text[8192];
    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        assert_int_equal(check(right[i].hash, str_make(text, sizeof(text))), AUTH_WRONG);
        assert_int_not_equal(check(right[i].hash, str_make(text, AUTH_PASSWORD_MAX)), AUTH_RIGHT);
    }
}

static void slow_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(right); i++)
        assert_int_equal(auth_hash_is_slow(htpasswd_kind_of(str_z(right[i].hash))),
                         right[i].hash[0] != '{');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_right_one), cmocka_unit_test(refuses_others),
        cmocka_unit_test(looks_at_all_of_it),  cmocka_unit_test(broken),
        cmocka_unit_test(too_long),            cmocka_unit_test(slow_ones),
    };
    return cmocka_run_group_tests_name("modules/auth_basic/auth_hash", tests, NULL, NULL);
}
