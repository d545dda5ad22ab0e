/* SPDX-License-Identifier: BSD-2-Clause */
/* rewrite and return: where a request ends up, redirects re-escaped (N3), what is refused. */
#include "../http/unit.h"

#include "../../../modules/rewrite/rewrite.h"

static const struct {
    const char *name, *rules; /* YAML of the server block behind its listen */
    const char *uri, *args, *want;
} rows[] = {
    {"no match", "rewrite: ^/x /y", "/a", "q=1", "next /a q=1"},
    {"moves", "rewrite: ^/a(.*)$ /b$1", "/a/c", "q=1", "next /b/c q=1"},
    {"goes on", "rewrite: ['^/a$ /b', '^/b$ /c']", "/a", "", "next /c "},
    {"last ends", "rewrite: ['^/a$ /b last', '^/b$ /c']", "/a", "", "next /b "},
    {"break ends", "rewrite: ['^/a$ /b', break, '^/b$ /c']", "/a", "", "next /b "},
    {"break skips return", "rewrite: break\n    return: 404", "/a", "", "next /a "},
    {"return comes last", "rewrite: ^/a$ /b\n    return: [200, $uri]", "/a", "", "200 /b"},
    {"arguments joined", "rewrite: ^/a$ /b?x=1", "/a", "q=1", "next /b x=1&q=1"},
    {"arguments dropped", "rewrite: ^/a$ /b?", "/a", "q=1", "next /b "},
    {"own arguments only", "rewrite: ^/a$ /b?x=1?", "/a", "q=1", "next /b x=1"},
    {"group into arguments", "rewrite: ^/u/(.*)$ /s?u=$1", "/u/a b&c=\xc3\xa9", "",
     "next /s u=a%20b%26c%3D%C3%A9"},
    {"set", "rewrite: ['set $v x$uri', '^ /$v']", "/a", "", "next /x/a "},
    {"set again", "rewrite: ['set $v 1', 'set $v ${v}2', '^ /$v']", "/a", "", "next /12 "},
    {"named group", "rewrite: ['^/(?<who>[a-z]+)/$ /x?who=$who']", "/me/", "",
     "next /x who=me"},
    {"permanent", "rewrite: ^/old/(.*)$ /new/$1 permanent", "/old/x", "q=1",
     "301 /new/x?q=1"},
    {"redirect", "rewrite: ^/old /new redirect", "/old", "", "302 /new"},
    {"URL", "rewrite: ^/e/(.*)$ https://e.org/$1", "/e/x", "a", "302 https://e.org/x?a"},
    {"URL, permanent", "rewrite: ^ http://e.org? permanent", "/e", "a", "301 http://e.org"},
    {"N3 escapes", "return: 301 /to$uri", "/a b\"<>\\^`{|}%#?\r\n\xff", "",
     "301 /to/a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%25%23%3F%0D%0A%FF"},
    {"N3 escapes a group", "rewrite: '(?s)^/x/(.*)$ /$1 redirect'", "/x/a\r\nb c", "",
     "302 /a%0D%0Ab%20c"},
    {"N3 bytes from elsewhere", "return: 301 /$arg_x", "/", "x=\r\n\"b%20", "301 /%0D%0A%22b%20"},
    {"N3 no other host", "rewrite: ^/r(.*)$ /$1 redirect", "/r//evil.example/", "",
     "302 /evil.example/"},
    {"scheme and host", "return: 301 https://$host$request_uri", "/a", "", "301 https://h/raw?x"},
    {"return URL", "return: http://e.org/$uri", "/a", "", "302 http://e.org//a"},
    {"a climb out is a 400", "rewrite: '^/(.)x(.)/(.*)$ /$1$2/$3 break'", "/.x./etc", "",
     "400"},
    {"dots inside", "rewrite: '^/(.*)$ /a/b/../$1'", "/c", "", "next /a/c "},
    {"slashes merged", "rewrite: '^/(.*)$ /a/$1'", "//c", "", "next /a/c "},
    {"hidden is a 404", "rewrite: ^/x$ /.git/config", "/x", "", "404"},
    {"no slash is a 400", "rewrite: ^/(.*)$ $1", "/x", "", "400"},
    {"status alone", "return: 403", "/", "", "403"},
    {"status and text", "return: [418, 'tea $uri']", "/a", "", "418 tea /a"},
    {"204", "return: 204", "/", "", "204 "},
    {"text of a redirect's status is its URL", "return: 307 /x", "/", "", "307 /x"},
};

static void describe(struct fake *f, enum verdict v, char *to, size_t room)
{
    struct request *r = &f->r;
    if (v == VERDICT_NEXT)
        snprintf(to, room, "next " STR_FMT " " STR_FMT, STR_ARG(r->uri), STR_ARG(r->args));
    else if (r->res.location.n != 0)
        snprintf(to, room, "%u " STR_FMT, r->res.status, STR_ARG(r->res.location));
    else if (r->res.content_type.n != 0 && str_eq(r->res.content_type, STR("text/html")))
        snprintf(to, room, "%u", r->res.status); /* the built-in page */
    else
        snprintf(to, room, "%u " STR_FMT, r->res.status, STR_ARG(r->res.bytes));
}

