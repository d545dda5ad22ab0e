/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_rate (T8): the average is right for bodies from memory, by splice, by sendfile and in parts;
 * nobody else is delayed; no answer is cut because we are slow; a client that is slow itself is (T4).
 *
 * A busy machine makes everything slower, so what is asserted is that nothing is faster than it may
 * be, and slowness only by a wide margin.
 */
#include "lib/rows.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
/* behind the headers it needs */
#include <cmocka.h>

#define LARGE (4u << 20)

static const char CONF[] =
    "http:\n"
    "  send_timeout: 1s\n"
    "  access_log: logs/access.log combined flush=100ms\n"
    "  map:\n"
    "    $arg_r $rate: {default: $arg_r, own: $limit_rate}\n"
    "  server:\n"
    "    listen: 127.0.0.1:@0@\n"
    "    root: html\n"
    "    add_header: X-Rate $limit_rate\n"
    "    location:\n"
    "      /memory: {limit_rate: 80k, alias: html/memory}\n"
    "      /splice: {limit_rate: 4m, splice: on, alias: html/large}\n"
    "      /sendfile: {limit_rate: 4m, splice: off, alias: html/large}\n"
    "      /after: {limit_rate: 2m, limit_rate_after: 3m, alias: html/large}\n"
    "      /tiny: {limit_rate: 20, alias: html/probe.txt}\n"
    "      /bytes: {limit_rate: 1, alias: html/probe.txt}\n"
    "      /given: {limit_rate: $rate, alias: html/memory}\n"
    "      /zero: {limit_rate: 0, alias: html/large}\n"
    "      /free: {limit_rate: unlimited, alias: html/large}\n"
    "      /stream: {limit_rate: 20k, gzip: on, gzip_types: '*', open_file_cache: off, alias: html/text}\n"
    "      /slow: {limit_rate: 64k, alias: html/large}\n";

/* Reads an answer; how long it took from when it was asked for: we may be late to see its head. */
static int body_takes(const char *request, uint64_t n)
{
    struct client c;
    struct reply r;
    bool wrong = false;
    assert_true(client_open(&c, srv->at[0]));
    int64_t start = now_ms();
    client_sendz(&c, request);
    assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
    uint64_t got = client_drain(&c, 0, n, n <= 6 ? NULL : file_byte, CLIENT_PATIENCE, &wrong);
    int took = (int)(now_ms() - start);
    if (got != n || wrong)
        fail_msg("%s: %llu of %llu bytes%s", request, (unsigned long long)got, (unsigned long long)n,
                 wrong ? ", and wrong ones" : "");
    reply_free(&r);
    client_close(&c);
    return took;
}

#define SLACK 80 /* one step in advance, and the clock of the loop */

static const struct {
    const char *name, *request;
    uint64_t bytes;
    int least, most; /* most: 0 for no bound */
} rows[] = {
    {"T8 memory", GET("/memory"), 50000, 610, 0},
    {"T8 splice", GET("/splice"), LARGE, 1000, 0},
    {"T8 sendfile", GET("/sendfile"), LARGE, 1000, 0},
    {"T8 after", GET("/after"), LARGE, 500, 0},
    {"T8 range", REQ("GET", "/splice", "Range: bytes=0-2097151\r\n"), 2u << 20, 500, 0},
    {"T8 a few bytes", GET("/tiny"), 6, 250, 0},
    {"T8 from a variable", GET("/given?r=100k"), 50000, 488, 0},
    {"T8 a variable that is none", GET("/given"), 50000, 0, 3000},
    {"T8 a variable that is no size", GET("/given?r=quick"), 50000, 0, 3000},
    {"T8 a variable that is made of itself", GET("/given?r=own"), 50000, 0, 3000},
    {"T8 unlimited", GET("/given?r=unlimited"), 50000, 0, 3000},
    {"T8 zero", GET("/zero"), LARGE, 0, 3000},
    {"T8 off", GET("/free"), LARGE, 0, 3000},
};

