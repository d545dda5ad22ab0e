/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges against a model: random sets of ranges are asked for and every byte that comes back is
 * compared with what a byte map of the file says (behaviours.md I1 to I12, hostile.md 58 and 2a).
 * The model counts bytes one by one and knows nothing of how the server does it.  Port 0 as
 * shipped, port 1 with room for long lists and no limit on their members.
 */
#include "lib/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
/* behind the headers it needs */
#include <cmocka.h>

static const char CONF[] = "http:\n"
                           "  keepalive_requests: 1000000\n"
                           "  server:\n"
                           "    - {listen: '127.0.0.1:@0@', root: html}\n"
                           "    - listen: '127.0.0.1:@1@'\n"
                           "      root: html\n"
                           "      max_ranges: unlimited\n"
                           "      large_client_header_buffers: 4 64k\n";

#define MEMBERS   4200     /* of one list */
#define SIZE_MAX_ 100000   /* of a file that is compared byte by byte */
#define PART_COST 256      /* what a part may cost besides its bytes */
#define SLACK     4096     /* and how much the answer may be larger than the file */

static const unsigned sizes[] = {0, 1, 2, 10, 1000, 5000, 65537, SIZE_MAX_};

static uint64_t seed = 20261201;

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % n;
}

/* ---- what is asked, and what must come ---- */

struct span {
    uint64_t from, to; /* [from, to) */
};

struct model {
    unsigned size, limit;      /* of the file; of members */
    size_t members;
    bool bad;                  /* there is something that is no range */
    bool whole;                /* the last bytes of an empty file */
    uint64_t sum;              /* bytes asked for, doubles counted twice */
    struct span asked[MEMBERS];
    size_t asked_n;
    unsigned char map[SIZE_MAX_];
    int status;                /* to come */
    struct span part[MEMBERS];
    size_t parts;
};

static void ask(struct model *m, uint64_t from, uint64_t to)
{
    m->members++;
    if (to > m->size)
        to = m->size;
    if (from >= to)
        return;
    m->asked[m->asked_n++] = (struct span){from, to};
    m->sum += to - from;
    for (uint64_t i = from; i < to; i++)
        m->map[i] = 1;
}

static bool part_known(const struct model *m, struct span s)
{
    for (size_t i = 0; i < m->parts; i++)
        if (m->part[i].from == s.from)
            return true;
    return false;
}

/* Runs of the map, in the order in which somebody first asked for a byte of theirs. */
static void make_parts(struct model *m)
{
    m->parts = 0;
    for (size_t i = 0; i < m->asked_n; i++) {
        struct span s = m->asked[i];
        while (s.from > 0 && m->map[s.from - 1])
            s.from--;
        while (s.to < m->size && m->map[s.to])
            s.to++;
        if (!part_known(m, s))
            m->part[m->parts++] = s;
    }
}

static void judge(struct model *m)
{
    make_parts(m);
    uint64_t spare = m->sum <= m->size ? m->size - m->sum + SLACK : 0;
    if (m->bad)
        m->status = 416;
    else if (m->whole || m->members > m->limit || m->sum > m->size ||
             (m->parts > 1 && m->parts * PART_COST > spare))
        m->status = 200;
    else
        m->status = m->parts == 0 ? 416 : 206;
}

/* ---- what came ---- */

static void wrong(const char *list, const char *what, const struct reply *r)
{
    fail_msg("Range: %.300s\n%s (%d, %zu bytes, %.300s)", list, what, r->status, r->body_n, r->err);
}

static bool bytes_are(const char *p, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if ((unsigned char)*p++ != file_byte(i))
            return false;
    return true;
}

static void check_single(const struct model *m, const char *list, const struct reply *r)
{
    char want[80];
    snprintf(want, sizeof(want), "bytes %llu-%llu/%u", (unsigned long long)m->part[0].from,
             (unsigned long long)m->part[0].to - 1, m->size);
    const char *got = reply_field(r, "Content-Range");
    if (got == NULL || strcmp(got, want) != 0)
        wrong(list, want, r);
    if (r->body_n != m->part[0].to - m->part[0].from ||
        !bytes_are(r->body, m->part[0].from, m->part[0].to))
        wrong(list, "other bytes", r);
}

