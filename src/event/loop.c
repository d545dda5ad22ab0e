/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop itself: choosing a back end, turns, clocks, and the table of ops in flight whose
 * generations keep late completions away from recycled owners.
 */
#include "event/loop.h"

#include "core/clock.h"
#include "event/backend.h"
#include "event/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static const struct ev_backend *const backends[] = {&uring_backend, &epoll_backend};

/* Ops a descriptor can have in flight at once: recv, send, a step of send_file, and room. */
#define OPS_PER_FD 4u
#define SLOTS_MIN 4096u

#define GENERATION_MASK 0xffffffu

void ev_conf_init(struct ev_conf *c)
{
    *c = (struct ev_conf){
        .use = EV_AUTO,
        .sqpoll_cpu = -1,
        .sqpoll_idle_ms = 1000,
        .ring_entries = 4096,
        .recv_buffers = 1024,
        .recv_buffer_size = 4096,
        .file_buffers = 4u << 20,
        .registered_files = true,
        .max_fds = 16384,
        .workers = 1,
    };
}

/*
 * The slot table is reserved once for the most ops there can be; pages that are never touched cost
 * nothing, and taking a slot cannot fail for lack of memory.
 */
static enum status slots_init(struct loop *loop, const struct ev_conf *conf)
{
    uint64_t count = (uint64_t)conf->max_fds * OPS_PER_FD + SLOTS_MIN;
    void *mem = mmap(NULL, count * sizeof(struct op_slot), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mem == MAP_FAILED)
        return STATUS_NOMEM;
    loop->slots = mem;
    loop->slot_count = (uint32_t)count;
    loop->slot_used = 0;
    loop->slot_free = OP_SLOT_NONE;
    return STATUS_OK;
}

uint32_t loop_slot_take(struct loop *loop, struct op *op)
{
    uint32_t i = loop->slot_free;
    if (i != OP_SLOT_NONE) {
        loop->slot_free = loop->slots[i].next_free;
    } else {
        CHECK(loop->slot_used < loop->slot_count);
        i = loop->slot_used++;
    }
    loop->slots[i].op = op;
    loop->in_flight++;
    return i;
}

static void slot_release(struct loop *loop, struct op *op)
{
    struct op_slot *s = &loop->slots[op->slot];
    s->op = NULL;
    s->generation = (s->generation + 1) & GENERATION_MASK;
    s->next_free = loop->slot_free;
    loop->slot_free = op->slot;
    op->slot = OP_SLOT_NONE;
    loop->in_flight--;
}

uint64_t loop_user_data(const struct loop *loop, const struct op *op)
{
    return (uint64_t)op->kind << 56 | (uint64_t)loop->slots[op->slot].generation << 32 | op->slot;
}

struct op *loop_slot_find(struct loop *loop, uint64_t user_data)
{
    uint32_t i = (uint32_t)user_data;
    uint32_t generation = (uint32_t)(user_data >> 32) & GENERATION_MASK;
    if (UNLIKELY(i >= loop->slot_used || loop->slots[i].generation != generation ||
                 loop->slots[i].op == NULL)) {
        loop->stats.late++;
        return NULL;
    }
    return loop->slots[i].op;
}

void loop_complete(struct loop *loop, struct op *op, int32_t res, unsigned flags)
{
    if (UNLIKELY(loop->fault != NULL) && !ev_fault_complete(loop, op, &res, flags))
        return;
    loop->stats.completed++;
    if (!(flags & OP_MORE))
        slot_release(loop, op);
    op->done(loop, op, res, flags);
}

void loop_clock(struct loop *loop)
{
    loop->now_ms = clock_mono_ms();
    loop->wall = clock_wall();
}

/* Tries the back ends that `use` allows, best first. */
static enum status choose(struct loop *loop, const struct ev_conf *conf, char *why, size_t size)
{
    char refused[128] = "";
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        const struct ev_backend *b = backends[i];
        if ((conf->use == EV_IO_URING && b != &uring_backend) ||
            (conf->use == EV_EPOLL && b != &epoll_backend))
            continue;
        char text[128];
        loop->backend = b;
        enum status st = b->init(loop, conf, text, sizeof(text));
        if (st == STATUS_OK) {
            snprintf(why, size, "%s%s%s%s", text, refused[0] ? " (" : "", refused,
                     refused[0] ? ")" : "");
            return STATUS_OK;
        }
        if (st != STATUS_UNSUPPORTED || conf->use != EV_AUTO) {
            snprintf(why, size, "%s: %s", b->name, text);
            return st;
        }
        snprintf(refused, sizeof(refused), "%s: %.100s", b->name, text);
    }
    snprintf(why, size, "no event back end works here: %s", refused);
    return STATUS_UNSUPPORTED;
}

