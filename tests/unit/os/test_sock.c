/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening sockets, their options and errors (hostile.md h95), and options of connections. */
#include "os/sock.h"
#include "os/fd.h"

#include "unit/os/unit.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

static struct addr loopback(void)
{
    struct addr a;

    assert_true(addr_parse(&a, STR("127.0.0.1:0")));
    return a;
}

static int listen_here(struct addr *a, const struct sock_options *o)
{
    struct os_error e;
    int fd;

    if (sock_listen(a, o, &fd, &e) != STATUS_OK)
        fail_msg("%s: %s", e.text, strerror(e.err));
    if (addr_family(a) != AF_UNIX)
        assert_int_equal(addr_of_socket(fd, a), STATUS_OK);
    return fd;
}

static int option(int fd, int level, int name)
{
    int v = -1;
    socklen_t n = sizeof(v);

    assert_int_equal(getsockopt(fd, level, name, &v, &n), 0);
    return v;
}

static int connect_to(const struct addr *a)
{
    int fd = socket(addr_family(a), SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &a->sa, a->len), 0);
    return fd;
}

static void all_options(void **state)
{
    struct sock_options o;
    struct addr a = loopback(), other = a;
    int fd;

    (void)state;
    sock_options_init(&o);
    o.reuseport = true;
    o.deferred = 5;
    o.fastopen = 16;
    o.keepalive = SOCK_KEEPALIVE_ON;
    o.keepalive_idle = 33;
    o.keepalive_interval = 7;
    o.keepalive_count = 3;
    o.rcvbuf = 65536;
    o.sndbuf = 65536;
    o.nodelay = true;
    fd = listen_here(&a, &o);
    assert_int_equal(option(fd, SOL_SOCKET, SO_REUSEPORT), 1);
    assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_true(option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT) >= 5);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_FASTOPEN), 16);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 33);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 7);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
    assert_int_equal(option(fd, SOL_SOCKET, SO_RCVBUF), 131072);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_true(sock_is_listener(fd, &a));
    assert_false(sock_is_listener(fd, &other));

    o.deferred = 0;
    o.fastopen = 0;
    o.nodelay = false;
    o.keepalive = SOCK_KEEPALIVE_OFF;
    assert_int_equal(sock_reconfigure(fd, &a, &o, NULL), STATUS_OK);
    assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT), 0);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
    close(fd);
}

static void busy_address_is_named(void **state)
{
    char expect[200], text[ADDR_TEXT_MAX];
    struct sock_options o;
    struct addr a = loopback();
    struct os_error e;
    int first, second;

    (void)state;
    sock_options_init(&o);
    first = listen_here(&a, &o);
    assert_int_equal(sock_listen(&a, &o, &second, &e), STATUS_BUSY);
    assert_int_equal(second, -1);
    assert_int_equal(e.err, EADDRINUSE);
    addr_format(&a, text);
    snprintf(expect, sizeof(expect), "bind() to %s failed", text);
    assert_string_equal(e.text, expect);
    assert_int_equal(sock_listen_retry(&a, &o, 50, &second, &e), STATUS_BUSY);
    assert_string_equal(e.text, expect);
    close(first);
    assert_int_equal(sock_listen_retry(&a, &o, 50, &second, &e), STATUS_OK);
    close(second);
}

static void retry_waits_for_the_old_owner(void **state)
{
    struct sock_options o;
    struct addr a = loopback();
    struct os_error e;
    int held, fd;
    pid_t pid;

    (void)state;
    sock_options_init(&o);
    held = listen_here(&a, &o);
    pid = fork();
    if (pid == 0) {
        usleep(100 * 1000);
        _exit(0);
    }
    close(held);
    assert_int_equal(sock_listen(&a, &o, &fd, &e), STATUS_BUSY);
    assert_int_equal(sock_listen_retry(&a, &o, 2000, &fd, &e), STATUS_OK);
    close(fd);
    waitpid(pid, NULL, 0);
}

