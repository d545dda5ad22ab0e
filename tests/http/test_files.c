/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinds of files: behaviours.md S1 to S4, S7, hostile.md 41, 44, 50, 52, 53, 56. Port 0 as shipped
 * (links may not lead out), ports 1 to 3 with disable_symlinks off, on, if_not_owner; port 4
 * serves /proc, 6 and 7 have a root that is a link. All of it twice: with the file cache and without.
 */
#include "lib/rows.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] =
    "http:\n"
    "  server:\n"
    "    - {listen: '127.0.0.1:@0@', root: html}\n"
    "    - {listen: '127.0.0.1:@1@', root: html, disable_symlinks: off}\n"
    "    - {listen: '127.0.0.1:@2@', root: html, disable_symlinks: on}\n"
    "    - {listen: '127.0.0.1:@3@', root: html, disable_symlinks: if_not_owner}\n"
    "    - {listen: '127.0.0.1:@4@', root: /proc/sys/kernel}\n"
    "    - {listen: '127.0.0.1:@5@', root: huge}\n"
    "    - {listen: '127.0.0.1:@6@', root: rootlink, disable_symlinks: on from=$document_root}\n"
    "    - {listen: '127.0.0.1:@7@', root: rootlink, disable_symlinks:"
    " if_not_owner from=$document_root}\n";

#define CANARY "CANARY-51c0\n"
#define F      .body = "file\n"

static const struct row beneath[] = {
    {"S1 link to a file", GET("/in"), 200, KEEPS, F},
    {"S1 link to a directory", GET("/indir/f.txt"), 200, KEEPS, F},
    {"S1 relative ..", GET("/d/up"), 200, KEEPS, F},
    {"S1 link to a link", GET("/in2"), 200, KEEPS, F},
    {"S1 out, absolute (h41)", GET("/out"), 403, KEEPS, .body_lacks = "CANARY"},
    {"S1 out, relative", GET("/outrel"), 403, KEEPS, .body_lacks = "CANARY"},
    {"S1 out, directory", GET("/outdir/secret.txt"), 403, KEEPS, .body_lacks = "CANARY"},
    {"S1 out, directory itself", GET("/outdir"), 403, KEEPS},
    {"S1 out, directory, index", GET("/outdir/"), 403, KEEPS},
    {"S1 link to /", GET("/slash/etc/passwd"), 403, KEEPS, .body_lacks = "root:"},
    {"S1 out and in again", GET("/outin"), 403, KEEPS, .or_status = 200},
    {"S1 /proc/self/root", GET("/magic/etc/passwd"), 403, KEEPS, .or_status = 404,
     .body_lacks = "root:"},
    {"S2 loop", GET("/loop"), 403, KEEPS, .or_status = 404},
    {"S2 loop of two", GET("/loopa"), 403, KEEPS, .or_status = 404},
    {"S2 loop in the middle", GET("/loop/x"), 403, KEEPS, .or_status = 404},
    {"S2 dangling", GET("/dangling"), 404, KEEPS},
    {"h41 chain of 41", GET("/chain41"), 403, KEEPS, .or_status = 404},
    {"h41 chain of 30", GET("/chain30"), 200, KEEPS, F},
    {"h56 hard link", GET("/hard"), 200, KEEPS, .body = CANARY},
};

static const struct row follow[] = {
    {"S1 off: in", GET("/in"), 200, KEEPS, F},
    {"S1 off: out", GET("/out"), 200, KEEPS, .body = CANARY},
    {"S1 off: out, directory", GET("/outdir/secret.txt"), 200, KEEPS, .body = CANARY},
    {"S2 off: loop", GET("/loop"), 403, KEEPS, .or_status = 404},
    {"S2 off: dangling", GET("/dangling"), 404, KEEPS},
};

static const struct row never[] = {
    {"S1 on: file", GET("/f.txt"), 200, KEEPS, F},
    {"S1 on: link", GET("/in"), 403, KEEPS},
    {"S1 on: link in the middle", GET("/indir/f.txt"), 403, KEEPS},
    {"S1 on: out", GET("/out"), 403, KEEPS, .body_lacks = "CANARY"},
    {"S2 on: loop", GET("/loop"), 403, KEEPS, .or_status = 404},
    {"S1 on: missing", GET("/none"), 404, KEEPS},
};

