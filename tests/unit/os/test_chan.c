/* SPDX-License-Identifier: BSD-2-Clause */
/* The master's channel: messages, descriptors, and a worker that lies (hostile.md 2c CVE-2019-0211). */
#include "os/chan.h"

#include "unit/os/unit.h"

#include <sys/socket.h>
#include <sys/uio.h>

static int ends[2];

static int open_ends(void **state)
{
    (void)state;
    return chan_open(ends) == STATUS_OK ? 0 : -1;
}

static int close_ends(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static size_t open_fds(void)
{
    size_t n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void messages(void **state)
{
    struct chan_msg m = {7, 8, UINT64_MAX, -1}, got;

    (void)state;
    assert_int_equal(chan_recv(ends[1], &got), STATUS_AGAIN);
    assert_int_equal(chan_send(ends[0], &m), STATUS_OK);
    m.type = 9;
    assert_int_equal(chan_send(ends[0], &m), STATUS_OK);
    assert_int_equal(chan_recv(ends[1], &got), STATUS_OK);
    assert_int_equal(got.type, 7);
    assert_int_equal(got.arg, 8);
    assert_true(got.arg2 == UINT64_MAX);
    assert_int_equal(got.fd, -1);
    assert_int_equal(chan_recv(ends[1], &got), STATUS_OK);
    assert_int_equal(got.type, 9);
    assert_int_equal(chan_recv(ends[1], &got), STATUS_AGAIN);
}

static void descriptors(void **state)
{
    struct chan_msg m = {1, 0, 0, -1}, got;
    char byte;
    int p[2];

    (void)state;
    assert_int_equal(pipe(p), 0);
    m.fd = p[1];
    assert_int_equal(chan_send(ends[0], &m), STATUS_OK);
    close(p[1]);
    assert_int_equal(chan_recv(ends[1], &got), STATUS_OK);
    assert_true(got.fd >= 0);
    assert_int_equal(fcntl(got.fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(write(got.fd, "x", 1), 1);
    close(got.fd);
    assert_int_equal(read(p[0], &byte, 1), 1);
    assert_int_equal(read(p[0], &byte, 1), 0);
    close(p[0]);
}

static void full_and_gone(void **state)
{
    struct chan_msg m = {1, 2, 3, -1}, got;
    enum status st;
    int sent = 0;

    (void)state;
    while ((st = chan_send(ends[0], &m)) == STATUS_OK)
        sent++;
    assert_int_equal(st, STATUS_AGAIN);
    assert_true(sent >= 8);
    shutdown(ends[0], SHUT_WR);
    for (int i = 0; i < sent; i++)
        assert_int_equal(chan_recv(ends[1], &got), STATUS_OK); /* what was sent still arrives */
    assert_int_equal(chan_recv(ends[1], &got), STATUS_CLOSED);
    close(ends[0]);
    assert_int_equal(chan_send(ends[1], &m), STATUS_CLOSED);
    ends[0] = dup(ends[1]);
}

/* A message of n bytes with some copies of standard input. */
static void send_raw(size_t n, int fds)
{
    char data[64] = {0}, control[CMSG_SPACE(8 * sizeof(int))] __attribute__((aligned(16))) = {0};
    struct iovec iov = {data, n};
    struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

    if (fds != 0) {
        struct cmsghdr *c;

        mh.msg_control = control;
        mh.msg_controllen = CMSG_SPACE((size_t)fds * sizeof(int));
        c = CMSG_FIRSTHDR(&mh);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)fds * sizeof(int));
    }
    assert_int_equal(sendmsg(ends[0], &mh, 0), n);
}

static void lies(void **state)
{
    static const struct {
        size_t n;
        int fds;
    } rows[] = {{1, 0}, {15, 0}, {17, 0}, {64, 0}, {16, 2}, {16, 8}, {0, 1}, {64, 1}};
    struct chan_msg m = {5, 0, 0, -1}, got;
    size_t before = open_fds();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        send_raw(rows[i].n, rows[i].fds);
        assert_int_equal(chan_send(ends[0], &m), STATUS_OK);
        assert_int_equal(chan_recv(ends[1], &got), STATUS_INVALID);
        assert_int_equal(open_fds(), before);
        assert_int_equal(chan_recv(ends[1], &got), STATUS_OK); /* the next one is whole */
        assert_int_equal(got.type, 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages, open_ends, close_ends),
        cmocka_unit_test_setup_teardown(descriptors, open_ends, close_ends),
        cmocka_unit_test_setup_teardown(full_and_gone, open_ends, close_ends),
        cmocka_unit_test_setup_teardown(lies, open_ends, close_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
