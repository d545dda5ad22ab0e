/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Location choice: a table for every rule of nginx's, a naive model over random sets of locations,
 * many routes, and the faults of keys.
 */
#include "unit.h"

#include "conf/bind.h"

#include <time.h>

static const char *chosen(struct site *s, const char *path, bool *slash)
{
    static char text[256];
    struct location *l = location_find(s->cy.vhosts[0], str_z(path), NULL, slash);
    static const char *const marks[] = {"= ", "", "^~ ", "~ ", "~* ", "", "server"};
    snprintf(text, sizeof(text), "%s" STR_FMT, marks[l->kind], STR_ARG(l->name));
    return text;
}

struct row {
    const char *path, *want;
    bool slash;
};

static void check_rows(struct site *s, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool slash;
        const char *got = chosen(s, rows[i].path, &slash);
        if (strcmp(got, rows[i].want) != 0 || slash != rows[i].slash)
            print_error("%s: got %s%s\n", rows[i].path, got, slash ? " + slash" : "");
        assert_string_equal(got, rows[i].want);
        assert_int_equal(slash, rows[i].slash);
    }
}

static void rules(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n    location:\n"
                  "      /: {}\n"
                  "      /docs: {}\n"
                  "      /docs/api/: {}\n"
                  "      ^~ /static/: {}\n"
                  "      = /docs: {}\n"
                  "      =/glued: {}\n"
                  "      ~ \\.php$: {}\n"
                  "      ~* \\.(gif|jpg)$: {}\n"
                  "      ~ ^/docs/api/x: {}\n"
                  "      /Case: {}\n"
                  "      \"@named\": {}\n");
    static const struct row rows[] = {
        {"/", "/", false},                       /* the prefix that is always there */
        {"/x", "/", false},
        {"/docs", "= /docs", false},             /* exact before prefix */
        {"/docsx", "/docs", false},              /* a prefix is bytes, not segments */
        {"/docs/", "/docs", false},
        {"/docs/api", "/docs/api/", true},       /* without its slash: 301 */
        {"/docs/api/", "/docs/api/", false},
        {"/docs/api/y", "/docs/api/", false},    /* longest */
        {"/docs/api/x", "~ ^/docs/api/x", false}, /* regex before prefix */
        {"/docs/api/x.php", "~ \\.php$", false}, /* first regex in file order */
        {"/static/a.php", "^~ /static/", false}, /* ^~ ends the search */
        {"/static", "^~ /static/", true},
        {"/a.php", "~ \\.php$", false},
        {"/a.PHP", "/", false},                  /* ~ minds the case */
        {"/a.JPG", "~* \\.(gif|jpg)$", false},   /* ~* does not */
        {"/a.php\n", "/", false},                /* $ is the very end */
        {"/glued", "= /glued", false},
        {"/glued/", "/", false},
        {"/case", "/", false},                   /* paths mind the case */
        {"/Case", "/Case", false},
        {"@named", "server", false},             /* never by a path */
    };
    check_rows(&s, rows, ARRAY_LEN(rows));
    assert_non_null(location_named(s.cy.vhosts[0], STR("@named")));
    assert_null(location_named(s.cy.vhosts[0], STR("@other")));
    assert_null(location_named(s.cy.vhosts[0], STR("/docs")));
    site_end(&s);
}

static void slash_rules(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n    location:\n"
                  "      /a/: {}\n"
                  "      /a-b: {}\n"
                  "      /a.b: {}\n"
                  "      /b/: {}\n"
                  "      /b: {}\n"
                  "      /c/: {}\n"
                  "      = /c: {}\n"
                  "      /d/: {}\n"
                  "      ~ ^/d$: {}\n");
    static const struct row rows[] = {
        {"/a", "/a/", true},       /* other names stand between "/a" and "/a/" in byte order */
        {"/a-b", "/a-b", false},
        {"/b", "/b", false},       /* has a location of its own */
        {"/c", "= /c", false},
        {"/d", "/d/", true},       /* the redirect comes before regexes */
        {"/", "server", false},
        {"/e", "server", false},
    };
    check_rows(&s, rows, ARRAY_LEN(rows));
    site_end(&s);
}

static void nested(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n    location:\n"
                  "      /app/:\n"
                  "        location:\n"
                  "          /app/img/: {location: {~ \\.png$: {}}}\n"
                  "          = /app/one: {}\n"
                  "          ~ \\.txt$: {}\n"
                  "      ^~ /quiet/:\n"
                  "        location:\n"
                  "          ~ \\.txt$: {}\n"
                  "      ~ \\.(txt|png|html)$: {location: {~ inner: {}}}\n");
    static const struct row rows[] = {
        {"/app/x", "/app/", false},
        {"/app/one", "= /app/one", false},
        {"/app/img/a", "/app/img/", false},
        {"/app/img", "/app/img/", true},
        {"/app/img/a.png", "~ \\.png$", false},      /* inside before beside */
        {"/app/a.txt", "~ \\.txt$", false},
        {"/app/img/a.txt", "~ \\.txt$", false},
        {"/app/a.html", "~ \\.(txt|png|html)$", false}, /* beside, when nothing inside is final */
        {"/quiet/a.txt", "~ \\.txt$", false},
        {"/quiet/a.html", "^~ /quiet/", false},
        {"/inner.html", "~ inner", false},
    };
    check_rows(&s, rows, ARRAY_LEN(rows));
    site_end(&s);
}

