/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers as children: forked, told, covered for while they are away, replaced when they die.  One
 * that keeps dying soon after its start is given longer and longer pauses.
 */
#include "core/clock.h"
#include "os/chan.h"
#include "os/fd.h"
#include "os/proc.h"
#include "os/signal.h"
#include "server/master.h"
#include "server/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define YOUNG_MS 1000          /* dying before that age counts as a failed start */
#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS 10000

struct child *child_add(struct master *m, struct cycle *c, uint32_t index)
{
    if (m->child_count == m->child_room) {
        size_t room = m->child_room == 0 ? 16 : m->child_room * 2;
        struct child *p = reallocarray(m->children, room, sizeof(*p));
        if (p == NULL)
            return NULL;
        m->children = p;
        m->child_room = room;
    }
    struct child *ch = &m->children[m->child_count++];
    *ch = (struct child){.chan = -1, .index = index, .cycle = c};
    cycle_ref(c);
    return ch;
}

void child_forget(struct master *m, struct child *ch)
{
    fd_close(&ch->chan);
    cycle_unref(ch->cycle);
    *ch = m->children[--m->child_count];
}

/* In the child: what is the master's alone goes. */
static void leave_master(struct master *m)
{
    for (size_t i = 0; i < m->child_count; i++)
        fd_close(&m->children[i].chan);
    control_close(&m->control, false);
    fd_close(&m->sigfd);
    fd_close(&m->daemon.report_fd);
}

bool child_start(struct master *m, struct child *ch)
{
    int ends[2];
    if (chan_open(ends) != STATUS_OK) {
        log_errno_at(&log_process, LEVEL_ALERT, errno, "cannot make a channel for worker %u",
                     ch->index);
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        struct cycle *c = ch->cycle;
        uint32_t index = ch->index;
        fd_close(&ends[0]);
        leave_master(m);
        exit(worker_run(c, index, ends[1]));
    }
    fd_close(&ends[1]);
    if (pid == -1) {
        log_errno_at(&log_process, LEVEL_ALERT, errno, "fork() of worker %u failed", ch->index);
        fd_close(&ends[0]);
        return false;
    }
    fd_set_nonblock(ends[0], true);
    ch->pid = pid;
    ch->chan = ends[0];
    ch->state = CHILD_STARTING;
    ch->started_ms = clock_mono_ms();
    ch->retry_ms = 0;
    return true;
}

void child_tell(struct child *ch, uint32_t type, uint32_t arg, int fd)
{
    struct chan_msg msg = {.type = type, .arg = arg, .fd = fd};
    if (ch->chan == -1 || ch->pid == 0)
        return;
    enum status st = chan_send(ch->chan, &msg);
    if (st == STATUS_AGAIN)
        log_alert(&log_process, "worker process %d does not take messages", (int)ch->pid);
}

void child_cover(struct master *m, const struct child *away, bool on)
{
    struct child *by = NULL;
    for (size_t i = 0; i < m->child_count; i++) {
        struct child *ch = &m->children[i];
        if (ch == away || ch->cycle != away->cycle || ch->state != CHILD_SERVING)
            continue;
        if (!on) /* whoever did it, and it does no harm to tell the others */
            child_tell(ch, WORKER_LEAVE_TO, away->index, -1);
        else if (by == NULL)
            by = ch;
    }
    if (on && by != NULL)
        child_tell(by, WORKER_ACCEPT_FOR, away->index, -1);
}

void children_tell(struct master *m, const struct cycle *c, uint32_t type)
{
    for (size_t i = 0; i < m->child_count; i++) {
        struct child *ch = &m->children[i];
        if (ch->pid == 0 || (c != NULL && ch->cycle != c))
            continue;
        child_tell(ch, type, 0, -1);
        if (type == WORKER_QUIT || type == WORKER_STOP)
            ch->state = CHILD_RETIRING;
    }
}

size_t children_in(const struct master *m, const struct cycle *c, enum child_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < m->child_count; i++)
        n += m->children[i].cycle == c && m->children[i].state == state;
    return n;
}

static struct child *child_find(struct master *m, pid_t pid)
{
    for (size_t i = 0; i < m->child_count; i++)
        if (m->children[i].pid == pid)
            return &m->children[i];
    return NULL;
}

static void log_death(const struct child *ch, int status)
{
    char text[128];
    struct wbuf w = wbuf_make(text, sizeof(text));
    proc_exit_write(status, &w);
    bool expected = ch->state == CHILD_RETIRING && status == 0;
    log_at(&log_process, expected ? LEVEL_NOTICE : LEVEL_ALERT, "worker process %d %.*s",
           (int)ch->pid, (int)(w.at - text), text);
}

/* A worker of the cycle in force has died on its own: another takes its place. */
static void replace(struct master *m, struct child *ch)
{
    uint64_t now = clock_mono_ms();
    bool young = now - ch->started_ms < YOUNG_MS;
    ch->failures = young ? ch->failures + 1 : 0;
    uint64_t pause = 0;
    if (ch->failures > 1) {
        unsigned shift = ch->failures - 2 < 8 ? ch->failures - 2 : 8;
        pause = (uint64_t)BACKOFF_FIRST_MS << shift;
        pause = pause < BACKOFF_LAST_MS ? pause : BACKOFF_LAST_MS;
        log_alert(&log_process, "worker %u has died %u times in a row, next start in %llu ms",
                  ch->index, ch->failures, (unsigned long long)pause);
    }
    fd_close(&ch->chan);
    ch->pid = 0;
    ch->state = CHILD_NONE;
    ch->retry_ms = now + pause;
    child_cover(m, ch, true);
    if (pause == 0 && !child_start(m, ch))
        ch->retry_ms = now + BACKOFF_FIRST_MS;
}

void child_died(struct master *m, pid_t pid, int status)
{
    struct child *ch = child_find(m, pid);
    if (ch == NULL)
        return;
    log_death(ch, status);
    if (ch->state == CHILD_RETIRING || m->stopping || m->quitting) {
        child_forget(m, ch);
        return;
    }
    if (ch->cycle == m->next) {
        child_forget(m, ch);
        reload_failed(m, "a new worker could not start (see the error log)");
        return;
    }
    if (!m->started) { /* the first start: nothing to fall back to */
        m->exit_code = 1;
        m->stopping = true;
        child_forget(m, ch);
        return;
    }
    replace(m, ch);
}
