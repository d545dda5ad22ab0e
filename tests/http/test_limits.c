/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time-outs and limits: behaviours.md T2 to T4, T6, K8, hostile.md 65 to 70, 75 and 89 in small. Time-outs are
 * one second here. Port 0 accepts at once, port 1 has larger and smaller buffers for heads,
 * port 2 waits for data before it accepts (the default).
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char TIMES[] =
    "http:\n"
    "  client_header_timeout: 1s\n"
    "  client_body_timeout: 1s\n"
    "  send_timeout: 1s\n"
    "  keepalive_timeout: 1s\n"
    "  lingering_timeout: 1s\n"
    "  lingering_time: 4s\n"
    "  access_log: logs/access.log combined flush=100ms\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@0@ deferred=off', root: html}\n"
    "    - {listen: '127.0.0.1:@1@', root: html, client_header_timeout: 20s,"
    " client_header_buffer_size: 512, large_client_header_buffers: 2 1k}\n"
    "    - {listen: '127.0.0.1:@2@', root: html}\n"
    "    - {listen: '127.0.0.1:@3@', root: html, reset_timedout_connection: on}\n";

/* The connection must end between `from` and `to` ms; an answer, if any, is 408. */
static void ends_between(struct client *c, const char *name, int from, int to)
{
    struct reply r;
    int64_t start = now_ms();
    if (reply_read(c, &r, false, to)) {
        if (r.status != 408 || r.keeps)
            fail_msg("%s: %d", name, r.status);
    } else if (r.head != NULL || !c->eof) {
        fail_msg("%s: %s", name, r.err);
    }
    reply_free(&r);
    if (!c->eof && !client_ends(c, to))
        fail_msg("%s: stays open", name);
    if (now_ms() - start < from || now_ms() - start > to)
        fail_msg("%s: ended after %d ms", name, (int)(now_ms() - start));
}

/* T2, h65, h70: a head that does not come, in part or at all; the limit is on the whole. */
static void test_header(void **state)
{
    (void)state;
    struct client c;
    assert_true(client_open(&c, srv->at[0]));
    ends_between(&c, "T2 nothing sent", 500, 4000);
    client_close(&c);
    assert_true(client_open(&c, srv->at[2]));
    client_sendz(&c, "GET /probe.txt HTTP/1.1\r\nHost: a\r\n");
    ends_between(&c, "T2 head stops", 500, 4000);
    client_close(&c);
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, "GET /probe.txt HTTP/1.1\r\nX: ");
    int64_t from = now_ms();
    while (now_ms() - from < 4000 && !c.eof && client_sendz(&c, "x"))
        client_fill(&c, 100);
    if (now_ms() - from > 3900)
        fail_msg("T2 one byte at a time: the limit starts again with each");
    assert_true(now_ms() - from > 500);
    client_close(&c);
}

/* T2: the next head on a kept connection has the same limit. */
static void test_next_header(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, PROBE);
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    client_sendz(&c, "GET /probe");
    ends_between(&c, "T2 second head stops", 500, 4000);
    client_close(&c);
    assert_true(client_open(&c, srv->at[0])); /* half a head behind a whole one, in one write */
    client_sendz(&c, PROBE "GET /probe.txt HT");
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    sleep_ms(300);
    client_sendz(&c, "TP/1.1\r\nHost: a\r\n\r\n");
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    assert_string_equal(r.body, "probe\n");
    reply_free(&r);
    client_close(&c);
}

/* T3, h66: a body that stops. */
static void test_body(void **state)
{
    (void)state;
    static const char *const method[] = {"GET", "POST"};
    for (int i = 0; i < 2; i++) {
        struct client c;
        struct reply r;
        char *head = text_of("%s /probe.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc",
                             method[i]);
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, head);
        free(head);
        if (reply_read(&c, &r, false, 5000)) /* at once, or 408 after the time */
            assert_true(r.status == 200 || r.status == 405 || r.status == 408);
        else if (!c.eof)
            fail_msg("T3 %s: %s", method[i], r.err);
        reply_free(&r);
        if (!c.eof && !client_ends(&c, 5000))
            fail_msg("T3 %s: stays open (%zu bytes more)", method[i], c.n);
        client_close(&c);
    }
}

