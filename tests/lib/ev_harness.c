/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the event layer share: loops of each setting, recording ops, sockets, files. */
#include "lib/ev_harness.h"

#include "core/clock.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    unsigned setting;
    const char *name;
} settings[] = {{EV_RING, "io_uring"}, {EV_SQPOLL, "io_uring+sqpoll"}, {EV_EP, "epoll"}};

uint64_t ev_now_ms(void)
{
    return clock_mono_ms();
}

void ev_conf_for(struct ev_conf *conf, unsigned setting)
{
    ev_conf_init(conf);
    conf->use = setting == EV_EP ? EV_EPOLL : EV_IO_URING;
    conf->sqpoll = setting == EV_SQPOLL;
    conf->sqpoll_idle_ms = 5;
    conf->ring_entries = 64;
    conf->recv_buffers = 16;
    conf->recv_buffer_size = 1024;
    conf->file_buffers = 4 * FILE_BUF_SIZE;
    conf->max_fds = 4096;
}

bool ev_ring_available(char *why, size_t size)
{
    struct ev_conf conf;
    ev_conf_for(&conf, EV_RING);
    return loop_probe(&conf, why, size) == STATUS_OK;
}

/* --- running --- */

static struct rlimit fd_limit; /* as it was at the start: a failed test may have left it low */
static bool ring_refused;
static char refusal[160];

struct instance {
    const struct ev_case *c;
    unsigned setting;
};

static void run_instance(void **state)
{
    const struct instance *in = *state;
    struct ev_env env = {.setting = in->setting};

    if (in->setting != EV_EP && ring_refused) {
        print_message("skipped: %s\n", refusal);
        skip();
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &fd_limit), 0);
    ev_conf_for(&env.conf, in->setting);
    if (in->c->configure != NULL)
        in->c->configure(&env.conf);
    if (loop_init(&env.loop, &env.conf, &log_process) != STATUS_OK)
        fail_msg("loop_init: %s", env.loop.chosen);
    in->c->run(&env);
    assert_int_equal(env.loop.in_flight, 0);
    loop_fini(&env.loop);
}

int ev_run_cases(const char *group, const struct ev_case *cases, size_t n)
{
    struct CMUnitTest *tests = calloc(n * ARRAY_LEN(settings), sizeof(*tests));
    struct instance *in = calloc(n * ARRAY_LEN(settings), sizeof(*in));
    char **names = calloc(n * ARRAY_LEN(settings), sizeof(*names));
    size_t count = 0;

    getrlimit(RLIMIT_NOFILE, &fd_limit);
    ring_refused = !ev_ring_available(refusal, sizeof(refusal));
    signal(SIGPIPE, SIG_DFL); /* nothing in the event layer may raise it */
    for (size_t s = 0; s < ARRAY_LEN(settings); s++) {
        for (size_t i = 0; i < n; i++) {
            if (cases[i].settings != 0 && (cases[i].settings & settings[s].setting) == 0)
                continue;
            in[count] = (struct instance){&cases[i], settings[s].setting};
            if (asprintf(&names[count], "%s: %s", settings[s].name, cases[i].name) == -1)
                abort();
            tests[count] = (struct CMUnitTest){.name = names[count],
                                               .test_func = run_instance,
                                               .initial_state = &in[count]};
            count++;
        }
    }
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    free(in);
    free(tests);
    return failed;
}

/* --- recording ops --- */

static void record(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    struct ev_op *o = container_of(op, struct ev_op, op);

    assert_ptr_equal(loop, &o->env->loop);
    assert_int_equal(o->env->submitting, 0); /* clause 1 */
    assert_int_equal(op_busy(op), (flags & OP_MORE) != 0); /* clause 5 */
    if (o->calls < EV_LOG) {
        o->log[o->calls] = res;
        o->flag_log[o->calls] = flags;
    }
    o->calls++;
    o->res = res;
    o->flags = flags;
    if ((flags & OP_MORE) == 0)
        o->finals++;
    if (op->kind == OP_RECV && res > 0) {
        assert_true(flags & OP_MORE);
        if (o->n + (size_t)res > o->room) {
            o->room = (o->n + (size_t)res) * 2;
            o->bytes = realloc(o->bytes, o->room);
            assert_non_null(o->bytes);
        }
        memcpy(o->bytes + o->n, op->u.recv.data, (size_t)res);
        o->n += (size_t)res;
    }
    if (o->hook != NULL)
        o->hook(o);
}

