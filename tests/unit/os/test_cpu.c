/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies and quotas read from recorded trees (hostile.md h100, h104). */
#include "os/cpu.h"

#include "unit/os/topology.h"

static void desktop(void **state)
{
    struct cpu_topology t;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 0);
    machine_write(&machine_desktop);
    machine_read(&a, "0-15", &t);
    assert_int_equal(t.n, 16);
    assert_int_equal(t.cores, 8);
    assert_true(t.smt);
    assert_int_equal(cpu_find(&t, 11)->core, 3);
    assert_int_equal(cpu_find(&t, 11)->cache, 0);
    assert_null(cpu_find(&t, 16));
    machine_read(&a, "0-7", &t);
    assert_int_equal(t.cores, 8);
    assert_false(t.smt);
    machine_read(&a, "5", &t); /* a cpuset of one */
    assert_int_equal(t.n, 1);
    assert_int_equal(t.v[0].id, 5);
    arena_fini(&a);
}

static void two_sockets(void **state)
{
    struct cpu_topology t;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 0);
    machine_write(&machine_server);
    machine_read(&a, "0-4095", &t); /* more allowed than online */
    assert_int_equal(t.n, 16);
    assert_int_equal(cpu_find(&t, 3)->package, 0);
    assert_int_equal(cpu_find(&t, 13)->package, 4);
    assert_int_equal(cpu_find(&t, 13)->cache, 4);
    assert_int_equal(cpu_find(&t, 13)->core, 5);
    arena_fini(&a);
}

static void no_caches_shown(void **state)
{
    struct cpu_topology t;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 0);
    machine_write(&machine_vm2);
    machine_read(&a, "0-1", &t);
    assert_int_equal(t.cores, 2);
    assert_int_equal(t.v[1].cache, t.v[0].cache);
    arena_fini(&a);
}

static void no_sysfs(void **state)
{
    struct cpu_topology t;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 0);
    machine_read(&a, "2-4", &t);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.cores, 3);
    assert_int_equal(t.v[2].id, 4);
    assert_int_equal(t.v[2].cache, t.v[0].cache);
    machine_read(&a, "", &t);
    assert_int_equal(t.n, 1);
    unit_file("sys/devices/system/cpu/online", "0-1");
    machine_read(&a, "6", &t); /* nothing in common: the mask of the process counts */
    assert_int_equal(t.v[0].id, 6);
    arena_fini(&a);
}

static void this_machine(void **state)
{
    struct cpu_topology t;
    struct cpuset s;
    struct arena a;

    (void)state;
    arena_init(&a, NULL, 0, 4096, 0);
    assert_int_equal(cpuset_affinity(&s), STATUS_OK);
    assert_int_equal(cpu_topology_read(&a, "", &s, &t), STATUS_OK);
    assert_int_equal(t.n, cpuset_count(&s));
    assert_true(t.cores >= 1 && t.cores <= t.n);
    arena_fini(&a);
    arena_init(&a, NULL, 0, 4096, 1);
    assert_int_equal(cpu_topology_read(&a, "", &s, &t), STATUS_NOMEM);
    arena_fini(&a);
}

struct quota_row {
    const char *name;
    const char *cgroup;               /* /proc/self/cgroup; NULL: missing */
    struct {
        const char *file, *text;
    } files[4];
    uint64_t milli;
};

static const struct quota_row quota_rows[] = {
    {"no cgroups", NULL, {{NULL, NULL}}, 0},
    {"v2, no limit", "0::/a\n", {{"a/cpu.max", "max 100000\n"}}, 0},
    {"v2, 1.5 CPUs", "0::/a\n", {{"a/cpu.max", "150000 100000\n"}}, 1500},
    {"v2, the parent grants less", "0::/a/b\n",
     {{"a/b/cpu.max", "400000 100000\n"}, {"a/cpu.max", "50000 100000\n"}}, 500},
    {"v2, a container sees its group at the root", "0::/docker/xyz\n",
     {{"cpu.max", "200000 100000\n"}}, 2000},
    {"v2, beside v1", "5:cpu:/\n0::/a\n", {{"unified/a/cpu.max", "100000 100000"}}, 1000},
    {"v1, 1.5 CPUs", "4:memory:/z\n3:cpu,cpuacct:/a\n",
     {{"cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n"}, {"cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}},
     1500},
    {"v1, no limit", "3:cpu:/a\n",
     {{"cpu/a/cpu.cfs_quota_us", "-1\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}}, 0},
    {"v1, cpuacct alone is not cpu", "3:cpuacct:/a\n",
     {{"cpu/a/cpu.cfs_quota_us", "1000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}}, 0},
    {"garbage", "x\n::\n0:\n0::\n", {{"cpu.max", "99999999999999999999 0\n"}}, 0},
    {"a tiny share is not none", "0::/\n", {{"cpu.max", "1000 1000000\n"}}, 1},
};

static void quotas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(quota_rows) / sizeof(quota_rows[0]); i++) {
        const struct quota_row *r = &quota_rows[i];
        uint64_t got;

        assert_int_equal(unit_dir_make(NULL), 0);
        if (r->cgroup != NULL)
            unit_file("proc/self/cgroup", r->cgroup);
        for (int k = 0; k < 4 && r->files[k].file != NULL; k++) {
            char name[200];

            snprintf(name, sizeof(name), "sys/fs/cgroup/%s", r->files[k].file);
            unit_file(name, r->files[k].text);
        }
        got = cpu_quota_read(unit_dir);
        if (got != r->milli)
            fail_msg("%s: %llu", r->name, (unsigned long long)got);
        unit_dir_drop(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_DIR_TEST(desktop),  UNIT_DIR_TEST(two_sockets),
        UNIT_DIR_TEST(no_caches_shown), UNIT_DIR_TEST(no_sysfs),
        cmocka_unit_test(this_machine), cmocka_unit_test(quotas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