static void check_parts(const struct model *m, const char *list, const struct reply *r)
{
    static const char type[] = "multipart/byteranges; boundary=";
    const char *value = reply_field(r, "Content-Type"), *at = r->body;
    const char *end = r->body + r->body_n;
    if (value == NULL || strncmp(value, type, sizeof(type) - 1) != 0 ||
        reply_field(r, "Content-Range") != NULL)
        wrong(list, "no multipart/byteranges", r);
    for (size_t i = 0; i <= m->parts; i++) {
        const struct span *s = &m->part[i];
        char head[300];
        if (i == m->parts)
            snprintf(head, sizeof(head), "\r\n--%s--\r\n", value + sizeof(type) - 1);
        else
            snprintf(head, sizeof(head),
                     "\r\n--%s\r\nContent-Type: application/octet-stream\r\n"
                     "Content-Range: bytes %llu-%llu/%u\r\n\r\n",
                     value + sizeof(type) - 1, (unsigned long long)s->from,
                     (unsigned long long)s->to - 1, m->size);
        size_t n = strlen(head), len = i == m->parts ? 0 : s->to - s->from;
        if ((size_t)(end - at) < n + len || memcmp(at, head, n) != 0)
            wrong(list, head, r);
        if (!bytes_are(at + n, len != 0 ? s->from : 0, len != 0 ? s->to : 0))
            wrong(list, "other bytes in a part", r);
        at += n + len;
    }
    if (at != end)
        wrong(list, "more behind the last part", r);
}

static void check_reply(const struct model *m, const char *list, const struct reply *r)
{
    if (r->status != m->status)
        wrong(list, m->status == 200 ? "wanted 200" : m->status == 206 ? "wanted 206" : "wanted 416",
              r);
    if (r->body_n > m->size + SLACK)
        wrong(list, "more than the file and a little", r);
    if (r->status == 200 && (r->body_n != m->size || !bytes_are(r->body, 0, m->size)))
        wrong(list, "not the file", r);
    if (r->status == 416) {
        char want[40];
        const char *got = reply_field(r, "Content-Range");
        snprintf(want, sizeof(want), "bytes */%u", m->size);
        if (got == NULL || strcmp(got, want) != 0)
            wrong(list, want, r);
    }
    if (r->status == 206 && m->parts == 1)
        check_single(m, list, r);
    else if (r->status == 206)
        check_parts(m, list, r);
}

/* Asks on a connection that is kept as long as it may be. */
static void exchange(struct client *c, int port, const struct model *m, const char *list)
{
    struct reply r;
    char *request = text_of("GET /%u.bin HTTP/1.1\r\nHost: a\r\nRange: %s\r\n\r\n", m->size, list);
    if (c->fd < 0)
        assert_true(client_open(c, srv->at[port]));
    client_sendz(c, request);
    if (!reply_read(c, &r, false, CLIENT_PATIENCE))
        wrong(list, "no answer", &r);
    check_reply(m, list, &r);
    if (!r.keeps)
        wrong(list, "the connection closes", &r);
    reply_free(&r);
    free(request);
}

/* ---- sets of ranges ---- */

/* Places near the edges more often than elsewhere. */
static unsigned place(unsigned size)
{
    switch (pick(6)) {
    case 0:
        return pick(4);
    case 1:
        return size > 2 ? size - 2 + pick(5) : pick(5);
    case 2:
        return size + pick(2000);
    default:
        return size > 0 ? pick(size) : 0;
    }
}

