/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of a log file on each back end: flushed by size, by time and at the end; what cannot
 * be written is counted and told, never waited for (V3, V4; hostile: full disk, FIFO, long line).
 */
#include "../../../modules/access_log/access_buffer.h"
#include "event/fault.h"
#include "lib/ev_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct access_buffer buffer;
static char told[4096]; /* what the error log was given */
static int log_pipe[2];
static struct log test_log;
static struct log_ctx test_ctx = {.log = &test_log};

static void open_log(void)
{
    assert_int_equal(pipe2(log_pipe, O_NONBLOCK | O_CLOEXEC), 0);
    test_log = (struct log){0};
    assert_true(log_add_sink(&test_log, log_pipe[1], LEVEL_NOTICE, "pipe"));
}

static const char *read_log(void)
{
    ssize_t n = read(log_pipe[0], told, sizeof(told) - 1);
    told[n > 0 ? n : 0] = '\0';
    return told;
}

static void close_log(void)
{
    close(log_pipe[0]);
    close(log_pipe[1]);
}

static void start(struct ev_env *env, int fd, uint32_t size, uint64_t flush_ms)
{
    struct access_buffer_conf conf = {STR("x.log"), fd, size, flush_ms};
    open_log();
    access_buffer_init(&buffer, &env->loop, &test_ctx, &conf);
}

static void finish(void)
{
    assert_true(access_buffers_finish(&buffer, 1));
    close_log();
}

static int make_file(void)
{
    return open("/tmp", O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
}

static size_t file_size(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (size_t)st.st_size;
}

static void put_text(void *arg, struct wbuf *w)
{
    wbuf_str(w, str_z(arg));
}

/* A text of n bytes, written piece by piece as a format does. */
static void put_long(void *arg, struct wbuf *w)
{
    size_t n = *(size_t *)arg;
    for (size_t i = 0; i < n; i++)
        wbuf_char(w, (char)('a' + i % 26));
}

static void line(const char *text)
{
    union { const char *from; void *to; } arg = {text};
    access_buffer_line(&buffer, put_text, arg.to);
}

static void long_line(size_t n)
{
    access_buffer_line(&buffer, put_long, &n);
}

static void expect_file(int fd, const char *want)
{
    char got[8192];
    ssize_t n = pread(fd, got, sizeof(got) - 1, 0);
    assert_true(n >= 0);
    got[n] = '\0';
    assert_string_equal(got, want);
}

static void flushed_by_time(struct ev_env *env)
{
    int fd = make_file();
    start(env, fd, 1024, 40);
    line("one");
    line("two");
    assert_int_equal(file_size(fd), 0);
    EV_UNTIL(env, file_size(fd) == 8);
    line("three");
    EV_UNTIL(env, file_size(fd) == 14);
    expect_file(fd, "one\ntwo\nthree\n");
    finish();
    close(fd);
}

static void flushed_when_full(struct ev_env *env)
{
    int fd = make_file();
    start(env, fd, 1024, 3600 * 1000);
    long_line(700);
    long_line(700); /* does not fit behind the first */
    EV_UNTIL(env, file_size(fd) == 701);
    assert_int_equal(buffer.lost, 0);
    finish();
    assert_int_equal(file_size(fd), 1402);
    close(fd);
}

static void flushed_at_the_end(struct ev_env *env)
{
    int fd = make_file();
    start(env, fd, 4096, 3600 * 1000);
    line("a");
    line("b");
    finish();
    expect_file(fd, "a\nb\n");
    close(fd);
}

static void fills_a_block(struct ev_env *env)
{
    int fd = make_file();
    start(env, fd, 1024, 3600 * 1000);
    long_line(1023);
    assert_int_equal(buffer.n[buffer.fill], 1024);
    line("x");
    EV_UNTIL(env, file_size(fd) == 1024);
    finish();
    assert_int_equal(file_size(fd), 1026);
    close(fd);
}

/* 64 KiB values: the line is cut at the buffer's size, its end is kept. */
static void cuts_long_lines(struct ev_env *env)
{
    char last[4];
    int fd = make_file();
    start(env, fd, 1024, 3600 * 1000);
    line("short");
    long_line(65536);
    line("after");
    finish();
    assert_int_equal(file_size(fd), 6 + 1024 + 6);
    assert_int_equal(pread(fd, last, 3, 6 + 1021), 3);
    last[3] = '\0';
    assert_string_equal(last, "hi\n");
    assert_int_equal(buffer.lost, 0);
    close(fd);
}

static void counts_what_a_full_disk_loses(struct ev_env *env)
{
    int fd = open("/dev/full", O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    assert_true(fd >= 0);
    start(env, fd, 1024, 20);
    line("first");
    EV_UNTIL(env, buffer.err == ENOSPC);
    assert_non_null(strstr(read_log(), "write() to \"x.log\" failed (28:"));
    uint64_t submitted = env->loop.stats.submitted;
    for (int i = 0; i < ACCESS_BLOCKS - 1; i++)
        long_line(1000); /* the other blocks */
    for (int i = 0; i < 5; i++)
        long_line(500);
    assert_int_equal(buffer.lost, 5);
    assert_non_null(strstr(read_log(), "1 line of \"x.log\" lost"));
    ev_turn_for(env, 200);
    assert_true(env->loop.stats.submitted - submitted < 5); /* no spinning */
    assert_string_equal(read_log(), "");
    /* tried again, and the count is told */
    EV_UNTIL(env, strstr(read_log(), "4 lines of \"x.log\" lost") != NULL);
    access_buffers_finish(&buffer, 1);
    assert_int_equal(buffer.lost, 5 + ACCESS_BLOCKS);
    assert_non_null(strstr(read_log(), "16 lines of \"x.log\" lost"));
    close_log();
    close(fd);
}

/* What stood in the buffers is there after all once the disk has room again. */
static void recovers(struct ev_env *env)
{
    char why[128];
    int fd = make_file();
    env->loop.fault = ev_fault_parse("write:1:ENOSPC,write:2:EIO", why, sizeof(why));
    assert_non_null(env->loop.fault);
    start(env, fd, 1024, 20);
    line("kept");
    EV_UNTIL(env, buffer.err == ENOSPC);
    line("too");
    EV_UNTIL(env, buffer.err == EIO);
    EV_UNTIL(env, buffer.err == 0 && buffer.head == buffer.fill && buffer.n[buffer.fill] == 0);
    expect_file(fd, "kept\nkept\nkept\ntoo\n"); /* what is made to fail was done all the same */
    assert_int_equal(buffer.lost, 0);
    finish();
    ev_fault_free(env->loop.fault);
    env->loop.fault = NULL;
    close(fd);
}

static void goes_on_after_short_writes(struct ev_env *env)
{
    char why[128], want[600];
    int fd = make_file();
    env->loop.fault = ev_fault_parse("write:1+:short:7", why, sizeof(why));
    assert_non_null(env->loop.fault);
    start(env, fd, 1024, 10);
    long_line(500);
    EV_UNTIL(env, file_size(fd) == 501);
    struct wbuf w = wbuf_make(want, sizeof(want));
    put_long(&(size_t){500}, &w);
    wbuf_str(&w, STR("\n\0"));
    expect_file(fd, want);
    finish();
    ev_fault_free(env->loop.fault);
    env->loop.fault = NULL;
    close(fd);
}

/* D29: a FIFO that nobody reads takes a pipeful, then lines are lost and the end still comes. */
static void fifo_without_reader(struct ev_env *env)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    start(env, fds[1], 4096, 5);
    for (int i = 0; i < 200; i++) {
        long_line(1999);
        loop_turn(&env->loop, ev_now_ms() + 2);
    }
    assert_true(buffer.lost > 50);
    uint64_t began = ev_now_ms();
    access_buffers_finish(&buffer, 1);
    assert_true(ev_now_ms() - began < 4000);
    assert_in_range(200 - buffer.lost, 16, 33); /* a pipeful, or a page of it for each write */
    close_log();
    close(fds[0]);
    close(fds[1]);
}

/* The reader comes back: nothing that was buffered is missing or torn. */
static void fifo_with_late_reader(struct ev_env *env)
{
    static char got[300000];
    int fds[2];
    size_t n = 0;
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    start(env, fds[1], 4096, 5);
    for (int i = 0; i < 80; i++) {
        long_line(1999);
        loop_turn(&env->loop, ev_now_ms() + 2);
    }
    uint64_t kept = 80 - buffer.lost;
    assert_true(buffer.lost > 0);
    for (uint64_t end = ev_now_ms() + 20000; ev_now_ms() < end && n < kept * 2000;) {
        ssize_t more = read(fds[0], got + n, sizeof(got) - n);
        n += more > 0 ? (size_t)more : 0;
        loop_turn(&env->loop, ev_now_ms() + 5);
    }
    assert_int_equal(n, kept * 2000);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], i % 2000 == 1999 ? '\n' : 'a' + (i % 2000) % 26);
    finish();
    close(fds[0]);
    close(fds[1]);
}

