/* SPDX-License-Identifier: BSD-2-Clause */
/* What the hooks of the access phase find, and what satisfy makes of it. */
#include "unit.h"

static struct fake *asked(struct site *s, const char *satisfy)
{
    static struct log silent = {.level = LEVEL_EMERG};
    char yaml[128];
    snprintf(yaml, sizeof(yaml), "http:\n  satisfy: %s\n  access: allow all\n"
             "  server: {listen: 8080}\n", satisfy);
    site_good(s, yaml);
    struct fake *f = fake_new(s);
    f->r.phase = PHASE_ACCESS;
    f->r.log.log = &silent;
    return f;
}

static void all_of_them(void **state)
{
    struct site s;
    (void)state;
    struct fake *f = asked(&s, "all");
    assert_int_equal(request_grant(&f->r), VERDICT_NEXT);
    assert_int_equal(request_refuse(&f->r, 403, STR_NONE), VERDICT_DONE);
    assert_int_equal(f->r.res.status, 403);
    assert_int_equal(f->r.refused, 0);
    assert_int_equal(request_refuse(&f->r, 401, STR("Basic")), VERDICT_DONE);
    assert_int_equal(f->r.res.status, 401);
    assert_str(f->r.challenge, "Basic");
    fake_free(f);
    site_end(&s);
}

static void any_of_them(void **state)
{
    static const struct {
        unsigned first, second; /* 1: grants */
        unsigned refused;
        const char *challenge;
    } rows[] = {
        {403, 0, 403, ""},    {401, 0, 401, "C401"},   {403, 401, 401, "C401"},
        {401, 403, 401, "C401"}, {403, 403, 403, ""},  {403, 1, 0, ""},
        {401, 1, 0, ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        struct fake *f = asked(&s, "any");
        unsigned found[] = {rows[i].first, rows[i].second};
        for (size_t k = 0; k < 2 && found[k] != 0; k++) {
            enum verdict v = found[k] == 1
                                 ? request_grant(&f->r)
                                 : request_refuse(&f->r, found[k],
                                                  found[k] == 401 ? STR("C401") : STR_NONE);
            assert_int_equal(v, VERDICT_NEXT);
            assert_int_equal(f->r.res.status, 0);
        }
        assert_int_equal(f->r.refused, rows[i].refused);
        assert_str(f->r.challenge, rows[i].challenge);
        fake_free(f);
        site_end(&s);
    }
}

/* A page for the error of another location keeps that error's challenge. */
static void a_grant_keeps_what_is_not_its_own(void **state)
{
    struct site s;
    (void)state;
    struct fake *f = asked(&s, "any");
    f->r.challenge = STR("earlier");
    assert_int_equal(request_refuse(&f->r, 403, STR_NONE), VERDICT_NEXT);
    assert_int_equal(request_grant(&f->r), VERDICT_NEXT);
    assert_str(f->r.challenge, "earlier");
    fake_free(f);
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_them),
        cmocka_unit_test(any_of_them),
        cmocka_unit_test(a_grant_keeps_what_is_not_its_own),
    };
    return cmocka_run_group_tests_name("http/request", tests, NULL, NULL);
}