/* T4, h67, h68: a reader that does not read is dropped; one that reads slowly is not. */
static void stalled(int server)
{
    struct client c;
    struct reply r;
    assert_true(client_open_rcvbuf(&c, srv->at[server], 4096));
    client_sendz(&c, GET("/large.bin?stalled"));
    assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    sleep_ms(3500);
    bool wrong = false;
    uint64_t got = client_drain(&c, 0, 32u << 20, file_byte, 3000, &wrong);
    if (!c.eof || got >= 32u << 20)
        fail_msg("T4 not dropped after 3.5 s (%llu bytes)", (unsigned long long)got);
    assert_false(wrong);
    client_close(&c);
}

/* h68: what a client sends says nothing of its reading. */
static void test_chatty(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open_rcvbuf(&c, srv->at[0], 4096));
    client_sendz(&c, GET("/large.bin?chatty"));
    assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    bool alive = true;
    for (int i = 0; i < 20 && alive; i++, sleep_ms(300)) /* a next request, byte by byte */
        alive = client_send(&c, &"GET /probe.txt HTTP/1.1"[i], 1);
    if (alive)
        fail_msg("h68: a client that sends without reading holds its connection");
    client_close(&c);
}

/* RFC 9112 9.6: behind the last answer, input is dropped for as long as it comes, up to a limit. */
static int lingered(int64_t *longest_gap)
{
    struct client c;
    struct reply r;
    int sent = 0;
    int64_t last = now_ms();
    *longest_gap = 0;
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, REQ("GET", "/probe.txt", "Connection: close\r\n"));
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    while (sent < 30 && client_send(&c, "x", 1)) {
        sent++;
        sleep_ms(300);
        if (now_ms() - last > *longest_gap)
            *longest_gap = now_ms() - last;
        last = now_ms();
    }
    client_close(&c);
    return sent;
}

static void test_lingering(void **state)
{
    (void)state;
    int64_t gap = 0;
    int sent = lingered(&gap);
    for (int i = 0; i < 3 && gap > 700; i++) /* we were silent too long ourselves */
        sent = lingered(&gap);
    if (sent < 9 || sent > 28) /* 4 s of lingering_time, not the 1 s without input */
        fail_msg("lingering: ended after %d ms", 300 * sent);
}

static void test_send(void **state)
{
    (void)state;
    stalled(0);
    stalled(3);
    struct client c;
    struct reply r;
    assert_true(client_open_rcvbuf(&c, srv->at[0], 65536));
    client_sendz(&c, GET("/large.bin?slow"));
    assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
    bool wrong = false;
    uint64_t got = 0;
    for (int i = 0; i < 8; i++, sleep_ms(400)) /* three times the limit in all */
        got += client_drain(&c, got, 2u << 20, file_byte, 3000, &wrong);
    got += client_drain(&c, got, (32u << 20) - got, file_byte, 3000, &wrong);
    assert_false(wrong);
    assert_int_equal(got, 32u << 20);
    reply_free(&r);
    client_close(&c);
}

/* K8, h69: idle connections end silently; the access log does not know them. */
static void test_idle(void **state)
{
    (void)state;
    struct client c[30];
    struct reply r;
    for (int i = 0; i < 30; i++) {
        assert_true(client_open(&c[i], srv->at[2]));
        client_sendz(&c[i], GET("/probe.txt?idle"));
        assert_true(reply_read(&c[i], &r, false, CLIENT_PATIENCE));
        reply_free(&r);
    }
    for (int i = 0; i < 30; i++) {
        assert_true(client_ends(&c[i], 4000));
        client_close(&c[i]);
    }
    sleep_ms(300);
    char *log = server_read(srv, "logs/access.log");
    assert_int_equal(count_text(log, "/probe.txt?idle"), 30);
    assert_int_equal(count_text(log, "\"-\" 000"), 0);
    free(log);
}