static char *one_member(struct model *m, char *at)
{
    static const char *const junk[] = {"5-2", "x",    "--1", "1-2-3", "-",    "0x1-2", "+1-2",
                                       "1 -2", "1- 2", "1",   "1-x",   "-1-2", "1_0-",  "*"};
    unsigned from = place(m->size), n = 1 + pick(pick(3) == 0 ? m->size + 1 : 40);
    switch (pick(60)) {
    case 0: /* now and then something that is none */
        m->bad = m->bad || m->members <= m->limit; /* further on nobody looks */
        m->members++;
        return at + sprintf(at, "%s", junk[pick(sizeof(junk) / sizeof(junk[0]))]);
    case 1:
        ask(m, 0, UINT64_MAX);
        return at + sprintf(at, "000-18446744073709551615");
    case 2:
        ask(m, 0, UINT64_MAX);
        m->whole = m->whole || m->size == 0;
        return at + sprintf(at, "-340282366920938463463374607431768211456");
    case 3:
        ask(m, UINT64_MAX - 1, UINT64_MAX);
        return at + sprintf(at, "18446744073709551616-");
    }
    switch (pick(4)) {
    case 0:
        ask(m, from, UINT64_MAX);
        return at + sprintf(at, "%u-", from);
    case 1:
        ask(m, n < m->size ? m->size - n : 0, UINT64_MAX);
        m->whole = m->whole || m->size == 0;
        return at + sprintf(at, "-%u", n);
    default:
        ask(m, from, (uint64_t)from + n);
        return at + sprintf(at, "%u-%u", from, from + n - 1);
    }
}

/* Commas with all that may stand around them. */
static char *one_comma(char *at)
{
    static const char *const comma[] = {",", ",", ",", ", ", " ,", "\t,\t", ",,", ", , "};
    return at + sprintf(at, "%s", comma[pick(8)]);
}

static void random_sets(int port, unsigned limit, int rounds)
{
    static struct model m;
    struct client c = {.fd = -1};
    int seen[3] = {0}, multi = 0;
    for (int i = 0; i < rounds; i++) {
        char list[2000], *at = list;
        unsigned count = 1 + pick(pick(4) == 0 ? 20 : 4);
        memset(&m, 0, offsetof(struct model, asked));
        m.asked_n = 0;
        m.size = sizes[pick(sizeof(sizes) / sizeof(sizes[0]))];
        m.limit = limit;
        memset(m.map, 0, m.size);
        at += sprintf(at, pick(3) == 0 ? "Bytes=" : "bytes=");
        for (unsigned k = 0; k < count; k++) {
            if (k > 0)
                at = one_comma(at);
            at = one_member(&m, at);
        }
        judge(&m);
        exchange(&c, port, &m, list);
        seen[m.status == 200 ? 0 : m.status == 206 ? 1 : 2]++;
        multi += m.status == 206 && m.parts > 1;
    }
    client_close(&c);
    for (int i = 0; i < 3; i++) /* the dice must not have forgotten any of them */
        assert_true(seen[i] > rounds / 40);
    assert_true(multi > rounds / 40);
}

static void test_random(void **state)
{
    (void)state;
    random_sets(0, 16, 4000);
    random_sets(1, MEMBERS, 2000);
}

/* A list of `n` members made by `step`, asked of a file of 100,000 bytes. */
static void flood(const char *name, int port, unsigned limit, unsigned n, bool touching, int status)
{
    static struct model m;
    struct client c = {.fd = -1};
    char *list = malloc((size_t)n * 16 + 16), *at = list + sprintf(list, "bytes=");
    memset(&m, 0, sizeof(m));
    m.size = SIZE_MAX_;
    m.limit = limit;
    for (unsigned i = 0; i < n; i++) {
        unsigned from = touching ? 5 : i * 3, to = touching ? 6 + i : from + 1;
        ask(&m, from, to);
        at += sprintf(at, "%s%u-%u", i > 0 ? "," : "", from, to - 1);
    }
    judge(&m);
    if (m.status != status)
        fail_msg("%s: the model says %d", name, m.status);
    exchange(&c, port, &m, list);
    client_close(&c);
    free(list);
}

/* 2a: hundreds of ranges that overlap, thousands of one byte; no answer is larger than the file. */
static void test_floods(void **state)
{
    (void)state;
    flood("h58 300 overlapping", 0, 16, 300, true, 200);
    flood("h58 1,300 overlapping", 1, 1024, 1300, true, 200);
    flood("h58 400 overlapping, no limit", 1, 1024, 400, true, 206);
    flood("h58 4,000 of one byte", 1, 1024, 4000, false, 200);
    flood("h58 380 of one byte", 1, 1024, 380, false, 206);
    flood("h58 440 of one byte", 1, 1024, 440, false, 200);
    flood("I11 sixteen", 0, 16, 16, false, 206);
    flood("I11 seventeen", 0, 16, 17, false, 200);
}