static void run(size_t i)
{
    int took = body_takes(rows[i].request, rows[i].bytes);
    if (took < rows[i].least - SLACK || (rows[i].most != 0 && took > rows[i].most) || took > rows[i].least + 4000)
        fail_msg("%s: %d ms", rows[i].name, took);
}

static void test_rates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run(i);
    if (!server_wait_text(srv, "logs/error.log", "limit_rate: \"quick\" is not a size", 3000))
        fail_msg("a bad size is not reported");
}

static void test_variable(void **state)
{
    (void)state;
    static const struct {
        const char *request, *want;
    } asked[] = {
        {HEAD("/memory"), "81920"},         {HEAD("/splice"), "4194304"}, {HEAD("/free"), "0"},
        {HEAD("/given?r=3k"), "3072"},      {HEAD("/given"), "0"},        {HEAD("/given?r=own"), "0"},
        {HEAD("/given?r=unlimited"), "0"},
    };
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        struct client c;
        struct reply r;
        assert_true(client_open(&c, srv->at[0]));
        client_sendz(&c, asked[i].request);
        assert_true(reply_read(&c, &r, true, CLIENT_PATIENCE));
        if (strcmp(reply_field(&r, "X-Rate"), asked[i].want) != 0)
            fail_msg("%s: %s", asked[i].request, reply_field(&r, "X-Rate"));
        reply_free(&r);
        client_close(&c);
    }
}

/* Each answer of a pipeline has a rate of its own. */
static void test_pipeline(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    bool wrong = false;
    assert_true(client_open(&c, srv->at[0]));
    int64_t start = now_ms();
    client_sendz(&c, GET("/probe.txt") GET("/memory") GET("/given?r=200k") GET("/free") GET("/splice")
                         GET("/probe.txt"));
    static const struct {
        uint64_t bytes;
        int least; /* when its body is complete */
    } answer[] = {{6, 0}, {50000, 610}, {50000, 850}, {LARGE, 850}, {LARGE, 1850}, {6, 1850}};
    for (size_t i = 0; i < 6; i++) {
        assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
        assert_int_equal(r.status, 200);
        reply_free(&r);
        uint64_t got = client_drain(&c, 0, answer[i].bytes, answer[i].bytes == 6 ? NULL : file_byte,
                                    CLIENT_PATIENCE, &wrong);
        assert_int_equal(got, answer[i].bytes);
        assert_false(wrong);
        if (now_ms() - start < answer[i].least - 2 * SLACK)
            fail_msg("answer %zu after %d ms", i, (int)(now_ms() - start));
    }
    if (now_ms() - start > 9000)
        fail_msg("the pipeline took %d ms", (int)(now_ms() - start));
    client_close(&c);
}

/* CPU time of the worker so far, in ticks of 10 ms. */
static long ticks(void)
{
    pid_t pid[SERVER_WORKERS];
    char path[64], line[512] = "";
    unsigned long user = 0, system = 0;
    assert_int_equal(server_workers(srv, pid, SERVER_WORKERS), 1);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid[0]);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *at = fgets(line, sizeof(line), f) != NULL ? strrchr(line, ')') : NULL;
    fclose(f);
    assert_non_null(at);
    assert_int_equal(sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system), 2);
    return (long)(user + system);
}

/* Slow connections do not delay others, and are waited for without using the CPU. */
static void test_beside(void **state)
{
    (void)state;
    enum { SLOW = 40 };
    struct client c[SLOW];
    struct reply r;
    for (int i = 0; i < SLOW; i++) {
        assert_true(client_open(&c[i], srv->at[0]));
        client_sendz(&c[i], GET("/slow"));
        assert_true(reply_read_head(&c[i], &r, false, CLIENT_PATIENCE));
        reply_free(&r);
    }
    int worst = 0, sum = 0;
    for (int i = 0; i < 50; i++) {
        int64_t start = now_ms();
        if (!fetch_path(srv->at[0], "/probe.txt", &r) || r.status != 200)
            fail_msg("beside: %s", r.err);
        reply_free(&r);
        int took = (int)(now_ms() - start);
        sum += took;
        worst = took > worst ? took : worst;
    }
    long before = ticks();
    sleep_ms(1000);
    bool own = strcmp(server_backend(), "io_uring") == 0 || strcmp(server_backend(), "epoll") == 0;
    if (own && ticks() - before > 40 && !server_sanitized()) /* a kernel thread that polls does take it */
        fail_msg("%d slow ones take %ld %% of a CPU", SLOW, ticks() - before);
    if (sum > 50 * 40)
        fail_msg("beside %d slow ones an answer took %d ms, at worst %d", SLOW, sum / 50, worst);
    for (int i = 0; i < SLOW; i++)
        client_abort(&c[i]);
}

