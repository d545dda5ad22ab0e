/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting and stopping the program under test. The child dies with the test program
 * (PR_SET_PDEATHSIG), so that a failed test leaves no server behind.
 */
#include "lib/server.h"

#include "lib/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 20000
#define STOP_MS      30000

struct server *srv;

__attribute__((format(printf, 1, 2), noreturn)) static void unfit(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("test set-up: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(99);
}

const char *server_backend(void)
{
    const char *b = getenv("SLUICE_BACKEND");
    return b != NULL && *b != '\0' ? b : "auto";
}

static const char *program(void)
{
    static char path[4096];
    const char *name = getenv("SLUICE_BIN");
    if (path[0] == '\0' && realpath(name != NULL ? name : "build/sluice", path) == NULL)
        unfit("no program at %s (set SLUICE_BIN)", name != NULL ? name : "build/sluice");
    return path;
}

bool server_sanitized(void)
{
    static int known = -1;
    if (known < 0) {
        char command[4200];
        snprintf(command, sizeof(command), "grep -q __asan_init '%s'", program());
        known = system(command) == 0;
    }
    return known == 1;
}

/* A port nobody listens on; asked of the kernel, below the range of outgoing connections. */
static int free_port(void)
{
    static unsigned next;
    if (next == 0)
        next = 10000 + (unsigned)(getpid() * 37 + now_ms()) % 20000;
    for (int tries = 0; tries < 2000; tries++) {
        int port = (int)(10000 + next++ % 22000);
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        int a = socket(AF_INET6, SOCK_STREAM, 0), b = socket(AF_INET, SOCK_STREAM, 0), one = 1;
        setsockopt(a, IPPROTO_IPV6, 26 /* IPV6_V6ONLY */, &one, sizeof(one));
        bool ok = bind(b, (struct sockaddr *)&in, sizeof(in)) == 0 &&
                  (a < 0 || bind(a, (struct sockaddr *)&in6, sizeof(in6)) == 0);
        if (a >= 0)
            close(a);
        close(b);
        if (ok)
            return port;
    }
    unfit("no free port");
}

/* A test program that ends early takes its server and directory with it. */
static void leave(void)
{
    if (srv != NULL)
        server_free(srv);
}

struct server *server_new(void)
{
    struct server *s = calloc(1, sizeof(*s));
    static bool once;
    if (!once)
        atexit(leave);
    once = true;
    signal(SIGPIPE, SIG_IGN);
    umask(022);
    /* Not in /tmp: a compiler at work there would wake the watches of an idle server. */
    snprintf(s->dir, sizeof(s->dir), "/var/tmp/sluice-test.XXXXXX");
    if (mkdtemp(s->dir) == NULL || chmod(s->dir, 0755) != 0)
        unfit("mkdtemp: %s", strerror(errno));
    for (int i = 0; i < SERVER_PORTS; i++) {
        s->port[i] = free_port();
        snprintf(s->at[i], sizeof(s->at[i]), "127.0.0.1:%d", s->port[i]);
    }
    s->probe = "/probe.txt";
    server_mkdir(s, "conf");
    server_mkdir(s, "logs");
    server_text(s, "html/probe.txt", "probe\n");
    srv = s;
    return s;
}

void server_free(struct server *s)
{
    char command[256];
    if (s->pid > 0)
        server_down(s, SIGKILL);
    if (getenv("SLUICE_TEST_KEEP") == NULL) {
        snprintf(command, sizeof(command), "chmod -R u+rwx %s 2>/dev/null; rm -rf %s", s->dir,
                 s->dir);
        if (system(command) != 0)
            fprintf(stderr, "%s could not be removed\n", s->dir);
    }
    if (srv == s)
        srv = NULL;
    free(s);
}

static bool has_key(const char *text, const char *key)
{
    char line[64];
    snprintf(line, sizeof(line), "\n%s:", key);
    return strncmp(text, line + 1, strlen(line) - 1) == 0 || strstr(text, line) != NULL;
}

static void put_events(FILE *f)
{
    const char *b = server_backend();
    if (strcmp(b, "io_uring") == 0)
        fputs("use: io_uring, sqpoll: off", f);
    else if (strcmp(b, "sqpoll") == 0)
        fputs("use: io_uring, sqpoll: on, sqpoll_idle: 50ms", f);
    else if (strcmp(b, "epoll") == 0)
        fputs("use: epoll", f);
    else
        fputs("use: auto", f);
}

/* The configuration with @0@, @DIR@ and @EVENTS@ replaced. */
static void put_text(const struct server *s, FILE *f, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (p[0] == '@' && p[1] >= '0' && p[1] < '0' + SERVER_PORTS && p[2] == '@') {
            fprintf(f, "%d", s->port[p[1] - '0']);
            p += 2;
        } else if (strncmp(p, "@DIR@", 5) == 0) {
            fputs(s->dir, f);
            p += 4;
        } else if (strncmp(p, "@EVENTS@", 8) == 0) {
            put_events(f);
            p += 7;
        } else {
            fputc(*p, f);
        }
    }
}

