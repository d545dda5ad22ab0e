/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold after every case, whatever the client did: the same processes, no alarm in the
 * logs, no descriptor or memory kept, an exact answer in time, and no CPU used when idle.
 */
#include "lib/reply.h"
#include "lib/server.h"

#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* behind the headers it needs */
#include <cmocka.h>

#define PROBE_MS   100
#define RSS_KB     1024
#define IDLE_MS    300
#define SETTLE_MS  4000
#define WARM_UP    1200
#define REST_TRIES 15

/* The parent of a process, 0 if it is gone or a zombie. */
static pid_t parent_of(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return 0;
    char state = 'Z';
    int parent = 0;
    char *end = fgets(line, sizeof(line), f) != NULL ? strrchr(line, ')') : NULL;
    if (end == NULL || sscanf(end + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
        parent = 0;
    fclose(f);
    return parent;
}

static int by_pid(const void *a, const void *b)
{
    return *(const pid_t *)a < *(const pid_t *)b ? -1 : 1;
}

size_t server_workers(const struct server *s, pid_t *pid, size_t room)
{
    size_t n = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (isdigit((unsigned char)e->d_name[0]) && n < room &&
            parent_of(atoi(e->d_name)) == s->pid)
            pid[n++] = atoi(e->d_name);
    }
    if (d != NULL)
        closedir(d);
    qsort(pid, n, sizeof(*pid), by_pid);
    return n;
}

bool server_wait_workers(const struct server *s, size_t n, pid_t not_this, int ms)
{
    for (int64_t end = now_ms() + ms; now_ms() < end; sleep_ms(10)) {
        pid_t pid[SERVER_WORKERS];
        size_t have = server_workers(s, pid, SERVER_WORKERS);
        bool old = false;
        for (size_t i = 0; i < have; i++)
            old |= pid[i] == not_this;
        if (have == n && !old)
            return true;
    }
    return false;
}

/* Pipes are pooled: as many stay open as were used at once. */
static void count_descriptors(pid_t pid, struct server_use *u)
{
    char path[64], file[320], to[256];
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
        ssize_t n = readlink(file, to, sizeof(to) - 1);
        if (n < 0)
            continue;
        to[n] = '\0';
        if (strncmp(to, "socket:", 7) == 0)
            u->sockets++;
        else if (to[0] != '/' && strncmp(to, "pipe:", 5) != 0)
            u->others++;
        u->all++;
    }
    if (d != NULL)
        closedir(d);
}

/* What the process itself wrote; pages of files come and go with what else it runs. */
static long rss_kb(pid_t pid)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "RssAnon: %ld", &kb) == 1)
            break;
    }
    if (f != NULL)
        fclose(f);
    return kb;
}

static void take_use(const struct server *s, struct server_use *u)
{
    memset(u, 0, sizeof(*u));
    u->pids = server_workers(s, u->pid, SERVER_WORKERS);
    for (size_t i = 0; i < u->pids; i++) {
        count_descriptors(u->pid[i], u);
        u->rss_kb += rss_kb(u->pid[i]);
    }
    struct server_use own = {0};
    count_descriptors(s->pid, &own);
    u->masters = own.all;
}

/* Time on a CPU of all threads of the workers, in nanoseconds. */
static uint64_t cpu_ns(const struct server_use *u)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < u->pids; i++) {
        char path[64], file[352];
        snprintf(path, sizeof(path), "/proc/%d/task", (int)u->pid[i]);
        DIR *d = opendir(path);
        for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
            unsigned long long ns = 0;
            snprintf(file, sizeof(file), "%s/%s/schedstat", path, e->d_name);
            FILE *f = e->d_name[0] != '.' ? fopen(file, "r") : NULL;
            if (f != NULL && fscanf(f, "%llu", &ns) == 1)
                sum += ns;
            if (f != NULL)
                fclose(f);
        }
        if (d != NULL)
            closedir(d);
    }
    return sum;
}

/* One GET of the probe; milliseconds, or -1 when the answer is not exact. */
static int probe(const struct server *s)
{
    struct reply r;
    int64_t from = now_ms();
    bool ok =
        fetch_path(s->at[0], s->probe, &r) && r.status == 200 && strcmp(r.body, "probe\n") == 0;
    if (!ok)
        fprintf(stderr, "probe: %d %s\n", r.status, r.err);
    reply_free(&r);
    return ok ? (int)(now_ms() - from) : -1;
}

/* Pools that are used in turn, like receive buffers, are touched once by more requests than they
   have members. */
static void warm_up(const struct server *s)
{
    struct client c = {.fd = -1};
    struct reply r;
    char request[600];
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", s->probe);
    for (int i = 0; i < WARM_UP; i++) {
        if (c.fd < 0 && !client_open(&c, s->at[0]))
            break;
        client_sendz(&c, request);
        if (!reply_read(&c, &r, false, CLIENT_PATIENCE) || !r.keeps)
            client_close(&c);
        reply_free(&r);
    }
    client_close(&c);
}

