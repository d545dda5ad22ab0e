/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoded forms: behaviours.md group J, H8 and R3 of encoded forms, demands.md D14, D15, D18b.
 * The memory of the cache is small, so that a file of a megabyte is compressed while it is sent.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
/* behind the headers it needs */
#include <cmocka.h>

#define T256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
             "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
             "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
             "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char CONF[] =
    "http:\n"
    "  file_cache_memory: 2m\n"
    "  log_not_found: off\n"
    "  server:\n"
    "    - listen: '127.0.0.1:@0@'\n"
    "      root: html\n"
    "      error_page: [404 /404.html]\n"
    "      location:\n"
    "        /off/: {gzip: off}\n"
    "        /nine/: {gzip_comp_level: 9}\n"
    "        /short/: {gzip_min_length: 2}\n"
    "        /plain/: {gzip_types: application/json}\n"
    "        /all/: {gzip_types: '*'}\n"
    "        /novary/: {gzip_vary: off}\n"
    "        /toend/: {chunked_transfer_encoding: off}\n"
    "        /old/: {gzip_http_version: '1.0'}\n"
    "        /any/: {gzip_proxied: any}\n"
    "        /auth/: {gzip_proxied: auth}\n"
    "        /expired/: {gzip_proxied: expired, expires: -1}\n"
    "        /private/: {gzip_proxied: no-store private, add_header: Cache-Control private}\n"
    "        /fresh/: {gzip_proxied: no-cache expired, expires: 1h}\n"
    "        /pre/: {precompressed: br zstd gzip}\n"
    "        /preoff/: {precompressed: br, gzip: off}\n"
    "        /static/: {gzip_static: on}\n"
    "        /always/: {gzip_static: always}\n"
    "        /unzip/: {gzip_static: always, gunzip: on}\n"
    "        = /text: {default_type: text/plain, return: '200 " T256 T256 "'}\n"
    "        = /few: {default_type: text/plain, return: '200 few'}\n";

#define PLAIN_BYTES 20000u
#define BIG_BYTES   (1u << 20)

#define OLD   INT64_C(1000000000)
#define GZ(target)             REQ("GET", target, "Accept-Encoding: gzip\r\n")
#define AE(target, value)      REQ("GET", target, "Accept-Encoding: " value "\r\n")
#define GZ_AND(target, fields) REQ("GET", target, "Accept-Encoding: gzip\r\n" fields)
#define YES  .has = "Content-Encoding: gzip\nVary: Accept-Encoding"
#define NO   .has = "Vary: Accept-Encoding", .lacks = "Content-Encoding"
#define NEVER .lacks = "Content-Encoding\nVary"