static const struct row owner[] = {
    {"S1 owner: same", GET("/in"), 200, KEEPS, F},
    {"S1 owner: other", GET("/theirs"), 403, KEEPS},
    {"S1 owner: link in the middle", GET("/indir/f.txt"), 200, KEEPS, F},
};

static const struct row from_root[] = {
    {"S1 from= the root: file", GET("/f.txt"), 200, KEEPS, F},
    {"S1 from= the root: link", GET("/in"), 403, KEEPS},
    {"S1 from= the root: link in the middle", GET("/indir/f.txt"), 403, KEEPS},
};

static const struct row owner_from_root[] = {
    {"S1 owner, from= the root: file", GET("/f.txt"), 200, KEEPS, F},
    {"S1 owner, from= the root: same", GET("/in"), 200, KEEPS, F},
    {"S1 owner, from= the root: other", GET("/theirs"), 403, KEEPS},
};

static const struct row special[] = {
    {"S3 FIFO (h44)", GET("/fifo"), 403, KEEPS, .or_status = 404},
    {"S3 FIFO, HEAD", HEAD("/fifo"), 403, KEEPS, .or_status = 404},
    {"S3 socket", GET("/sock"), 403, KEEPS, .or_status = 404},
    {"S3 /dev/zero", GET("/zero"), 403, KEEPS, .or_status = 404},
    {"S3 /dev/full", GET("/full"), 403, KEEPS, .or_status = 404},
    {"S3 tty", GET("/tty"), 403, KEEPS, .or_status = 404},
    {"S3 block device", GET("/block"), 403, KEEPS, .or_status = 404},
    {"S3 link to a FIFO", GET("/tofifo"), 403, KEEPS, .or_status = 404},
    {"S3 below a FIFO", GET("/fifo/x"), 404, KEEPS},
    {"S4 mode 000", GET("/locked.txt"), 403, KEEPS},
    {"S4 mode 000, HEAD", HEAD("/locked.txt"), 403, KEEPS},
    {"S4 root only", GET("/root.txt"), 403, KEEPS},
    {"h50 directory without x", GET("/nox/f.txt"), 403, KEEPS},
    {"h50 directory without x, missing", GET("/nox/none"), 403, KEEPS},
    {"h50 directory without r", GET("/nor/f.txt"), 200, KEEPS, F},
    {"S7 empty", GET("/empty"), 200, KEEPS | EMPTY, .has = "Content-Length: 0"},
    {"S7 empty, HEAD", HEAD("/empty"), 200, KEEPS | EMPTY, .has = "Content-Length: 0"},
    {"h52 one byte", GET("/one"), 200, KEEPS, .body = "1"},
};

static const struct row proc[] = {
    {"h52 a file of /proc", GET("/ostype"), 200, 0, .or_status = 403},
    {"h52 the same, HEAD", HEAD("/ostype"), 200, 0, .or_status = 403},
};

static void test_links(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) { /* the second time from the cache */
        rows_run(srv->at[0], ROWS(beneath));
        rows_run(srv->at[1], ROWS(follow));
        rows_run(srv->at[2], ROWS(never));
        rows_run(srv->at[3], ROWS(owner));
        rows_run(srv->at[6], ROWS(from_root));
        rows_run(srv->at[7], ROWS(owner_from_root));
    }
}

static void test_special(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        int64_t from = now_ms();
        rows_run(srv->at[0], ROWS(special));
        assert_true(now_ms() - from < 3000); /* nothing blocks */
    }
    rows_run(srv->at[4], ROWS(proc));
}

