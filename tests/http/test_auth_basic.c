/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth_basic (features.md 136, 137): every format as the tools of its makers write it, what is no
 * credentials, satisfy, error pages, changes of the file, and slow hashes that stop nobody else.
 */
#include "lib/rows.h"

#include "core/base64.h"

#include <crypt.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  log_format: {own: '$remote_user $status $request_uri'}\n"
    "  access_log: logs/access.log own flush=10ms\n"
    "  server:\n"
    "    - listen: '127.0.0.1:@0@'\n"
    "      root: html\n"
    "      auth_basic_user_file: users\n"
    "      location:\n"
    "        /in/: {auth_basic: [Members only], add_header: [X-User $remote_user always],\n"
    "               location: {/in/open/: {auth_basic: off}, /in/nested/: {}}}\n"
    "        /quotes/: {auth_basic: ['a \"b\" \\c']}\n"
    "        /realm/: {auth_basic: $arg_r}\n"
    "        /file/: {auth_basic: x, auth_basic_user_file: $arg_f}\n"
    "        /by-name/: {auth_basic: x, auth_basic_user_file: by-$arg_n}\n"
    "        /missing/: {auth_basic: x, auth_basic_user_file: missing}\n"
    "        /directory/: {auth_basic: x, auth_basic_user_file: .}\n"
    "        /many/: {auth_basic: x, auth_basic_user_file: many}\n"
    "        /empty/: {auth_basic: x, auth_basic_user_file: empty}\n"
    "        /changes/: {auth_basic: x, auth_basic_user_file: changes}\n"
    "        /slow/: {auth_basic: x, auth_basic_user_file: slow}\n"
    "        /both/: {auth_basic: x, access: [allow 127.0.0.1, deny all]}\n"
    "        /address/: {auth_basic: x, access: [deny all]}\n"
    "        /any/: {auth_basic: x, access: [deny all], satisfy: any}\n"
    "        /any-in/: {auth_basic: x, access: [allow 127.0.0.1, deny all], satisfy: any}\n"
    "        /any-auth/: {auth_basic: x, satisfy: any}\n"
    "        /page/: {auth_basic: x, error_page: 401 /401.html}\n"
    "        /page-in/: {auth_basic: x, error_page: 401 /page-in/401.html}\n"
    "        /page-ok/: {auth_basic: x, error_page: [401 =200 /401.html]}\n"
    "        /page-any/: {auth_basic: x, satisfy: any, error_page: 401 /any-in/f}\n"
    "        /delay/: {auth_basic: x, auth_delay: 300ms}\n"
    "        /delay-page/: {auth_basic: x, auth_delay: 1s, error_page: 401 /delay-page/f}\n"
    "    - {listen: '127.0.0.1:@0@', server_name: nofile.example, root: html, auth_basic: x}\n";

static const char *const dirs[] = {
    "in",   "in/open", "in/nested", "quotes", "realm", "file",   "by-name",  "missing", "directory",
    "many", "empty",   "changes",   "slow",   "both",  "address", "any",     "any-in",  "any-auth",
    "page", "page-in", "page-ok",   "page-any", "delay", "delay-page"};