/* B16, A25 with buffers of another size. */
static void test_buffers(void **state)
{
    (void)state;
    char *line = repeat('a', 900), *longer = repeat('a', 1100);
    char *one = text_of("GET /%s HTTP/1.1\r\nHost: a\r\n\r\n", line + 650);
    char *two = text_of("GET /probe.txt?%s HTTP/1.1\r\nHost: a\r\n\r\n", longer);
    char *three = text_of(REQ("GET", "/probe.txt", "A: %s\r\n"), line);
    char *four = text_of(REQ("GET", "/probe.txt", "A: %s\r\n"), longer);
    char *five = text_of(REQ("GET", "/probe.txt", "A: %s\r\nB: %s\r\nC: %s\r\n"), line, line, line);
    struct row rows[] = {
        {"A24 line that fits", one, 404, KEEPS},    {"A25 line above 1k", two, 414, CLOSES},
        {"B16 field that fits", three, 200, KEEPS}, {"B16 field above 1k", four, 431, CLOSES},
        {"B16 head above 2k", five, 431, CLOSES},
    };
    rows_run(srv->at[1], ROWS(rows));
    rows_run_bytewise(srv->at[1], ROWS(rows));
    free(line);
    free(longer);
    free(one);
    free(two);
    free(three);
    free(four);
    free(five);
}

static const char CROWD[] = "events: {@EVENTS@, worker_connections: 40}\n"
                            "http:\n"
                            "  server: {listen: '127.0.0.1:@0@', root: html}\n";

/* T6: more connections than allowed; those there are unharmed, and room is used again. */
static void test_crowd(void **state)
{
    (void)state;
    struct client c[100];
    struct reply r;
    int served = 0;
    for (int i = 0; i < 100; i++) {
        assert_true(client_open(&c[i], srv->at[0]));
        client_sendz(&c[i], PROBE);
        if (reply_read(&c[i], &r, false, i < 20 ? CLIENT_PATIENCE : 30) && r.status == 200)
            served++;
        else
            assert_true(i >= 20 && (r.status == 0 || r.status == 503));
        reply_free(&r);
    }
    assert_true(served >= 20);
    for (int i = 0; i < 10; i++) { /* an old one still works, or was closed for being idle */
        client_sendz(&c[i], PROBE);
        bool ok = reply_read(&c[i], &r, false, CLIENT_PATIENCE);
        assert_true(ok ? strcmp(r.body, "probe\n") == 0 : c[i].eof);
        reply_free(&r);
    }
    for (int i = 0; i < 100; i++)
        client_close(&c[i]);
    bool room = false; /* it takes a moment until the ends have been seen */
    for (int64_t end_of = now_ms() + 3000; !room && now_ms() < end_of; sleep_ms(20)) {
        room = fetch_path(srv->at[0], "/probe.txt", &r) && r.status == 200;
        reply_free(&r);
    }
    for (int i = 0; i < 100; i++) {
        if (!fetch_path(srv->at[0], "/probe.txt", &r) || r.status != 200)
            fail_msg("T6 after the crowd, request %d: %d %s", i, r.status, r.err);
        reply_free(&r);
    }
}

static const char FEW[] = "worker_rlimit_nofile: 64\n"
                          "events: {@EVENTS@, worker_connections: 1000}\n"
                          "http:\n"
                          "  open_file_cache: max=8\n"
                          "  server: {listen: '127.0.0.1:@0@', root: html}\n";

/* Milliseconds on a CPU of the one worker. */
static long worker_cpu_ms(void)
{
    char path[64];
    pid_t pid[SERVER_WORKERS];
    unsigned long long ns = 0;
    assert_int_equal(server_workers(srv, pid, SERVER_WORKERS), 1);
    snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid[0]);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu", &ns), 1);
    fclose(f);
    return (long)(ns / 1000000);
}