/* An alias is matched by whole segments (hostile.md 2b, nginx's alias trap). */
static void alias_segments(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n    location:\n"
                  "      /img: {alias: /tmp}\n"
                  "      /im: {}\n"
                  "      /dir/: {alias: /tmp/}\n"
                  "      ~ ^/re(.*)$: {alias: /tmp$1}\n");
    static const struct row rows[] = {
        {"/img", "/img", false},  {"/img/", "/img", false}, {"/img/x", "/img", false},
        {"/imgx", "/im", false},  {"/img..", "/im", false}, {"/img../x", "/im", false},
        {"/dir/x", "/dir/", false}, {"/dir", "/dir/", true}, {"/dirx", "server", false},
        {"/rex", "~ ^/re(.*)$", false},
    };
    check_rows(&s, rows, ARRAY_LEN(rows));
    site_end(&s);
}

static void captures(void **state)
{
    struct site s;
    bool slash;
    (void)state;
    site_good(&s, "http:\n  server:\n    location:\n"
                  "      ~ ^/(a)(b)?/(?<name>.*)$: {}\n"
                  "      ~ ^/none: {}\n");
    struct fake *f = fake_new(&s);
    location_find(s.cy.vhosts[0], STR("/a/rest"), &f->r, &slash);
    assert_int_equal(f->r.capture_count, 4);
    assert_str(f->r.captures[0], "/a/rest");
    assert_str(f->r.captures[1], "a");
    assert_null(f->r.captures[2].p);
    assert_str(f->r.captures[3], "rest");
    struct var_ref ref;
    struct str value;
    assert_true(vars_find(&s.cy.vars, STR("name"), &ref));
    assert_true(var_value(&f->r, &ref, &value));
    assert_str(value, "rest");
    location_find(s.cy.vhosts[0], STR("/zzz"), &f->r, &slash); /* no match: they stay */
    assert_str(f->r.captures[3], "rest");
    assert_false(f->r.match_failed);
    fake_free(f);
    site_end(&s);
}

/* ---- a model ---- */

struct model_location {
    char mark[3];
    char name[16];
};

struct model {
    struct model_location v[12];
    size_t n;
};

static bool model_is(const struct model_location *l, const char *mark)
{
    return strcmp(l->mark, mark) == 0;
}

/* Regexes of the model are "^/..." without special bytes but the beginning: a prefix test. */
static void model_choose(const struct model *m, const char *path, char *out, bool *slash)
{
    const struct model_location *best = NULL, *dir = NULL;
    bool own = false;
    char with[64];
    *slash = false;
    snprintf(with, sizeof(with), "%s/", path);
    for (size_t i = 0; i < m->n; i++) {
        const struct model_location *l = &m->v[i];
        bool prefix = model_is(l, "") || model_is(l, "^~");
        if (model_is(l, "=") && strcmp(l->name, path) == 0) {
            snprintf(out, 64, "= %s", l->name);
            return;
        }
        own = own || (prefix && strcmp(l->name, path) == 0);
        if (prefix && strcmp(l->name, with) == 0)
            dir = l;
        if (prefix && strncmp(path, l->name, strlen(l->name)) == 0 &&
            (best == NULL || strlen(l->name) > strlen(best->name)))
            best = l;
    }
    *slash = dir != NULL && !own;
    if (*slash)
        best = dir;
    if (!*slash && (best == NULL || !model_is(best, "^~"))) {
        for (size_t i = 0; i < m->n; i++) {
            const struct model_location *l = &m->v[i];
            if (model_is(l, "~") && strncmp(path, l->name + 1, strlen(l->name + 1)) == 0) {
                snprintf(out, 64, "~ %s", l->name);
                return;
            }
        }
    }
    if (best == NULL)
        snprintf(out, 64, "server");
    else
        snprintf(out, 64, "%s%s%s", best->mark, best->mark[0] != '\0' ? " " : "", best->name);
}

