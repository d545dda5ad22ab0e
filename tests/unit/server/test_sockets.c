/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of listening sockets: transactions, steering, what connections see of it, handing over
 * to another program.
 */
#include "server/sockets.h"

#include "../os/unit.h"
#include "os/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

static struct sockets table;
static struct arena *mem;
static struct buf report;

static int setup(void **state)
{
    table = (struct sockets){0};
    mem = arena_new(4096, 0);
    buf_init(&report, 64u << 10);
    return unit_dir_make(state);
}

static int teardown(void **state)
{
    sockets_close(&table, true);
    arena_delete(mem);
    buf_fini(&report);
    return unit_dir_drop(state);
}

/* A port that nobody has. */
static uint16_t free_port(void)
{
    struct addr a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(addr_from_ip(&a, STR("127.0.0.1"), 0));
    assert_int_equal(bind(fd, &a.sa, a.len), 0);
    assert_int_equal(addr_of_socket(fd, &a), STATUS_OK);
    close(fd);
    return addr_port(&a);
}

static struct listener at(uint16_t port)
{
    struct listener l = {.fd_count = 0};
    sock_options_init(&l.options);
    assert_true(addr_from_ip(&l.addr, STR("127.0.0.1"), port));
    return l;
}

static struct listener at_path(const char *path)
{
    struct listener l = {.fd_count = 0};
    sock_options_init(&l.options);
    assert_true(addr_from_path(&l.addr, str_z(path)));
    return l;
}

static bool claim(struct listener *l, uint32_t workers)
{
    return sockets_claim(&table, l, workers, mem, &report);
}

static void must_claim(struct listener *l, uint32_t workers)
{
    if (!claim(l, workers))
        fail_msg("%.*s", (int)report.n, report.p);
}

static int try_connect(const struct addr *a)
{
    int fd = socket(addr_family(a), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, &a->sa, a->len) == 0)
        return fd;
    close(fd);
    return -1;
}

/* How many of n new connections come to members `from` and later of the group. */
static unsigned arrive(const struct listener *l, const int *fds, uint32_t count, uint32_t from)
{
    unsigned there = 0;
    for (int n = 0; n < 64; n++) {
        int fd = try_connect(&l->addr);
        assert_int_not_equal(fd, -1);
        struct pollfd p[8];
        for (uint32_t i = 0; i < count; i++)
            p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        assert_int_equal(poll(p, count, 5000), 1);
        for (uint32_t i = 0; i < count; i++) {
            if (p[i].revents == 0)
                continue;
            there += i >= from;
            close(accept(fds[i], NULL, NULL));
        }
        close(fd);
    }
    return there;
}

/* h113: a group grows without giving connections to members nobody accepts on yet. */
static void growing(void **state)
{
    (void)state;
    struct listener a = at(free_port()), b = a;
    sockets_begin(&table);
    must_claim(&a, 2);
    sockets_commit(&table, 2);
    assert_int_equal(a.fd_count, 2);
    sockets_begin(&table);
    must_claim(&b, 4);
    assert_int_equal(b.fd_count, 4);
    assert_int_equal(b.fds[0], a.fds[0]);
    assert_int_equal(b.fds[1], a.fds[1]);
    assert_int_equal(arrive(&b, b.fds, 4, 2), 0);
    sockets_commit(&table, 4);
    assert_in_range(arrive(&b, b.fds, 4, 2), 1, 64);
}

/* … and shrinks without closing anything; new connections go where a worker is. */
static void shrinking(void **state)
{
    (void)state;
    struct listener a = at(free_port()), b = a, d = a;
    sockets_begin(&table);
    must_claim(&a, 4);
    sockets_commit(&table, 4);
    sockets_begin(&table);
    must_claim(&b, 1);
    sockets_commit(&table, 1);
    assert_int_equal(b.fd_count, 4);
    assert_int_equal(arrive(&b, b.fds, 4, 1), 0);
    sockets_begin(&table); /* and grows again, with what is there */
    must_claim(&d, 3);
    sockets_commit(&table, 3);
    assert_int_equal(d.fd_count, 4);
    assert_int_equal(arrive(&d, d.fds, 4, 3), 0);
    assert_in_range(arrive(&d, d.fds, 4, 1), 1, 64);
}