/* T6, h89: descriptors run out: nobody is harmed, nothing spins, and it is over at once. */
static void test_descriptors(void **state)
{
    (void)state;
    struct client c[150];
    struct reply r;
    int served = 0;
    for (int i = 0; i < 150; i++) {
        assert_true(client_open(&c[i], srv->at[0]));
        client_sendz(&c[i], PROBE);
    }
    for (int i = 0; i < 150; i++) {
        served += reply_read(&c[i], &r, false, i < 10 ? CLIENT_PATIENCE : 5);
        reply_free(&r);
    }
    assert_in_range(served, 10, 140);
    long before = worker_cpu_ms();
    sleep_ms(400);
    if (worker_cpu_ms() - before > 100)
        fail_msg("h89 %ld ms of CPU in 400 ms without descriptors", worker_cpu_ms() - before);
    client_sendz(&c[0], PROBE); /* one that is there goes on, though its file may not be open */
    assert_true(reply_read(&c[0], &r, false, CLIENT_PATIENCE));
    assert_string_equal(r.body, "probe\n");
    reply_free(&r);
    for (int i = 0; i < 100; i++)
        client_close(&c[i]);
    int64_t from = now_ms();
    for (int i = 100; i < 150; i++) { /* those that waited have their turn */
        bool ok = reply_read(&c[i], &r, false, CLIENT_PATIENCE);
        if (!ok || strcmp(r.body, "probe\n") != 0)
            fail_msg("h89 client %d: %d %s", i, r.status, r.err);
        reply_free(&r);
        client_close(&c[i]);
    }
    if (now_ms() - from > 1000)
        fail_msg("h89 it took %d ms to recover", (int)(now_ms() - from));
    char *log = server_read(srv, "logs/error.log");
    assert_in_range(count_text(log, "Too many open files"), 1, 20);
    free(log);
}

/* h75: a storm of what is not there: answered as fast as what is, and the log does not drown. */
static void test_storm(void **state)
{
    (void)state;
    static const char *const what[] = {PROBE, GET("/none"), GET("/none/%61")};
    int64_t took[3];
    for (int k = 0; k < 3; k++) {
        struct client c = {.fd = -1};
        int64_t from = now_ms();
        for (int i = 0; i < 3000; i++) {
            struct reply r;
            if (c.fd < 0)
                assert_true(client_open(&c, srv->at[0]));
            client_sendz(&c, what[k]);
            assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
            assert_int_equal(r.status, k == 0 ? 200 : 404);
            if (!r.keeps)
                client_close(&c);
            reply_free(&r);
        }
        client_close(&c);
        took[k] = now_ms() - from;
    }
    for (int k = 1; k < 3; k++)
        if (took[k] > 3 * took[0] + 300)
            fail_msg("h75 3,000 times 404 took %d ms, 200 %d ms", (int)took[k], (int)took[0]);
}

static int start_times(void **state)
{
    (void)state;
    server_new();
    server_fill(srv, "html/large.bin", 32u << 20);
    server_up(srv, TIMES);
    srv->rss_slack_kb = 1024;
    return 0;
}

static int start_crowd(void **state)
{
    (void)state;
    server_new();
    srv->unclean = true; /* running out of connections may be an alert */
    server_up(srv, CROWD);
    return 0;
}

static int start_few(void **state)
{
    (void)state;
    server_new();
    srv->unclean = true;
    server_mtime(srv, "html/probe.txt", 1000000000, 0);
    server_up(srv, FEW);
    return 0;
}

static int end(void **state)
{
    (void)state;
    server_free(srv);
    return 0;
}

int main(void)
{
    const struct CMUnitTest times[] = {
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_next_header),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_chatty),
        cmocka_unit_test(test_lingering),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_buffers),
        LAST_TESTS,
    };
    const struct CMUnitTest crowd[] = {cmocka_unit_test(test_crowd), LAST_TESTS};
    const struct CMUnitTest few[] = {cmocka_unit_test(test_descriptors),
                                     cmocka_unit_test(test_storm), LAST_TESTS};
    return cmocka_run_group_tests_name("worker_rlimit_nofile", few, start_few, end) +
           cmocka_run_group_tests_name("time-outs", times, start_times, end) +
           cmocka_run_group_tests_name("worker_connections", crowd, start_crowd, end);
}