void ev_op_init(struct ev_env *env, struct ev_op *o)
{
    *o = (struct ev_op){.env = env};
    op_init(&o->op, record);
}

void ev_op_fini(struct ev_op *o)
{
    assert_false(op_busy(&o->op));
    free(o->bytes);
    o->bytes = NULL;
}

void ev_wait_final(struct ev_env *env, struct ev_op *o)
{
    EV_UNTIL(env, o->finals > 0);
    assert_int_equal(o->finals, 1);
    assert_false(op_busy(&o->op));
}

void ev_cancel_and_wait(struct ev_env *env, struct ev_op *o)
{
    if (!op_busy(&o->op))
        return;
    o->finals = 0;
    EV_DO(env, op_cancel(&env->loop, &o->op));
    ev_wait_final(env, o);
}

void ev_turn_for(struct ev_env *env, uint64_t ms)
{
    for (uint64_t end = ev_now_ms() + ms; ev_now_ms() < end;)
        loop_turn(&env->loop, end);
}

/* --- sockets --- */

int ev_listener(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 1024), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

int ev_client(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (fd == -1)
        return -1;
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void tcp_pair(int pair[2], int bytes)
{
    uint16_t port;
    int l = ev_listener(&port), one = 1;

    if (bytes != 0)
        assert_int_equal(setsockopt(l, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
    pair[0] = ev_client(port);
    pair[1] = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(pair[0] >= 0 && pair[1] >= 0);
    if (bytes != 0)
        assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), 0);
    close(l);
}

void ev_tcp_pair(int pair[2])
{
    tcp_pair(pair, 0);
}

void ev_tcp_pair_small(int pair[2])
{
    tcp_pair(pair, 8192);
}

ssize_t ev_peek_read(int fd, void *p, size_t n)
{
    ssize_t r = recv(fd, p, n, MSG_DONTWAIT);
    return r == -1 ? -errno : r;
}

void ev_put(int fd, const void *p, size_t n)
{
    assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), n);
}

/* --- bytes and files --- */

unsigned char ev_pattern(uint64_t i)
{
    return (unsigned char)((i * 2654435761u) >> 11 ^ i);
}

void ev_pattern_fill(char *p, uint64_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)ev_pattern(from + i);
}

bool ev_pattern_matches(const char *p, uint64_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] != ev_pattern(from + i))
            return false;
    return true;
}

int ev_file(size_t n)
{
    char name[] = "/tmp/sluice-ev-XXXXXX", *p = malloc(n + 1);
    int fd = mkostemp(name, O_CLOEXEC);

    assert_true(fd >= 0);
    assert_non_null(p);
    unlink(name);
    ev_pattern_fill(p, 0, n);
    assert_int_equal(pwrite(fd, p, n, 0), n);
    free(p);
    return fd;
}

/* --- looking at ourselves --- */

unsigned ev_open_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 3; /* . and .. and the folder itself */
}

unsigned ev_threads_named(const char *prefix, int *tid)
{
    DIR *d = opendir("/proc/self/task");
    const struct dirent *e;
    unsigned n = 0;

    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        char path[300], name[64] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "re");
        if (f == NULL)
            continue;
        if (fgets(name, sizeof(name), f) != NULL && strncmp(name, prefix, strlen(prefix)) == 0) {
            n++;
            if (tid != NULL)
                *tid = atoi(e->d_name);
        }
        fclose(f);
    }
    closedir(d);
    return n;
}
