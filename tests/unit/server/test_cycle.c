/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The main and events blocks: what rows cannot check is refused with its place; what a cycle opens
 * and checks, without a process being started.
 */
#include "server/cycle.h"

#include "../os/unit.h"

static struct options o;

static int setup(void **state)
{
    if (unit_dir_make(state) != 0)
        return -1;
    static char prefix[64], conf[96];
    snprintf(prefix, sizeof(prefix), "%s", unit_dir);
    snprintf(conf, sizeof(conf), "%s/s.yaml", unit_dir);
    o = (struct options){.prefix = prefix, .conf = conf};
    unit_file("logs/keep", "");
    return 0;
}

struct row {
    const char *conf;
    const char *said; /* after the file's name */
};

static const struct row rows[] = {
    {"worker_processes: 0\nhttp: {}\n",
     ":1:19: worker_processes: \"0\": expected auto or a number"},
    {"worker_processes: 1025\nhttp: {}\n", ":1:19: worker_processes: \"1025\": expected auto"},
    {"worker_processes: two\nhttp: {}\n", ":1:19: worker_processes: \"two\": expected auto"},
    {"worker_priority: 21\nhttp: {}\n",
     ":1:18: worker_priority: \"21\": expected a number from -20"},
    {"worker_priority: '-21'\nhttp: {}\n", ":1:19: worker_priority: \"-21\": expected a number"},
    {"worker_priority: --1\nhttp: {}\n", ":1:18: worker_priority: \"--1\": expected a number"},
    {"worker_cpu_affinity: some\nhttp: {}\n",
     ":1:22: worker_cpu_affinity: \"some\": expected auto"},
    {"worker_cpu_affinity: 0 x-1\nhttp: {}\n",
     ":1:24: worker_cpu_affinity: \"x-1\": expected auto"},
    {"error_log: syslog:server=a\nhttp: {}\n",
     ":1:12: error_log: \"syslog:server=a\": expected a file"},
    {"error_log: logs/e loud\nhttp: {}\n", ":1:19: error_log: \"loud\": expected emerg, alert"},
    {"user: no_such_user_here\nhttp: {}\n", ":1:7: user: there is no user \"no_such_user_here\""},
    {"user: root no_such_group\nhttp: {}\n", ":1:7: user: there is no group \"no_such_group\""},
    {"events: {recv_buffers: 0}\nhttp: {}\n",
     ":1:24: events.recv_buffers: \"0\": expected a number"},
    {"events: {recv_buffers: 8 8m}\nhttp: {}\n",
     ":1:26: events.recv_buffers: \"8m\": expected a size"},
    {"events: {sqpoll_cpu: 1 -2}\nhttp: {}\n",
     ":1:24: events.sqpoll_cpu: \"-2\": expected auto or CPU"},
    {"events: {sqpoll_cpu: one}\nhttp: {}\n", ":1:22: events.sqpoll_cpu: \"one\": expected auto"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf report;
        char want[256];
        if (strncmp(rows[i].conf, "user", 4) == 0 && geteuid() != 0)
            continue; /* it is looked up by root alone */
        buf_init(&report, 1u << 20);
        unit_file("s.yaml", rows[i].conf);
        struct cycle *c = cycle_load(&o, 1, &report);
        assert_true(buf_char(&report, '\0'));
        snprintf(want, sizeof(want), "%s%s", o.conf, rows[i].said);
        if (c != NULL || strstr(report.p, want) == NULL)
            fail_msg("wanted \"%s\"\n%s", want, report.p);
        buf_fini(&report);
    }
}

/* All faults of a run, also those of different kinds. */
static void together(void **state)
{
    (void)state;
    struct buf report;
    buf_init(&report, 1u << 20);
    unit_file("s.yaml", "worker_processes: x\nworker_priority: y\nerror_log: logs/e z\n"
                        "events: {recv_buffers: w}\nhttp: {}\n");
    assert_null(cycle_load(&o, 1, &report));
    assert_true(buf_char(&report, '\0'));
    for (const char *word = "xyzw"; *word != '\0'; word++) {
        char quoted[4] = {'"', *word, '"', '\0'};
        assert_non_null(strstr(report.p, quoted));
    }
    buf_fini(&report);
}