/* A file of `n` bytes, made, fetched, compared, removed. */
static void sized(uint64_t n)
{
    struct client c;
    struct reply r;
    bool wrong = false;
    server_fill(srv, "html/sized.bin", n);
    for (int i = 0; i < 2; i++) { /* cold and cached, twice on one connection */
        assert_true(client_open(&c, srv->at[0]));
        for (int k = 0; k < 2; k++) {
            client_sendz(&c, GET("/sized.bin"));
            if (!reply_read_head(&c, &r, false, CLIENT_PATIENCE))
                fail_msg("%llu bytes: %s", (unsigned long long)n, r.err);
            assert_int_equal(r.status, 200);
            if (r.length != n)
                fail_msg("%llu bytes: Content-Length %llu", (unsigned long long)n,
                         (unsigned long long)r.length);
            assert_int_equal(client_drain(&c, 0, n, file_byte, CLIENT_PATIENCE, &wrong), n);
            reply_free(&r);
        }
        assert_true(client_quiet(&c, 5));
        client_close(&c);
    }
    assert_false(wrong);
    unlink(server_path(srv, "html/sized.bin"));
    struct row gone = {"h48 deleted", GET("/sized.bin"), 404, KEEPS};
    char why[200] = "";
    for (int i = 0; i < 40 && !row_run(srv, srv->at[0], &gone, why, sizeof(why)); i++)
        sleep_ms(50);
    rows_run(srv->at[0], &gone, 1);
}

/* S7, h52: sizes around every boundary of buffers, pages and pipes. */
static void test_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {
        0,      1,      2,      255,    256,    1023,    1024,    1025,    4095,    4096,
        4097,   8191,   8192,   16384,  16385,  32768,   65535,   65536,   65537,   131071,
        131072, 131073, 262143, 262144, 262145, 1048575, 1048576, 1048577, 4194304, 10000001,
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        sized(sizes[i]);
    }
}

static char huge[128]; /* where huge files are */
static bool in_memory;

/* h52: beyond 2 and 4 GiB; a sparse file of 5 TiB by its head only. */
static void test_huge(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {(1ull << 31) - 1, (1ull << 31) + 1, (1ull << 32) - 1,
                                     (1ull << 32) + 1, 5ull << 40};
    struct client c;
    struct reply r;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int fd = creat(server_path(srv, "huge/huge.bin"), 0644);
        bool made = ftruncate(fd, (off_t)sizes[i]) == 0;
        close(fd);
        if (!made)
            continue; /* this file system cannot hold it */
        char *want = text_of("Content-Length: %llu", (unsigned long long)sizes[i]);
        struct row row = {"h52 HEAD of a huge file", HEAD("/huge.bin"), 200, KEEPS, .has = want};
        char why[200] = "";
        for (int k = 0; k < 60 && !row_run(srv, srv->at[5], &row, why, sizeof(why)); k++)
            sleep_ms(50);
        rows_run(srv->at[5], &row, 1);
        free(want);
        if (sizes[i] != (1ull << 32) + 1 || server_sanitized() || !in_memory)
            continue;
        assert_true(client_open(&c, srv->at[5]));
        client_sendz(&c, GET("/huge.bin") PROBE);
        assert_true(reply_read_head(&c, &r, false, CLIENT_PATIENCE));
        bool wrong = false;
        assert_int_equal(client_drain(&c, 0, sizes[i], NULL, 10000, &wrong), sizes[i]);
        reply_free(&r);
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_string_equal(r.body, "probe\n");
        reply_free(&r);
        client_close(&c);
    }
    unlink(server_path(srv, "huge/huge.bin"));
}

/* h53: many files once; what the caches hold is bounded. */
static void test_many(void **state)
{
    (void)state;
    struct client c;
    struct reply r;
    char rel[64], request[128];
    for (int i = 0; i < 3000; i++) {
        snprintf(rel, sizeof(rel), "html/many/%d.txt", i);
        server_text(srv, rel, rel);
    }
    assert_true(client_open(&c, srv->at[0]));
    for (int i = 0; i < 3000; i++) {
        snprintf(rel, sizeof(rel), "html/many/%d.txt", i);
        snprintf(request, sizeof(request), "GET /many/%d.txt HTTP/1.1\r\nHost: a\r\n\r\n", i);
        client_sendz(&c, request);
        assert_true(reply_read(&c, &r, false, CLIENT_PATIENCE));
        assert_int_equal(r.status, 200);
        assert_string_equal(r.body, rel);
        reply_free(&r);
    }
    client_close(&c);
    srv->rss_slack_kb += 3000 * 4; /* entries and bodies in the cache */
}