static void foreign_address(void **state)
{
    struct sock_options o;
    struct addr a;
    struct os_error e;
    int fd;

    (void)state;
    sock_options_init(&o);
    assert_true(addr_parse(&a, STR("192.0.2.1:8080")));
    assert_int_not_equal(sock_listen(&a, &o, &fd, &e), STATUS_OK);
    assert_int_equal(e.err, EADDRNOTAVAIL);
    assert_string_equal(e.text, "bind() to 192.0.2.1:8080 failed");
}

static void probe_sees_a_sharer(void **state)
{
    struct sock_options o;
    struct addr a = loopback();
    struct os_error e;
    int first, second;

    (void)state;
    sock_options_init(&o);
    o.reuseport = true;
    first = listen_here(&a, &o);
    assert_int_equal(sock_probe(&a, &o, 0, &e), STATUS_BUSY);
    assert_int_equal(e.err, EADDRINUSE);
    second = listen_here(&a, &o); /* the very case the probe is for */
    close(first);
    close(second);
    assert_int_equal(sock_probe(&a, &o, 0, &e), STATUS_OK);
}

/* A port that is free in both families; the IPv6 one, listening alone. -1: there is no IPv6. */
static int six_alone(struct addr *six, struct addr *four, const struct sock_options *o, int *fd4)
{
    for (int i = 0; i < 50; i++) { /* others take ports too */
        int fd6;
        addr_any(six, AF_INET6, 0);
        if (sock_listen(six, o, &fd6, NULL) != STATUS_OK)
            return -1;
        addr_of_socket(fd6, six);
        addr_any(four, AF_INET, addr_port(six));
        if (sock_listen(four, o, fd4, NULL) == STATUS_OK)
            return fd6;
        close(fd6);
    }
    fail_msg("no port is free in both families");
    return -1;
}

static void v6only(void **state)
{
    struct sock_options o;
    struct addr six, four;
    int fd6, fd4;

    (void)state;
    sock_options_init(&o);
    fd6 = six_alone(&six, &four, &o, &fd4); /* the same port, the other family */
    if (fd6 < 0)
        skip(); /* no IPv6 here */
    close(fd6);
    o.ipv6only = false;
    assert_int_equal(sock_listen(&six, &o, &fd6, NULL), STATUS_BUSY); /* fd4 has half of it */
    close(fd4);
    fd6 = listen_here(&six, &o);
    assert_int_equal(option(fd6, IPPROTO_IPV6, IPV6_V6ONLY), 0);
    assert_int_equal(sock_listen(&four, &o, &fd4, NULL), STATUS_BUSY);
    close(fd6);
}

