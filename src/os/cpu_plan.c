/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU plan.  Workers are seated first, then their SQPOLL threads in rounds from the nearest
 * kind of place to the farthest, so that no thread takes what is another worker's only sibling.
 * With "sqpoll auto" the plan with threads is tried and thrown away when a thread has no place.
 */
#include "os/cpu_plan.h"

/* How good the place of an SQPOLL thread is, best first. */
enum place { PLACE_CORE, PLACE_CACHE, PLACE_PACKAGE, PLACE_ANY, PLACE_SHARED };

struct planner {
    struct arena *mem;
    const struct cpu_topology *t;
    const struct cpu_wish *wish;
    struct cpu_plan *plan;
    uint64_t quota;
    size_t *order;          /* topology indices in the order in which workers take them */
    size_t pairs;           /* workers that can have a sibling each */
    unsigned *load;         /* workers and threads per topology index */
    bool *reserved;         /* named in sqpoll_cpu */
};

static void warn(struct planner *p, struct str text)
{
    if (text.p != NULL && p->plan->warning_count < CPU_PLAN_WARNINGS)
        p->plan->warnings[p->plan->warning_count++] = text;
}

static ssize_t index_of(const struct planner *p, int id)
{
    const struct cpu *c = cpu_find(p->t, id);

    return c == NULL ? -1 : c - p->t->v;
}

/* The partner of CPU i among those not taken: the other thread of its core, or its cache mate. */
static ssize_t partner(const struct planner *p, const bool *taken, size_t i, bool by_core)
{
    const struct cpu *v = p->t->v;

    for (size_t k = i + 1; k < p->t->n; k++) {
        if (!taken[k] && (by_core ? v[k].core == v[i].core : v[k].cache == v[i].cache))
            return (ssize_t)k;
    }
    return -1;
}

/* Whether CPU i is the first of its core. */
static bool is_core(const struct planner *p, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (p->t->v[k].core == p->t->v[i].core)
            return false;
    }
    return true;
}

/* Workers that shall have siblings: heads of pairs, then CPUs without partner, then the rest. */
static bool order_for_pairs(struct planner *p)
{
    size_t n = p->t->n, at = 0;
    bool *taken = arena_array(p->mem, n, sizeof(*taken));
    bool *ordered = arena_array(p->mem, n, sizeof(*ordered));

    if (taken == NULL || ordered == NULL)
        return false;
    for (int by_core = 1; by_core >= 0; by_core--) {
        for (size_t i = 0; i < n; i++) {
            ssize_t mate = taken[i] || !is_core(p, i) ? -1 : partner(p, taken, i, by_core);

            if (mate < 0)
                continue;
            taken[i] = taken[mate] = ordered[i] = true;
            p->order[at++] = i;
        }
    }
    p->pairs = at;
    for (int only_free = 1; only_free >= 0; only_free--) {
        for (size_t i = 0; i < n; i++) {
            if (ordered[i] || (only_free && (taken[i] || !is_core(p, i))))
                continue;
            ordered[i] = true;
            p->order[at++] = i;
        }
    }
    return true;
}

static void order_by_core(struct planner *p)
{
    size_t at = 0;

    for (int cores = 1; cores >= 0; cores--) {
        for (size_t i = 0; i < p->t->n; i++) {
            if (is_core(p, i) == (cores == 1))
                p->order[at++] = i;
        }
    }
}

/* Moves the CPUs that sqpoll_cpu names behind the others; returns how many others there are. */
static size_t put_reserved_last(struct planner *p, size_t *scratch)
{
    size_t at = 0, others = 0;

    for (int reserved = 0; reserved <= 1; reserved++) {
        for (size_t i = 0; i < p->t->n; i++) {
            if (p->reserved[p->order[i]] == (reserved == 1))
                scratch[at++] = p->order[i];
        }
        if (reserved == 0)
            others = at;
    }
    memcpy(p->order, scratch, at * sizeof(*scratch));
    return others;
}

static unsigned at_least_one(uint64_t n)
{
    return n == 0 ? 1 : (unsigned)n;
}

/* How many workers, and why. `others`: CPUs that sqpoll_cpu does not name. */
static void count_workers(struct planner *p, bool sqpoll, size_t others)
{
    const struct cpu_wish *w = p->wish;
    const char *why = "one per core";
    size_t n = p->t->cores;
    bool limited = false;
    uint64_t granted = sqpoll ? p->quota / 2000 : (p->quota + 999) / 1000;

    if (w->workers != 0) {
        n = w->workers;
        why = "as configured";
    } else if (w->affinity == CPU_AFFINITY_LIST && w->list_count != 0) {
        n = w->list_count;
        why = "one per list of worker_cpu_affinity";
    } else {
        if (sqpoll && w->sqpoll_count != 0) {
            n = w->sqpoll_count < others ? w->sqpoll_count : others;
            why = "one per CPU of sqpoll_cpu";
        } else if (sqpoll) {
            n = p->pairs;
            why = "one per pair of CPUs for SQPOLL";
        }
        limited = p->quota != 0 && granted < n;
    }
    p->plan->workers = at_least_one(limited ? granted : n);
    if (limited)
        why = "as many as the cgroup's quota allows";
    p->plan->workers_reason =
        arena_printf(p->mem, "%u worker%s: %s (%zu core%s, %zu CPU%s)", p->plan->workers,
                     p->plan->workers == 1 ? "" : "s", why, p->t->cores,
                     p->t->cores == 1 ? "" : "s", p->t->n, p->t->n == 1 ? "" : "s");
}

