/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: its file, its protocol, clients that misbehave. */
#include "server/control.h"

#include "../os/unit.h"
#include "os/fd.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static struct control c;

static int setup(void **state)
{
    control_init(&c);
    return unit_dir_make(state);
}

static int teardown(void **state)
{
    control_fini(&c, true);
    return unit_dir_drop(state);
}

static void must_open(const char *path)
{
    struct os_error e;
    if (control_open(&c, path, &e) != STATUS_OK)
        fail_msg("%s", e.text);
}

static int client(const char *say)
{
    struct addr a;
    assert_true(addr_from_path(&a, str_z(unit_path("s.sock"))));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, &a.sa, a.len), 0);
    if (say != NULL)
        assert_int_equal(write(fd, say, strlen(say)), strlen(say));
    control_accept(&c);
    return fd;
}

/* What the client gets until the end of the connection. */
static const char *heard(int fd)
{
    static char text[4096];
    size_t n = 0;
    for (ssize_t r; (r = read(fd, text + n, sizeof(text) - 1 - n)) > 0;)
        n += (size_t)r;
    text[n] = '\0';
    close(fd);
    return text;
}

static void paths(void **state)
{
    (void)state;
    char to[32];
    assert_true(control_path("/run/a.pid", to, sizeof(to)));
    assert_string_equal(to, "/run/a.sock");
    assert_true(control_path("/run/a", to, sizeof(to)));
    assert_string_equal(to, "/run/a.sock");
    assert_true(control_path("/run/a.pid.pid", to, sizeof(to)));
    assert_string_equal(to, "/run/a.pid.sock");
    assert_false(control_path("/run/0123456789/0123456789/a.pid", to, sizeof(to)));
}

