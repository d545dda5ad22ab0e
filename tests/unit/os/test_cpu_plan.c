/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU plan on recorded machines (architecture.md 5; hostile.md h100). */
#include "os/cpu_plan.h"

#include "unit/os/topology.h"

struct row {
    const char *name;
    const struct machine *machine;
    const char *allowed;
    uint64_t quota;
    unsigned workers;            /* 0: auto */
    enum cpu_sqpoll sqpoll;
    const char *seats;           /* "worker CPU" or "worker CPU/SQPOLL CPU", blank between */
    size_t warnings;
    const char *reason;          /* part of one of the reasons */
};

static const struct row rows[] = {
    {"VM, all auto", &machine_vm2, "0-1", 0, 0, CPU_SQPOLL_AUTO, "0 1", 0, "one per core"},
    {"VM, sqpoll on", &machine_vm2, "0-1", 0, 0, CPU_SQPOLL_ON, "0/1", 0, "one per pair"},
    {"VM, one worker, sqpoll auto", &machine_vm2, "0-1", 0, 1, CPU_SQPOLL_AUTO, "0/1", 0,
     "sibling CPU of its own"},
    {"VM, two workers, sqpoll on", &machine_vm2, "0-1", 0, 2, CPU_SQPOLL_ON, "0/1 1/0", 1,
     "as configured"},
    {"VM, sqpoll off", &machine_vm2, "0-1", 0, 0, CPU_SQPOLL_OFF, "0 1", 0, "off: as configured"},
    {"VM, quota 1.5", &machine_vm2, "0-1", 1500, 0, CPU_SQPOLL_AUTO, "0 1", 0, "one per core"},
    {"VM, quota 0.5", &machine_vm2, "0-1", 500, 0, CPU_SQPOLL_AUTO, "0", 0, "quota allows"},
    {"VM, quota 1.5, sqpoll on", &machine_vm2, "0-1", 1500, 0, CPU_SQPOLL_ON, "0/1", 1, ""},
    {"VM, quota 1.5, one worker", &machine_vm2, "0-1", 1500, 1, CPU_SQPOLL_AUTO, "0", 0,
     "quota does not cover"},
    {"VM, eight workers", &machine_vm2, "0-1", 0, 8, CPU_SQPOLL_OFF, "0 1 0 1 0 1 0 1", 1, ""},

    {"cpuset of one", &machine_desktop, "5", 0, 0, CPU_SQPOLL_AUTO, "5", 0, "1 core"},
    {"cpuset of one, sqpoll on", &machine_desktop, "5", 0, 0, CPU_SQPOLL_ON, "5/5", 1, ""},
    {"cpuset of one, eight workers", &machine_desktop, "5", 0, 8, CPU_SQPOLL_AUTO,
     "5 5 5 5 5 5 5 5", 1, ""},

    {"desktop, all auto", &machine_desktop, "0-15", 0, 0, CPU_SQPOLL_AUTO,
     "0/8 1/9 2/10 3/11 4/12 5/13 6/14 7/15", 0, "sibling CPU of its own"},
    {"desktop, sqpoll off", &machine_desktop, "0-15", 0, 0, CPU_SQPOLL_OFF, "0 1 2 3 4 5 6 7", 0,
     "8 cores"},
    {"desktop, quota 4", &machine_desktop, "0-15", 4000, 0, CPU_SQPOLL_AUTO, "0 1 2 3", 0,
     "quota does not cover"},
    {"desktop, quota 4, sqpoll on", &machine_desktop, "0-15", 4000, 0, CPU_SQPOLL_ON, "0/8 1/9", 0,
     "quota allows"},
    {"desktop, one thread per core allowed", &machine_desktop, "0-7", 0, 0, CPU_SQPOLL_AUTO,
     "0 1 2 3 4 5 6 7", 0, "off: not every"},
    {"desktop, the same, sqpoll on", &machine_desktop, "0-7", 0, 0, CPU_SQPOLL_ON,
     "0/1 2/3 4/5 6/7", 0, ""},
    {"desktop, twelve workers use second threads", &machine_desktop, "0-15", 0, 12, CPU_SQPOLL_OFF,
     "0 1 2 3 4 5 6 7 8 9 10 11", 0, ""},
    {"desktop, twelve workers, sqpoll auto", &machine_desktop, "0-15", 0, 12, CPU_SQPOLL_AUTO,
     "0 1 2 3 4 5 6 7 8 9 10 11", 0, "off: not every"},
    {"desktop, nine workers, sqpoll on", &machine_desktop, "0-15", 0, 9, CPU_SQPOLL_ON,
     "0/8 1/9 2/10 3/11 4/12 5/13 6/14 7/15 8/0", 1, ""},

    {"server, all auto", &machine_server, "0-15", 0, 0, CPU_SQPOLL_AUTO,
     "0/8 1/9 2/10 3/11 4/12 5/13 6/14 7/15", 0, ""},
    {"two caches, sqpoll on", &machine_ccx, "0-7", 0, 0, CPU_SQPOLL_ON, "0/1 2/3 4/5 6/7", 0, ""},
    {"two caches, four workers, sqpoll auto", &machine_ccx, "0-7", 0, 4, CPU_SQPOLL_AUTO,
     "0/1 2/3 4/5 6/7", 0, ""},
    {"two caches, odd cpuset, sqpoll on", &machine_ccx, "0-2,4", 0, 0, CPU_SQPOLL_ON, "0/1", 0, ""},
    {"three CPUs, two workers, sqpoll on", &machine_ccx, "0-2", 0, 2, CPU_SQPOLL_ON, "0/1 2/0", 1,
     "as configured"},
    {"two caches, one CPU each, sqpoll auto", &machine_ccx, "3,4", 0, 1, CPU_SQPOLL_AUTO, "3", 0,
     "off: not every"},
    {"two caches, one CPU each, sqpoll on", &machine_ccx, "3,4", 0, 0, CPU_SQPOLL_ON, "3/4", 0, ""},
    {"hybrid, sqpoll on", &machine_hybrid, "0-7", 0, 0, CPU_SQPOLL_ON, "0/1 2/3 4/5 6/7", 0, ""},
    {"hybrid, auto", &machine_hybrid, "0-7", 0, 0, CPU_SQPOLL_AUTO, "0 2 4 5 6 7", 0, "6 cores"},
};