static const struct row rows[] = {
    {"J1 gzip", GZ("/a.txt"), 200, KEEPS,
     .has = "Content-Encoding: gzip\nVary: Accept-Encoding\nContent-Length: *\n"
            "Content-Type: text/plain; charset=utf-8\nAccept-Ranges: bytes\n"
            "ETag: \"3b9aca00-0-4e20-gz6\""},
    {"J2 not said", GET("/a.txt"), 200, KEEPS, NO},
    {"J2 empty", AE("/a.txt", ""), 200, KEEPS, NO},
    {"J3 q=0", AE("/a.txt", "gzip;q=0"), 200, KEEPS, NO},
    {"J3 q=0.000", AE("/a.txt", "gzip;q=0.000"), 200, KEEPS, NO},
    {"J3 q=0.001", AE("/a.txt", "gzip;q=0.001"), 200, KEEPS, YES},
    {"J3 q=1.000", AE("/a.txt", "gzip; q=1.000"), 200, KEEPS, YES},
    {"J3 blanks", AE("/a.txt", "deflate , gzip ; q=0.5"), 200, KEEPS, YES},
    {"J3 q=2", AE("/a.txt", "gzip;q=2"), 200, KEEPS, NO},
    {"J3 q=abc", AE("/a.txt", "gzip;q=abc"), 200, KEEPS, NO},
    {"J3 q=1.0000", AE("/a.txt", "gzip;q=1.0000"), 200, KEEPS, NO},
    {"J4 star", AE("/a.txt", "*"), 200, KEEPS, YES},
    {"J4 not gzip", AE("/a.txt", "gzip;q=0, *"), 200, KEEPS, NO},
    {"J4 identity alone", AE("/a.txt", "identity, *;q=0"), 200, KEEPS, NO},
    {"J4 identity preferred", AE("/a.txt", "identity, gzip;q=0.5"), 200, KEEPS, NO},
    {"J5 nothing is allowed", AE("/a.txt", "*;q=0"), 200, KEEPS, NO},
    {"J6 any case", AE("/a.txt", "GZIP"), 200, KEEPS, YES},
    {"J6 x-gzip", AE("/a.txt", "x-gzip"), 200, KEEPS, YES},
    {"J6 notgzip", AE("/a.txt", "notgzip, gzipx, gzip-foo"), 200, KEEPS, NO},
    {"B18 several lines", REQ("GET", "/a.txt", "Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n"),
     200, KEEPS, YES},
    {"B18 several lines forget none",
     REQ("GET", "/a.txt", "Accept-Encoding: gzip;q=0\r\nAccept-Encoding: br\r\n"), 200, KEEPS, NO},
    {"J7 of a HEAD", REQ("HEAD", "/a.txt", "Accept-Encoding: gzip\r\n"), 200, KEEPS | EMPTY, YES},
    {"J10 HEAD without", HEAD("/a.txt"), 200, KEEPS | EMPTY, NO},
    {"J8 304", GZ_AND("/a.txt", "If-None-Match: \"3b9aca00-0-4e20-gz6\"\r\n"), 304, KEEPS | EMPTY,
     .has = "Vary: Accept-Encoding\nETag: \"3b9aca00-0-4e20-gz6\"", .lacks = "Content-Encoding"},
    {"D18b 304 for the file's tag", GZ_AND("/a.txt", "If-None-Match: \"3b9aca00-0-4e20\"\r\n"), 304,
     KEEPS | EMPTY, .has = "ETag: \"3b9aca00-0-4e20\"\nVary: Accept-Encoding"},
    {"D18b 304 for gzip's, asked without",
     REQ("GET", "/a.txt", "If-None-Match: W/\"3b9aca00-0-4e20-gz6\"\r\n"), 304, KEEPS | EMPTY,
     .has = "ETag: W/\"3b9aca00-0-4e20-gz6\""},
    {"D18b a tag that only begins so", GZ_AND("/a.txt", "If-None-Match: \"3b9aca00-0-4e2\"\r\n"), 200,
     KEEPS, YES},
    {"D18b another state", GZ_AND("/a.txt", "If-None-Match: \"3b9aca00-1-4e20-gz6\"\r\n"), 200, KEEPS,
     YES},
    {"J8 If-Match of the form", GZ_AND("/a.txt", "If-Match: \"3b9aca00-0-4e20-gz6\"\r\n"), 200, KEEPS,
     YES},
    {"J8 If-Match of none", GZ_AND("/a.txt", "If-Match: \"x\"\r\n"), 412, KEEPS},
    {"D15 range", GZ_AND("/a.txt", "Range: bytes=0-1\r\n"), 206, KEEPS, YES, .body = "\x1f\x8b"},
    {"D15 If-Range of the form",
     GZ_AND("/a.txt", "Range: bytes=0-1\r\nIf-Range: \"3b9aca00-0-4e20-gz6\"\r\n"), 206, KEEPS, YES},
    {"D15 If-Range of the file: goes on with it",
     GZ_AND("/a.txt", "Range: bytes=0-5\r\nIf-Range: \"3b9aca00-0-4e20\"\r\n"), 206, KEEPS, NO,
     .body = "word0 "},
    {"D15 If-Range of another", GZ_AND("/a.txt", "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n"), 200,
     KEEPS, YES},
    {"J9 streamed", GZ("/big.txt"), 200, KEEPS,
     .has = "Content-Encoding: gzip\nVary: Accept-Encoding\nTransfer-Encoding: chunked\n"
            "ETag: W/\"3b9aca00-0-100000-gz6\"",
     .lacks = "Content-Length\nAccept-Ranges"},
    {"J9 range of what is streamed", GZ_AND("/big.txt", "Range: bytes=0-5\r\n"), 206, KEEPS, NO,
     .body = "word0 "},
    {"J9 streamed until the end", GZ("/toend/big.txt"), 200, CLOSES,
     .has = "Content-Encoding: gzip", .lacks = "Transfer-Encoding\nContent-Length"},
    {"J10 HEAD of what is streamed", REQ("HEAD", "/big.txt", "Accept-Encoding: gzip\r\n"), 200,
     KEEPS | EMPTY, .has = "Content-Encoding: gzip\nTransfer-Encoding: chunked"},
    {"J9 304 of what is streamed",
     GZ_AND("/big.txt", "If-None-Match: W/\"3b9aca00-0-100000-gz6\"\r\n"), 304, KEEPS | EMPTY},
    {"J11 HTTP/1.0", "GET /a.txt HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n", 200, CLOSES, NO},
    {"J11 HTTP/1.0 allowed", "GET /old/a.txt HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n", 200, CLOSES,
     YES},
    {"J12 short", GZ("/tiny.txt"), 200, KEEPS, NEVER, .body = "tiny\n"},
    {"J12 just not short", GZ("/256.txt"), 200, KEEPS, YES},
    {"J12 gzip_min_length", GZ("/short/256.txt"), 200, KEEPS, YES},
    {"J12 it would not shrink", GZ("/random.txt"), 200, KEEPS, NO},
    {"J12 an image", GZ("/a.png"), 200, KEEPS, NEVER},
    {"J12 a tarball", GZ("/a.tar.gz"), 200, KEEPS, NEVER, .has = "Content-Type: application/gzip"},
    {"J12 svg", GZ("/a.svg"), 200, KEEPS, YES},
    {"J12 unknown type", GZ("/a.unknown"), 200, KEEPS, NEVER},
    {"J12 gzip_types *", GZ("/all/a.unknown"), 200, KEEPS, YES},
    {"J12 gzip_types lists others", GZ("/plain/a.txt"), 200, KEEPS, NEVER},
    {"J12 gzip_types and html", GZ("/plain/a.html"), 200, KEEPS, YES},
    {"J12 gzip off", GZ("/off/a.txt"), 200, KEEPS, NEVER},
    {"S7 empty", GZ("/empty.txt"), 200, KEEPS | EMPTY, .has = "Content-Length: 0", NEVER},
    {"J7 gzip_vary off", GZ("/novary/a.txt"), 200, KEEPS, .has = "Content-Encoding: gzip",
     .lacks = "Vary"},
    {"level 9", GZ("/nine/a.txt"), 200, KEEPS, .has = "ETag: \"3b9aca00-0-4e20-gz9\""},
    {"Via", GZ_AND("/a.txt", "Via: 1.1 cdn\r\n"), 200, KEEPS, NO},
    {"Via, any", GZ_AND("/any/a.txt", "Via: 1.1 cdn\r\n"), 200, KEEPS, YES},
    {"Via, auth without", GZ_AND("/auth/a.txt", "Via: 1.1 cdn\r\n"), 200, KEEPS, NO},
    {"Via, auth", GZ_AND("/auth/a.txt", "Via: 1.1 cdn\r\nAuthorization: x\r\n"), 200, KEEPS, YES},
    {"Via, expired", GZ_AND("/expired/a.txt", "Via: 1.1 cdn\r\n"), 200, KEEPS, YES},
    {"Via, private", GZ_AND("/private/a.txt", "Via: 1.1 cdn\r\n"), 200, KEEPS, YES},
    {"Via, not expired", GZ_AND("/fresh/a.txt", "Via: 1.1 cdn\r\n"), 200, KEEPS, NO},
    {"J14 an error page", GZ("/none"), 404, KEEPS, YES},
    {"J14 an answer of the configuration", GZ("/text"), 200, KEEPS, YES},
    {"J14 the same, asked without", GET("/text"), 200, KEEPS, NO},
    {"J14 too short", GZ("/few"), 200, KEEPS, NEVER, .body = "few"},
    {"R3 type of the form", GZ("/a.html"), 200, KEEPS, .has = "Content-Type: text/html; charset=utf-8"},
};

