/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers as children: forked, told, covered for while they are away, replaced when they die.  One
 * that keeps dying soon after its start is given longer and longer pauses.
 */
#include "core/clock.h"
#include "os/chan.h"
#include "os/fd.h"
#include "os/proc.h"
#include "os/shm.h"
#include "os/signal.h"
#include "server/master.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define YOUNG_MS 1000          /* dying before that age counts as a failed start */
#define BACKOFF_FIRST_MS 100
#define RETRY_MS 500           /* after a fork that failed */
#define BACKOFF_LAST_MS 10000

/* ---- the list ---- */

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
    struct worker_board *board = shm_alloc(sizeof(*board));
    if (board == NULL)
        return NULL;
    struct child *ch = &m->children[m->child_count++];
    *ch = (struct child){.chan = -1, .index = index, .cycle = c, .board = board};
    cycle_ref(c);
    return ch;
}

void child_forget(struct master *m, struct child *ch)
{
    fd_close(&ch->chan);
    shm_free(ch->board, sizeof(*ch->board));
    cycle_unref(ch->cycle);
    *ch = m->children[--m->child_count];
}

void children_drop_absent(struct master *m, const struct cycle *c)
{
    for (size_t i = m->child_count; i-- > 0;)
        if (m->children[i].pid == 0 && (c == NULL || m->children[i].cycle == c))
            child_forget(m, &m->children[i]);
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

/* ---- starting ---- */

static void close_other_logs(struct cycle *c, const struct cycle *mine)
{
    if (c != NULL && c != mine)
        cycle_close_logs(c);
}

/*
 * In the child: what is the master's alone goes, and so do logs and listeners of other cycles: a
 * log that was rotated away would keep its disk space, an address that was removed would go on
 * taking connections.
 */
static void leave_master(struct master *m, const struct cycle *mine)
{
    for (size_t i = 0; i < m->child_count; i++) {
        fd_close(&m->children[i].chan);
        close_other_logs(m->children[i].cycle, mine);
    }
    close_other_logs(m->cycle, mine);
    close_other_logs(m->next, mine);
    sockets_keep_only(&m->sockets, mine->http.listeners, mine->http.listener_count);
    control_fini(&m->control, false);
    fd_close(&m->sigfd);
    fd_close(&m->upgrade_fd);
    /* Who started the daemon may wait for the end of its output: the master lets go when ready. */
    if (m->daemon.report_fd >= 0)
        fd_null_stdio(true);
    fd_close(&m->daemon.report_fd);
    upgrade_leave();
}

static _Noreturn void be_worker(struct master *m, struct child *ch, int ends[2])
{
    struct cycle *c = ch->cycle;
    struct worker_start how = {
        .index = ch->index, .chan = ends[1], .board = ch->board, .entry = ch->entry};
    fd_close(&ends[0]);
    leave_master(m, c);
    exit(worker_run(c, &how));
}

bool child_start(struct master *m, struct child *ch, struct os_error *e)
{
    int ends[2];
    if (chan_open(ends) != STATUS_OK) {
        os_fail(e, errno, "socketpair() for worker %u failed", ch->index);
        return false;
    }
    if (!roll_enter(&m->roll, &ch->entry)) {
        os_fail(e, EAGAIN, "there are too many workers for another one");
        fd_close(&ends[0]);
        fd_close(&ends[1]);
        return false;
    }
    memset(ch->board->why, 0, sizeof(ch->board->why));
    score_begin(&ch->board->score, 0, ch->cycle->generation, clock_mono_ms());
    pid_t pid = fork();
    if (pid == 0)
        be_worker(m, ch, ends);
    fd_close(&ends[1]);
    if (pid == -1) {
        os_fail(e, errno, "fork() of worker %u failed", ch->index);
        roll_leave(&m->roll, &ch->entry);
        fd_close(&ends[0]);
        return false;
    }
    ch->pid = pid;
    ch->chan = ends[0];
    ch->state = CHILD_STARTING;
    ch->hung = false;
    ch->started_ms = clock_mono_ms();
    ch->retry_ms = 0;
    return true;
}

bool children_start(struct master *m, struct cycle *c, struct os_error *e)
{
    for (uint32_t i = 0; i < c->plan.workers; i++) {
        struct child *ch = child_add(m, c, i);
        if (ch == NULL) {
            os_fail(e, ENOMEM, "worker %u cannot be started", i);
            return false;
        }
        if (!child_start(m, ch, e))
            return false;
    }
    return true;
}

/* A worker of the cycle in force is started again; where that fails it is tried again later. */
void child_restart(struct master *m, struct child *ch)
{
    struct os_error e;
    if (!child_start(m, ch, &e)) {
        log_errno_at(&log_process, LEVEL_ALERT, e.err, "%s", e.text);
        ch->retry_ms = clock_mono_ms() + RETRY_MS;
    }
}

/* ---- telling ---- */

void child_tell(struct child *ch, uint32_t type, uint32_t arg, int fd)
{
    struct chan_msg msg = {.type = type, .arg = arg, .fd = fd};
    if (ch->chan == -1 || ch->pid == 0 || chan_send(ch->chan, &msg) != STATUS_AGAIN)
        return; /* one that is gone will be reaped */
    log_alert(&log_process, "worker process %d does not take messages", (int)ch->pid);
    if (type == WORKER_STOP)
        kill(ch->pid, SIGTERM);
    else if (type == WORKER_QUIT)
        kill(ch->pid, SIGQUIT);
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

void child_cover(struct master *m, const struct child *away, bool on)
{
    for (size_t i = 0; i < m->child_count; i++) {
        struct child *ch = &m->children[i];
        if (ch == away || ch->cycle != away->cycle || ch->state != CHILD_READY || ch->hung)
            continue;
        child_tell(ch, on ? WORKER_ACCEPT_FOR : WORKER_LEAVE_TO, away->index, -1);
        if (on)
            return; /* one is enough; all are told when it is over, whoever it was */
    }
}

static bool is_away(const struct child *ch)
{
    return ch->state == CHILD_NONE || ch->state == CHILD_STARTING || ch->hung;
}

/* A worker of the cycle in force that has just become ready takes over from those who stood in. */
static void join_siblings(struct master *m, struct child *ch)
{
    child_tell(ch, WORKER_ACCEPT_FOR, ch->index, -1);
    child_cover(m, ch, false);
    for (size_t i = 0; i < m->child_count; i++) {
        const struct child *other = &m->children[i];
        if (other != ch && other->cycle == ch->cycle && is_away(other))
            child_tell(ch, WORKER_ACCEPT_FOR, other->index, -1);
    }
}

void child_ready(struct master *m, struct child *ch)
{
    if (ch->state != CHILD_STARTING)
        return;
    ch->state = CHILD_READY;
    if (m->started && ch->cycle == m->cycle)
        join_siblings(m, ch);
}

void children_accept(struct master *m, const struct cycle *c)
{
    for (size_t i = 0; i < m->child_count; i++)
        if (m->children[i].cycle == c && m->children[i].state == CHILD_READY)
            child_tell(&m->children[i], WORKER_ACCEPT_FOR, m->children[i].index, -1);
}

/* ---- dying ---- */

void child_why(const struct child *ch, char *to, size_t size)
{
    size_t n = 0;
    while (n + 1 < size && n < WORKER_WHY && ch->board->why[n] != '\0') {
        unsigned char c = (unsigned char)ch->board->why[n];
        to[n++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    to[n] = '\0';
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
    ch->hung = false;
    ch->retry_ms = now + pause;
    child_cover(m, ch, true);
    if (pause == 0)
        child_restart(m, ch);
}

/* "worker 1 cannot start: io_uring: not permitted ...", or how it ended. */
static struct str death_text(const struct child *ch, int status, char *to, size_t size)
{
    char why[WORKER_WHY];
    struct wbuf w = wbuf_make(to, size);
    child_why(ch, why, sizeof(why));
    wbuf_printf(&w, "worker %u cannot start: %s", ch->index, why);
    if (why[0] == '\0')
        proc_exit_write(status, &w);
    return str_between(to, w.at);
}

void child_died(struct master *m, pid_t pid, int status)
{
    char text[WORKER_WHY + 64];
    struct child *ch = child_find(m, pid);
    if (ch == NULL)
        return;
    log_death(ch, status);
    roll_leave(&m->roll, &ch->entry); /* what it held in shared memory is void */
    if (ch->state == CHILD_RETIRING || master_ending(m)) {
        child_forget(m, ch);
        return;
    }
    bool starting = ch->state == CHILD_STARTING;
    struct str why = death_text(ch, status, text, sizeof(text));
    if (ch->cycle == m->next) {
        ch->pid = 0;
        reload_failed(m, why);
    } else if (!m->started) { /* the first start: nothing to fall back to */
        start_failed(m, why);
        child_forget(m, ch);
    } else {
        if (starting)
            log_msg(&log_process, LEVEL_ALERT, STR_FMT, STR_ARG(why));
        replace(m, ch);
    }
}