void server_baseline(struct server *s)
{
    warm_up(s);
    for (int i = 0; i < 10; i++)
        probe(s);
    sleep_ms(50);
    take_use(s, &s->base);
}

static bool same_pids(const struct server_use *a, const struct server_use *b)
{
    return a->pids == b->pids && memcmp(a->pid, b->pid, a->pids * sizeof(a->pid[0])) == 0;
}

/* A line of the logs that must not be there, or NULL; to be freed. */
static char *find_alarm(const struct server *s)
{
    static const char *const words[] = {
        "[alert]",       "[emerg]",        "[crit]", "AddressSanitizer",
        "LeakSanitizer", "runtime error:", "CHECK",  "assert",
    };
    static const char *const logs[] = {"logs/error.log", "logs/stderr.txt"};
    for (size_t k = 0; k < 2; k++) {
        char *all = server_read(s, logs[k]);
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            char *hit = strstr(all, words[i]);
            if (hit == NULL)
                continue;
            while (hit > all && hit[-1] != '\n')
                hit--;
            char *line = strndup(hit, strcspn(hit, "\n"));
            free(all);
            return line;
        }
        free(all);
    }
    return NULL;
}

/* Descriptors and threads may take a moment to settle after the last client has gone. */
static bool settled(const struct server *s, struct server_use *u)
{
    for (int64_t end = now_ms() + SETTLE_MS;; sleep_ms(50)) {
        take_use(s, u);
        if (u->sockets == s->base.sockets && u->others >= s->base.others &&
            u->others <= s->base.others + s->others_slack &&
            u->masters == s->base.masters)
            return true;
        if (now_ms() > end)
            return false;
    }
}

/* Whether the workers use no CPU for a while, soon: flush timers run out and a timer that wakes an
   SQPOLL thread costs its idle time, but not always. 2 % is this reading itself. */
static bool rests(const struct server_use *u, char *why, size_t room)
{
    uint64_t used = 0;
    for (int i = 0; i < REST_TRIES; i++) {
        uint64_t from = cpu_ns(u);
        sleep_ms(IDLE_MS);
        used = cpu_ns(u) - from;
        if (used <= IDLE_MS * 10000u * 2)
            return true;
    }
    return snprintf(why, room, "idle, yet %llu us of CPU in %d ms", (unsigned long long)used / 1000,
                    IDLE_MS) < 0;
}

/* A ring's receive buffers (1024 of 4 KiB) are memory only once they have been used. */
static long pools_kb(void)
{
    return strcmp(server_backend(), "epoll") == 0 ? 0 : 4096;
}

bool server_oracles(struct server *s, char *why, size_t room)
{
    struct server_use u;
    if (s->pid <= 0 || parent_of(s->pid) == 0)
        return snprintf(why, room, "the master is gone") < 0;
    if (!settled(s, &u))
        return snprintf(why, room, "%zu sockets held, %zu at the start; others %zu, %zu; by the "
                        "master %zu, %zu", u.sockets, s->base.sockets, u.others, s->base.others,
                        u.masters, s->base.masters) < 0;
    if (!same_pids(&u, &s->base))
        return snprintf(why, room, "the workers are not the same processes") < 0;
    char *alarm = s->unclean ? NULL : find_alarm(s);
    if (alarm != NULL) {
        snprintf(why, room, "in the log: %s", alarm);
        free(alarm);
        return false;
    }
    if (!server_sanitized() && u.rss_kb > s->base.rss_kb + RSS_KB + pools_kb() + s->rss_slack_kb)
        return snprintf(why, room, "memory grew from %ld to %ld KiB", s->base.rss_kb, u.rss_kb) < 0;
    int ms = probe(s);
    for (int i = 0; i < 5 && ms > PROBE_MS; i++) /* a shared machine may stall once */
        ms = probe(s);
    if (ms < 0 || ms > PROBE_MS)
        return snprintf(why, room, "probe took %d ms", ms) < 0;
    if (getenv("SLUICE_TEST_USE") != NULL)
        fprintf(stderr, "memory %ld KiB, at the start %ld\n", u.rss_kb, s->base.rss_kb);
    return rests(&u, why, room);
}

void check_oracles(void **state)
{
    char why[512] = "";
    (void)state;
    if (!server_oracles(srv, why, sizeof(why)))
        fail_msg("%s", why);
}

void check_quit(void **state)
{
    (void)state;
    assert_int_equal(server_down(srv, SIGQUIT), 0);
    char *err = server_read(srv, "logs/stderr.txt");
    bool clean = strstr(err, "Sanitizer") == NULL && strstr(err, "runtime error:") == NULL;
    if (!clean)
        print_error("%s\n", err);
    free(err);
    assert_true(clean);
    if (!srv->unclean) {
        char *alarm = find_alarm(srv);
        if (alarm != NULL)
            fail_msg("in the log: %s", alarm);
    }
    assert_int_equal(access(server_path(srv, "logs/sluice.pid"), F_OK), -1);
}