/* A user of each format has the password "secret". */
static const struct {
    const char *user, *tool; /* writes USER:HASH, or the hash alone */
} formats[] = {
    {"apr1", "htpasswd -nbm apr1 secret"},
    {"apr1-openssl", "openssl passwd -apr1 secret"},
    {"sha", "htpasswd -nbs sha secret"},
    {"des", "htpasswd -nbd des secret"},
    {"bcrypt", "htpasswd -nbB -C 4 bcrypt secret"},
    {"sha256", "openssl passwd -5 secret"},
    {"sha512", "openssl passwd -6 secret"},
    {"sha512-mkpasswd", "mkpasswd -m sha512crypt secret"},
    {"md5", "openssl passwd -1 secret"},
    {"yescrypt", "mkpasswd -m yescrypt secret"},
    {"ssha", "echo '{SSHA}Wcm1xEisNjqp921ALcHfuQ7avFdzYWx0MTIzNA=='"},
    {"plain", "echo '{PLAIN}secret'"},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static char *users; /* the whole file */
static char *slow;  /* a hash that takes long */

static char *said_by(const char *command)
{
    char line[512];
    FILE *p = popen(command, "r");
    if (p == NULL || fgets(line, sizeof(line), p) == NULL) {
        print_error("\"%s\" says nothing\n", command);
        exit(99);
    }
    line[strcspn(line, "\r\n")] = '\0';
    while (fgetc(p) != EOF)
        ;
    if (pclose(p) != 0)
        exit(99);
    return strdup(line);
}

static void add_user(const char *user, const char *tool)
{
    char *said = said_by(tool), *colon = strchr(said, ':');
    char *more = text_of("%s%s:%s\n", users == NULL ? "# made by tools\n\n" : users, user,
                         colon != NULL ? colon + 1 : said);
    free(users);
    free(said);
    users = more;
}

static char *credentials(const char *user, const char *password)
{
    char *pair = text_of("%s:%s", user, password);
    char *coded = calloc(1, BASE64_ENCODED(strlen(pair)) + 1);
    base64_encode(coded, str_z(pair));
    free(pair);
    return coded;
}

static char *request_of(const char *path, const char *user, const char *password)
{
    char *coded = credentials(user, password);
    char *text = text_of("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n"
                         "Connection: close\r\n\r\n", path, coded);
    free(coded);
    return text;
}

static int ask(const char *path, const char *user, const char *password)
{
    struct reply r;
    char *text = request_of(path, user, password);
    if (!fetch(srv->at[0], text, &r))
        fail_msg("%s: %s", path, r.err);
    int status = r.status;
    reply_free(&r);
    free(text);
    return status;
}

static void test_formats(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        for (int again = 0; again < 2; again++) {
            const char *user = formats[i].user;
            if (ask("/in/f", user, "secret") != 200 || ask("/in/f", user, "Secret") != 401 ||
                ask("/in/f", user, "") != 401 || ask("/in/nested/f", user, "secret") != 200)
                fail_msg("%s", user);
        }
    }
}

#define BASIC(coded)     "Authorization: Basic " coded "\r\n"
#define PLAIN            BASIC("cGxhaW46c2VjcmV0") /* plain:secret */
#define WRONG            BASIC("cGxhaW46eA==")
#define UNKNOWN          BASIC("bm9ib2R5OnNlY3JldA==")
#define CHALLENGE(realm) "WWW-Authenticate: Basic realm=\"" realm "\", charset=\"UTF-8\""
#define NO(name, fields)                                                                           \
    {"136 " name, REQ("GET", "/in/f", fields), 401, KEEPS, .has = CHALLENGE("Members only"),       \
     .body_lacks = "file"}

