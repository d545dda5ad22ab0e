/* SPDX-License-Identifier: BSD-2-Clause */
/* Pacing on a connection: a timer for the next step, set only when there is something to send. */
#include "net/paced.h"

#include "net/conn.h"

static void step(struct timer *t, uint64_t now_ms)
{
    struct paced *p = container_of(t, struct paced, timer);
    p->waited_ms = now_ms;
    conn_flush(p->conn);
}

bool conn_pace(struct conn *c, uint64_t lead, uint64_t from, uint64_t rate)
{
    CHECK(c->paced == NULL && rate > 0 && rate <= PACE_RATE_MAX);
    struct paced *p = slab_get(&c->net->paces);
    if (p == NULL)
        return false;
    *p = (struct paced){.pace = {.lead = lead, .from = from, .rate = rate}, .conn = c};
    timer_init(&p->timer, step);
    c->paced = p;
    return true;
}

void conn_pace_end(struct conn *c)
{
    if (c->paced == NULL)
        return;
    timer_disarm(&c->net->loop->timers, &c->paced->timer);
    slab_put(&c->net->paces, c->paced);
    c->paced = NULL;
}

bool conn_pace_due(struct conn *c)
{
    struct paced *p = c->paced;
    struct loop *loop = c->net->loop;
    uint64_t pending = out_pending(&c->out);
    if (pace_due(&p->pace, c->out.sent, pending, loop->now_ms, &p->limit)) {
        timer_disarm(&loop->timers, &p->timer);
        return true;
    }
    timer_arm(&loop->timers, &p->timer, pace_next_ms(&p->pace, c->out.sent, pending));
    return false;
}

uint64_t conn_pace_waited(const struct conn *c)
{
    if (c->paced == NULL)
        return 0;
    return timer_armed(&c->paced->timer) ? c->net->loop->now_ms : c->paced->waited_ms;
}