static void unix_socket_life(void **state)
{
    struct sock_options o;
    struct addr a;
    struct os_error e;
    struct stat st;
    int fd, second;

    (void)state;
    sock_options_init(&o);
    o.unix_mode = 0620;
    assert_true(addr_from_path(&a, str_z(unit_path("s.sock"))));
    fd = listen_here(&a, &o);
    assert_int_equal(stat(a.un.sun_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0620);
    assert_true(sock_is_listener(fd, &a));

    /* Somebody listens: not ours to take, and not removed by the failed attempt. */
    assert_int_equal(sock_listen(&a, &o, &second, &e), STATUS_BUSY);
    assert_int_equal(sock_probe(&a, &o, 0, &e), STATUS_BUSY);
    assert_int_equal(stat(a.un.sun_path, &st), 0);

    /* Stale: replaced. */
    close(fd);
    assert_int_equal(sock_probe(&a, &o, 0, &e), STATUS_OK);
    fd = listen_here(&a, &o);
    sock_unlink(&a);
    assert_int_equal(stat(a.un.sun_path, &st), -1);
    close(fd);

    /* A file that is no socket stays. */
    unit_file("s.sock", "precious");
    assert_int_equal(sock_listen(&a, &o, &fd, &e), STATUS_BUSY);
    assert_int_equal(stat(a.un.sun_path, &st), 0);
    assert_int_equal(st.st_size, 8);
    sock_unlink(&a);
    assert_int_equal(stat(a.un.sun_path, &st), 0);
}

/* How many of `tries` connections each member of a group of three gets. */
static void count_members(struct addr *a, const int *fds, int *counts, int tries)
{
    memset(counts, 0, 3 * sizeof(*counts));
    for (int i = 0; i < tries; i++) {
        int client = connect_to(a), got = 0;

        for (int k = 0; k < 3; k++) {
            int fd = accept(fds[k], NULL, NULL);

            if (fd >= 0) {
                counts[k]++;
                got++;
                close(fd);
            }
        }
        assert_int_equal(got, 1);
        close(client);
    }
}

static void steering(void **state)
{
    struct sock_options o;
    struct addr a = loopback();
    int fds[3], counts[3];

    (void)state;
    sock_options_init(&o);
    o.reuseport = true;
    for (int i = 0; i < 3; i++)
        fds[i] = listen_here(&a, &o);
    count_members(&a, fds, counts, 100);
    assert_true(counts[0] > 0 && counts[1] > 0 && counts[2] > 0);

    assert_int_equal(sock_steer_spread(fds[0], 2), STATUS_OK);
    count_members(&a, fds, counts, 60);
    assert_true(counts[0] > 0 && counts[1] > 0);
    assert_int_equal(counts[2], 0);

    assert_int_equal(sock_steer_by_cpu(fds[1], 1), STATUS_OK);
    count_members(&a, fds, counts, 20);
    assert_int_equal(counts[0], 20);

    assert_int_equal(sock_steer_none(fds[2]), STATUS_OK);
    assert_int_equal(sock_steer_none(fds[2]), STATUS_OK);
    count_members(&a, fds, counts, 100);
    assert_true(counts[2] > 0);
    assert_int_equal(sock_steer_spread(fds[0], 0), STATUS_INVALID);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
}

static void connection_options(void **state)
{
    struct sock_options o;
    struct addr a = loopback();
    struct pollfd p;
    char byte;
    int l, c, s;

    (void)state;
    sock_options_init(&o);
    l = listen_here(&a, &o);
    c = connect_to(&a);
    s = accept(l, NULL, NULL);
    assert_int_equal(sock_set_nodelay(s, true), STATUS_OK);
    assert_int_equal(option(s, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(sock_set_cork(s, true), STATUS_OK);
    assert_int_equal(option(s, IPPROTO_TCP, TCP_CORK), 1);
    assert_int_equal(write(s, "abc", 3), 3);
    assert_int_equal(sock_unacked(s), 3); /* corked: it waits */
    assert_int_equal(sock_set_cork(s, false), STATUS_OK);
    assert_int_equal(read(c, &byte, 1), 1);
    assert_int_equal(sock_set_user_timeout(s, 1234), STATUS_OK);
    assert_int_equal(option(s, IPPROTO_TCP, TCP_USER_TIMEOUT), 1234);
    assert_int_equal(sock_take_error(c), 0);
    assert_int_equal(sock_reset_on_close(s), STATUS_OK);
    close(s);
    p = (struct pollfd){.fd = c, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 1000), 1);
    assert_int_equal(sock_take_error(c), ECONNRESET);
    close(c);
    close(l);
    assert_int_equal(sock_unacked(-1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_options),
        cmocka_unit_test(busy_address_is_named),
        cmocka_unit_test(retry_waits_for_the_old_owner),
        cmocka_unit_test(foreign_address),
        cmocka_unit_test(probe_sees_a_sharer),
        cmocka_unit_test(v6only),
        UNIT_DIR_TEST(unix_socket_life),
        cmocka_unit_test(steering),
        cmocka_unit_test(connection_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