static void leads_to(void **state)
{
    char yaml[512], got[512];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  server:\n    listen: 80\n    %s\n", rows[i].rules);
        site_good(&s, yaml);
        struct fake *f = fake_new(&s);
        f->r.uri = str_z(rows[i].uri);
        f->r.args = str_z(rows[i].args);
        f->r.host = STR("h");
        f->r.line.target = STR("/raw?x");
        hook_f **hooks = f->r.vhost->own.phases[PHASE_SERVER_REWRITE];
        assert_non_null(hooks);
        describe(f, hooks[0](&f->r), got, sizeof(got));
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s: %s", rows[i].name, got);
        fake_free(f);
        site_end(&s);
    }
}

/* In a location a moved path asks for a location of its own, unless it says break. */
static void in_a_location(void **state)
{
    static const struct {
        const char *uri, *want_uri;
        enum verdict want;
    } moves[] = {
        {"/last/x", "/x", VERDICT_REROUTE}, {"/break/x", "/x", VERDICT_NEXT},
        {"/plain/x", "/y", VERDICT_REROUTE}, {"/none/x", "/none/x", VERDICT_NEXT},
    };
    struct site s;
    (void)state;
    site_good(&s, "http:\n  server:\n    listen: 80\n    rewrite: ^/never /x\n    location:\n"
                  "      /last/: {rewrite: ['^/last/(.*)$ /$1 last', '^ /z']}\n"
                  "      /break/: {rewrite: ['^/break/(.*)$ /$1 break', '^ /z']}\n"
                  "      /plain/: {rewrite: ['^/plain/(.*)$ /$1', '^/x$ /y']}\n"
                  "      /none/: {rewrite: '^/other /$1'}\n");
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        struct fake *f = fake_new(&s);
        bool slash;
        f->r.uri = str_z(moves[i].uri);
        f->r.loc = location_find(f->r.vhost, f->r.uri, &f->r, &slash);
        assert_int_equal(f->r.loc->phases[PHASE_REWRITE][0](&f->r), moves[i].want);
        assert_str(f->r.uri, moves[i].want_uri);
        fake_free(f);
    }
    site_end(&s);
}

static void refuses(void **state)
{
    static const struct {
        const char *name, *rules, *want;
    } bad[] = {
        {"one argument", "rewrite: ^/a", "expected \"regex replacement"},
        {"flag", "rewrite: ^/a /b lats", "\"lats\" is not valid, expected last, break,"},
        {"pattern", "rewrite: '^/(a /b'", "is not a regular expression"},
        {"replacement", "rewrite: ^/a b", "\"b\" is not valid, expected a path or a URL"},
        {"variable", "rewrite: ^/a /$nothing", "unknown variable $nothing"},
        {"set without a dollar", "rewrite: set v x", "set: expected $variable"},
        {"set of what is", "rewrite: set $host x", "there is such a variable already"},
        {"set of no name", "rewrite: set $1x x", "this is not a name"},
        {"set too short", "rewrite: set $v", "expected \"set $variable value\""},
        {"break with words", "rewrite: break now", "takes no arguments"},
        {"interim status", "return: 100", "\"100\" is not valid, expected a status from 200"},
        {"long status", "return: 1000", "expected a status from 200 to 999 or a URL"},
        {"path", "return: /x", "expected a status from 200 to 999 or a URL"},
        {"in http", "location: {/a: {location: {/a/b: {return: }}}}", "takes 1 to 2 arguments"},
    };
    char yaml[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct site s;
        snprintf(yaml, sizeof(yaml), "http:\n  server:\n    listen: 80\n    %s\n", bad[i].rules);
        site_begin(&s, yaml);
        if (s.good || strstr(s.report.p, bad[i].want) == NULL)
            fail_msg("%s: %s", bad[i].name, s.report.p);
        site_end(&s);
    }
}

/* A variable of `set` is known wherever it stands, also above and in other blocks. */
static void known_everywhere(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n  log_format: {f: '$lang $who'}\n  add_header: X $lang\n  server:\n"
                  "    - {listen: 80, return: [200, $lang]}\n"
                  "    - listen: 81\n"
                  "      location: {/a: {rewrite: [set $lang en, '^/(?<who>a) /b']}}\n");
    site_end(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(leads_to),
        cmocka_unit_test(in_a_location),
        cmocka_unit_test(refuses),
        cmocka_unit_test(known_everywhere),
    };
    return cmocka_run_group_tests_name("rewrite", tests, NULL, NULL);
}