void server_conf(struct server *s, const char *text)
{
    static const char *const line[][2] = {
        {"worker_processes", "1"},
        {"daemon", "off"},
        {"pid", "logs/sluice.pid"},
        {"error_log", "logs/error.log info"},
    };
    FILE *f = fopen(server_path(s, "conf/sluice.yaml"), "w");
    if (f == NULL)
        unfit("configuration: %s", strerror(errno));
    for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
        if (!has_key(text, line[i][0]))
            fprintf(f, "%s: %s\n", line[i][0], line[i][1]);
    }
    if (!has_key(text, "user")) /* the group of nobody has two names in the world */
        fprintf(f, "user: nobody %s\n", getgrnam("nogroup") != NULL ? "nogroup" : "nobody");
    if (!has_key(text, "events"))
        put_text(s, f, "events: {@EVENTS@}\n");
    put_text(s, f, text);
    fputs("\n# " SERVER_MARK "\n", f);
    fclose(f);
}

static void exec_server(const struct server *s)
{
    const char *conf = server_path(s, "conf/sluice.yaml");
    int log = open(server_path(s, "logs/stderr.txt"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    int null = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    signal(SIGPIPE, SIG_DFL);
    execl(program(), "sluice", "-p", s->dir, "-c", conf, (char *)NULL);
    _exit(127);
}

/* Waits for the child to end; its wait status, or -1 after the time. */
static int await_end(pid_t pid, int ms)
{
    int64_t end = now_ms() + ms;
    int status;
    for (;;) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        if (now_ms() > end)
            return -1;
        sleep_ms(5);
    }
}

bool server_try(struct server *s, int *status)
{
    program();
    unlink(server_path(s, "logs/sluice.pid"));
    pid_t pid = fork();
    if (pid < 0)
        unfit("fork: %s", strerror(errno));
    if (pid == 0)
        exec_server(s);
    for (int64_t end = now_ms() + START_MS; now_ms() < end; sleep_ms(5)) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return false;
        char *text = server_read(s, "logs/sluice.pid");
        bool up = strchr(text, '\n') != NULL && atoi(text) == pid;
        free(text);
        if (up) {
            s->pid = pid;
            return true;
        }
    }
    kill(pid, SIGKILL);
    waitpid(pid, status, 0);
    return false;
}

void server_up(struct server *s, const char *text)
{
    int status = 0;
    server_conf(s, text);
    if (!server_try(s, &status)) {
        char *err = server_read(s, "logs/stderr.txt"), *log = server_read(s, "logs/error.log");
        unfit("the server did not start (wait status 0x%x)\n%s\n%s", (unsigned)status, err, log);
    }
    server_baseline(s);
}

void server_signal(const struct server *s, int sig)
{
    kill(s->pid, sig);
}

int server_down(struct server *s, int sig)
{
    if (s->pid <= 0)
        return -1;
    kill(s->pid, sig);
    int status = await_end(s->pid, STOP_MS);
    if (status == -1) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, &status, 0);
        s->pid = 0;
        return -1;
    }
    s->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int server_run(const struct server *s, const char *options, char **out)
{
    char command[4600];
    snprintf(command, sizeof(command),
             "cd %s && '%s' -p %s -c %s/conf/sluice.yaml %s >logs/run.txt 2>&1 </dev/null", s->dir,
             program(), s->dir, s->dir, options);
    int status = system(command);
    if (out != NULL)
        *out = server_read(s, "logs/run.txt");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
