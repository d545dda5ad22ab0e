/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access and error logs: behaviours.md V3, V4, S9, E7, config.md (logs), hostile.md 39 and 93. One
 * line per request, whatever became of it; what a client sends never breaks a line.
 */
#include "lib/rows.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  log_format:\n"
    "    own: '$remote_addr|$request_method|$uri|$args|$status|$body_bytes_sent|$http_x_a|"
    "$sent_http_content_type|$request_completion'\n"
    "    joined: ['<$status', '|$request_uri>']\n"
    "    timed: '$request_uri $request_time $msec $bytes_sent $request_length $connection"
    " $connection_requests $pid'\n"
    "  access_log: logs/access.log combined flush=50ms\n"
    "  server:\n"
    "    - listen: 127.0.0.1:@0@\n"
    "      root: html\n"
    "      location:\n"
    "        /quiet/: {access_log: off, return: 200 quiet}\n"
    "        /two/: {access_log: ['logs/two.log own flush=50ms', 'logs/joined.log joined "
    "flush=50ms'],"
    " return: 200 two}\n"
    "        /json/: {access_log: logs/json.log json flush=50ms, return: 200 json}\n"
    "        /if/: {access_log: logs/if.log combined flush=50ms if=$arg_log, return: 200 if}\n"
    "        /timed/: {access_log: logs/timed.log timed flush=50ms, return: 200 timed}\n"
    "        /late/: {access_log: logs/late.log combined, return: 200 late}\n"
    "        /secret/: {log_not_found: off}\n"
    "    - listen: 127.0.0.1:@1@\n"
    "      root: html\n"
    "      access_log: logs/own.log own flush=50ms\n";

static const char BLOCKED[] =
    "http:\n"
    "  server:\n"
    "    - listen: 127.0.0.1:@0@\n"
    "      root: html\n"
    "      location:\n"
    "        /fifo/: {access_log: logs/fifo combined, return: 200 fifo}\n"
    "        /full/: {access_log: /dev/full combined flush=50ms, return: 200 full}\n";

/* The line of logs/`file` that holds `text`, to be freed; waits for it. */
static char *line_with(const char *file, const char *text)
{
    char *rel = text_of("logs/%s", file);
    if (!server_wait_text(srv, rel, text, 4000)) {
        char *all = server_read(srv, rel);
        fail_msg("no line with %s in %s: %.300s", text, rel, all);
    }
    char *all = server_read(srv, rel), *hit = strstr(all, text);
    while (hit > all && hit[-1] != '\n')
        hit--;
    char *line = strndup(hit, strcspn(hit, "\n"));
    free(all);
    free(rel);
    return line;
}

static void send_raw(const char *addr, const char *request)
{
    struct reply r;
    fetch(addr, request, &r);
    reply_free(&r);
}

/* V3: the combined format, field by field. */
static void test_combined(void **state)
{
    (void)state;
    send_raw(srv->at[0], "GET /probe.txt?combined HTTP/1.1\r\nHost: a\r\nReferer: http://r/\r\n"
                         "User-Agent: tester 1\r\n\r\n");
    char *line = line_with("access.log", "?combined");
    char day[3], month[4], zone[6];
    int year, h, m, s, end = 0;
    int n = sscanf(line, "127.0.0.1 - - [%2[0-9]/%3[A-Za-z]/%4d:%2d:%2d:%2d %5[-+0-9]] %n", day,
                   month, &year, &h, &m, &s, zone, &end);
    assert_int_equal(n, 7);
    assert_string_equal(line + end,
                        "\"GET /probe.txt?combined HTTP/1.1\" 200 6 \"http://r/\" \"tester 1\"");
    free(line);
    send_raw(srv->at[0], "HEAD /probe.txt?head HTTP/1.0\r\n\r\n");
    line = line_with("access.log", "?head");
    assert_non_null(strstr(line, "\"HEAD /probe.txt?head HTTP/1.0\" 200 0 \"-\" \"-\""));
    free(line);
    send_raw(srv->at[0], REQ("GET", "/probe.txt?cond", "If-None-Match: *\r\n"));
    line = line_with("access.log", "?cond");
    assert_non_null(strstr(line, "\" 304 0 "));
    free(line);
}