/* J13 and D14: files beside the original. */
static const struct row beside[] = {
    {"br", AE("/pre/a.txt", "br, gzip"), 200, KEEPS,
     .has = "Content-Encoding: br\nContent-Type: text/plain; charset=utf-8\nVary: Accept-Encoding\n"
            "ETag: \"3b9aca00-0-4e20-br-3b9aca00-0-3\"\nContent-Length: 3", .body = "BR\n"},
    {"zstd", AE("/pre/a.txt", "zstd, gzip"), 200, KEEPS, .has = "Content-Encoding: zstd"},
    {"gzip by quality", AE("/pre/a.txt", "br;q=0.1, gzip"), 200, KEEPS, YES},
    {"none taken", GET("/pre/a.txt"), 200, KEEPS, NO},
    {"range of it", REQ("GET", "/pre/a.txt", "Accept-Encoding: br\r\nRange: bytes=1-1\r\n"), 206,
     KEEPS, .has = "Content-Encoding: br\nContent-Range: bytes 1-1/3", .body = "R"},
    {"304 of it",
     REQ("GET", "/pre/a.txt",
         "Accept-Encoding: br\r\nIf-None-Match: \"3b9aca00-0-4e20-br-3b9aca00-0-3\"\r\n"), 304,
     KEEPS | EMPTY, .has = "Vary: Accept-Encoding"},
    {"304 for the file's tag",
     REQ("GET", "/pre/a.txt", "Accept-Encoding: br\r\nIf-None-Match: \"3b9aca00-0-4e20\"\r\n"), 304,
     KEEPS | EMPTY},
    {"HEAD", REQ("HEAD", "/pre/a.txt", "Accept-Encoding: br\r\n"), 200, KEEPS | EMPTY,
     .has = "Content-Encoding: br\nContent-Length: 3"},
    {"older than the original", AE("/pre/stale.txt", "br"), 200, KEEPS, NO},
    {"not what it is called", AE("/pre/bad.txt", "zstd"), 200, KEEPS, NO},
    {"not what it is called, large", AE("/pre/badbig.txt", "zstd"), 200, KEEPS, NO},
    {"a directory", AE("/pre/dir.txt", "br"), 200, KEEPS, NO},
    {"of an image, which nobody compresses", AE("/pre/a.png", "gzip"), 200, KEEPS, YES},
    {"asked for by its own name", AE("/pre/a.txt.br", "br"), 200, KEEPS, NEVER, .body = "BR\n"},
    {"without gzip", AE("/preoff/a.txt", "br"), 200, KEEPS, .has = "Content-Encoding: br"},
    {"without gzip, not there", AE("/preoff/b.txt", "br, gzip"), 200, KEEPS, NEVER},
    {"gzip_static", GZ("/static/a.txt"), 200, KEEPS,
     .has = "Content-Encoding: gzip\nContent-Length: 49"},
    {"gzip_static, refused", GET("/static/a.txt"), 200, KEEPS, NO, .body = "original\n"},
    {"gzip_static needs the file", GZ("/static/only.txt"), 404, KEEPS},
    {"always", GZ("/always/only.txt"), 200, KEEPS,
     .has = "Content-Encoding: gzip\nContent-Type: text/plain; charset=utf-8"},
    {"always, to all", GET("/always/only.txt"), 200, KEEPS, .has = "Content-Encoding: gzip"},
    {"always, not there", GET("/always/b.txt"), 200, KEEPS, NEVER, .body = "b\n"},
    {"always, neither", GZ("/always/none.txt"), 404, KEEPS},
    {"gunzip", GET("/unzip/only.txt"), 200, KEEPS, NO, .body = "packed text\n"},
    {"gunzip, not needed", GZ("/unzip/only.txt"), 200, KEEPS, YES},
    {"gunzip, damaged", GET("/unzip/cut.txt"), 200, KEEPS, .has = "Content-Encoding: gzip"},
    {"gunzip, range", REQ("GET", "/unzip/only.txt", "Range: bytes=0-5\r\n"), 206, KEEPS, NO,
     .body = "packed"},
};

