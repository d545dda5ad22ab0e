/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of CPUs: the "0-3,8" lists of the kernel and of the configuration, and affinity. */
#ifndef SLUICE_OS_CPUSET_H
#define SLUICE_OS_CPUSET_H

#include "core/buf.h"
#include "core/status.h"

#define CPUSET_MAX 4096   /* CPU numbers are below this */

struct cpuset {
    uint64_t bits[CPUSET_MAX / 64];
};

static inline void cpuset_add(struct cpuset *s, int cpu)
{
    s->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static inline void cpuset_remove(struct cpuset *s, int cpu)
{
    s->bits[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}

static inline bool cpuset_has(const struct cpuset *s, int cpu)
{
    return cpu >= 0 && cpu < CPUSET_MAX && (s->bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

int cpuset_count(const struct cpuset *s);
int cpuset_next(const struct cpuset *s, int after);     /* first CPU > after (-1: any), -1: none */
void cpuset_keep(struct cpuset *s, const struct cpuset *other);  /* s becomes what both have */

#define CPUSET_EACH(cpu, set) \
    for (int cpu = cpuset_next((set), -1); cpu >= 0; cpu = cpuset_next((set), cpu))

/* "0-3,8", blanks and a newline around it allowed; empty text is the empty set. */
bool cpuset_parse(struct str text, struct cpuset *out);
void cpuset_write(const struct cpuset *s, struct wbuf *to);   /* "0-3,8" */

/* sched_getaffinity(2) and sched_setaffinity(2) of this thread. */
enum status cpuset_affinity(struct cpuset *out);
enum status cpuset_bind(const struct cpuset *s);

#endif