static unsigned seed = 20261;
static unsigned dice(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

static void random_path(char *to, size_t most)
{
    size_t n = 1 + dice((unsigned)most);
    to[0] = '/';
    for (size_t i = 1; i < n; i++)
        to[i] = "ab/-"[dice(4)];
    to[n] = '\0';
}

static void against_model(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        struct model m = {.n = 0};
        char yaml[2048], path[32], want[64];
        struct site s;
        int at = snprintf(yaml, sizeof(yaml), "http:\n  server:\n    location:\n      /zz: {}\n");
        for (unsigned i = 0, n = dice(11); i < n; i++) {
            struct model_location l = {"", ""};
            snprintf(l.mark, sizeof(l.mark), "%s",
                     ((const char *const[]){"", "", "^~", "=", "~"})[dice(5)]);
            char *to = l.name;
            if (model_is(&l, "~"))
                *to++ = '^';
            random_path(to, 5);
            bool clash = false;
            for (size_t k = 0; k < m.n; k++)
                clash = clash || (strcmp(m.v[k].name, l.name) == 0 &&
                                  (strcmp(m.v[k].mark, l.mark) == 0 || !model_is(&l, "=")) &&
                                  !(model_is(&m.v[k], "=") && !model_is(&l, "=")));
            if (clash)
                continue;
            m.v[m.n++] = l;
            at += snprintf(yaml + at, sizeof(yaml) - (size_t)at, "      \"%s%s%s\": {}\n", l.mark,
                           l.mark[0] != '\0' ? " " : "", l.name);
        }
        site_good(&s, yaml);
        for (unsigned i = 0; i < 60; i++) {
            bool want_slash, slash;
            random_path(path, 8);
            model_choose(&m, path, want, &want_slash);
            const char *got = chosen(&s, path, &slash);
            if (strcmp(got, want) != 0 || slash != want_slash)
                print_error("%s%s: got %s, want %s\n", yaml, path, got, want);
            assert_string_equal(got, want);
            assert_int_equal(slash, want_slash);
        }
        site_end(&s);
    }
}

/* hostile 132: 10^5 routes, and no search walks them all. */
static void many_routes(void **state)
{
    enum { N = 100000 };
    struct buf b;
    struct site s;
    bool slash;
    struct timespec t0, t1;
    (void)state;
    buf_init(&b, 0);
    buf_str(&b, STR("http:\n  server:\n    location:\n"));
    for (unsigned i = 0; i < N; i++)
        buf_printf(&b, "      /route/%u/: {}\n", i * 7919u % N);
    buf_char(&b, '\0');
    site_good(&s, b.p);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (unsigned i = 0; i < N; i++) {
        char path[64];
        int n = snprintf(path, sizeof(path), "/route/%u/x", i);
        struct location *l = location_find(s.cy.vhosts[0], str_make(path, (size_t)n), NULL, &slash);
        assert_int_equal(l->name.n, (size_t)n - 1);
        assert_false(slash);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    assert_true(t1.tv_sec - t0.tv_sec < 5); /* a walk of 10^10 steps is not among the answers */
    site_end(&s);
    buf_fini(&b);
}

static void faults(void **state)
{
    static const struct {
        const char *locations;  /* below `location:`, which is in line 3 */
        const char *want;       /* in the report */
    } rows[] = {
        {"      img: {}\n", ":4:7: http.server[0].location[\"img\"]: \"img\" can never match"},
        {"      \"= img\": {}\n", ":4:7: http.server[0].location[\"= img\"]: \"img\" can never"},
        {"      \"=\": {}\n", "can never match"},
        {"      \"~\": {}\n", "a regular expression is expected behind the mark"},
        {"      \"~ (\": {}\n", "is not a regular expression"},
        {"      \"~ a b\": {}\n", "\"b\" is one word too many"},
        {"      \"/a b\": {}\n", "\"/a\" is not a kind of location"},
        {"      \"!~ a\": {}\n", "\"!~\" is not a kind of location"},
        {"      /a: {}\n      ^~ /a: {}\n", ":5:7: http.server[0].location[\"^~ /a\"]: there is a location"},
        {"      = /a: {}\n      =/a: {}\n", ":5:7: http.server[0].location[\"=/a\"]: there is a location"},
        {"      = /a: {location: {/a/b: {}}}\n", "no location can be inside an exact or a named one"},
        {"      \"@a\": {location: {/a/b: {}}}\n", "no location can be inside an exact or a named one"},
        {"      /a: {location: {\"@x\": {}}}\n", "a named location stands in a server"},
        {"      /a: {location: {/b: {}}}\n", "does not begin with the name of the location around"},
        {"      \"@a\": {alias: /tmp}\n", "alias has no meaning in a named location"},
        {"      /a: {alias: /tmp, root: /tmp}\n", "alias and root contradict each other"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char yaml[512];
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  server:\n    location:\n%s", rows[i].locations);
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, rows[i].want) == NULL)
            print_error("%swant: %s\n got: %s\n", yaml, rows[i].want, s.report.p);
        assert_false(s.good);
        assert_non_null(strstr(s.report.p, rows[i].want));
        site_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),         cmocka_unit_test(slash_rules),
        cmocka_unit_test(nested),        cmocka_unit_test(alias_segments),
        cmocka_unit_test(captures),      cmocka_unit_test(against_model),
        cmocka_unit_test(many_routes),   cmocka_unit_test(faults),
    };
    if (regex_version() == NULL)
        return 77; /* patterns are everywhere in it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
