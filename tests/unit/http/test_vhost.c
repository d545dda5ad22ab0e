/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Server choice (behaviours.md C8, C11): a table of the rules, a naive model over random sets of
 * names, many servers, and what is refused or warned of.
 */
#include "unit.h"

#include "http/vhost.h"

/* The index of the server chosen for a host. */
static size_t chosen(struct site *s, size_t listener, const char *host)
{
    return sites_find(site_sites(s, listener), str_z(host), NULL)->index;
}

static void rules(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n"
                  "    - {listen: 127.0.0.1:8080}\n"                                      /* 0 */
                  "    - {listen: 127.0.0.1:8080, server_name: Example.ORG www.example.org}\n"
                  "    - {listen: 127.0.0.1:8080, server_name: \"*.example.org\"}\n"      /* 2 */
                  "    - {listen: 127.0.0.1:8080, server_name: \"*.b.example.org\"}\n"    /* 3 */
                  "    - {listen: 127.0.0.1:8080, server_name: www.*}\n"                  /* 4 */
                  "    - {listen: 127.0.0.1:8080, server_name: www.x.*}\n"                /* 5 */
                  "    - {listen: 127.0.0.1:8080, server_name: .dot.net}\n"               /* 6 */
                  "    - {listen: 127.0.0.1:8080, server_name: \"~^re\\\\d\"}\n"          /* 7 */
                  "    - {listen: 127.0.0.1:8080, server_name: \"~^re\"}\n"               /* 8 */
                  "    - {listen: 127.0.0.1:8080, server_name: [_, \"[::1]\", end.]}\n"   /* 9 */
                  "    - {listen: 127.0.0.1:8080 default_server, server_name: dflt}\n");  /* 10 */
    static const struct {
        const char *host;
        size_t want;
    } rows[] = {
        {"example.org", 1},         /* exact, written in another case */
        {"www.example.org", 1},     /* exact before any wildcard */
        {"a.example.org", 2},
        {"a.b.example.org", 3},     /* the longest leading wildcard */
        {"b.example.org", 2},       /* "*.b..." does not stand for itself */
        {"www.b.example.org", 3},   /* leading before trailing */
        {"www.com", 4},
        {"www.x.com", 5},           /* the longest trailing wildcard */
        {"www.x", 4},
        {"dot.net", 6},
        {"a.dot.net", 6},
        {"xdot.net", 10},
        {"re1.com", 7},             /* the first regex */
        {"re.com", 8},
        {"www.re", 4},              /* wildcard before regex */
        {"_", 9},
        {"[::1]", 9},
        {"end", 9},                 /* its dot was taken off, as it is in Host */
        {"", 0},                    /* no name: for requests without one */
        {"nobody.test", 10},        /* C11: the default server */
        {"org", 10},
        {"example.org.", 10},       /* host.c takes the dot off before */
    };
    assert_int_equal(s.cy.listener_count, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t got = chosen(&s, 0, rows[i].host);
        if (got != rows[i].want)
            print_error("%s: got %zu\n", rows[i].host, got);
        assert_int_equal(got, rows[i].want);
    }
    assert_str(s.cy.vhosts[1]->name, "example.org");
    assert_str(s.cy.vhosts[2]->name, "*.example.org");
    assert_str(s.cy.vhosts[6]->name, "dot.net");
    assert_str(s.cy.vhosts[0]->name, "");
    site_end(&s);
}

static void first_is_default(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n"
                  "    - {listen: [8081, 8082], server_name: a}\n"
                  "    - {listen: [8082 default_server, 8083], server_name: b}\n"
                  "    - {listen: 8083, server_name: a}\n");
    assert_int_equal(s.cy.listener_count, 3);
    assert_int_equal(chosen(&s, 0, "x"), 0);
    assert_int_equal(chosen(&s, 1, "x"), 1);
    assert_int_equal(chosen(&s, 2, "x"), 1);
    assert_int_equal(chosen(&s, 0, "b"), 0); /* a name counts on the addresses of its server only */
    assert_int_equal(chosen(&s, 1, "a"), 0);
    assert_int_equal(chosen(&s, 2, "a"), 2);
    site_end(&s);
}

static void captures(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n"
                  "    - {listen: 8081, server_name: \"~^(?<user>[a-z]+)\\\\.home\\\\.(test)$\"}\n"
                  "    - {listen: 8081, server_name: \"~^(?<user>x)$\", root: /home/$user}\n");
    struct fake *f = fake_new(&s);
    assert_int_equal(sites_find(site_sites(&s, 0), STR("bob.home.test"), &f->r)->index, 0);
    assert_str(f->r.captures[1], "bob");
    assert_str(f->r.captures[2], "test");
    struct var_ref ref;
    struct str value;
    assert_true(vars_find(&s.cy.vars, STR("user"), &ref));
    assert_true(var_value(&f->r, &ref, &value));
    assert_str(value, "bob");
    fake_free(f);
    site_end(&s);
}

/* ---- a model ---- */

struct model_name {
    char text[24];
    size_t server;
};