static const struct row rows[] = {
    NO("none", ""),
    NO("wrong", WRONG),
    NO("unknown user", UNKNOWN),
    NO("no colon", BASIC("cGxhaW4=")),
    NO("no name", BASIC("OnNlY3JldA==")),
    NO("nothing", BASIC("")),
    NO("no base64", BASIC("###")),
    NO("no padding", BASIC("cGxhaW46c2VjcmV0MQ")),
    NO("half a group", BASIC("cGxhaW46c2VjcmV0c")),
    NO("NUL behind the password", BASIC("cGxhaW46c2VjcmV0AA==")),
    NO("NUL and more", BASIC("cGxhaW46c2VjcmV0AHg=")),
    NO("NUL in the name", BASIC("cGxhaW4AOnNlY3JldA==")),
    NO("LF", BASIC("cGxhaW46c2VjcmV0Cg==")),
    NO("another scheme", "Authorization: Bearer cGxhaW46c2VjcmV0\r\n"),
    NO("no scheme", "Authorization: cGxhaW46c2VjcmV0\r\n"),
    NO("in the clear in the file", BASIC("Y2xlYXI6c2VjcmV0")),
    NO("as the file has it", BASIC("c2hhOntTSEF9NWVuNkc2TWV6UnJvVDNYS3FrZFBPbVkvQmZRPQ==")),
    NO("crypt(3) does not know it", BASIC("YnJva2VuOnNlY3JldA==")),
    NO("a second entry of one name", BASIC("cGxhaW46c2Vjb25k")),
    {"B18 two fields", REQ("GET", "/in/f", PLAIN PLAIN), 400, CLOSES},
    {"136 right", REQ("GET", "/in/f", PLAIN), 200, KEEPS, .has = "X-User: plain",
     .lacks = "WWW-Authenticate", .body = "file"},
    {"136 scheme in any case", REQ("GET", "/in/f", "authorization: bAsIc cGxhaW46c2VjcmV0\r\n"), 200,
     KEEPS},
    {"136 HEAD", REQ("HEAD", "/in/f", WRONG), 401, KEEPS | EMPTY, .has = CHALLENGE("Members only")},
    {"136 before what is there", REQ("GET", "/in/none", ""), 401, KEEPS},
    {"136 with it", REQ("GET", "/in/none", PLAIN), 404, KEEPS, .lacks = "WWW-Authenticate"},
    {"136 index", REQ("GET", "/in/", PLAIN), 200, KEEPS, .body = "index"},
    {"136 preconditions", REQ("GET", "/in/f", "If-None-Match: *\r\n"), 401, KEEPS},
    {"136 $remote_user, wrong password", REQ("GET", "/in/f", WRONG), 401, KEEPS, .has = "X-User: plain"},
    {"136 off below", GET("/in/open/f"), 200, KEEPS, .lacks = "WWW-Authenticate"},
    {"136 realm, quotes", GET("/quotes/f"), 401, KEEPS, .has = CHALLENGE("a \\\"b\\\" \\\\c")},
    {"136 realm, a variable", GET("/realm/f?r=x\"y"), 401, KEEPS, .has = CHALLENGE("x\\\"y")},
    {"136 realm, off by a variable", GET("/realm/f?r=off"), 200, KEEPS},
    {"136 realm, empty", GET("/realm/f"), 401, KEEPS, .has = CHALLENGE("")},
    {"136 file by a variable", REQ("GET", "/by-name/f?n=a", PLAIN), 200, KEEPS},
    {"136 another file", REQ("GET", "/by-name/f?n=b", PLAIN), 401, KEEPS},
    {"136 no such file", REQ("GET", "/by-name/f?n=c", PLAIN), 500, CLOSES},
    {"136 out of the folder", REQ("GET", "/by-name/f?n=/../users", PLAIN), 500, CLOSES},
    {"136 no absolute path", REQ("GET", "/file/f?f=users", PLAIN), 500, CLOSES},
    {"136 no path", REQ("GET", "/file/f", PLAIN), 500, CLOSES},
    {"136 missing file", REQ("GET", "/missing/f", PLAIN), 500, CLOSES, .body_lacks = "file"},
    {"136 missing file, no credentials", REQ("GET", "/missing/f", ""), 401, KEEPS},
    {"136 a directory", REQ("GET", "/directory/f", PLAIN), 500, CLOSES},
    {"136 too many lines", REQ("GET", "/many/f", BASIC("dTE6eA==")), 500, CLOSES},
    {"136 nobody in it", REQ("GET", "/empty/f", PLAIN), 401, KEEPS},
    {"136 no file at all", "GET /f HTTP/1.1\r\nHost: nofile.example\r\n" PLAIN "\r\n", 500, CLOSES},
    {"136 no file at all, no credentials", "GET /f HTTP/1.1\r\nHost: nofile.example\r\n\r\n", 401, KEEPS},
    {"satisfy all", REQ("GET", "/both/f", PLAIN), 200, KEEPS},
    {"satisfy all, wrong", REQ("GET", "/both/f", WRONG), 401, KEEPS},
    {"satisfy all, address first", REQ("GET", "/address/f", PLAIN), 403, KEEPS, .lacks = "WWW-Authenticate"},
    {"satisfy any, password", REQ("GET", "/any/f", PLAIN), 200, KEEPS, .lacks = "WWW-Authenticate"},
    {"satisfy any, neither: 401", REQ("GET", "/any/f", WRONG), 401, KEEPS, .has = CHALLENGE("x")},
    {"satisfy any, none", GET("/any/f"), 401, KEEPS, .has = CHALLENGE("x")},
    {"satisfy any, address", GET("/any-in/f"), 200, KEEPS, .lacks = "WWW-Authenticate"},
    {"satisfy any, address, wrong password", REQ("GET", "/any-in/f", WRONG), 200, KEEPS},
    {"satisfy any, password alone", REQ("GET", "/any-auth/f", PLAIN), 200, KEEPS},
    {"satisfy any, password alone, wrong", REQ("GET", "/any-auth/f", WRONG), 401, KEEPS},
    {"error page", GET("/page/f"), 401, KEEPS, .has = CHALLENGE("x"), .body = "page401"},
    {"error page, wrong", REQ("GET", "/page/f", WRONG), 401, KEEPS, .has = CHALLENGE("x"), .body = "page401"},
    {"error page that is protected", REQ("GET", "/page-in/f", WRONG), 401, KEEPS, .has = CHALLENGE("x"),
     .body_has = "401 Unauthorized"},
    {"error page with 200", GET("/page-ok/f"), 200, KEEPS, .body = "page401"},
    {"error page for which the address is enough", GET("/page-any/f"), 401, KEEPS, .has = CHALLENGE("x"),
     .body = "file"},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(rows));
}