/* ---- large files, and numbers beyond them ---- */

#define GIB5 (5ull << 30)

/* The head, and the bytes if they are few. */
static void large(const char *list, int status, uint64_t from, uint64_t to)
{
    struct client c;
    struct reply r;
    char want[100];
    bool differs = false;
    char *request = text_of(REQ("GET", "/large.bin", "Range: %s\r\n"), list);
    assert_true(client_open(&c, srv->at[0]));
    client_sendz(&c, request);
    if (!reply_read_head(&c, &r, false, CLIENT_PATIENCE) || r.status != status)
        wrong(list, "status", &r);
    snprintf(want, sizeof(want), "bytes %llu-%llu/%llu", (unsigned long long)from,
             (unsigned long long)to - 1, (unsigned long long)GIB5);
    const char *got = reply_field(&r, "Content-Range");
    if (status == 206 && (got == NULL || strcmp(got, want) != 0))
        wrong(list, want, &r);
    if (status != 416 && r.length != to - from)
        wrong(list, "length", &r);
    if (status == 206 && to - from <= 2u << 20 &&
        (client_drain(&c, from, to - from, file_byte, 5000, &differs) != to - from || differs))
        wrong(list, "other bytes", &r);
    reply_free(&r);
    client_close(&c);
    free(request);
}

/* 2a (CVE-2017-7529), I12, I22: numbers around every power that an integer could end at. */
static void test_large(void **state)
{
    (void)state;
    static const uint64_t edges[] = {1ull << 31, 1ull << 32, GIB5};
    char list[200];
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
        for (int d = -1; d <= 1; d++) {
            uint64_t n = edges[i] + (uint64_t)(int64_t)d;
            snprintf(list, sizeof(list), "bytes=-%llu", (unsigned long long)n);
            large(list, 206, n < GIB5 ? GIB5 - n : 0, GIB5);
            snprintf(list, sizeof(list), "bytes=%llu-%llu", (unsigned long long)n,
                     (unsigned long long)n + 70000);
            uint64_t to = n + 70001 < GIB5 ? n + 70001 : GIB5;
            large(list, n < GIB5 ? 206 : 416, n, to);
        }
    static const char *const beyond[] = {"9223372036854775807", "9223372036854775808",
                                         "18446744073709551615", "18446744073709551616",
                                         "999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        snprintf(list, sizeof(list), "bytes=-%s", beyond[i]);
        large(list, 206, 0, GIB5);
        snprintf(list, sizeof(list), "bytes=%s-", beyond[i]);
        large(list, 416, 0, 0);
        snprintf(list, sizeof(list), "bytes=5368709119-%s", beyond[i]);
        large(list, 206, GIB5 - 1, GIB5);
        for (size_t k = 0; k < sizeof(beyond) / sizeof(beyond[0]); k++) {
            snprintf(list, sizeof(list), "bytes=-%s,-%s", beyond[i], beyond[k]);
            large(list, 200, 0, GIB5); /* the file twice is too much */
            snprintf(list, sizeof(list), "bytes=0-1,%s-%s", beyond[i], beyond[k]);
            if (i <= k)
                large(list, 206, 0, 2);
            else if (k < 2) /* what is beyond 2^64 is all the same to it */
                large(list, 416, 0, 0);
        }
    }
    large("bytes=-0", 416, 0, 0);
    large("bytes=-1", 206, GIB5 - 1, GIB5);
    large("bytes=5368709120-", 416, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_floods),
        cmocka_unit_test(test_large),
        LAST_TESTS,
    };
    server_new();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *rel = text_of("html/%u.bin", sizes[i]);
        server_fill(srv, rel, sizes[i]);
        free(rel);
    }
    server_fill(srv, "html/large.bin", GIB5);
    server_up(srv, CONF);
    srv->rss_slack_kb = 2048; /* bodies held in memory */
    return cmocka_run_group_tests_name("ranges against a model", tests, NULL, NULL);
}
