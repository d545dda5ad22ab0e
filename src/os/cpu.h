/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPUs this process may use: which of them are threads of one core, share a last-level cache,
 * sit in one package; and how much of them a cgroup grants.
 *
 * All files are read below a root directory, "" in the program and a recorded tree in tests.
 */
#ifndef SLUICE_OS_CPU_H
#define SLUICE_OS_CPU_H

#include "core/arena.h"
#include "os/cpuset.h"

struct cpu {
    int id;
    int core;      /* each: the lowest CPU number of the group, so equal means "the same one" */
    int cache;     /* last-level cache; the package where the kernel does not tell */
    int package;
};

struct cpu_topology {
    struct cpu *v;        /* allowed and online CPUs only, by id; at least one */
    size_t n;
    size_t cores;         /* different cores among them */
    bool smt;             /* some core has two of them */
};

/*
 * STATUS_NOMEM alone can fail it: where sysfs says nothing, each allowed CPU is a core of its own
 * and all share one cache; where `allowed` and online have nothing in common, `allowed` counts.
 */
enum status cpu_topology_read(struct arena *mem, const char *root, const struct cpuset *allowed,
                              struct cpu_topology *out);

/* The CPU with this id, NULL when it is not in the topology. */
const struct cpu *cpu_find(const struct cpu_topology *t, int id);

/*
 * CPU time that the cgroups of this process grant, in thousandths of a CPU: the least of all
 * levels, of version 2 (cpu.max) and version 1 (cpu.cfs_quota_us).  0: no limit.
 */
uint64_t cpu_quota_read(const char *root);

#endif