static struct cycle *must_load(const char *conf)
{
    struct buf report;
    buf_init(&report, 1u << 20);
    unit_file("s.yaml", conf);
    struct cycle *c = cycle_load(&o, 1, &report);
    if (c == NULL)
        fail_msg("%.*s", (int)report.n, report.p);
    buf_fini(&report);
    return c;
}

static void good_values(void **state)
{
    (void)state;
    struct cycle *c = must_load("worker_processes: 3\nworker_priority: '-5'\n"
                                "worker_cpu_affinity: off\n"
                                "events: {recv_buffers: 64 2k, use: epoll, sqpoll: on}\n"
                                "http: {}\n");
    assert_int_equal(c->plan.workers, 3);
    assert_int_equal(c->priority, -5);
    assert_int_equal(c->recv_count, 64);
    assert_int_equal(c->recv_size, 2048);
    assert_false(c->plan.sqpoll); /* epoll has no such thread */
    struct ev_conf ev;
    cycle_ev_conf(c, 2, &ev);
    assert_int_equal(ev.use, EV_EPOLL);
    assert_int_equal(ev.recv_buffer_size, 2048);
    assert_int_equal(ev.workers, 3);
    cycle_unref(c);
    c = must_load("worker_processes: 3\nmaster_process: off\nhttp: {}\n");
    assert_int_equal(c->plan.workers, 1);
    cycle_unref(c);
}

/* h133: -t finds what a start would find, and makes nothing. */
static void checked(void **state)
{
    (void)state;
    static const struct {
        const char *conf, *said; /* NULL: good */
    } table[] = {
        {"http: {server: {listen: '127.0.0.1:1'}}\n", NULL},
        {"error_log: new/e\nhttp: {server: {listen: '127.0.0.1:1'}}\n", NULL},
        {"pid: new/dir/s.pid\nhttp: {server: {listen: '127.0.0.1:1'}}\n", NULL},
        {"error_log: /nowhere/e\nhttp: {server: {listen: '127.0.0.1:1'}}\n",
         "/nowhere/e\" could not"},
        {"pid: s.yaml/s.pid\nhttp: {server: {listen: '127.0.0.1:1'}}\n",
         "s.yaml/s.pid\" could not"},
        {"http: {server: {listen: '192.0.2.1:8000'}}\n", "bind() to 192.0.2.1:8000 would fail (99"},
        {"http: {server: {listen: 'unix:/nowhere/s'}}\n", "/nowhere/s\" could not be made"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct buf report;
        struct cycle *c = must_load(table[i].conf);
        buf_init(&report, 1u << 20);
        bool good = cycle_check(c, &report);
        assert_true(buf_char(&report, '\0'));
        if (good != (table[i].said == NULL) || (!good && strstr(report.p, table[i].said) == NULL))
            fail_msg("%s%s", table[i].conf, report.p);
        buf_fini(&report);
        cycle_unref(c);
    }
    assert_int_equal(access(unit_path("new"), F_OK), -1);
    assert_int_equal(access(unit_path("logs/error.log"), F_OK), -1);
}

/* Opening stops at the first thing that fails and says it in one line; logs are there by then. */
static void opened(void **state)
{
    (void)state;
    struct sockets table = {0};
    struct buf report;
    struct cycle *c = must_load("error_log: logs/e\nhttp: {server: {listen: '192.0.2.1:8000'}}\n");
    buf_init(&report, 1u << 20);
    sockets_begin(&table);
    assert_false(cycle_open(c, &table, NULL, &report));
    static const char want[] =
        "bind() to 192.0.2.1:8000 failed (99: Cannot assign requested address)\n";
    assert_int_equal(report.n, strlen(want));
    assert_memory_equal(report.p, want, report.n);
    sockets_rollback(&table, NULL, 0);
    assert_int_equal(table.count, 0);
    int fd = c->log.sinks[0].fd;
    assert_int_not_equal(fcntl(fd, F_GETFD), -1);
    cycle_unref(c);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_not_equal(fcntl(0, F_GETFD), -1);
    sockets_close(&table, true);
    buf_fini(&report);
}

#define CYCLE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, unit_dir_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {CYCLE_TEST(refused),     CYCLE_TEST(together),
                                       CYCLE_TEST(good_values), CYCLE_TEST(checked),
                                       CYCLE_TEST(opened)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