static void test_rows(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(rows));
    rows_run(srv->at[0], ROWS(rows)); /* and from what is held now */
}

static void test_beside(void **state)
{
    (void)state;
    rows_run(srv->at[0], ROWS(beside));
    rows_run(srv->at[0], ROWS(beside));
    char *log = server_read(srv, "logs/error.log");
    assert_int_equal(count_text(log, "stale.txt.br\" is older than the file it stands for"), 1);
    assert_int_equal(count_text(log, "bad.txt.zst\" is not what its name says"), 1);
    free(log);
}

/* The body, unpacked. */
static char *unpack(const struct reply *r, size_t *n)
{
    z_stream z = {.next_in = (Bytef *)r->body, .avail_in = (uInt)r->body_n};
    size_t room = BIG_BYTES + 1;
    char *out = malloc(room);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)room;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    *n = room - z.avail_out;
    inflateEnd(&z);
    return out;
}

static char *words(size_t n)
{
    char *text = malloc(n + 32);
    size_t at = 0;
    for (unsigned i = 0; at < n; i++)
        at += (size_t)sprintf(text + at, "word%u ", i * i % 10007);
    text[n] = '\0';
    return text;
}

/* J1, J9: what is unpacked is the file, held or streamed, as many times as it is asked for. */
static void test_bodies(void **state)
{
    static const struct {
        const char *path;
        size_t n;
    } files[] = {{"/a.txt", PLAIN_BYTES}, {"/big.txt", BIG_BYTES}, {"/nine/a.txt", PLAIN_BYTES},
                 {"/mid.txt", 200000}, {"/256.txt", 256}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof(files) / sizeof(files[0]); i++) {
        struct reply r;
        size_t n, k = i / 2;
        char *request = text_of("GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n",
                                files[k].path);
        assert_true(fetch(srv->at[0], request, &r));
        char *out = unpack(&r, &n), *want = words(files[k].n);
        assert_int_equal(n, files[k].n);
        assert_memory_equal(out, want, n);
        assert_true(r.body_n < n);
        free(out);
        free(want);
        free(request);
        reply_free(&r);
    }
}

