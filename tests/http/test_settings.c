/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same traffic under each setting of the engine and the caches: small rings, few receive
 * buffers, no registered files, no splice, no memory for bodies, several workers. What comes back
 * must not depend on any of it.
 * one back end
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

#define LARGE   (3u << 20)
#define MIDDLE  70000
#define CLIENTS 80

static const struct {
    const char *name, *events, *http;
    int workers;
} settings[] = {
    {"as shipped", "", "", 1},
    {"two workers", "", "", 2},
    {"small ring", ", ring_entries: 16", "", 1},
    {"few receive buffers", ", recv_buffers: 4 1k", "", 1},
    {"no registered files", ", registered_files: off", "", 1},
    {"no registered buffers", ", registered_buffers: 0", "", 1},
    {"splice off", "", "  splice: off\n", 1},
    {"splice on", "", "  splice: on\n", 1},
    {"no bodies in memory", "", "  file_cache_memory: 0\n", 1},
    {"no small bodies in memory", "", "  file_cache_max_body: 0\n", 1},
    {"large bodies in memory", "", "  file_cache_max_body: 4m\n", 1},
    {"no file cache", "", "  open_file_cache: off\n", 1},
    {"tiny file cache", "", "  open_file_cache: max=2 inactive=1s\n", 1},
    {"all of it small", ", ring_entries: 16, recv_buffers: 4 1k, registered_buffers: 0",
     "  open_file_cache: off\n  splice: off\n", 2},
};

/* One pass over small, middle and large files, errors and redirects on one connection. */
static void mixed(const char *name)
{
    static const struct {
        const char *request;
        int status;
        size_t n;
    } kind[] = {
        {PROBE, 200, 6},
        {GET("/middle.bin"), 200, MIDDLE},
        {GET("/none"), 404, 0},
        {GET("/large.bin"), 200, LARGE},
        {HEAD("/large.bin"), 200, 0},
        {GET("/d"), 301, 0},
        {GET("/empty"), 200, 0},
        {GET("/middle.bin"), 200, MIDDLE},
        {PROBE, 200, 6},
    };
    struct client c;
    char *all = strdup("");
    for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
        char *next = text_of("%s%s", all, kind[i].request);
        free(all);
        all = next;
    }
    for (int pass = 0; pass < 3; pass++) { /* whole, then cut, then byte by byte */
        assert_true(client_open(&c, srv->at[0]));
        if (pass == 0)
            client_send(&c, all, strlen(all));
        else if (pass == 1)
            client_send_split(&c, all, strlen(all), 100, 10);
        else
            client_send_bytes(&c, all, strlen(all));
        for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
            struct reply r;
            bool head = strncmp(kind[i].request, "HEAD", 4) == 0;
            if (!reply_read(&c, &r, head, CLIENT_PATIENCE) || r.status != kind[i].status)
                fail_msg("%s: answer %zu: %d %s", name, i, r.status, r.err);
            if (r.status == 200 && r.body_n != kind[i].n)
                fail_msg("%s: answer %zu: %zu bytes", name, i, r.body_n);
            if (kind[i].n > 6) {
                for (size_t k = 0; k < r.body_n; k++) {
                    if ((unsigned char)r.body[k] != file_byte(k))
                        fail_msg("%s: answer %zu: wrong at %zu", name, i, k);
                }
            }
            reply_free(&r);
        }
        assert_true(client_quiet(&c, 5));
        client_close(&c);
    }
    free(all);
}

/* Many at once, each with half a head first, so that receive buffers run short. */
static void crowd(const char *name)
{
    struct client c[CLIENTS];
    struct reply r;
    char *cookie = repeat('c', 3000);
    char *request = text_of(REQ("GET", "/middle.bin", "Cookie: %s\r\n"), cookie);
    size_t n = strlen(request);
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(client_open(&c[i], srv->at[0]));
        client_send(&c[i], request, n / 2);
    }
    for (int i = 0; i < CLIENTS; i++)
        client_send(&c[i], request + n / 2, n - n / 2);
    for (int i = 0; i < CLIENTS; i++) {
        if (!reply_read(&c[i], &r, false, CLIENT_PATIENCE) || r.status != 200 || r.body_n != MIDDLE)
            fail_msg("%s: client %d: %d %s, %zu bytes", name, i, r.status, r.err, r.body_n);
        reply_free(&r);
        client_close(&c[i]);
    }
    free(cookie);
    free(request);
}

static void test_settings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        char *conf = text_of("worker_processes: %d\n"
                             "events: {@EVENTS@%s}\n"
                             "http:\n"
                             "%s"
                             "  server: {listen: '127.0.0.1:@0@', root: html}\n",
                             settings[i].workers, settings[i].events, settings[i].http);
        char why[512] = "";
        server_new();
        server_fill(srv, "html/large.bin", LARGE);
        server_fill(srv, "html/middle.bin", MIDDLE);
        server_text(srv, "html/empty", "");
        server_mkdir(srv, "html/d");
        server_up(srv, conf);
        srv->rss_slack_kb = 6144; /* bodies, pipes */
        mixed(settings[i].name);
        crowd(settings[i].name);
        if (!server_oracles(srv, why, sizeof(why)))
            fail_msg("%s: %s", settings[i].name, why);
        check_quit(state);
        server_free(srv);
        free(conf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_settings)};
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