/* 0600 from its birth, whatever the umask; a stale one is replaced; gone when it is closed. */
static void the_file(void **state)
{
    (void)state;
    struct stat st;
    struct control old;
    mode_t mask = umask(0);
    must_open(unit_path("s.sock"));
    umask(mask);
    assert_int_equal(stat(unit_path("s.sock"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true(S_ISSOCK(st.st_mode));
    old = c;
    control_init(&c);
    close(old.fd); /* as if its master had been killed */
    must_open(unit_path("s.sock"));
    control_close(&c, true);
    assert_int_equal(stat(unit_path("s.sock"), &st), -1);
}

/* Somebody else's file or socket stays, and the message names it. */
static void taken(void **state)
{
    (void)state;
    struct os_error e;
    struct control other;
    unit_file("s.sock", "precious");
    assert_int_not_equal(control_open(&c, unit_path("s.sock"), &e), STATUS_OK);
    assert_non_null(strstr(e.text, unit_path("s.sock")));
    assert_int_equal(e.err, EADDRINUSE);
    unlink(unit_path("s.sock"));
    must_open(unit_path("s.sock"));
    control_init(&other);
    assert_int_equal(control_open(&other, unit_path("s.sock"), &e), STATUS_BUSY);
    struct str word;
    control_accept(&c); /* the one that looked whether we are alive */
    assert_false(control_read(&c, 0, &word));
    int fd = client("reload\n");
    assert_true(control_read(&c, 0, &word));
    control_answer(&c, 0, true, STR("still here\n"));
    assert_string_equal(heard(fd), "ok\nstill here\n");
    assert_int_not_equal(control_open(&other, "/nowhere/at/all.sock", &e), STATUS_OK);
    char longest[200];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[0] = '/';
    longest[sizeof(longest) - 1] = '\0';
    assert_int_not_equal(control_open(&other, longest, &e), STATUS_OK);
    assert_int_equal(e.err, ENAMETOOLONG);
    assert_int_equal(other.fd, -1);
}

/* A move keeps the clients and takes the old file away. */
static void moved(void **state)
{
    (void)state;
    struct stat st;
    must_open(unit_path("s.sock"));
    int fd = client("reload\n");
    must_open(unit_path("t.sock"));
    assert_int_equal(stat(unit_path("s.sock"), &st), -1);
    assert_int_equal(stat(unit_path("t.sock"), &st), 0);
    control_answer(&c, 0, false, STR("no\n"));
    assert_string_equal(heard(fd), "failed\nno\n");
}

static void words(void **state)
{
    (void)state;
    struct str word;
    must_open(unit_path("s.sock"));
    int fd = client("rel");
    assert_false(control_read(&c, 0, &word));
    assert_false(control_read(&c, 0, &word)); /* nothing new: not the end */
    assert_int_not_equal(c.clients[0].fd, -1);
    assert_int_equal(write(fd, "oad\nmore", 8), 8);
    assert_true(control_read(&c, 0, &word));
    assert_true(str_eq(word, STR("reload")));
    control_answer(&c, 0, true, STR(""));
    assert_string_equal(heard(fd), "ok\n");
    assert_int_equal(c.clients[0].fd, -1);

    fd = client("a word that is longer than any word can be");
    assert_false(control_read(&c, 0, &word));
    assert_int_equal(c.clients[0].fd, -1);
    assert_string_equal(heard(fd), "failed\nunknown command\n");

    fd = client(NULL);
    close(fd);
    assert_false(control_read(&c, 0, &word));
    assert_int_equal(c.clients[0].fd, -1);
}

/* Who asks while a reload goes on is answered by the next one. */
static void tickets(void **state)
{
    (void)state;
    must_open(unit_path("s.sock"));
    int first = client("reload\n"), second = client("reload\n"), silent = client(NULL);
    c.clients[0].ticket = 7;
    c.clients[1].ticket = 8;
    control_answer_waiting(&c, 6, true, STR("too early\n"));
    control_answer_waiting(&c, 7, true, STR("seven\n"));
    assert_int_equal(c.clients[0].fd, -1);
    assert_int_not_equal(c.clients[1].fd, -1);
    control_answer_waiting(&c, UINT64_MAX, false, STR("end\n"));
    assert_int_not_equal(c.clients[2].fd, -1);
    assert_string_equal(heard(first), "ok\nseven\n");
    assert_string_equal(heard(second), "failed\nend\n");
    close(silent);
}

/* More than there is room for: the silent make room, those that wait do not. */
static void crowd(void **state)
{
    (void)state;
    int fds[CONTROL_CLIENTS + 1];
    must_open(unit_path("s.sock"));
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        fds[i] = client(NULL);
        c.clients[i].ticket = i == 3 ? 0 : 1;
    }
    fds[CONTROL_CLIENTS] = client("reload\n");
    assert_string_equal(heard(fds[3]), "");
    struct str word;
    assert_true(control_read(&c, 3, &word));
    c.clients[3].ticket = 1;
    int late = client(NULL);
    assert_string_equal(heard(late), "");
    control_answer_waiting(&c, 1, true, STR(""));
    for (size_t i = 0; i <= CONTROL_CLIENTS; i++)
        if (i != 3)
            assert_string_equal(heard(fds[i]), "ok\n");
}

/* A client that does not read holds the server up for a moment, not for ever. */
static void does_not_read(void **state)
{
    (void)state;
    static char much[4 << 20];
    struct timespec from, to;
    memset(much, 'x', sizeof(much));
    must_open(unit_path("s.sock"));
    int fd = client("reload\n");
    clock_gettime(CLOCK_MONOTONIC, &from);
    control_answer(&c, 0, false, str_make(much, sizeof(much)));
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_in_range(to.tv_sec - from.tv_sec, 0, 6);
    assert_int_equal(c.clients[0].fd, -1);
    close(fd);
}

/* The other end: what `sluice -s reload` makes of the answer. */
static void asking(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        int code;
    } table[] = {{"ok\ngeneration 2 serves\n", 0}, {"failed\nno\n", 1}, {"", 1}, {"what\n", 1}};
    assert_int_equal(control_ask(unit_path("s.sock"), "reload"), -1);
    must_open(unit_path("s.sock"));
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            fd_null_stdio(true);
            _exit(control_ask(unit_path("s.sock"), "reload"));
        }
        struct pollfd p = {.fd = c.fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 10000), 1);
        control_accept(&c);
        struct str word;
        p.fd = c.clients[0].fd;
        assert_int_equal(poll(&p, 1, 10000), 1);
        assert_true(control_read(&c, 0, &word) && str_eq(word, STR("reload")));
        assert_int_equal(write(c.clients[0].fd, table[i].answer, strlen(table[i].answer)),
                         strlen(table[i].answer));
        fd_close(&c.clients[0].fd);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), table[i].code);
    }
    control_close(&c, false);
    assert_int_equal(control_ask(unit_path("s.sock"), "reload"), -1); /* stale */
    unlink(unit_path("s.sock"));
}

#define CONTROL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONTROL_TEST(paths),   CONTROL_TEST(the_file), CONTROL_TEST(taken),
        CONTROL_TEST(moved),   CONTROL_TEST(words),    CONTROL_TEST(tickets),
        CONTROL_TEST(crowd),   CONTROL_TEST(does_not_read), CONTROL_TEST(asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