/* Puts worker i on the CPUs of its list; false when none of them can be had. */
static bool seat_on_list(struct planner *p, unsigned i)
{
    struct cpu_seat *s = &p->plan->seats[i];
    const struct cpuset *list = &p->wish->lists[i % p->wish->list_count];

    s->cpu = CPU_NONE;
    CPUSET_EACH (id, list) {
        ssize_t k = index_of(p, id);

        if (k < 0)
            continue;
        cpuset_add(&s->cpus, id);
        p->load[k]++;
        if (s->cpu == CPU_NONE)
            s->cpu = id;
    }
    s->pinned = s->cpu != CPU_NONE;
    return s->pinned;
}

static void seat_workers(struct planner *p)
{
    const struct cpu_wish *w = p->wish;
    bool lists = w->affinity == CPU_AFFINITY_LIST && w->list_count != 0;

    memset(p->load, 0, p->t->n * sizeof(*p->load));
    for (unsigned i = 0; i < p->plan->workers; i++) {
        struct cpu_seat *s = &p->plan->seats[i];
        size_t k = p->order[i % p->t->n];

        memset(s, 0, sizeof(*s));
        s->sqpoll_cpu = CPU_NONE;
        if (lists) {
            if (!seat_on_list(p, i))
                warn(p, arena_printf(p->mem, "worker %u is not pinned: no CPU of list %u of "
                                             "worker_cpu_affinity may be used",
                                     i, (unsigned)(i % w->list_count) + 1));
            continue;
        }
        s->pinned = true;
        s->cpu = p->t->v[k].id;
        cpuset_add(&s->cpus, s->cpu);
        p->load[k]++;
    }
}

static enum place nearness(const struct cpu *own, const struct cpu *other)
{
    if (own->core == other->core)
        return PLACE_CORE;
    if (own->cache == other->cache)
        return PLACE_CACHE;
    return own->package == other->package ? PLACE_PACKAGE : PLACE_ANY;
}

/*
 * A free CPU that near to the worker's, -1 for none.  For PLACE_SHARED the least loaded one, the
 * nearer of two, and the worker's own only where there is no other.
 */
static ssize_t find_place(const struct planner *p, const struct cpu_seat *s, enum place place)
{
    const struct cpu *own = cpu_find(p->t, s->cpu);
    unsigned best_cost = UINT32_MAX;
    ssize_t best = -1;

    if (own == NULL)
        own = &p->t->v[0];
    for (size_t k = 0; k < p->t->n; k++) {
        enum place near = nearness(own, &p->t->v[k]);
        unsigned cost = p->load[k] * PLACE_SHARED + near;

        if (p->t->v[k].id == own->id)
            continue;
        if (place != PLACE_SHARED && p->load[k] == 0 && near <= place)
            return (ssize_t)k;
        if (place == PLACE_SHARED && cost < best_cost) {
            best_cost = cost;
            best = (ssize_t)k;
        }
    }
    return place == PLACE_SHARED && best < 0 ? own - p->t->v : best;
}

/* Threads whose CPU the configuration names. Returns how many share it with somebody. */
static unsigned seat_named_threads(struct planner *p, bool *seated)
{
    unsigned shared = 0;

    for (unsigned i = 0; p->wish->sqpoll_count != 0 && i < p->plan->workers; i++) {
        int id = p->wish->sqpoll_cpus[i % p->wish->sqpoll_count];
        ssize_t k = index_of(p, id);

        seated[i] = true;
        if (k < 0) {
            warn(p, arena_printf(p->mem, "CPU %d of sqpoll_cpu may not be used: the SQPOLL thread "
                                         "of worker %u is not pinned", id, i));
            shared++;
            continue;
        }
        p->plan->seats[i].sqpoll_cpu = id;
        shared += p->load[k]++ != 0;
    }
    return shared;
}

/* Seats all threads; returns how many have no sibling of their own. *shared: on a busy CPU. */
static unsigned seat_threads(struct planner *p, bool *seated, unsigned *shared)
{
    unsigned homeless;

    memset(seated, 0, p->plan->workers * sizeof(*seated));
    homeless = *shared = seat_named_threads(p, seated);
    for (enum place place = PLACE_CORE; place <= PLACE_SHARED; place++) {
        for (unsigned i = 0; i < p->plan->workers; i++) {
            ssize_t k = seated[i] ? -1 : find_place(p, &p->plan->seats[i], place);

            if (k < 0)
                continue;
            p->plan->seats[i].sqpoll_cpu = p->t->v[k].id;
            p->load[k]++;
            seated[i] = true;
            homeless += place > PLACE_CACHE;
            *shared += place == PLACE_SHARED;
        }
    }
    return homeless;
}

