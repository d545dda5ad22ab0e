/* SPDX-License-Identifier: BSD-2-Clause */
/* Building a cycle: load, digest main and events, plan the CPUs. open.c opens what it needs. */
#include "server/cycle.h"

#include "conf/bind.h"
#include "conf/value.h"
#include "os/error.h"
#include "server/control.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define CYCLE_CHUNK (64u << 10)
#define WORKERS_MAX 1024
#define RECV_COUNT_MAX 32768
#define RECV_SIZE_MIN 1024
#define RECV_SIZE_MAX 65536

/* Descriptors besides connections, listeners and cached files: logs, the ring, pipes. */
#define FD_RESERVE 256u

const struct section *const *cycle_sections(void)
{
    static const struct section *all[128];
    size_t n;
    const struct section *const *http = http_sections(&n);
    CHECK(n + 3 <= ARRAY_LEN(all));
    memcpy(all, http, n * sizeof(*all)); /* first: their slots index per-module arrays */
    all[n] = &main_section;
    all[n + 1] = &events_section;
    all[n + 2] = NULL;
    return all;
}

/* ---- main and events: what rows cannot express ---- */

static bool fault(struct diag *d, const char *path, const struct arg *arg, const char *expected)
{
    diag_error(d, arg->pos, str_z(path), "\"" STR_FMT "\": expected %s", STR_ARG(arg->text),
               expected);
    return false;
}

static bool read_user(struct cycle *c, struct diag *d)
{
    struct os_error e;
    const struct args *in = &c->main->user.v[0];
    c->drop = geteuid() == 0;
    if (!c->drop)
        return true;
    const char *group = in->n > 1 ? in->v[1].text.p : NULL;
    if (priv_lookup(in->v[0].text.p, group, &c->identity, &e) == STATUS_OK)
        return true;
    diag_error(d, in->pos, STR("user"), "%s", e.text);
    return false;
}

static bool read_workers(struct cycle *c, struct diag *d, struct cpu_wish *wish)
{
    const struct arg *arg = &c->main->worker_processes.v[0].v[0];
    int64_t n = 0;
    if (!str_eq(arg->text, STR("auto")) &&
        (!value_int(arg->text, &n, NULL) || n < 1 || n > WORKERS_MAX))
        return fault(d, "worker_processes", arg, "auto or a number from 1 to 1024");
    wish->workers = c->main->master_process ? (unsigned)n : 1;
    return true;
}

static bool read_affinity(struct cycle *c, struct diag *d, struct cpu_wish *wish)
{
    const struct args *in = &c->main->worker_cpu_affinity.v[0];
    if (in->n == 1 && (str_eq(in->v[0].text, STR("auto")) || str_eq(in->v[0].text, STR("off")))) {
        wish->affinity = in->v[0].text.p[0] == 'a' ? CPU_AFFINITY_AUTO : CPU_AFFINITY_OFF;
        return true;
    }
    struct cpuset *lists = arena_array(c->arena, in->n, sizeof(*lists));
    if (lists == NULL)
        return false;
    for (size_t i = 0; i < in->n; i++)
        if (!cpuset_parse(in->v[i].text, &lists[i]) || cpuset_count(&lists[i]) == 0)
            return fault(d, "worker_cpu_affinity", &in->v[i],
                         "auto, off, or CPU lists such as 0-3,8");
    wish->affinity = CPU_AFFINITY_LIST;
    wish->lists = lists;
    wish->list_count = in->n;
    return true;
}

static bool read_sqpoll_cpu(struct cycle *c, struct diag *d, struct cpu_wish *wish)
{
    const struct args *in = &c->events->sqpoll_cpu.v[0];
    if (in->n == 1 && str_eq(in->v[0].text, STR("auto")))
        return true;
    int *cpus = arena_array(c->arena, in->n, sizeof(*cpus));
    if (cpus == NULL)
        return false;
    for (size_t i = 0; i < in->n; i++) {
        int64_t v;
        if (!value_int(in->v[i].text, &v, NULL) || v < 0 || v >= CPUSET_MAX)
            return fault(d, "events.sqpoll_cpu", &in->v[i], "auto or CPU numbers");
        cpus[i] = (int)v;
    }
    wish->sqpoll_cpus = cpus;
    wish->sqpoll_count = in->n;
    return true;
}

static bool read_recv_buffers(struct cycle *c, struct diag *d)
{
    const struct args *in = &c->events->recv_buffers.v[0];
    int64_t count, size = 4096;
    if (!value_int(in->v[0].text, &count, NULL) || count < 1 || count > RECV_COUNT_MAX)
        return fault(d, "events.recv_buffers", &in->v[0], "a number from 1 to 32768");
    if (in->n > 1 && (!value_size(in->v[1].text, &size, NULL) || size < RECV_SIZE_MIN ||
                      size > RECV_SIZE_MAX))
        return fault(d, "events.recv_buffers", &in->v[1], "a size from 1k to 64k");
    c->recv_count = (uint32_t)count;
    c->recv_size = (uint32_t)size;
    return true;
}

static bool read_priority(struct cycle *c, struct diag *d)
{
    const struct arg *arg = &c->main->worker_priority.v[0].v[0];
    bool negative = arg->text.n > 0 && arg->text.p[0] == '-';
    int64_t v;
    if (!value_int(str_skip(arg->text, negative ? 1 : 0), &v, NULL) || v > 20)
        return fault(d, "worker_priority", arg, "a number from -20 to 20");
    c->priority = (int)(negative ? -v : v);
    return true;
}