enum status loop_init(struct loop *loop, const struct ev_conf *conf, struct log_ctx *log)
{
    *loop = (struct loop){.log = log};
    list_init(&loop->turns);
    list_init(&loop->file_waiters);
    loop_clock(loop);
    timer_wheel_init(&loop->timers, loop->now_ms);
    loop->pipes = calloc(1, sizeof(*loop->pipes));
    if (loop->pipes == NULL || slots_init(loop, conf) != STATUS_OK) {
        snprintf(loop->chosen, sizeof(loop->chosen), "out of memory");
        free(loop->pipes);
        return STATUS_NOMEM;
    }
    pipe_pool_init(loop->pipes, conf->workers);
    enum status st = choose(loop, conf, loop->chosen, sizeof(loop->chosen));
    if (st != STATUS_OK) {
        munmap(loop->slots, loop->slot_count * sizeof(struct op_slot));
        pipe_pool_fini(loop->pipes);
        free(loop->pipes);
    }
    return st;
}

void loop_fini(struct loop *loop)
{
    CHECK(loop->in_flight == 0);
    loop->backend->fini(loop);
    munmap(loop->slots, loop->slot_count * sizeof(struct op_slot));
    pipe_pool_fini(loop->pipes);
    free(loop->pipes);
    loop->pipes = NULL;
    loop->slots = NULL;
}

/* What is put off while this runs belongs to the next turn, which then does not sleep. */
static void run_turns(struct loop *loop)
{
    struct list now;
    list_init(&now);
    list_splice(&now, &loop->turns);
    struct list *l;
    while ((l = list_pop_front(&now)) != NULL) {
        struct turn *t = container_of(l, struct turn, link);
        t->run(t);
    }
}

void loop_turn(struct loop *loop, uint64_t at_ms)
{
    uint64_t due = timer_next(&loop->timers);
    if (due > at_ms)
        due = at_ms;
    if (!list_empty(&loop->turns))
        due = 0;
    loop->backend->wait(loop, due);
    timer_advance(&loop->timers, loop->now_ms);
    run_turns(loop);
}

void loop_run(struct loop *loop)
{
    loop->stopping = false;
    while (!loop->stopping)
        loop_turn(loop, TIMER_NEVER);
}

void loop_stop(struct loop *loop)
{
    loop->stopping = true;
}

void loop_close_fd(struct loop *loop, int fd)
{
    loop->backend->close_fd(loop, fd);
}

char *loop_file_buf_get(struct loop *loop)
{
    return loop->backend->file_buf_get(loop);
}

void loop_file_buf_put(struct loop *loop, char *buf)
{
    loop->backend->file_buf_put(loop, buf);
    send_file_wake(loop);
}

bool loop_posted(const struct loop *loop, const struct op *op)
{
    return loop->backend->posted == NULL || loop->backend->posted(loop, op);
}

const char *loop_backend_name(const struct loop *loop)
{
    return loop->backend->name_of != NULL ? loop->backend->name_of(loop) : loop->backend->name;
}

enum status loop_probe(const struct ev_conf *conf, char *text, size_t size)
{
    enum status st = STATUS_UNSUPPORTED;
    char refused[128] = "";
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        const struct ev_backend *b = backends[i];
        if ((conf->use == EV_IO_URING && b != &uring_backend) ||
            (conf->use == EV_EPOLL && b != &epoll_backend))
            continue;
        char why[128];
        st = b->probe(conf, why, sizeof(why));
        if (st == STATUS_OK) {
            snprintf(text, size, "%s: %s%s%s%s", b->name, why, refused[0] ? " (" : "", refused,
                     refused[0] ? ")" : "");
            return STATUS_OK;
        }
        snprintf(refused, sizeof(refused), "%s: %.100s", b->name, why);
        if (st != STATUS_UNSUPPORTED || conf->use != EV_AUTO)
            break;
    }
    snprintf(text, size, "none: %s", refused);
    return st;
}