/* One that no field limit stops, and no file can be about. */
static void test_long_password(void **state)
{
    (void)state;
    for (size_t n = 500; n < 5900; n += n < 520 ? 1 : 1777) {
        char *password = repeat('x', n);
        assert_int_equal(ask("/in/f", "plain", password), 401);
        assert_int_equal(ask("/in/f", "sha512", password), 401);
        free(password);
    }
}

/* For whoever reads logs by machine it is nginx's text. */
static void test_logs(void **state)
{
    static const char *const lines[] = {
        "[error]", "user \"plain\": password mismatch, client: 127.0.0.1, request: \"GET /in/",
        "user \"nobody\" was not found in \"", "conf/users\", client: ",
        "user \"broken\": the password in", "users\" line 15 has a password of an unknown kind",
        "users\" line 17 is not USER:PASSWORD",
        "password file: open() \"", "conf/missing\" failed", "does not exist (2: No such file or directory)",
        "conf/many\" has more than 10000 lines", "is not a regular file",
        "auth_basic_user_file: \"users\" is not an absolute path"};
    (void)state;
    char *log = server_read(srv, "logs/error.log");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (strstr(log, lines[i]) == NULL)
            fail_msg("not in error.log: %s\n%s", lines[i], log);
    assert_null(strstr(log, "secret"));
    free(log);
    assert_int_equal(ask("/in/f?logged", "plain", "secret"), 200);
    assert_int_equal(ask("/in/f", "pl\"ain", "x"), 401);
    assert_true(server_wait_text(srv, "logs/access.log", "plain 200 /in/f?logged\n", 5000));
    assert_true(server_wait_text(srv, "logs/access.log", "pl\\x22ain 401 ", 5000));
    assert_true(server_wait_text(srv, "logs/access.log", "- 401 /in/f\n", 5000));
}

static bool becomes(const char *password, int status)
{
    int64_t end = now_ms() + 5000;
    while (ask("/changes/f", "u", password) != status) {
        if (now_ms() > end)
            return false;
        sleep_ms(50);
    }
    return true;
}

/* Without a reload, within a second or so; what was verified before does not outlive it. */
static void test_changes(void **state)
{
    char *first = said_by("openssl passwd -6 first"), *second = said_by("openssl passwd -6 second");
    char *text = text_of("u:%s\n", first);
    (void)state;
    server_text(srv, "conf/changes", text);
    free(text);
    assert_true(becomes("first", 200));
    assert_int_equal(ask("/changes/f", "u", "second"), 401);
    text = text_of("u:%s\n", second);
    server_text(srv, "conf/changes.new", text);
    free(text);
    char *from = strdup(server_path(srv, "conf/changes.new"));
    assert_int_equal(rename(from, server_path(srv, "conf/changes")), 0);
    free(from);
    assert_true(becomes("second", 200));
    assert_int_equal(ask("/changes/f", "u", "first"), 401);
    server_text(srv, "conf/changes", "v:{PLAIN}x\n"); /* in place */
    assert_true(becomes("second", 401));
    assert_int_equal(unlink(server_path(srv, "conf/changes")), 0);
    assert_true(becomes("second", 500));
    server_text(srv, "conf/changes", "u:{PLAIN}again\n");
    assert_true(becomes("again", 200));
    free(first);
    free(second);
}

#define GUESSES 140 /* more than may wait */

/*
 * Each of these takes 100 ms and more to be found wrong: all together far longer than the test
 * waits for anything.  Others are served in between, also by password if it has been verified
 * before; those that cannot even wait are 503.  What the clients no longer wait for is not computed.
 */
static void test_slow(void **state)
{
    static struct client c[GUESSES];
    char *send = request_of("/slow/f", "u", "guess");
    size_t answered = 0, busy = 0;
    (void)state;
    assert_int_equal(ask("/slow/f", "u", "secret"), 200);
    for (size_t i = 0; i < GUESSES; i++) {
        assert_true(client_open(&c[i], srv->at[0]));
        assert_true(client_sendz(&c[i], send));
    }
    for (int i = 0; i < 20; i++) {
        struct reply r;
        assert_true(fetch(srv->at[0], REQ("GET", "/probe.txt", "Connection: close\r\n"), &r));
        assert_int_equal(r.status, 200);
        reply_free(&r);
    }
    assert_int_equal(ask("/slow/f", "u", "secret"), 200);
    for (size_t i = 0; i < GUESSES; i++) {
        struct reply r;
        if (!client_fill(&c[i], 0) && c[i].n == 0)
            continue;
        assert_true(reply_read(&c[i], &r, false, CLIENT_PATIENCE));
        answered++;
        busy += r.status == 503;
        assert_true(r.status == 503 || r.status == 401);
        reply_free(&r);
    }
    print_message("%zu of %d answered meanwhile, %zu with 503\n", answered, GUESSES, busy);
    assert_true(busy >= 1);
    assert_true(answered < GUESSES - 50);
    for (size_t i = 0; i < GUESSES; i++)
        client_abort(&c[i]);
    free(send);
    int64_t start = now_ms();
    assert_int_equal(ask("/slow/f", "u", "another"), 401); /* nothing is in front of it any more */
    assert_true(now_ms() - start < 5000);
}

