/* SPDX-License-Identifier: BSD-2-Clause */
/* Recorded machines as sysfs trees below unit_dir, for the tests of cpu and cpu_plan. */
#ifndef SLUICE_TESTS_UNIT_OS_TOPOLOGY_H
#define SLUICE_TESTS_UNIT_OS_TOPOLOGY_H

#include "os/cpu.h"

#include "unit/os/unit.h"

/* Lists as the kernel writes them; for CPU i the list that holds i applies. NULL-terminated. */
struct machine {
    const char *name;
    const char *online;
    const char *cores[33], *caches[9], *packages[5];
};

/* Taken from the sysfs of such machines. caches empty: a VM that shows none. */
static const struct machine machine_vm2 = {
    "2-core VM without SMT", "0-1", {"0", "1"}, {NULL}, {"0-1"},
};
static const struct machine machine_desktop = {
    "8-core SMT desktop", "0-15",
    {"0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"}, {"0-15"}, {"0-15"},
};
static const struct machine machine_server = {
    "2-socket server, 4 cores each, SMT", "0-15",
    {"0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"},
    {"0-3,8-11", "4-7,12-15"}, {"0-3,8-11", "4-7,12-15"},
};
static const struct machine machine_ccx = {
    "8 cores without SMT, two caches", "0-7", {"0", "1", "2", "3", "4", "5", "6", "7"},
    {"0-3", "4-7"}, {"0-7"},
};
static const struct machine machine_hybrid = {
    "2 SMT cores and 4 plain ones", "0-7", {"0-1", "2-3", "4", "5", "6", "7"}, {"0-7"}, {"0-7"},
};

static inline void machine_list(int cpu, const char *file, const char *const *lists)
{
    char name[160], text[64];

    for (; *lists != NULL; lists++) {
        struct cpuset s;

        assert_true(cpuset_parse(str_z(*lists), &s));
        if (!cpuset_has(&s, cpu))
            continue;
        snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/%s", cpu, file);
        snprintf(text, sizeof(text), "%s\n", *lists);
        unit_file(name, text);
        return;
    }
}

/* Writes the tree: a private first-level cache per core and the last level of the machine. */
static inline void machine_write(const struct machine *m)
{
    struct cpuset online;
    char name[160];

    assert_true(cpuset_parse(str_z(m->online), &online));
    unit_file("sys/devices/system/cpu/online", m->online);
    CPUSET_EACH (cpu, &online) {
        machine_list(cpu, "topology/core_cpus_list", m->cores);
        machine_list(cpu, "topology/package_cpus_list", m->packages);
        if (m->caches[0] == NULL)
            continue;
        snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/cache/index0/level", cpu);
        unit_file(name, "1\n");
        machine_list(cpu, "cache/index0/shared_cpu_list", m->cores);
        snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/cache/index1/level", cpu);
        unit_file(name, "3\n");
        machine_list(cpu, "cache/index1/shared_cpu_list", m->caches);
    }
}

/* The topology of the machine below unit_dir for a process that may run on `allowed`. */
static inline void machine_read(struct arena *a, const char *allowed, struct cpu_topology *out)
{
    struct cpuset s;

    assert_true(cpuset_parse(str_z(allowed), &s));
    assert_int_equal(cpu_topology_read(a, unit_dir, &s, out), STATUS_OK);
}

#endif
