/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The error log, read back through a pipe: the format of a line, levels and sinks, escaping, what
 * is cut off and how, and that lines which cannot be written are counted and cost nothing else.
 */
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int fds[2];
static struct log plog;
static struct log_ctx pctx;
static char got[3 * LOG_LINE_MAX];

static int setup(void **state)
{
    (void)state;
    if (pipe2(fds, O_NONBLOCK) != 0)
        return -1;
    plog = (struct log){0};
    pctx = (struct log_ctx){.log = &plog};
    return log_add_sink(&plog, fds[1], LEVEL_INFO, "pipe") ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    close(fds[0]);
    close(fds[1]);
    return 0;
}

/* Everything in the pipe, as a string. */
static size_t drain(void)
{
    ssize_t n = read(fds[0], got, sizeof got - 1);

    n = n < 0 ? 0 : n;
    got[n] = '\0';
    return (size_t)n;
}

/* What follows the time in the only line there is. */
static const char *rest_of_line(void)
{
    size_t n = drain();

    assert_true(n > 20);
    assert_int_equal(got[n - 1], '\n');
    assert_ptr_equal(strchr(got, '\n'), got + n - 1);
    got[n - 1] = '\0';
    return got + 20;
}

static const char *expected(const char *level, const char *text)
{
    static char line[LOG_LINE_MAX * 2];

    snprintf(line, sizeof line, "[%s] %d#0: %s", level, (int)getpid(), text);
    return line;
}

static void test_format(void **state)
{
    struct tm tm = {0};

    (void)state;
    setenv("TZ", "<+05>-5:30", 1);
    tzset();
    time_t before = time(NULL);
    log_error(&pctx, "hello %d", 42);
    time_t after = time(NULL);
    assert_string_equal(rest_of_line(), expected("error", "hello 42"));

    assert_int_equal(got[19], ' ');
    got[19] = '\0';
    assert_ptr_equal(strptime(got, "%Y/%m/%d %H:%M:%S", &tm), got + 19);
    time_t said = timegm(&tm) - (5 * 3600 + 1800); /* TZ is respected */
    assert_true(said >= before - 1 && said <= after);

    pctx.id = 17;
    log_warn(&pctx, "with a number");
    assert_string_equal(rest_of_line(), expected("warn", "*17 with a number"));
}

static void test_errno_text(void **state)
{
    (void)state;
    errno = EXDEV;
    log_errno_at(&pctx, LEVEL_ALERT, EACCES, "open() \"%s\" failed", "/srv/x");
    assert_int_equal(errno, EXDEV); /* kept */
    assert_string_equal(rest_of_line(),
                        expected("alert", "open() \"/srv/x\" failed (13: Permission denied)"));
    log_errno_at(&pctx, LEVEL_ERROR, 99999, "strange");
    assert_string_equal(rest_of_line(), expected("error", "strange (99999: Unknown error)"));
    log_errno_at(&pctx, LEVEL_ERROR, 0, "none");
    assert_string_equal(rest_of_line(), expected("error", "none"));
}

static void describe_client(const struct log_ctx *ctx, struct wbuf *to)
{
    (void)ctx;
    wbuf_printf(to, ", client: %s", "192.0.2.1");
    wbuf_str(to, STR(", request: \""));
    log_escape(to, STR("GET /\"\\\n HTTP/1.1"));
    wbuf_char(to, '"');
}

static void test_describe(void **state)
{
    (void)state;
    pctx.describe = describe_client;
    log_errno_at(&pctx, LEVEL_ERROR, ENOENT, "open() failed");
    assert_string_equal(
        rest_of_line(),
        expected("error", "open() failed (2: No such file or directory), client: 192.0.2.1, "
                          "request: \"GET /\\x22\\x5c\\x0a HTTP/1.1\""));
}