/* D15: parts of the encoded bytes fit together. */
static void test_parts(void **state)
{
    struct reply whole, part;
    (void)state;
    assert_true(fetch(srv->at[0], GZ("/a.txt"), &whole));
    for (size_t at = 0; at < whole.body_n; at += 1000) {
        char *request = text_of("GET /a.txt HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n"
                                "Range: bytes=%zu-%zu\r\n\r\n", at, at + 999);
        assert_true(fetch(srv->at[0], request, &part));
        assert_int_equal(part.status, 206);
        assert_memory_equal(part.body, whole.body + at, part.body_n);
        assert_int_equal(part.body_n, whole.body_n - at < 1000 ? whole.body_n - at : 1000);
        reply_free(&part);
        free(request);
    }
    reply_free(&whole);
}

/* S6, H15: a file that changes is compressed anew, under another tag. */
static void test_changes(void **state)
{
    (void)state;
    char *last = NULL;
    for (int i = 0; i < 20; i++) {
        struct reply r;
        size_t n, want_n = 1000 + (size_t)i;
        char *want = words(want_n);
        want[0] = (char)('A' + i);
        server_data(srv, "html/new", want, want_n);
        assert_int_equal(rename(server_path(srv, "html/new"), server_path(srv, "html/moves.txt")), 0);
        assert_true(fetch(srv->at[0], GZ("/moves.txt"), &r));
        char *out = unpack(&r, &n);
        assert_int_equal(n, want_n);
        assert_memory_equal(out, want, n);
        char *tag = strdup(reply_field(&r, "ETag"));
        assert_true(last == NULL || strcmp(tag, last) != 0);
        free(last);
        last = tag;
        free(out);
        free(want);
        reply_free(&r);
    }
    free(last);
}

/*
 * Compression gives way: of several tries, one small answer at the least comes before that of a
 * large file which was asked for first.
 */
static void test_slices(void **state)
{
    (void)state;
    bool overtaken = false;
    for (int i = 0; i < 8 && !overtaken; i++) {
        struct client slow, quick;
        struct reply r;
        char *request = text_of("GET /nine/slow%d.txt HTTP/1.1\r\nHost: localhost\r\n"
                                "Accept-Encoding: gzip\r\n\r\n", i);
        assert_true(client_open(&slow, srv->at[0]) && client_open(&quick, srv->at[0]));
        assert_true(client_sendz(&slow, request) && client_sendz(&quick, PROBE));
        assert_true(reply_read(&quick, &r, false, CLIENT_PATIENCE));
        reply_free(&r);
        overtaken = client_quiet(&slow, 0);
        assert_true(reply_read(&slow, &r, false, CLIENT_PATIENCE));
        assert_non_null(reply_field(&r, "Content-Length"));
        reply_free(&r);
        client_close(&slow);
        client_close(&quick);
        free(request);
    }
    assert_true(overtaken);
}

/* J15: clients that go away, from streams and while a form is made. */
static void test_aborts(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct client c;
        assert_true(client_open_rcvbuf(&c, srv->at[0], 4096));
        client_sendz(&c, i % 2 == 0 ? GZ("/big.txt") : GZ("/nine/mid.txt"));
        if (i % 4 < 2)
            client_fill(&c, 200);
        if (i % 3 == 0)
            client_abort(&c);
        else
            client_close(&c);
    }
}

/* Many at once ask for the same: each gets all of it. */
static void test_together(void **state)
{
    struct client c[16];
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        assert_true(client_open(&c[i], srv->at[0]));
        client_sendz(&c[i], GZ("/all/mid.txt"));
    }
    for (size_t i = 0; i < 16; i++) {
        struct reply r;
        size_t n;
        assert_true(reply_read(&c[i], &r, false, CLIENT_PATIENCE));
        free(unpack(&r, &n));
        assert_int_equal(n, 200000);
        reply_free(&r);
        client_close(&c[i]);
    }
}