static const char *seats_text(const struct cpu_plan *p)
{
    static char text[512];
    struct wbuf w = wbuf_make(text, sizeof(text));

    for (unsigned i = 0; i < p->workers; i++) {
        const struct cpu_seat *s = &p->seats[i];

        assert_int_equal(s->pinned, s->cpu != CPU_NONE);
        if (i != 0)
            wbuf_char(&w, ' ');
        if (s->pinned)
            cpuset_write(&s->cpus, &w);
        else
            wbuf_char(&w, '-');
        if (p->sqpoll && s->sqpoll_cpu == CPU_NONE)
            wbuf_str(&w, STR("/-"));
        else if (s->sqpoll_cpu != CPU_NONE)
            wbuf_printf(&w, "/%d", s->sqpoll_cpu);
        if (!p->sqpoll)
            assert_int_equal(s->sqpoll_cpu, CPU_NONE);
    }
    wbuf_char(&w, '\0');
    return text;
}

static void machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cpu_wish wish = {.workers = rows[i].workers, .sqpoll = rows[i].sqpoll};
        struct cpu_topology t;
        struct cpu_plan p;
        struct arena a;

        assert_int_equal(unit_dir_make(NULL), 0);
        arena_init(&a, NULL, 0, 4096, 0);
        machine_write(rows[i].machine);
        machine_read(&a, rows[i].allowed, &t);
        assert_int_equal(cpu_plan_make(&a, &t, rows[i].quota, &wish, &p), STATUS_OK);
        if (strcmp(seats_text(&p), rows[i].seats) != 0)
            fail_msg("%s: %s instead of %s", rows[i].name, seats_text(&p), rows[i].seats);
        if (p.warning_count != rows[i].warnings)
            fail_msg("%s: %zu warnings (" STR_FMT ")", rows[i].name, p.warning_count,
                     STR_ARG(p.warnings[0]));
        if (str_find(p.workers_reason, str_z(rows[i].reason)) < 0 &&
            str_find(p.sqpoll_reason, str_z(rows[i].reason)) < 0)
            fail_msg("%s: " STR_FMT "; " STR_FMT, rows[i].name, STR_ARG(p.workers_reason),
                     STR_ARG(p.sqpoll_reason));
        arena_fini(&a);
        unit_dir_drop(NULL);
    }
}

