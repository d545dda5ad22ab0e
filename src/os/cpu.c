/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU topology from sysfs.  Whatever is missing or unreadable there is assumed, never an error. */
#include "os/cpu.h"
#include "os/file.h"

#include <limits.h>
#include <stdio.h>

#define SYSFS_MAX 65536

/* The first line of a small file below root, without its newline. False when it is not there. */
static bool read_text(const char *root, const char *name, struct buf *to)
{
    char path[PATH_MAX];

    to->n = 0;
    if (snprintf(path, sizeof(path), "%s%s", root, name) >= (int)sizeof(path))
        return false;
    return file_read(path, SYSFS_MAX, to, NULL, NULL) == STATUS_OK;
}

static bool read_set(const char *root, const char *name, struct cpuset *out)
{
    struct buf b;
    bool ok;

    buf_init(&b, 0);
    ok = read_text(root, name, &b) && cpuset_parse(buf_view(&b), out);
    buf_fini(&b);
    return ok;
}

/* The lowest CPU of the list in the first of the files of cpuN that exists, -1 for none. */
static int group_of(const char *root, int cpu, const char *const *files)
{
    struct cpuset set;
    char name[160];

    for (; *files != NULL; files++) {
        snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/%s", cpu, *files);
        if (read_set(root, name, &set) && cpuset_has(&set, cpu))
            return cpuset_next(&set, -1);
    }
    return -1;
}

/* The lowest CPU that shares the highest level of cache, -1 when the kernel does not tell. */
static int cache_of(const char *root, int cpu)
{
    struct cpuset set, shared;
    char name[160];
    int best = 0;
    struct buf b;

    buf_init(&b, 0);
    for (int i = 0; i < 16; i++) {
        int level;

        snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i);
        if (!read_text(root, name, &b))
            break;
        level = b.n != 0 ? b.p[0] - '0' : 0;
        snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
                 cpu, i);
        if (level > best && read_set(root, name, &set) && cpuset_has(&set, cpu)) {
            best = level;
            shared = set;
        }
    }
    buf_fini(&b);
    return best == 0 ? -1 : cpuset_next(&shared, -1);
}

static void describe(const char *root, int id, int first, struct cpu *out)
{
    static const char *const core_files[] = {"topology/core_cpus_list",
                                             "topology/thread_siblings_list", NULL};
    static const char *const package_files[] = {"topology/package_cpus_list",
                                                "topology/core_siblings_list", NULL};

    out->id = id;
    out->core = group_of(root, id, core_files);
    if (out->core < 0)
        out->core = id;
    out->package = group_of(root, id, package_files);
    if (out->package < 0)
        out->package = first;
    out->cache = cache_of(root, id);
    if (out->cache < 0)
        out->cache = out->package;
}

static void count_cores(struct cpu_topology *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t k = 0;

        while (k < i && t->v[k].core != t->v[i].core)
            k++;
        if (k == i)
            t->cores++;
        else
            t->smt = true;
    }
}

enum status cpu_topology_read(struct arena *mem, const char *root, const struct cpuset *allowed,
                              struct cpu_topology *out)
{
    struct cpuset online, use = *allowed;
    int first;

    *out = (struct cpu_topology){NULL, 0, 0, false};
    if (read_set(root, "/sys/devices/system/cpu/online", &online)) {
        cpuset_keep(&use, &online);
        if (cpuset_count(&use) == 0)
            use = *allowed;
    }
    if (cpuset_count(&use) == 0)
        cpuset_add(&use, 0);
    out->v = arena_array(mem, (size_t)cpuset_count(&use), sizeof(*out->v));
    if (out->v == NULL)
        return STATUS_NOMEM;
    first = cpuset_next(&use, -1);
    CPUSET_EACH (id, &use)
        describe(root, id, first, &out->v[out->n++]);
    count_cores(out);
    return STATUS_OK;
}

const struct cpu *cpu_find(const struct cpu_topology *t, int id)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->v[i].id == id)
            return &t->v[i];
    }
    return NULL;
}