static void make_links(void)
{
    server_text(srv, "html/f.txt", "file\n");
    server_text(srv, "html/d/f.txt", "file\n");
    server_text(srv, "secret.txt", CANARY);
    server_text(srv, "outside/secret.txt", CANARY);
    server_text(srv, "outside/index.html", CANARY);
    server_link(srv, "rootlink", "html");
    server_link(srv, "html/in", "f.txt");
    server_link(srv, "html/in2", "in");
    server_link(srv, "html/indir", "d");
    server_link(srv, "html/d/up", "../f.txt");
    server_link(srv, "html/out", server_path(srv, "secret.txt"));
    server_link(srv, "html/outrel", "../secret.txt");
    server_link(srv, "html/outdir", server_path(srv, "outside"));
    server_link(srv, "html/outin", "../html/f.txt");
    server_link(srv, "html/slash", "/");
    server_link(srv, "html/magic", "/proc/self/root");
    server_link(srv, "html/loop", "loop");
    server_link(srv, "html/loopa", "loopb");
    server_link(srv, "html/loopb", "loopa");
    server_link(srv, "html/dangling", "nothing");
    server_link(srv, "html/theirs", "f.txt");
    server_link(srv, "html/chain1", "f.txt");
    for (int i = 2; i <= 42; i++) {
        char *name = text_of("html/chain%d", i), *to = text_of("chain%d", i - 1);
        server_link(srv, name, to);
        free(name);
        free(to);
    }
    assert_int_equal(lchown(server_path(srv, "html/theirs"), 1, 1), 0);
    assert_int_equal(link(server_path(srv, "secret.txt"), server_path(srv, "html/hard")), 0);
}

static void make_special(void)
{
    static const struct {
        const char *rel;
        mode_t kind;
        unsigned ma, mi;
    } nodes[] = {{"html/zero", S_IFCHR, 1, 5},
                 {"html/full", S_IFCHR, 1, 7},
                 {"html/tty", S_IFCHR, 5, 0},
                 {"html/block", S_IFBLK, 7, 0}};
    for (size_t i = 0; i < 4; i++) {
        mknod(server_path(srv, nodes[i].rel), nodes[i].kind | 0666,
              makedev(nodes[i].ma, nodes[i].mi));
        chmod(server_path(srv, nodes[i].rel), 0666);
    }
    server_fifo(srv, "html/fifo");
    server_link(srv, "html/tofifo", "fifo");
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof(un.sun_path), "%.80s", server_path(srv, "html/sock"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
    close(fd);
    chmod(server_path(srv, "html/sock"), 0666);
    server_text(srv, "html/locked.txt", "locked\n");
    chmod(server_path(srv, "html/locked.txt"), 0);
    server_text(srv, "html/root.txt", "root\n");
    chmod(server_path(srv, "html/root.txt"), 0600);
    server_text(srv, "html/nox/f.txt", "file\n");
    chmod(server_path(srv, "html/nox"), 0644);
    server_text(srv, "html/nor/f.txt", "file\n");
    chmod(server_path(srv, "html/nor"), 0711);
    server_text(srv, "html/empty", "");
    server_text(srv, "html/one", "1");
}

/* Huge files lie in memory, where holes cost nothing; else only their heads are asked for. */
static void make_huge(void)
{
    snprintf(huge, sizeof(huge), "/dev/shm/%s", strrchr(srv->dir, '/') + 1);
    in_memory = mkdir(huge, 0755) == 0;
    if (in_memory)
        server_link(srv, "huge", huge);
    else
        server_mkdir(srv, "huge");
    server_text(srv, "huge/probe.txt", "probe\n");
}

static void start(const char *more)
{
    server_new();
    make_huge();
    make_links();
    make_special();
    char *conf = text_of("%s%s", CONF, more);
    server_up(srv, conf);
    free(conf);
    srv->rss_slack_kb = 4096; /* bodies of up to 64 KiB held, the pipes' pages */
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
    unlink(server_path(srv, "huge/probe.txt"));
    if (in_memory)
        rmdir(huge);
    server_free(srv);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links), cmocka_unit_test(test_special), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_huge),  cmocka_unit_test(test_many),    LAST_TESTS,
    };
    return cmocka_run_group_tests_name("files, cached", tests, start_cached, end) +
           cmocka_run_group_tests_name("files, not cached", tests, start_uncached, end);
}
