/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU quotas of cgroups.  The path that /proc/self/cgroup gives is not always visible where the
 * hierarchy is mounted (in a container it is the host's), so each level upwards is tried and the
 * mount's own root is the last.
 */
#include "core/num.h"
#include "os/cpu.h"
#include "os/file.h"

#include <limits.h>
#include <stdio.h>

#define CGROUP_MAX 65536

static bool read_below(const char *root, const char *mount, struct str dir, const char *name,
                       struct buf *to)
{
    char path[PATH_MAX];

    to->n = 0;
    if (snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s" STR_FMT "/%s", root, mount, STR_ARG(dir),
                 name) >= (int)sizeof(path))
        return false;
    return file_read(path, 256, to, NULL, NULL) == STATUS_OK;
}

static struct str first_line(struct buf *b)
{
    struct str text = buf_view(b);
    ssize_t end = str_chr(text, '\n');

    return end < 0 ? text : str_head(text, (size_t)end);
}

/* Thousandths of a CPU, rounded up; 0 when either is no number ("max", "-1") or zero. */
static uint64_t ratio(struct str quota, struct str period)
{
    uint64_t q, p;

    if (!num_dec(quota, &q) || !num_dec(period, &p) || p == 0 || q > UINT64_MAX / 1000 - p)
        return 0;
    return (q * 1000 + p - 1) / p;
}

/* cpu.max: "150000 100000" or "max 100000". */
static uint64_t level_v2(const char *root, const char *mount, struct str dir)
{
    struct str line, quota;
    uint64_t milli = 0;
    struct buf b;

    buf_init(&b, 0);
    if (read_below(root, mount, dir, "cpu.max", &b)) {
        line = first_line(&b);
        if (str_split(&line, ' ', &quota))
            milli = ratio(quota, line);
    }
    buf_fini(&b);
    return milli;
}

static uint64_t level_v1(const char *root, const char *mount, struct str dir)
{
    uint64_t milli = 0;
    struct buf q, p;

    buf_init(&q, 0);
    buf_init(&p, 0);
    if (read_below(root, mount, dir, "cpu.cfs_quota_us", &q) &&
        read_below(root, mount, dir, "cpu.cfs_period_us", &p))
        milli = ratio(first_line(&q), first_line(&p));
    buf_fini(&q);
    buf_fini(&p);
    return milli;
}

typedef uint64_t level_f(const char *root, const char *mount, struct str dir);

/* The least quota from `dir` up to the mount's root, merged into *least. */
static void climb(level_f *level, const char *root, const char *mount, struct str dir,
                  uint64_t *least)
{
    for (;;) {
        uint64_t milli;
        ssize_t slash;

        while (dir.n != 0 && dir.p[dir.n - 1] == '/')
            dir.n--;
        milli = level(root, mount, dir);
        if (milli != 0 && (*least == 0 || milli < *least))
            *least = milli;
        if (dir.n == 0)
            return;
        slash = str_rchr(dir, '/');
        dir = str_head(dir, slash < 0 ? 0 : (size_t)slash);
    }
}

/* Whether the comma-separated list has the word. */
static bool list_has(struct str list, struct str word)
{
    struct str piece;

    while (str_split(&list, ',', &piece)) {
        if (str_eq(piece, word))
            return true;
    }
    return false;
}

/* "HIERARCHY:CONTROLLERS:PATH"; no controllers: version 2. */
static void take_line(const char *root, struct str line, uint64_t *least)
{
    struct str number, controllers;

    if (!str_split(&line, ':', &number) || !str_split(&line, ':', &controllers))
        return;
    if (controllers.n == 0) {
        climb(level_v2, root, "", line, least);
        climb(level_v2, root, "/unified", line, least);
    } else if (list_has(controllers, STR("cpu"))) {
        climb(level_v1, root, "/cpu", line, least);
        climb(level_v1, root, "/cpu,cpuacct", line, least);
    }
}

uint64_t cpu_quota_read(const char *root)
{
    char path[PATH_MAX];
    struct str rest, line;
    uint64_t least = 0;
    struct buf b;

    buf_init(&b, 0);
    if (snprintf(path, sizeof(path), "%s/proc/self/cgroup", root) < (int)sizeof(path) &&
        file_read(path, CGROUP_MAX, &b, NULL, NULL) == STATUS_OK) {
        rest = buf_view(&b);
        while (str_split(&rest, '\n', &line))
            take_line(root, line, &least);
    }
    buf_fini(&b);
    return least;
}