/* More lines in one turn than two blocks hold: the rest has to wait, not to go. */
static void takes_a_burst(struct ev_env *env)
{
    int fd = make_file();
    start(env, fd, 1024, 20);
    for (int i = 0; i < ACCESS_BLOCKS; i++)
        long_line(999);
    assert_int_equal(buffer.lost, 0);
    long_line(999);
    assert_int_equal(buffer.lost, 1);
    EV_UNTIL(env, file_size(fd) == ACCESS_BLOCKS * 1000);
    unsigned held = buffer.spare != NULL;
    for (int i = 0; i < ACCESS_BLOCKS; i++)
        held += buffer.mem[i] != NULL;
    assert_true(held <= 2);
    finish();
    close(fd);
}

static void closed_file_loses_quietly(struct ev_env *env)
{
    start(env, -1, 1024, 10);
    line("x");
    assert_int_equal(buffer.lost, 1);
    finish();
}

int main(void)
{
    static const struct ev_case cases[] = {
        {"V4 flushed by time", flushed_by_time, 0, NULL},
        {"V4 flushed when full", flushed_when_full, 0, NULL},
        {"V4 flushed at the end", flushed_at_the_end, 0, NULL},
        {"fills a block to the byte", fills_a_block, 0, NULL},
        {"V3 cuts long lines", cuts_long_lines, 0, NULL},
        {"counts what a full disk loses", counts_what_a_full_disk_loses, 0, NULL},
        {"takes a burst", takes_a_burst, 0, NULL},
        {"recovers", recovers, 0, NULL},
        {"goes on after short writes", goes_on_after_short_writes, 0, NULL},
        {"D29 FIFO without reader", fifo_without_reader, 0, NULL},
        {"D29 FIFO with a late reader", fifo_with_late_reader, 0, NULL},
        {"no file", closed_file_loses_quietly, 0, NULL},
    };
    return ev_run_cases("access_buffer", cases, ARRAY_LEN(cases));
}