/* h-class inputs: nobody can forge a second line or send codes to a terminal. */
static void test_escaping(void **state)
{
    char all[256], want[256 * 4 + 1];
    size_t n = 0;

    (void)state;
    log_error(&pctx, "a\nb\r\x1b[31m%s\x7f \"q\" \\ \xc3\xa9", "\t");
    assert_string_equal(
        rest_of_line(),
        expected("error", "a\\x0ab\\x0d\\x1b[31m\\x09\\x7f \"q\" \\ \xc3\xa9"));

    for (unsigned c = 0; c < 256; c++) {
        bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; /* alone, none is UTF-8 */
        all[c] = (char)c;
        n += (size_t)sprintf(want + n, plain ? "%c" : "\\x%02x", c);
    }
    char text[sizeof want];
    struct wbuf w = wbuf_make(text, sizeof text);
    log_escape(&w, (struct str){all, sizeof all});
    assert_false(w.overflow);
    assert_int_equal(w.at - text, n);
    assert_memory_equal(text, want, n);

    /* h28: the second set of controls is escaped, other characters are not */
    w = wbuf_make(text, sizeof text);
    log_escape(&w, STR("\xc2\x9b" "m\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\x80"));
    assert_true(str_eq(str_between(text, w.at),
                       STR("\\xc2\\x9bm\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80\\xed\\xa0\\x80")));

    w = wbuf_make(text, 6); /* keeps what fits, no half escapes */
    log_escape(&w, STR("abc\n\n"));
    assert_true(w.overflow);
    assert_true(str_eq(str_between(text, w.at), STR("abc")));
    w = wbuf_make(text, 6);
    log_escape(&w, STR_NONE);
    assert_false(w.overflow);
}

static void describe_much(const struct log_ctx *ctx, struct wbuf *to)
{
    (void)ctx;
    wbuf_str(to, STR(", client: 192.0.2.1, request: "));
    for (int i = 0; i < LOG_LINE_MAX; i++)
        wbuf_char(to, 'r');
}

static void test_truncation(void **state)
{
    static char text[3 * LOG_LINE_MAX];

    (void)state;
    log_error(&pctx, "%s", "");
    size_t head = drain() - 1, room = LOG_LINE_MAX / 4 * 3 - 3;
    for (size_t len = 700; len < sizeof text; len += len < 3300 ? 1 : 997) {
        for (size_t width = 1; width <= 4; width += 3) { /* as it is, or as \xHH */
            memset(text, width == 1 ? 'x' : '\n', len);
            text[len] = '\0';
            log_error(&pctx, "%s", text);
            size_t n = drain();
            bool cut = head + len * width > room;
            size_t kept = cut ? (room - head) / width * width : len * width;
            assert_int_equal(n, head + kept + (cut ? 4 : 1));
            assert_ptr_equal(strchr(got, '\n'), got + n - 1);
            if (cut)
                assert_memory_equal(got + n - 4, "...\n", 4);
            else
                assert_memory_equal(got + n - 2, width == 1 ? "x" : "a", 1);
        }
    }

    /* The particulars survive a long message, and are cut themselves. */
    memset(text, 'x', 8000);
    text[8000] = '\0';
    pctx.describe = describe_much;
    log_errno_at(&pctx, LEVEL_ERROR, EIO, "%s", text);
    size_t n = drain();
    assert_int_equal(n, LOG_LINE_MAX);
    assert_non_null(strstr(got, "xx... (5: Input/output error), client: 192.0.2.1, request: rrr"));
    assert_memory_equal(got + n - 7, "rrr...\n", 7);
    assert_int_equal(plog.lost, 0);
}

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

static void test_levels(void **state)
{
    (void)state;
    evaluated = 0;
    log_debug(&pctx, "not wanted %d", evaluate());
    assert_int_equal(evaluated, 0); /* the level is tested first */
    assert_int_equal(drain(), 0);
    log_info(&pctx, "wanted %d", evaluate());
    assert_string_equal(rest_of_line(), expected("info", "wanted 1"));
    log_at(&pctx, LEVEL_EMERG, "x");
    assert_string_equal(rest_of_line(), expected("emerg", "x"));
    log_notice(&pctx, "x");
    assert_string_equal(rest_of_line(), expected("notice", "x"));
    log_alert(&pctx, "x");
    assert_string_equal(rest_of_line(), expected("alert", "x"));
    log_at(&pctx, LEVEL_CRIT, "x");
    assert_string_equal(rest_of_line(), expected("crit", "x"));
    assert_null(log_level_names[LEVEL_DEBUG + 1]);
    assert_string_equal(log_level_names[LEVEL_DEBUG], "debug");
}

static void test_sinks(void **state)
{
    int more[2];
    char text[LOG_LINE_MAX];

    (void)state;
    assert_int_equal(plog.level, LEVEL_INFO);
    assert_int_equal(pipe2(more, O_NONBLOCK), 0);
    assert_true(log_add_sink(&plog, more[1], LEVEL_CRIT, "second"));
    assert_int_equal(plog.level, LEVEL_INFO); /* the most verbose */
    log_error(&pctx, "for the first");
    assert_true(drain() > 0);
    assert_int_equal(read(more[0], text, sizeof text), -1);
    log_alert(&pctx, "for both");
    size_t n = drain();
    assert_int_equal(read(more[0], text, sizeof text), n);
    assert_memory_equal(text, got, n);
    while (plog.sink_count < LOG_SINKS)
        assert_true(log_add_sink(&plog, -1, LEVEL_EMERG, "none"));
    assert_false(log_add_sink(&plog, more[1], LEVEL_DEBUG, "too many"));
    assert_int_equal(plog.level, LEVEL_INFO);
    plog.sink_count = 1;
    assert_true(log_add_sink(&plog, more[1], LEVEL_DEBUG, "verbose"));
    assert_int_equal(plog.level, LEVEL_DEBUG);
    close(more[0]);
    close(more[1]);
}

