/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many workers, on which CPUs, and where their SQPOLL threads run.  Pure: topology and wishes
 * in, plan and reasons out.
 *
 *   workers auto   one per physical core allowed, no more than the quota rounded up
 *   sibling        of a worker's CPU: another thread of its core, else a CPU of the same last-level
 *                  cache, that has neither worker nor SQPOLL thread
 *   sqpoll on      every worker has a thread; auto workers become as many as pairs can be had (at
 *                  least one); sharing a CPU gives a warning
 *   sqpoll auto    on where every worker has a sibling of its own and the quota covers both
 */
#ifndef SLUICE_OS_CPU_PLAN_H
#define SLUICE_OS_CPU_PLAN_H

#include "os/cpu.h"

enum cpu_sqpoll { CPU_SQPOLL_AUTO, CPU_SQPOLL_ON, CPU_SQPOLL_OFF };
enum cpu_affinity { CPU_AFFINITY_AUTO, CPU_AFFINITY_OFF, CPU_AFFINITY_LIST };

struct cpu_wish {
    unsigned workers;                 /* 0: auto */
    enum cpu_sqpoll sqpoll;
    enum cpu_affinity affinity;
    const struct cpuset *lists;       /* CPU_AFFINITY_LIST: worker i takes lists[i % list_count] */
    size_t list_count;
    const int *sqpoll_cpus;           /* thread of worker i: [i % sqpoll_count]; count 0: auto */
    size_t sqpoll_count;
};

#define CPU_NONE (-1)

struct cpu_seat {
    bool pinned;
    struct cpuset cpus;               /* of the worker, when pinned */
    int cpu;                          /* the first of them; CPU_NONE when not pinned */
    int sqpoll_cpu;                   /* CPU_NONE: no thread, or one that is not pinned */
};

#define CPU_PLAN_WARNINGS 8

struct cpu_plan {
    struct cpu_seat *seats;
    unsigned workers;
    bool sqpoll;
    struct str workers_reason;        /* "2 workers: one per core" */
    struct str sqpoll_reason;         /* "SQPOLL off: no sibling for each of 2 workers" */
    struct str warnings[CPU_PLAN_WARNINGS];
    size_t warning_count;
};

/* All memory is the arena's; STATUS_NOMEM when it overflows. quota: see cpu_quota_read. */
enum status cpu_plan_make(struct arena *mem, const struct cpu_topology *t, uint64_t quota,
                          const struct cpu_wish *wish, struct cpu_plan *out);

#endif