static unsigned seed = 777;
static unsigned dice(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

static void random_host(char *to, unsigned labels)
{
    for (unsigned i = 0; i < labels; i++) {
        if (i > 0)
            *to++ = '.';
        *to++ = "abc"[dice(3)];
    }
    *to = '\0';
}

static bool ends(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

static size_t model_choose(const struct model_name *names, size_t n, const char *host)
{
    const struct model_name *leading = NULL, *trailing = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *t = names[i].text;
        size_t len = strlen(t);
        if (strcmp(t, host) == 0)
            return names[i].server;
        if (t[0] == '*' && ends(host, t + 1) &&
            (leading == NULL || len > strlen(leading->text)))
            leading = &names[i];
        if (t[0] != '*' && t[len - 1] == '*' && strncmp(host, t, len - 1) == 0 &&
            strlen(host) > len - 1 && (trailing == NULL || len > strlen(trailing->text)))
            trailing = &names[i];
    }
    return leading != NULL ? leading->server : trailing != NULL ? trailing->server : 0;
}

static void against_model(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        struct model_name names[12];
        size_t n = 0;
        char yaml[2048], host[24];
        struct site s;
        int at = snprintf(yaml, sizeof(yaml),
                          "http:\n  server:\n    - {listen: 8081, server_name: dflt}\n");
        for (unsigned i = 0, most = dice(12); i < most; i++) {
            struct model_name *m = &names[n];
            unsigned kind = dice(3);
            random_host(host, 1 + dice(3));
            snprintf(m->text, sizeof(m->text), "%s%.16s%s", kind == 1 ? "*." : "", host,
                     kind == 2 ? ".*" : "");
            bool taken = false;
            for (size_t k = 0; k < n; k++)
                taken = taken || strcmp(names[k].text, m->text) == 0;
            if (taken)
                continue;
            m->server = ++n;
            at += snprintf(yaml + at, sizeof(yaml) - (size_t)at,
                           "    - {listen: 8081, server_name: [\"%s\"]}\n", m->text);
        }
        site_good(&s, yaml);
        for (unsigned i = 0; i < 60; i++) {
            random_host(host, 1 + dice(4));
            size_t want = model_choose(names, n, host), got = chosen(&s, 0, host);
            if (got != want)
                print_error("%s%s: got %zu, want %zu\n", yaml, host, got, want);
            assert_int_equal(got, want);
        }
        site_end(&s);
    }
}

/* hostile 132: 10,000 virtual hosts */
static void many_servers(void **state)
{
    enum { N = 10000 };
    struct buf b;
    struct site s;
    (void)state;
    buf_init(&b, 0);
    buf_str(&b, STR("http:\n  server:\n"));
    for (unsigned i = 0; i < N; i++)
        buf_printf(&b, "    - {listen: 8081, server_name: h%u.test \"*.h%u.test\"}\n", i, i);
    buf_char(&b, '\0');
    site_good(&s, b.p);
    for (unsigned i = 0; i < N; i++) {
        char host[64];
        snprintf(host, sizeof(host), "h%u.test", i);
        assert_int_equal(chosen(&s, 0, host), i);
        snprintf(host, sizeof(host), "x.h%u.test", i);
        assert_int_equal(chosen(&s, 0, host), i);
    }
    site_end(&s);
    buf_fini(&b);
}

static void faults(void **state)
{
    static const struct {
        const char *name;
        const char *want;
    } rows[] = {
        {"a.*.b", "\"*\" stands for whole labels"},
        {"w*.b", "\"*\" stands for whole labels"},
        {"\"*b\"", "\"*\" stands for whole labels"},
        {"\"*.a.*\"", "\"*\" stands for whole labels"},
        {"\"*\"", "\"*\" stands for whole labels"},
        {"\"*.\"", "\"*\" stands for whole labels"},
        {"a:80", "the port belongs into listen"},
        {"http://a", "expected a host name"},
        {"a/b", "expected a host name, without scheme"},
        {"a..b", "a label between two dots is empty"},
        {"\"m\xc3\xbcller.de\"", "xn--"},
        {"\"~(\"", "is not a regular expression"},
        {"\"~\"", "expected a regular expression behind"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char yaml[256], at[64];
        struct site s;
        const char *want = rows[i].want;
        snprintf(yaml, sizeof(yaml), "http:\n  server:\n    listen: 8081\n    server_name: [ok, %s]\n",
                 rows[i].name);
        snprintf(at, sizeof(at), ":4:23: http.server[0]: ");
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, want) == NULL || strstr(s.report.p, at) == NULL)
            print_error("%swant: %s\n got: %s\n", yaml, want, s.report.p);
        assert_false(s.good);
        assert_non_null(strstr(s.report.p, want));
        assert_non_null(strstr(s.report.p, at));
        site_end(&s);
    }
}

static void double_names(void **state)
{
    struct site s;
    (void)state;
    site_begin(&s, "http:\n  server:\n"
                   "    - {listen: 8081, server_name: a a}\n"
                   "    - {listen: 8081, server_name: b A}\n"
                   "    - {listen: 8082, server_name: a}\n"
                   "    - {listen: 8081}\n"
                   "    - {listen: 8081}\n");
    assert_true(s.good);
    assert_int_equal(s.diag.warnings, 2);
    assert_non_null(strstr(s.report.p, ":4:37: "));
    assert_non_null(strstr(s.report.p, "an earlier server has this name on 0.0.0.0:8081 already"));
    assert_non_null(strstr(s.report.p, "another server without a name has 0.0.0.0:8081 already"));
    assert_int_equal(chosen(&s, 0, "a"), 0);
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),         cmocka_unit_test(first_is_default),
        cmocka_unit_test(captures),      cmocka_unit_test(against_model),
        cmocka_unit_test(many_servers),  cmocka_unit_test(faults),
        cmocka_unit_test(double_names),
    };
    if (regex_version() == NULL)
        return 77; /* patterns are everywhere in it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
