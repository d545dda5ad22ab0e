/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access (features.md 135): who may come, by address.  Port 0 is IPv4, port 1 IPv6, port 2 both on
 * one socket, where an IPv4 client has a mapped address; and there is a Unix socket.
 */
#include "lib/rows.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  access: [deny all]\n"
    "  server:\n"
    "    listen: ['127.0.0.1:@0@'@V6@, 'unix:@DIR@/logs/s']\n"
    "    root: html\n"
    "    access: [deny 192.0.2.0/24]\n"
    "    error_page: 403 /open/403.html\n"
    "    location:\n"
    "      /v4/: {access: [allow 127.0.0.0/8, deny all], location: {/v4/in/: {}}}\n"
    "      /not-v4/: {access: [deny 127.0.0.1, allow all]}\n"
    "      /order/: {access: [allow 127.0.0.1, deny 127.0.0.1, deny all]}\n"
    "      /v6/: {access: ['allow ::1', deny all]}\n"
    "      /no-v6/: {access: ['deny ::/0']}\n"
    "      /mapped/: {access: ['allow ::ffff:127.0.0.1', deny all]}\n"
    "      /unix/: {access: [['allow', 'unix:'], deny all]}\n"
    "      /no-unix/: {access: ['deny unix:']}\n"
    "      /other/: {access: [allow 192.0.2.1, allow 192.0.2.8/29]}\n"
    "      /nobody/: {access: [deny all], error_page: [403 /403.html]}\n"
    "      = /403.html: {access: [deny all]}\n"
    "      /any/yes/: {access: [allow 127.0.0.1, deny all], satisfy: any}\n"
    "      /any/no/: {access: [deny all], satisfy: any}\n"
    "      /any/none/: {satisfy: any}\n"
    "      /any/page/: {access: [deny all], satisfy: any, error_page: [403 =200 /open/page.html]}\n"
    "      /named/: {access: [deny all], error_page: ['403 @other']}\n"
    "      '@other': {access: [allow all], return: [200, other]}\n"
    "      /return/: {access: [deny all], return: [200, early]}\n"
    "      /open/: {access: [allow all]}\n";

static const char *const dirs[] = {"v4",     "v4/in",    "not-v4",  "order",    "v6",
                                   "no-v6",  "mapped",   "unix",    "no-unix",  "other",
                                   "nobody", "any/yes",  "any/no",  "any/none", "any/page",
                                   "named",  "return",   "open"};

static bool have_v6(void)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool yes = fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
    if (fd >= 0)
        close(fd);
    return yes;
}

#define OK(name, path)  {name, GET(path "f"), 200, KEEPS, .body = "file"}
#define NO(name, path)  {name, GET(path "f"), 403, KEEPS, .body = "page403"}

static const struct row v4[] = {
    OK("135 network", "/v4/"),
    OK("135 inherited", "/v4/in/"),
    NO("135 address", "/not-v4/"),
    OK("135 the first that matches", "/order/"),
    NO("135 no match among IPv6", "/v6/"),
    OK("135 ::/0 is not IPv4", "/no-v6/"),
    OK("135 mapped in a rule", "/mapped/"),
    NO("135 Unix alone", "/unix/"),
    OK("135 all but Unix", "/no-unix/"),
    OK("135 no rule matches", "/other/"),
    {"135 a server's rules replace those of http", PROBE, 200, KEEPS},
    {"135 refused, and its page too", GET("/nobody/f"), 403, KEEPS, .body_has = "403 Forbidden"},
    {"135 HEAD", HEAD("/not-v4/f"), 403, KEEPS | EMPTY},
    {"135 before preconditions", REQ("GET", "/not-v4/f", "If-None-Match: *\r\n"), 403, KEEPS},
    {"135 what is not there", GET("/not-v4/none"), 403, KEEPS},
    {"135 a directory without its slash", GET("/not-v4/d"), 403, KEEPS},
    OK("satisfy any, allowed", "/any/yes/"),
    NO("satisfy any, denied", "/any/no/"),
    OK("satisfy any, no rules", "/any/none/"),
    {"satisfy any, with a page", GET("/any/page/f"), 200, KEEPS, .body = "page"},
    {"135 a named location instead", GET("/named/f"), 403, KEEPS, .body = "other"},
    {"135 return comes before", GET("/return/f"), 200, KEEPS, .body = "early"},
};

static const struct row v6[] = {
    OK("135 an address", "/v6/"),
    NO("135 ::/0", "/no-v6/"),
    NO("135 IPv4 rules", "/v4/"),
    OK("135 another one denied", "/not-v4/"),
    NO("135 no mapped one", "/mapped/"),
};

static const struct row both[] = {
    OK("135 mapped client, network", "/v4/"),
    NO("135 mapped client, denied", "/not-v4/"),
    OK("135 mapped client, ::/0", "/no-v6/"),
    OK("135 mapped client, mapped rule", "/mapped/"),
};

static const struct row local[] = {
    OK("135 unix:", "/unix/"),
    NO("135 unix: denied", "/no-unix/"),
    NO("135 addresses are not", "/v4/"),
    OK("135 all", "/not-v4/"),
    OK("135 nothing for it", "/no-v6/"),
};

static void test_v4(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(v4));
}

static void test_v6(void **state)
{
    (void)state;
    if (!have_v6())
        skip();
    char *at = text_of("[::1]:%d", srv->port[1]);
    rows_run(at, ROWS(v6));
    free(at);
}

static void test_both(void **state)
{
    (void)state;
    if (!have_v6())
        skip();
    rows_run(srv->at[2], ROWS(both));
}

static void test_unix(void **state)
{
    (void)state;
    char *at = text_of("unix:%s", server_path(srv, "logs/s"));
    rows_run(at, ROWS(local));
    free(at);
}

/* For whoever reads logs by machine it is nginx's text. */
static void test_log(void **state)
{
    static const char line[] = "access forbidden by rule, client: 127.0.0.1, request: "
                               "\"GET /not-v4/logged HTTP/1.1\"";
    struct reply r;
    (void)state;
    assert_true(fetch_path(srv->at[0], "/not-v4/logged", &r));
    assert_int_equal(r.status, 403);
    reply_free(&r);
    char *log = server_read(srv, "logs/error.log");
    assert_int_equal(count_text(log, line), 1);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v4),   cmocka_unit_test(test_v6), cmocka_unit_test(test_both),
        cmocka_unit_test(test_unix), cmocka_unit_test(test_log), LAST_TESTS,
    };
    server_new();
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        char *path = text_of("html/%s", dirs[i]), *file = text_of("%s/f", path);
        server_mkdir(srv, path);
        server_text(srv, file, "file");
        free(path);
        free(file);
    }
    server_mkdir(srv, "html/not-v4/d");
    server_text(srv, "html/open/403.html", "page403");
    server_text(srv, "html/open/page.html", "page");
    const char *at = strstr(CONF, "@V6@");
    char *conf = text_of("%.*s%s%s", (int)(at - CONF), CONF,
                         have_v6() ? ", '[::1]:@1@', '[::]:@2@ ipv6only=off'" : "", at + 4);
    server_up(srv, conf);
    free(conf);
    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
