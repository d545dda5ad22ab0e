/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of CPUs as plain bitmaps in the kernel's own layout, larger than the C library's
 * cpu_set_t.
 */
#include "os/cpuset.h"
#include "core/num.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int cpuset_count(const struct cpuset *s)
{
    int n = 0;

    for (size_t i = 0; i < ARRAY_LEN(s->bits); i++)
        n += __builtin_popcountll(s->bits[i]);
    return n;
}

int cpuset_next(const struct cpuset *s, int after)
{
    for (int cpu = after + 1; cpu < CPUSET_MAX; cpu = (cpu / 64 + 1) * 64) {
        uint64_t word = s->bits[cpu / 64] >> (cpu % 64);

        if (word != 0)
            return cpu + __builtin_ctzll(word);
    }
    return -1;
}

void cpuset_keep(struct cpuset *s, const struct cpuset *other)
{
    for (size_t i = 0; i < ARRAY_LEN(s->bits); i++)
        s->bits[i] &= other->bits[i];
}

static bool parse_range(struct str piece, struct cpuset *set)
{
    ssize_t dash = str_chr(piece, '-');
    uint64_t first, last;

    if (!num_dec(dash < 0 ? piece : str_head(piece, (size_t)dash), &first))
        return false;
    last = first;
    if (dash >= 0 && !num_dec(str_skip(piece, (size_t)dash + 1), &last))
        return false;
    if (last < first || last >= CPUSET_MAX)
        return false;
    for (uint64_t cpu = first; cpu <= last; cpu++)
        cpuset_add(set, (int)cpu);
    return true;
}

bool cpuset_parse(struct str text, struct cpuset *out)
{
    struct cpuset set = {{0}};
    struct str piece;

    if (text.n != 0 && text.p[text.n - 1] == '\n')
        text.n--;
    text = str_trim(text);
    while (text.n != 0) {
        ssize_t comma = str_chr(text, ',');

        piece = comma < 0 ? text : str_head(text, (size_t)comma);
        if (!parse_range(piece, &set))
            return false;
        if (comma >= 0 && (size_t)comma + 1 == text.n)
            return false;
        text = str_skip(text, comma < 0 ? text.n : (size_t)comma + 1);
    }
    *out = set;
    return true;
}

void cpuset_write(const struct cpuset *s, struct wbuf *to)
{
    bool first = true;

    for (int cpu = cpuset_next(s, -1); cpu >= 0;) {
        int last = cpu;

        while (cpuset_has(s, last + 1))
            last++;
        wbuf_printf(to, first ? "%d" : ",%d", cpu);
        if (last > cpu)
            wbuf_printf(to, "-%d", last);
        first = false;
        cpu = cpuset_next(s, last);
    }
}

enum status cpuset_affinity(struct cpuset *out)
{
    memset(out, 0, sizeof(*out));
    /* The bare system call: it takes any size, and says how much of it the kernel filled. */
    if (syscall(SYS_sched_getaffinity, 0, sizeof(out->bits), out->bits) < 0)
        return status_from_errno(errno);
    return STATUS_OK;
}

enum status cpuset_bind(const struct cpuset *s)
{
    if (syscall(SYS_sched_setaffinity, 0, sizeof(s->bits), s->bits) < 0)
        return status_from_errno(errno);
    return STATUS_OK;
}