/* V4: requests that are none are logged too, each once. */
static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *request, *line;
    } rows[] = {
        {GET("/bad%zz"), "\"GET /bad%zz HTTP/1.1\" 400 "},
        {"GET /nohost HTTP/1.1\r\n\r\n", "\"GET /nohost HTTP/1.1\" 400 "},
        {"BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n", "\"BREW /pot HTTP/1.1\" 501 "},
        {"GET /v3 HTTP/3.0\r\nHost: a\r\n\r\n", "\"GET /v3 HTTP/3.0\" 505 "},
        {GET("/missing-file"), "\"GET /missing-file HTTP/1.1\" 404 "},
        {REQ("POST", "/posted", "Content-Length: 0\r\n"), "\"POST /posted HTTP/1.1\" 405 "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        send_raw(srv->at[0], rows[i].request);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        free(line_with("access.log", rows[i].line));
    char *all = server_read(srv, "logs/access.log");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(count_text(all, rows[i].line), 1);
    free(all);
    char *longest = repeat('u', 9000), *request = text_of(GET("/%s"), longest);
    send_raw(srv->at[0], request);
    free(line_with("access.log", "\" 414 "));
    free(longest);
    free(request);
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* S9, E7, h39, 2a: bytes that would break a line or a terminal are written as \xHH. */
static void test_escaping(void **state)
{
    (void)state;
    char *before = server_read(srv, "logs/access.log");
    send_raw(srv->at[0], "GET /esc1 HTTP/1.1\r\nHost: a\r\nReferer: a\"b\\c\td\r\n"
                         "User-Agent: \303\244\377\r\n\r\n");
    char *line = line_with("access.log", "/esc1");
    if (strstr(line, "\"a\\x22b\\x5Cc\\x09d\" \"\\xC3\\xA4\\xFF\"") == NULL)
        fail_msg("%s", line);
    free(line);
    send_raw(srv->at[0], "GET /esc2\"\033[31m HTTP/1.1\r\nHost: a\r\n\r\n");
    line = line_with("access.log", "/esc2");
    if (strstr(line, "\"GET /esc2\\x22\\x1B[31m HTTP/1.1\" 400") == NULL)
        fail_msg("%s", line);
    free(line);
    send_raw(srv->at[0],
             "GET /esc3%0d%0a127.0.0.1 HTTP/1.1\r\nHost: a\r\nUser-Agent: \033]0;x\007\r\n\r\n");
    free(line_with("access.log", "/esc3"));
    send_raw(srv->at[1], GET("/%0a%22%5c%1b%ff?a"));
    line = line_with("own.log", "404");
    if (strstr(line, "|/\\x0A\\x22\\x5C\\x1B\\xFF|a|404|") == NULL)
        fail_msg("%s", line);
    free(line);
    char *after = server_read(srv, "logs/access.log");
    assert_int_equal(lines_of(after) - lines_of(before), 3);
    for (const char *p = after; *p != '\0'; p++)
        assert_true(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
    free(before);
    free(after);
    char *err = server_read(srv, "logs/error.log");
    for (const char *p = err; *p != '\0'; p++) {
        if (*p != '\n' && (unsigned char)*p < 0x20)
            fail_msg("control byte 0x%02x in the error log: %.80s", (unsigned)*p,
                     p > err ? p - 1 : p);
    }
    free(err);
}

/* V4: a thousand requests, pipelined and not, a thousand whole lines. */
static void test_count(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    assert_true(client_open(&c, srv->at[0]));
    char *all = calloc(1, 500 * 80);
    for (int i = 0; i < 500; i++)
        sprintf(all + strlen(all), "GET /probe.txt?n=%d. HTTP/1.1\r\nHost: a\r\n\r\n", i);
    client_sendz(&c, all);
    for (int i = 0; i < 500; i++) {
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        reply_free(&r);
    }
    client_close(&c);
    free(all);
    free(line_with("access.log", "?n=499."));
    char *log = server_read(srv, "logs/access.log");
    for (int i = 0; i < 500; i++) {
        char want[64];
        snprintf(want, sizeof(want), "\"GET /probe.txt?n=%d. HTTP/1.1\" 200 6 ", i);
        assert_int_equal(count_text(log, want), 1);
    }
    free(log);
}

static void test_formats(void **state)
{
    (void)state;
    send_raw(srv->at[1], REQ("GET", "/probe.txt?q=1", "X-A: here\r\n"));
    char *line = line_with("own.log", "q=1");
    assert_string_equal(line,
                        "127.0.0.1|GET|/probe.txt|q=1|200|6|here|text/plain; charset=utf-8|OK");
    free(line);
    send_raw(srv->at[0], GET("/two/x?y"));
    line = line_with("two.log", "/two/x");
    assert_int_equal(strncmp(line, "127.0.0.1|GET|/two/x|y|200|3|-|", 31), 0);
    free(line);
    line = line_with("joined.log", "/two/x");
    assert_string_equal(line, "<200|/two/x?y>");
    free(line);
    send_raw(srv->at[0], GET("/if/no"));
    send_raw(srv->at[0], GET("/if/zero?log=0"));
    send_raw(srv->at[0], GET("/if/yes?log=1"));
    send_raw(srv->at[0], GET("/quiet/x"));
    free(line_with("if.log", "/if/yes"));
    char *all = server_read(srv, "logs/if.log");
    assert_int_equal(lines_of(all), 1);
    free(all);
    all = server_read(srv, "logs/access.log");
    assert_int_equal(count_text(all, "/quiet/"), 0);
    assert_int_equal(count_text(all, "/two/"), 0);
    free(all);
}

/* Numbers: time, lengths, serial numbers. */
static void test_numbers(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    const char *request = GET("/timed/x");
    assert_true(client_open(&c, srv->at[0]));
    for (int i = 0; i < 2; i++) {
        client_sendz(&c, request);
        assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
        size_t head = strlen(request);
        (void)head;
        client_fill(&c, 100);
        client_consume(&c, c.n);
        reply_free(&r);
    }
    client_close(&c);
    for (int i = 0; i < 100; i++, sleep_ms(30)) {
        char *all = server_read(srv, "logs/timed.log");
        size_t n = lines_of(all);
        free(all);
        if (n == 2)
            break;
    }
    char *all = server_read(srv, "logs/timed.log");
    double took, msec;
    long sent, length, conn[2], nth, pid;
    char *second = strchr(all, '\n');
    assert_non_null(second);
    assert_int_equal(sscanf(all, "/timed/x %lf %lf %ld %ld %ld %ld %ld", &took, &msec, &sent,
                            &length, &conn[0], &nth, &pid),
                     7);
    assert_int_equal(nth, 1);
    assert_true(took >= 0 && took < 1);
    assert_true(msec > 1.6e9);
    assert_true(sent > 100 && sent < 1000);
    assert_int_equal(length, strlen(request));
    pid_t workers[SERVER_WORKERS];
    assert_int_equal(server_workers(srv, workers, SERVER_WORKERS), 1);
    assert_int_equal(pid, workers[0]);
    assert_int_equal(sscanf(second, "\n/timed/x %lf %lf %ld %ld %ld %ld", &took, &msec, &sent,
                            &length, &conn[1], &nth),
                     6);
    assert_int_equal(nth, 2);
    assert_int_equal(conn[0], conn[1]);
    free(all);
}

/* A JSON string or number or so from p; the place behind it, or NULL. */
static const char *json_value(const char *p)
{
    if (*p == '"') {
        for (p++; *p != '"'; p++) {
            if ((unsigned char)*p < 0x20)
                return NULL;
            if (*p == '\\' && strchr("\"\\/bfnrtu", *++p) == NULL)
                return NULL;
        }
        return p + 1;
    }
    const char *end = p + strcspn(p, ",}");
    return end > p ? end : NULL;
}

/* V3: the json format: one flat object per line, valid whatever was sent. */
static void test_json(void **state)
{
    (void)state;
    send_raw(srv->at[0], "GET /json/one?a=\"b HTTP/1.1\r\nHost: a\r\n"
                         "User-Agent: q\"b\\s\tt\303\244\r\n\r\n");
    send_raw(srv->at[0], "GET /json/two HTTP/1.1\r\nHost: a\r\nUser-Agent: \377\376\200\r\n\r\n");
    free(line_with("json.log", "/json/two"));
    char *all = server_read(srv, "logs/json.log");
    size_t n = 0;
    for (char *line = strtok(all, "\n"); line != NULL; line = strtok(NULL, "\n"), n++) {
        const char *p = line;
        bool ok = *p++ == '{';
        while (ok && *p == '"') {
            p = json_value(p);
            ok = p != NULL && *p == ':';
            p = ok ? json_value(p + 1 + strspn(p + 1, " ")) : NULL;
            ok = p != NULL && (*p == ',' || *p == '}');
            p = ok && *p == ',' ? p + 1 + strspn(p + 1, " ") : p;
        }
        if (!ok || strcmp(p, "}") != 0)
            fail_msg("no JSON object: %s", line);
        assert_non_null(strstr(line, "200"));
    }
    assert_true(n >= 1);
    free(all);
    char *check = text_of("python3 -c 'import json,sys\nfor l in open(\"%s\", \"rb\"): "
                          "json.loads(l.decode(\"utf-8\"))'",
                          server_path(srv, "logs/json.log"));
    assert_int_equal(system(check), 0);
    free(check);
}

/* V4, h93: logs that are FIFOs nobody reads, or full disks, stop nobody. */
static void test_blocked(void **state)
{
    (void)state;
    int64_t from = now_ms();
    for (int i = 0; i < 300; i++) {
        struct reply r;
        assert_true(fetch_path(srv->at[0], i % 2 ? "/fifo/x" : "/full/x", &r));
        assert_int_equal(r.status, 200);
        reply_free(&r);
    }
    assert_true(now_ms() - from < 5000);
}

/* The shipped buffer and flush: a line is there after little more than a second. */
static void test_flush(void **state)
{
    (void)state;
    send_raw(srv->at[0], GET("/late/x"));
    free(line_with("late.log", "/late/x"));
}

static void test_modes(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(stat(server_path(srv, "logs/access.log"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

/* The error log: level, what failed and why; log_not_found. */
static void test_error_log(void **state)
{
    (void)state;
    send_raw(srv->at[0], GET("/err/none1"));
    send_raw(srv->at[0], GET("/secret/none2"));
    send_raw(srv->at[0], GET("/locked"));
    char *line = line_with("error.log", "none1");
    assert_non_null(strstr(line, "[error]"));
    assert_non_null(strstr(line, "No such file"));
    free(line);
    line = line_with("error.log", "/locked");
    assert_non_null(strstr(line, "ermission denied"));
    free(line);
    char *all = server_read(srv, "logs/error.log");
    assert_int_equal(count_text(all, "none2"), 0);
    free(all);
}

static int start(void **state)
{
    (void)state;
    server_new();
    server_text(srv, "html/locked", "x");
    chmod(server_path(srv, "html/locked"), 0);
    server_up(srv, CONF);
    srv->rss_slack_kb = 2048; /* buffers of seven logs */
    return 0;
}

static int start_blocked(void **state)
{
    (void)state;
    server_new();
    srv->unclean = true; /* a full disk may well be an alert */
    server_fifo(srv, "logs/fifo");
    server_up(srv, BLOCKED);
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
        cmocka_unit_test(test_combined),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_escaping),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_error_log),
        LAST_TESTS,
    };
    const struct CMUnitTest blocked[] = {cmocka_unit_test(test_blocked), LAST_TESTS};
    return cmocka_run_group_tests_name("logs", tests, start, end) +
           cmocka_run_group_tests_name("logs that block", blocked, start_blocked, end);
}
