/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that change under the server: behaviours.md S4 to S6, hostile.md 42, 43, 45 to 49. A reader
 * with a small window holds the answer back while the file is changed.
 */
#include "lib/rows.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] = "http:\n"
                           "  server:\n"
                           "    - {listen: '127.0.0.1:@0@', root: html}\n"
                           "    - {listen: '127.0.0.1:@1@', root: html, splice: off}\n";

#define BIG (16u << 20)

/* Asks for /big.bin and lets only the head come. */
static void begin(struct client *c, struct reply *r, int server)
{
    server_fill(srv, "html/big.bin", BIG);
    sleep_ms(50);
    assert_true(client_open_rcvbuf(c, srv->at[server], 16384));
    client_sendz(c, GET("/big.bin"));
    if (!reply_read_head(c, r, false, CLIENT_PATIENCE))
        fail_msg("%s", r->err);
    assert_int_equal(r->status, 200);
    assert_int_equal(r->length, BIG);
}

/* S5, h45: shorter than announced: the connection breaks off soon, and nothing is made up. */
static void truncated(int server, off_t to)
{
    struct client c;
    struct reply r;
    bool wrong = false;
    begin(&c, &r, server);
    assert_int_equal(truncate(server_path(srv, "html/big.bin"), to), 0);
    int64_t from = now_ms();
    uint64_t got = client_drain(&c, 0, BIG, file_byte, 4000, &wrong);
    if (got >= BIG || wrong)
        fail_msg("truncated to %ld: %llu bytes came%s", (long)to, (unsigned long long)got,
                 wrong ? ", wrong ones" : "");
    if (!c.eof || now_ms() - from > 3500)
        fail_msg("truncated to %ld: the connection stays open", (long)to);
    reply_free(&r);
    client_close(&c);
}

static void test_truncated(void **state)
{
    (void)state;
    for (int server = 0; server < 2; server++) {
        truncated(server, 0);
        truncated(server, BIG / 2);
        truncated(server, BIG - 4096);
    }
}

/* S5, h46 to h49: grown, replaced, deleted, overwritten: the announced length, old bytes whole. */
static void test_changed(void **state)
{
    (void)state;
    for (int server = 0; server < 2; server++) {
        for (int how = 0; how < 4; how++) {
            struct client c;
            struct reply r;
            bool wrong = false;
            begin(&c, &r, server);
            if (how == 0) {
                FILE *f = fopen(server_path(srv, "html/big.bin"), "a");
                fputs("more", f);
                fclose(f);
            } else if (how == 1) {
                server_text(srv, "html/new.bin", "new");
                assert_int_equal(
                    rename(server_path(srv, "html/new.bin"), server_path(srv, "html/big.bin")), 0);
            } else if (how == 2) {
                unlink(server_path(srv, "html/big.bin"));
            } else {
                int fd = open(server_path(srv, "html/big.bin"), O_WRONLY);
                assert_int_equal(pwrite(fd, "XXXX", 4, BIG - 4), 4);
                close(fd);
            }
            uint64_t got = client_drain(&c, 0, BIG, how == 3 ? NULL : file_byte, 5000, &wrong);
            if (got != BIG || wrong)
                fail_msg("change %d: %llu bytes came%s", how, (unsigned long long)got,
                         wrong ? ", wrong ones" : "");
            client_sendz(&c, PROBE);
            reply_free(&r);
            if (!reply_read(&c, &r, false, CLIENT_PATIENCE) || strcmp(r.body, "probe\n") != 0)
                fail_msg("change %d: behind the file: %s", how, r.err);
            reply_free(&r);
            client_close(&c);
        }
    }
}

/* S4, S6, h47, h48: what is asked afterwards is the new state, soon. */
static void soon(const char *name, int status, const char *body)
{
    struct row row = {name, GET("/s.txt"), status, KEEPS, .body = body};
    char why[256] = "";
    for (int i = 0; i < 60; i++, sleep_ms(50)) {
        if (row_run(srv, srv->at[0], &row, why, sizeof(why)))
            return;
    }
    fail_msg("%s: %s", name, why);
}

static void test_seen_soon(void **state)
{
    (void)state;
    const char *path = server_path(srv, "html/s.txt");
    server_text(srv, "html/s.txt", "one\n");
    soon("made", 200, "one\n");
    server_text(srv, "html/s.txt", "two\n");
    soon("written", 200, "two\n");
    server_text(srv, "html/s.new", "three\n");
    rename(server_path(srv, "html/s.new"), path);
    soon("S6 renamed over", 200, "three\n");
    unlink(path);
    soon("h48 deleted", 404, NULL);
    server_text(srv, "html/s.txt", "four\n");
    soon("made again", 200, "four\n");
    chmod(path, 0);
    soon("h50 locked", 403, NULL);
    chmod(path, 0644);
    soon("unlocked", 200, "four\n");
    unlink(path);
    mkdir(path, 0755);
    soon("h43 now a directory", 301, NULL);
    rmdir(path);
    server_fifo(srv, "html/s.txt");
    struct row fifo = {"h43 now a FIFO", GET("/s.txt"), 403, KEEPS, .or_status = 404};
    char why[256] = "";
    for (int i = 0; i < 60 && !row_run(srv, srv->at[0], &fifo, why, sizeof(why)); i++)
        sleep_ms(50);
    rows_run(srv->at[0], &fifo, 1);
    unlink(path);
    server_link(srv, "html/s.txt", "probe.txt");
    soon("now a link", 200, "probe\n");
    unlink(path);
    server_text(srv, "html/s.txt", "");
    soon("now empty", 200, "");
    /* the whole directory moves away and another takes its name */
    server_text(srv, "html/dir/x.txt", "old\n");
    struct row old = {"old", GET("/dir/x.txt"), 200, KEEPS, .body = "old\n"};
    struct row new = {"h54 directory replaced", GET("/dir/x.txt"), 200, KEEPS, .body = "new\n"};
    rows_run(srv->at[0], &old, 1);
    server_text(srv, "html/dir2/x.txt", "new\n");
    rename(server_path(srv, "html/dir"), server_path(srv, "html/dir.old"));
    rename(server_path(srv, "html/dir2"), server_path(srv, "html/dir"));
    for (int i = 0; i < 60 && !row_run(srv, srv->at[0], &new, why, sizeof(why)); i++)
        sleep_ms(50);
    rows_run(srv->at[0], &new, 1);
}