static bool plan_cpus(struct cycle *c, struct diag *d)
{
    struct cpu_wish wish = {.sqpoll = (enum cpu_sqpoll)c->events->sqpoll};
    struct cpuset allowed;
    struct cpu_topology topology;
    bool good = read_workers(c, d, &wish);
    good = read_affinity(c, d, &wish) && good;
    good = read_sqpoll_cpu(c, d, &wish) && good;
    if (!good)
        return false;
    if (c->events->use == EV_EPOLL)
        wish.sqpoll = CPU_SQPOLL_OFF;
    if (cpuset_affinity(&allowed) != STATUS_OK) {
        diag_error(d, c->main_block->pos, STR("worker_processes"),
                   "sched_getaffinity() failed (%d: %s)", errno, strerrordesc_np(errno));
        return false;
    }
    return cpu_topology_read(c->arena, "/", &allowed, &topology) == STATUS_OK &&
           cpu_plan_make(c->arena, &topology, cpu_quota_read("/"), &wish, &c->plan) == STATUS_OK;
}

static bool read_error_logs(struct cycle *c, struct diag *d)
{
    bool good = true;
    for (size_t i = 0; i < c->main->error_log.n; i++) {
        const struct args *in = &c->main->error_log.v[i];
        int level;
        if (str_starts(in->v[0].text, STR("syslog:")))
            good = fault(d, "error_log", &in->v[0], "a file or stderr (syslog is not built in)");
        if (in->n > 1 && !value_enum(in->v[1].text, log_level_names, &level, NULL))
            good = fault(d, "error_log", &in->v[1],
                         "emerg, alert, crit, error, warn, notice, info or debug");
        if (i == LOG_SINKS) {
            diag_error(d, in->pos, STR("error_log"), "at most %d error logs are possible",
                       LOG_SINKS);
            good = false;
        }
    }
    return good;
}

static bool digest(struct cycle *c, struct diag *d)
{
    bool good = read_user(c, d);
    good = read_recv_buffers(c, d) && good;
    good = read_priority(c, d) && good;
    good = plan_cpus(c, d) && good;
    return read_error_logs(c, d) && good;
}

static bool compile(struct cycle *c, struct diag *d)
{
    const struct options *o = c->options;
    struct conf_source src = {.path = o->conf, .prefix = o->prefix, .overrides = o->overrides};
    if (conf_load(c->arena, d, &src, cycle_sections(), &c->main_block) != STATUS_OK)
        return false;
    c->main = CONF(c->main_block, main);
    c->events = CONF(c->main_block, events);
    for (size_t i = 0; i < c->main_block->child_count; i++)
        if (c->main_block->children[i]->scope == SCOPE_EVENTS)
            c->events = CONF(c->main_block->children[i], events);
    if (!digest(c, d))
        return false;
    c->http.arena = c->arena;
    c->http.diag = d;
    c->http.main_block = c->main_block;
    c->http.prefix = str_z(o->prefix);
    c->http.conf_dir = conf_directory(str_z(o->conf));
    c->http.workers = c->plan.workers;
    return http_compile(&c->http);
}

struct cycle *cycle_load(const struct options *o, uint64_t generation, struct buf *report)
{
    struct arena *a = arena_new(CYCLE_CHUNK, 0);
    struct cycle *c = a != NULL ? ARENA_NEW(a, struct cycle) : NULL;
    if (c == NULL) {
        buf_str(report, STR("out of memory\n"));
        return NULL;
    }
    struct diag d;
    diag_init(&d, a);
    c->arena = a;
    c->generation = generation;
    c->options = o;
    c->refs = 1;
    bool good = compile(c, &d) && d.errors == 0;
    if (!good && d.errors == 0)
        buf_str(report, STR("out of memory\n"));
    diag_print(&d, report);
    c->http.diag = NULL;
    if (good)
        return c;
    arena_delete(a);
    return NULL;
}

/* ---- life ---- */

void cycle_ref(struct cycle *c)
{
    c->refs++;
}

void cycle_unref(struct cycle *c)
{
    if (c == NULL || --c->refs > 0)
        return;
    if (log_process.log == &c->log)
        log_process.log = &log_main;
    cycle_close_logs(c);
    zones_close(&c->http);
    arena_delete(c->arena);
}

void cycle_ev_conf(const struct cycle *c, uint32_t worker, struct ev_conf *out)
{
    const struct events_conf *e = c->events;
    const struct cpu_seat *seat = &c->plan.seats[worker];
    ev_conf_init(out);
    out->use = (enum ev_use)e->use;
    out->sqpoll = c->plan.sqpoll;
    out->sqpoll_cpu = seat->sqpoll_cpu;
    out->sqpoll_idle_ms = (uint32_t)e->sqpoll_idle;
    out->ring_entries = (uint32_t)e->ring_entries;
    out->recv_buffers = c->recv_count;
    out->recv_buffer_size = c->recv_size;
    out->file_buffers = (size_t)e->registered_buffers;
    out->registered_files = e->registered_files;
    out->workers = c->plan.workers;
}

uint64_t cycle_files(const struct cycle *c)
{
    const struct cycle_http *h = &c->http;
    uint64_t n = (uint64_t)c->events->worker_connections + FD_RESERVE +
                 (h->http != NULL ? HTTP(h->http)->cache_max : 0);
    if (c->main->worker_rlimit_nofile != 0)
        return (uint64_t)c->main->worker_rlimit_nofile;
    for (size_t i = 0; i < h->listener_count; i++)
        n += h->listeners[i]->fd_count;
    return n;
}

bool cycle_control(const struct cycle *c, char *to, size_t size)
{
    if (c->main->control.n == 0)
        return control_path(c->main->pid.p, to, size);
    int n = snprintf(to, size, "%s", c->main->control.p);
    return n > 0 && (size_t)n < size;
}