/* Full disk, closed file, full pipe: counted, errno kept, and the other sinks get their line. */
static void test_lost(void **state)
{
    int full = open("/dev/full", O_WRONLY);

    (void)state;
    assert_true(full >= 0);
    plog.sinks[0].fd = full;
    assert_true(log_add_sink(&plog, -1, LEVEL_ERROR, "closed"));
    assert_true(log_add_sink(&plog, fds[1], LEVEL_INFO, "pipe"));
    errno = ENOTDIR;
    log_error(&pctx, "hello");
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(plog.lost, 2);
    assert_string_equal(rest_of_line(), expected("error", "hello"));
    log_info(&pctx, "hello"); /* not for the closed one */
    assert_int_equal(plog.lost, 3);
    drain();

    plog.sink_count = 0;
    log_add_sink(&plog, fds[1], LEVEL_INFO, "pipe");
    plog.lost = 0;
    uint64_t written = 0;
    while (plog.lost == 0 && written < 100000) {
        log_info(&pctx, "%0*d", 1000, 0);
        written++;
    }
    assert_int_equal(plog.lost, 1); /* EAGAIN */
    log_info(&pctx, "%0*d", 1000, 0);
    assert_int_equal(plog.lost, 2);
    while (drain() > 0)
        ;
    log_info(&pctx, "there is room again");
    assert_int_equal(plog.lost, 2);
    assert_string_equal(rest_of_line(), expected("info", "there is room again"));
    close(full);
}

static void drain_on_alarm(int signo)
{
    char sink[65536];
    ssize_t n = read(fds[0], sink, sizeof sink);

    (void)signo;
    (void)n;
}

/* A write that a signal interrupts is tried again. */
static void test_interrupted(void **state)
{
    struct sigaction act = {.sa_handler = drain_on_alarm}, old; /* without SA_RESTART */

    (void)state;
    while (plog.lost == 0)
        log_info(&pctx, "%0*d", 1000, 0);
    plog.lost = 0;
    assert_int_equal(fcntl(fds[1], F_SETFL, 0), 0); /* from here on a full pipe blocks */
    assert_int_equal(sigaction(SIGALRM, &act, &old), 0);
    assert_int_equal(
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 50000}}, NULL), 0);
    log_info(&pctx, "%0*d", 1000, 0);
    sigaction(SIGALRM, &old, NULL);
    assert_int_equal(plog.lost, 0);
    assert_true(drain() > 1000);
}

static void test_rate(void **state)
{
    static struct log_rate site;
    uint32_t held = 77, passed = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        if (log_rate_ok(&site, 5, &held))
            passed++;
        else
            refused++;
        assert_true(held == 0 || passed > 5);
    }
    assert_true(passed >= 5 && passed <= 10); /* the second may have changed under way */
    assert_true(refused >= 90);
    uint32_t waiting = site.held;
    assert_true(waiting > 0);
    site.second--; /* a second later */
    assert_true(log_rate_ok(&site, 5, &held));
    assert_int_equal(held, waiting);
    assert_true(log_rate_ok(&site, 5, &held));
    assert_int_equal(held, 0);
    assert_false(log_rate_ok(&site, 0, &held));
}

static void test_process_log(void **state)
{
    (void)state;
    assert_ptr_equal(log_process.log, &log_main);
    assert_int_equal(log_main.level, LEVEL_NOTICE);
    assert_int_equal(log_main.sink_count, 1);
    assert_int_equal(log_main.sinks[0].fd, STDERR_FILENO);
    assert_string_equal(log_main.sinks[0].path, "stderr");
    assert_true(log_on(&log_process, LEVEL_NOTICE));
    assert_false(log_on(&log_process, LEVEL_INFO));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_format),     TEST(test_errno_text), TEST(test_describe), TEST(test_escaping),
        TEST(test_truncation), TEST(test_levels),     TEST(test_sinks),    TEST(test_lost),
        TEST(test_rate),       TEST(test_process_log), TEST(test_interrupted),
    };
    return cmocka_run_group_tests_name("core/log", tests, NULL, NULL);
}