/* A child that swaps names as fast as it can until it is killed. */
static pid_t swapper(void (*swap)(void))
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        swap();
}

/* h42: directory and link trade places; what lies outside never comes. */
static void swap_directory(void)
{
    rename(server_path(srv, "html/swap"), server_path(srv, "html/swap.dir"));
    rename(server_path(srv, "html/swap.link"), server_path(srv, "html/swap"));
    rename(server_path(srv, "html/swap"), server_path(srv, "html/swap.link"));
    rename(server_path(srv, "html/swap.dir"), server_path(srv, "html/swap"));
}

/* h43: file, FIFO and directory trade places; nothing blocks. */
static void swap_kind(void)
{
    static const char *const kinds[] = {"html/kind.fifo", "html/kind.dir", "html/kind.file"};
    for (int i = 0; i < 3; i++) {
        rename(server_path(srv, kinds[i]), server_path(srv, "html/kind"));
        usleep(200);
        rename(server_path(srv, "html/kind"), server_path(srv, kinds[i]));
    }
}

/* A connection serves only so many requests (keepalive_requests). */
static void reopen(struct client *c, int server)
{
    if (c->fd < 0)
        assert_true(client_open(c, srv->at[server]));
}

static void hammer(const char *request, const char *good, void (*swap)(void))
{
    size_t served = 0, asked = 0;
    pid_t pid = swapper(swap);
    for (int server = 0; server < 2; server++) {
        struct client c = {.fd = -1};
        struct reply r;
        for (int64_t end = now_ms() + 1500; now_ms() < end; asked++) {
            reopen(&c, server);
            client_sendz(&c, request);
            bool ok = reply_read(&c, &r, false, 2000);
            if (ok)
                ok = r.status == 200 ? strcmp(r.body, good) == 0
                                     : r.status == 404 || r.status == 403 || r.status == 301;
            served += ok && r.status == 200;
            if (!ok) {
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                fail_msg("%.30s: %d %s %s", request, r.status, r.err, r.body);
            }
            if (!r.keeps)
                client_close(&c);
            reply_free(&r);
        }
        client_close(&c);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    print_message("%zu of %zu served\n", served, asked);
}

static void test_swapped(void **state)
{
    (void)state;
    server_text(srv, "html/swap/x.txt", "inside\n");
    server_text(srv, "outside/x.txt", "CANARY\n");
    server_link(srv, "html/swap.link", server_path(srv, "outside"));
    hammer(GET("/swap/x.txt"), "inside\n", swap_directory);
    server_text(srv, "html/kind.file", "kind\n");
    server_fifo(srv, "html/kind.fifo");
    server_mkdir(srv, "html/kind.dir");
    hammer(GET("/kind"), "kind\n", swap_kind);
}

/* A small file rewritten again and again: each answer is whole, of one length. */
static void write_small(void)
{
    static int turn;
    char text[9000];
    size_t n = (size_t)(turn % 3) * 3000 + 500;
    memset(text, 'a' + turn++ % 26, n);
    server_data(srv, "html/small.new", text, n);
    rename(server_path(srv, "html/small.new"), server_path(srv, "html/small.txt"));
    usleep(300);
}

static void test_rewritten(void **state)
{
    (void)state;
    write_small();
    pid_t pid = swapper(write_small);
    struct client c = {.fd = -1};
    struct reply r;
    for (int64_t end = now_ms() + 1500; now_ms() < end;) {
        reopen(&c, 0);
        client_sendz(&c, GET("/small.txt"));
        bool ok = reply_read(&c, &r, false, 2000) && r.status == 200;
        for (size_t i = 1; ok && i < r.body_n; i++)
            ok = r.body[i] == r.body[0];
        if (!ok || (r.body_n != 500 && r.body_n != 3500 && r.body_n != 6500)) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            fail_msg("%d %s, %zu bytes", r.status, r.err, r.body_n);
        }
        if (!r.keeps)
            client_close(&c);
        reply_free(&r);
    }
    client_close(&c);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void start(const char *more)
{
    char *conf = text_of("%s%s", CONF, more);
    server_new();
    server_up(srv, conf);
    free(conf);
    srv->rss_slack_kb = 4096;
}

static int start_cached(void **state)
{
    (void)state;
    start("");
    return 0;
}

static int start_uncached(void **state)
{
    (void)state;
    start("  open_file_cache: off\n");
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
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_changed),
        cmocka_unit_test(test_seen_soon), cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_rewritten), LAST_TESTS,
    };
    return cmocka_run_group_tests_name("changing files, cached", tests, start_cached, end) +
           cmocka_run_group_tests_name("changing files, not cached", tests, start_uncached, end);
}