/* One whole plan with or without threads; false without memory. */
static bool make(struct planner *p, bool sqpoll, unsigned *homeless, unsigned *shared)
{
    size_t *scratch = arena_array(p->mem, p->t->n, sizeof(*scratch)), others;
    struct cpu_plan *plan = p->plan;
    bool *seated;

    plan->warning_count = 0;
    plan->sqpoll = sqpoll;
    *homeless = *shared = 0;
    if (scratch == NULL || !order_for_pairs(p))
        return false;
    if (!sqpoll)
        order_by_core(p);
    others = put_reserved_last(p, scratch);
    /* With "auto" the threads must fit the workers, not the workers the threads. */
    count_workers(p, sqpoll && p->wish->sqpoll == CPU_SQPOLL_ON, others);
    plan->seats = arena_array(p->mem, plan->workers, sizeof(*plan->seats));
    seated = arena_array(p->mem, plan->workers, sizeof(*seated));
    if (plan->seats == NULL || seated == NULL)
        return false;
    seat_workers(p);
    if (sqpoll)
        *homeless = seat_threads(p, seated, shared);
    return true;
}

/* Whether the quota is less than the plan can use; workers alone may round it up to a whole CPU. */
static bool quota_short(const struct planner *p, bool sqpoll)
{
    uint64_t workers = p->plan->workers;

    if (p->quota == 0)
        return false;
    return sqpoll ? workers * 2000 > p->quota : workers * 1000 > p->quota + 999;
}

static void add_warnings(struct planner *p, unsigned shared)
{
    struct cpu_plan *plan = p->plan;

    if (plan->workers > p->t->n && p->wish->affinity != CPU_AFFINITY_LIST)
        warn(p, arena_printf(p->mem, "%u workers share %zu CPU%s", plan->workers, p->t->n,
                             p->t->n == 1 ? "" : "s"));
    if (plan->sqpoll && shared != 0)
        warn(p, arena_printf(p->mem, "%u of %u SQPOLL threads share a CPU with a worker or another "
                                     "thread", shared, plan->workers));
    if (quota_short(p, plan->sqpoll))
        warn(p, arena_printf(p->mem, "%u worker%s%s, but the cgroup grants %u.%u CPUs",
                             plan->workers, plan->workers == 1 ? "" : "s",
                             plan->sqpoll ? " with SQPOLL" : "", (unsigned)(p->quota / 1000),
                             (unsigned)(p->quota % 1000 / 100)));
}

/* "sqpoll auto": on if all of it fits. Returns why, NULL without memory. */
static const char *decide(struct planner *p, unsigned *shared)
{
    unsigned homeless;

    if (p->wish->sqpoll == CPU_SQPOLL_OFF)
        return make(p, false, &homeless, shared) ? "SQPOLL off: as configured" : NULL;
    if (!make(p, true, &homeless, shared))
        return NULL;
    if (p->wish->sqpoll == CPU_SQPOLL_ON)
        return "SQPOLL on: as configured";
    if (homeless == 0 && !quota_short(p, true))
        return "SQPOLL on: every worker has a sibling CPU of its own";
    if (!make(p, false, &homeless, shared))
        return NULL;
    return quota_short(p, true)
               ? "SQPOLL off: the cgroup's quota does not cover workers and threads"
               : "SQPOLL off: not every worker has a sibling CPU of its own";
}

enum status cpu_plan_make(struct arena *mem, const struct cpu_topology *t, uint64_t quota,
                          const struct cpu_wish *wish, struct cpu_plan *out)
{
    struct planner p = {.mem = mem, .t = t, .wish = wish, .plan = out, .quota = quota};
    const char *why;
    unsigned shared;

    memset(out, 0, sizeof(*out));
    p.order = arena_array(mem, t->n, sizeof(*p.order));
    p.load = arena_array(mem, t->n, sizeof(*p.load));
    p.reserved = arena_array(mem, t->n, sizeof(*p.reserved));
    if (p.order == NULL || p.load == NULL || p.reserved == NULL)
        return STATUS_NOMEM;
    for (size_t i = 0; wish->sqpoll != CPU_SQPOLL_OFF && i < wish->sqpoll_count; i++) {
        ssize_t k = index_of(&p, wish->sqpoll_cpus[i]);

        if (k >= 0)
            p.reserved[k] = true;
    }
    why = decide(&p, &shared);
    if (why == NULL)
        return STATUS_NOMEM;
    out->sqpoll_reason = arena_printf(mem, "%s", why);
    add_warnings(&p, shared);
    for (unsigned i = 0; wish->affinity == CPU_AFFINITY_OFF && i < out->workers; i++) {
        out->seats[i].pinned = false;
        out->seats[i].cpu = CPU_NONE;
        if (wish->sqpoll_count == 0)
            out->seats[i].sqpoll_cpu = CPU_NONE;
    }
    return arena_overflowed(mem) ? STATUS_NOMEM : STATUS_OK;
}