/* Makes a plan on the VM and returns its seats. */
static const char *plan_vm(const struct cpu_wish *wish, size_t *warnings)
{
    const char *text;
    struct cpu_topology t;
    struct cpu_plan p;
    struct arena a;

    arena_init(&a, NULL, 0, 4096, 0);
    machine_read(&a, "0-1", &t);
    assert_int_equal(cpu_plan_make(&a, &t, 0, wish, &p), STATUS_OK);
    *warnings = p.warning_count;
    text = seats_text(&p);
    arena_fini(&a);
    return text;
}

static void affinity(void **state)
{
    struct cpuset lists[2];
    struct cpu_wish wish = {.affinity = CPU_AFFINITY_OFF, .sqpoll = CPU_SQPOLL_OFF};
    size_t warnings;

    (void)state;
    machine_write(&machine_vm2);
    assert_string_equal(plan_vm(&wish, &warnings), "- -");
    wish.sqpoll = CPU_SQPOLL_ON;
    assert_string_equal(plan_vm(&wish, &warnings), "-/-");

    wish = (struct cpu_wish){.affinity = CPU_AFFINITY_LIST, .lists = lists, .list_count = 2,
                             .sqpoll = CPU_SQPOLL_OFF};
    assert_true(cpuset_parse(STR("0-1"), &lists[0]));
    assert_true(cpuset_parse(STR("1,7"), &lists[1]));
    assert_string_equal(plan_vm(&wish, &warnings), "0-1 1");
    assert_int_equal(warnings, 0);
    wish.workers = 3;
    assert_string_equal(plan_vm(&wish, &warnings), "0-1 1 0-1");
    assert_true(cpuset_parse(STR("7"), &lists[1]));
    assert_string_equal(plan_vm(&wish, &warnings), "0-1 - 0-1");
    assert_int_equal(warnings, 1);
}

static void named_threads(void **state)
{
    static const int zero[] = {0}, nine[] = {9}, both[] = {0, 1};
    struct cpu_wish wish = {.sqpoll = CPU_SQPOLL_ON, .sqpoll_cpus = zero, .sqpoll_count = 1};
    size_t warnings;

    (void)state;
    machine_write(&machine_vm2);
    assert_string_equal(plan_vm(&wish, &warnings), "1/0");
    assert_int_equal(warnings, 0);
    wish.sqpoll = CPU_SQPOLL_AUTO;
    wish.workers = 1;
    assert_string_equal(plan_vm(&wish, &warnings), "1/0");
    wish.sqpoll = CPU_SQPOLL_OFF;
    assert_string_equal(plan_vm(&wish, &warnings), "0");
    wish.sqpoll = CPU_SQPOLL_ON;
    wish.sqpoll_cpus = nine;
    assert_string_equal(plan_vm(&wish, &warnings), "0/-");
    assert_true(warnings >= 1);
    wish.sqpoll_cpus = both;
    wish.sqpoll_count = 2;
    wish.workers = 0;
    assert_string_equal(plan_vm(&wish, &warnings), "0/0");
    assert_int_equal(warnings, 1);
}

static void out_of_memory(void **state)
{
    struct cpu v[4] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}, {3, 3, 0, 0}};
    struct cpu_topology t = {v, 4, 4, false};
    struct cpu_wish wish = {.workers = 200};
    struct cpu_plan p;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 1);
    assert_int_equal(cpu_plan_make(&a, &t, 0, &wish, &p), STATUS_NOMEM);
    arena_fini(&a);
    arena_init(&a, NULL, 0, 4096, 8192);
    assert_int_equal(cpu_plan_make(&a, &t, 0, &wish, &p), STATUS_NOMEM);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines),
        UNIT_DIR_TEST(affinity),
        UNIT_DIR_TEST(named_threads),
        cmocka_unit_test(out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