/*
 * Who is not in the file takes as long as who is: no less than the hash takes here, where nothing
 * is in its way. (How much longer tells of the machine's other work alone.)
 */
static void test_unknown_takes_as_long(void **state)
{
    int64_t own = INT64_MAX;
    (void)state;
    for (int i = 0; i < 3; i++) {
        int64_t start = now_ms();
        assert_non_null(crypt("guess", slow));
        own = now_ms() - start < own ? now_ms() - start : own;
    }
    int64_t start = now_ms();
    assert_int_equal(ask("/slow/f", "nobody", "guess"), 401);
    int64_t took = now_ms() - start;
    print_message("%lld ms here, %lld ms there\n", (long long)own, (long long)took);
    assert_true(own >= 20);
    assert_true(took * 2 > own);
}

static void test_delay(void **state)
{
    struct client c;
    char *wrong = request_of("/delay/f", "plain", "x");
    (void)state;
    int64_t start = now_ms();
    assert_int_equal(ask("/delay/f", "plain", "x"), 401);
    assert_true(now_ms() - start >= 300);
    start = now_ms();
    assert_int_equal(ask("/delay-page/f", "plain", "x"), 401); /* once, not for the page too */
    assert_true(now_ms() - start >= 1000 && now_ms() - start < 1990);
    start = now_ms();
    assert_int_equal(ask("/delay-page/f", "plain", "secret"), 200);
    assert_true(now_ms() - start < 990);
    assert_true(client_open(&c, srv->at[0]));
    assert_true(client_sendz(&c, wrong));
    sleep_ms(30);
    client_abort(&c); /* it does not wait */
    free(wrong);
}

/* The worker that is asked to go answers what it has begun. */
static void test_reload(void **state)
{
    struct client c;
    struct reply r;
    pid_t old;
    char *guess = request_of("/slow/f", "u", "guess");
    (void)state;
    assert_int_equal(server_workers(srv, &old, 1), 1);
    assert_true(client_open(&c, srv->at[0]));
    assert_true(client_sendz(&c, guess));
    sleep_ms(20);
    server_signal(srv, SIGHUP);
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    assert_int_equal(r.status, 401);
    reply_free(&r);
    client_close(&c);
    free(guess);
    assert_true(server_wait_workers(srv, 1, old, 10000));
    assert_int_equal(ask("/in/f", "yescrypt", "secret"), 200);
    server_baseline(srv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_long_password),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_unknown_takes_as_long),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_reload),
        LAST_TESTS,
    };
    server_new();
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        char *path = text_of("html/%s", dirs[i]), *file = text_of("%s/f", path);
        server_mkdir(srv, path);
        server_text(srv, file, "file");
        free(path);
        free(file);
    }
    server_text(srv, "html/in/index.html", "index");
    server_text(srv, "html/401.html", "page401");
    server_text(srv, "html/page-in/401.html", "page401");
    server_mkdir(srv, "conf");
    for (size_t i = 0; i < FORMATS; i++)
        add_user(formats[i].user, formats[i].tool);
    add_user("clear", "echo secret");
    add_user("broken", "echo '$nosuch$kind$of'");
    add_user("no colon\nplain", "echo '{PLAIN}second'");
    server_text(srv, "conf/users", users);
    free(users);
    server_text(srv, "conf/by-a", "plain:{PLAIN}secret\n");
    server_text(srv, "conf/by-b", "plain:{PLAIN}other\n");
    server_text(srv, "conf/empty", "");
    slow = said_by("mkpasswd -m sha512crypt -R 200000 secret");
    char *line = text_of("u:%s\n", slow);
    server_text(srv, "conf/slow", line);
    free(line);
    char *many = repeat('\n', 10020);
    memcpy(many, "u1:{PLAIN}x", 11);
    server_text(srv, "conf/many", many);
    free(many);
    server_up(srv, CONF);
    int failed = cmocka_run_group_tests_name("auth_basic", tests, NULL, NULL);
    free(slow);
    return failed;
}