/* A body that is made while it is sent: compressed, in chunks, of unknown length. */
static void test_stream(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    int64_t start = now_ms();
    client_sendz(&c, REQ("GET", "/stream", "Accept-Encoding: gzip\r\n"));
    assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
    int took = (int)(now_ms() - start), least = (int)(r.body_n * 1000 / (20 * 1024));
    assert_true(r.chunked);
    if (took < least - SLACK || least < 200)
        fail_msg("T8 stream: %zu bytes in %d ms", r.body_n, took);
    reply_free(&r);
    client_close(&c);
}

/* send_timeout is one second here: it does not run while we are the slow one. */
static void test_our_own_pauses(void **state)
{
    (void)state;
    int took = body_takes(REQ("GET", "/bytes", "Range: bytes=0-3\r\n"), 4);
    if (took < 4000 - SLACK)
        fail_msg("four bytes at one a second took %d ms", took);
}

/* A client that reads `n` bytes each `ms` and no more. True: it was cut within the time. */
static bool cut(int rcvbuf, size_t n, int ms, int within)
{
    struct client c;
    struct reply r;
    char some[4096];
    bool ended = false;
    assert_true(client_open_rcvbuf(&c, srv->at[0], rcvbuf));
    client_sendz(&c, GET("/free"));
    assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
    reply_free(&r);
    struct tcp_info info;
    socklen_t len = sizeof(info);
    for (int64_t end_of = now_ms() + within; !ended && now_ms() < end_of; sleep_ms(ms)) {
        ssize_t got = recv(c.fd, some, n, MSG_DONTWAIT);
        assert_true(got != 0);
        ended = got < 0 || getsockopt(c.fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 ||
                info.tcpi_state != TCP_ESTABLISHED;
    }
    client_close(&c);
    return ended;
}

/* T4, h67, h68: bytes taken now and then are no progress; slow reading is. */
static void test_slow_reader(void **state)
{
    (void)state;
    char *log;
    (void)cut(4096, 1, 100, 2400); /* a FIN cannot be seen behind what is not read: the log tells */
    if (!server_wait_text(srv, "logs/error.log", "client timed out while taking the response", 3000))
        fail_msg("h67: a client that reads a byte now and then is not cut");
    log = server_read(srv, "logs/error.log");
    size_t before = count_text(log, "client timed out while taking");
    free(log);
    assert_false(cut(65536, 4096, 20, 2600)); /* 200k/s */
    log = server_read(srv, "logs/error.log");
    assert_int_equal(count_text(log, "client timed out while taking"), before);
    free(log);
}

static int start(void **state)
{
    (void)state;
    server_new();
    server_fill(srv, "html/large", LARGE);
    server_fill(srv, "html/memory", 50000);
    char *text = malloc(100001); /* worth some 10 KB */
    for (size_t i = 0, x = 1; i < 100000; i++, x = x * 1103515245 + 12345)
        text[i] = i % 9 == 0 ? (char)('a' + x / 65536 % 26) : 'e';
    text[100000] = '\0';
    server_text(srv, "html/text", text);
    free(text);
    server_up(srv, CONF);
    srv->rss_slack_kb = 1024;
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_variable),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_our_own_pauses),
        cmocka_unit_test(test_slow_reader),
        LAST_TESTS,
    };
    return cmocka_run_group_tests_name("limit_rate", tests, start, end);
}