/* What is surplus is closed later, from the end: those that stay keep their places. */
static void trimmed(void **state)
{
    (void)state;
    struct listener a = at(free_port()), b = a, d = a, path = at_path(unit_path("x.sock"));
    struct listener *all[] = {&b, &path};
    sockets_begin(&table);
    must_claim(&a, 4);
    sockets_commit(&table, 4);
    assert_false(sockets_surplus(&table, 4));
    sockets_begin(&table);
    must_claim(&b, 2);
    must_claim(&path, 2);
    sockets_commit(&table, 2);
    assert_true(sockets_surplus(&table, 2));
    assert_int_equal(b.fd_count, 4);
    int gone = b.fds[2];
    sockets_trim(&table, all, ARRAY_LEN(all), 2);
    assert_false(sockets_surplus(&table, 2));
    assert_int_equal(b.fd_count, 2);
    assert_int_equal(path.fd_count, 1);
    assert_int_equal(fcntl(gone, F_GETFD), -1);
    assert_in_range(arrive(&b, b.fds, 2, 1), 1, 63);
    sockets_begin(&table); /* and grows again, with new ones behind those that stayed */
    must_claim(&d, 4);
    assert_int_equal(d.fd_count, 4);
    assert_int_equal(d.fds[1], b.fds[1]);
    assert_int_equal(arrive(&d, d.fds, 4, 2), 0);
    sockets_commit(&table, 4);
    assert_in_range(arrive(&d, d.fds, 4, 2), 1, 64);
}

/* A failed reload leaves the old members with all connections, and closes what was opened. */
static void rolled_back(void **state)
{
    (void)state;
    struct listener a = at(free_port()), more = a, other = at(free_port());
    struct listener *listeners[] = {&a};
    sockets_begin(&table);
    must_claim(&a, 1);
    sockets_commit(&table, 1);
    sockets_begin(&table);
    must_claim(&more, 3);
    must_claim(&other, 3);
    sockets_rollback(&table, listeners, 1);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.groups[0].count, 1);
    assert_int_equal(arrive(&a, a.fds, 1, 1), 0);
    assert_int_equal(try_connect(&other.addr), -1);
}

/* An address that the new cycle does not have any more refuses; the others never blink. */
static void removed(void **state)
{
    (void)state;
    struct listener a = at(free_port()), b = at(free_port()), u = at_path(unit_path("u.sock"));
    sockets_begin(&table);
    must_claim(&a, 2);
    must_claim(&b, 2);
    must_claim(&u, 2);
    sockets_commit(&table, 2);
    assert_int_equal(u.fd_count, 1);
    assert_int_equal(access(unit_path("u.sock"), F_OK), 0);
    sockets_begin(&table);
    struct listener again = a;
    must_claim(&again, 2);
    sockets_commit(&table, 2);
    assert_int_equal(table.count, 1);
    assert_int_equal(arrive(&again, again.fds, 2, 2), 0);
    assert_int_equal(try_connect(&b.addr), -1);
    assert_int_equal(access(unit_path("u.sock"), F_OK), -1);
}

/* h95: from 127.0.0.1 to all addresses of the same port and back, our own socket in the way. */
static void widened(void **state)
{
    (void)state;
    struct listener a = at(free_port()), all = a;
    addr_any(&all.addr, AF_INET, addr_port(&a.addr));
    sockets_begin(&table);
    must_claim(&a, 1);
    sockets_commit(&table, 1);
    sockets_begin(&table);
    must_claim(&all, 1);
    sockets_commit(&table, 1);
    int fd = try_connect(&a.addr);
    assert_int_not_equal(fd, -1);
    close(fd);
    sockets_begin(&table);
    must_claim(&a, 1);
    sockets_commit(&table, 1);
    assert_int_equal(table.count, 1);
}