static void put(const char *rel, const void *p, size_t n, int64_t mtime)
{
    server_data(srv, rel, p, n);
    server_mtime(srv, rel, mtime, 0);
}

static void put_words(const char *rel, size_t n)
{
    char *text = words(n);
    put(rel, text, n, OLD);
    free(text);
}

/* What gzip(1) makes of the text. */
static size_t pack(const char *text, char *to, size_t room)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)strlen(text)};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static void make_files(void)
{
    static const char *const dirs[] = {"off", "nine", "short", "plain", "all", "novary", "old",
                                       "any", "auth", "expired", "private", "fresh"};
    char rel[64], noise[4096], packed[256];
    put_words("html/a.txt", PLAIN_BYTES);
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        snprintf(rel, sizeof(rel), "html/%s/a.txt", dirs[i]);
        put_words(rel, PLAIN_BYTES);
    }
    put_words("html/big.txt", BIG_BYTES);
    put_words("html/toend/big.txt", BIG_BYTES);
    put_words("html/mid.txt", 200000);
    put_words("html/all/mid.txt", 200000);
    put_words("html/nine/mid.txt", 200000);
    for (int i = 0; i < 8; i++) {
        snprintf(rel, sizeof(rel), "html/nine/slow%d.txt", i);
        put_words(rel, 250000);
    }
    put_words("html/256.txt", 256);
    put_words("html/short/256.txt", 256);
    put_words("html/404.html", 1000);
    static const char *const names[] = {"a.html", "a.svg", "a.png", "a.tar.gz", "a.unknown",
                                        "all/a.unknown", "plain/a.html"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(rel, sizeof(rel), "html/%s", names[i]);
        put_words(rel, 2000);
    }
    server_text(srv, "html/tiny.txt", "tiny\n");
    server_text(srv, "html/empty.txt", "");
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (char)file_byte(i * 7919u * (i + 13));
    for (size_t i = 0, x = 12345; i < sizeof(noise); i++)
        noise[i] = (char)((x = x * 6364136223846793005u + 1442695040888963407u) >> 33);
    put("html/random.txt", noise, sizeof(noise), OLD);

    put_words("html/pre/a.txt", PLAIN_BYTES);
    put("html/pre/a.txt.br", "BR\n", 3, OLD);
    put("html/pre/a.txt.zst", "\x28\xb5\x2f\xfd...", 7, OLD);
    put_words("html/pre/stale.txt", PLAIN_BYTES);
    put("html/pre/stale.txt.br", "BR\n", 3, OLD - 1);
    put_words("html/pre/bad.txt", PLAIN_BYTES);
    put("html/pre/bad.txt.zst", "junk", 4, OLD);
    put_words("html/pre/badbig.txt", PLAIN_BYTES);
    put_words("html/pre/badbig.txt.zst", 100000);
    put_words("html/pre/dir.txt", PLAIN_BYTES);
    server_mkdir(srv, "html/pre/dir.txt.br");
    put_words("html/pre/a.png", 2000);
    size_t n = pack("packed text\n", packed, sizeof(packed));
    put("html/pre/a.png.gz", packed, n, OLD);
    put_words("html/preoff/a.txt", PLAIN_BYTES);
    put("html/preoff/a.txt.br", "BR\n", 3, OLD);
    put_words("html/preoff/b.txt", PLAIN_BYTES);
    put("html/static/a.txt", "original\n", 9, OLD);
    put("html/static/only.txt.gz", packed, n, OLD);
    put("html/always/only.txt.gz", packed, n, OLD);
    put("html/always/b.txt", "b\n", 2, OLD);
    put("html/unzip/only.txt.gz", packed, n, OLD);
    put("html/unzip/cut.txt.gz", packed, n - 8, OLD);
    n = pack("another text that was packed\n", packed, sizeof(packed));
    put("html/static/a.txt.gz", packed, n, OLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_beside),
        cmocka_unit_test(test_bodies),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_changes),  cmocka_unit_test(test_slices),
        cmocka_unit_test(test_together), cmocka_unit_test(test_aborts),
        LAST_TESTS,
    };
    srv = server_new();
    make_files();
    srv->rss_slack_kb = 4096;
    server_up(srv, CONF);
    return cmocka_run_group_tests_name("encoded forms", tests, NULL, NULL);
}