/* h95: an address that somebody has: said with step, address and errno; what is his stays. */
static void taken(void **state)
{
    (void)state;
    struct listener other = at(free_port()), mine = other, u = at_path(unit_path("u.sock")), v = u;
    struct sockets theirs = {0};
    sockets_begin(&theirs);
    assert_true(sockets_claim(&theirs, &other, 1, mem, &report));
    assert_true(sockets_claim(&theirs, &u, 1, mem, &report));
    sockets_begin(&table);
    assert_false(claim(&mine, 1)); /* though both share by SO_REUSEPORT */
    char text[ADDR_TEXT_MAX], want[256];
    addr_format(&mine.addr, text);
    snprintf(want, sizeof(want), "bind() to %s failed (98: Address already in use)\n", text);
    assert_int_equal(report.n, strlen(want));
    assert_memory_equal(report.p, want, report.n);
    assert_false(claim(&v, 1));
    sockets_rollback(&table, NULL, 0);
    assert_int_equal(table.count, 0);
    int fd = try_connect(&u.addr);
    assert_int_not_equal(fd, -1);
    close(fd);
    sockets_close(&theirs, true);
}

/* V1: what one program hands over another takes, in the same order; the first may go on. */
static void handed_over(void **state)
{
    (void)state;
    struct listener a = at(free_port()), b = at(free_port()), u = at_path(unit_path("u.sock"));
    struct sockets heir = {0};
    struct buf list;
    sockets_begin(&table);
    must_claim(&a, 3);
    must_claim(&b, 1);
    must_claim(&u, 2);
    sockets_commit(&table, 3);
    buf_init(&list, 4096);
    assert_true(sockets_handover(&table, &list) && buf_char(&list, '\0'));
    setenv(HANDOVER_ENV, list.p, 1);
    assert_true(sockets_inherit(&heir, &report));
    assert_null(getenv(HANDOVER_ENV));
    assert_int_equal(heir.count, 3);
    for (size_t i = 0; i < heir.count; i++) {
        assert_int_equal(heir.groups[i].count, table.groups[i].count);
        assert_memory_equal(heir.groups[i].fds, table.groups[i].fds,
                            heir.groups[i].count * sizeof(int));
    }
    /* A heir that wants two of the three addresses, and fewer workers, loses nothing. */
    struct listener a2 = a, b2 = b;
    sockets_begin(&heir);
    assert_true(sockets_claim(&heir, &a2, 1, mem, &report));
    assert_true(sockets_claim(&heir, &b2, 1, mem, &report));
    assert_int_equal(a2.fd_count, 3);
    for (size_t i = 0; i < heir.count; i++) /* it is one process here: the table owns them */
        heir.groups[i].count = 0;
    sockets_close(&heir, false);
    assert_int_equal(access(unit_path("u.sock"), F_OK), 0);
    buf_fini(&list);
}

static void bad_handover(void **state)
{
    (void)state;
    static const char *const bad[] = {"x", "127.0.0.1:80=0", "127.0.0.1:80=999", ";", "=7",
                                      "127.0.0.1:80=1;127.0.0.1:81=1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sockets s = {0};
        setenv(HANDOVER_ENV, bad[i], 1);
        report.n = 0;
        if (sockets_inherit(&s, &report) || report.n == 0 || getenv(HANDOVER_ENV) != NULL)
            fail_msg("\"%s\" was taken", bad[i]);
        sockets_close(&s, false);
    }
}

/* A worker keeps what its own cycle has: not a removed address, not a member of the next one. */
static void kept_by_a_worker(void **state)
{
    (void)state;
    struct listener a = at(free_port()), b = at(free_port()), more = a;
    struct listener *mine[] = {&a};
    sockets_begin(&table);
    must_claim(&a, 1);
    must_claim(&b, 1);
    sockets_commit(&table, 1);
    sockets_begin(&table);
    must_claim(&more, 2);
    int of_b = b.fds[0], next = more.fds[1];
    sockets_keep_only(&table, mine, 1);
    assert_int_not_equal(fcntl(a.fds[0], F_GETFD), -1);
    assert_int_equal(fcntl(of_b, F_GETFD), -1);
    assert_int_equal(fcntl(next, F_GETFD), -1);
}

#define SOCKETS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SOCKETS_TEST(growing),      SOCKETS_TEST(shrinking),    SOCKETS_TEST(rolled_back),
        SOCKETS_TEST(removed),      SOCKETS_TEST(widened),      SOCKETS_TEST(taken),
        SOCKETS_TEST(handed_over),  SOCKETS_TEST(bad_handover), SOCKETS_TEST(kept_by_a_worker),
        SOCKETS_TEST(trimmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
