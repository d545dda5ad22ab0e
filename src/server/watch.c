/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers that do not turn any more.  Each shows once a second that it does; of one that has not
 * for a while a sibling accepts the connections until it does again.  One that has been running all
 * the time without coming back to its loop is in an endless one, and is killed and replaced;
 * one that is stopped, traced or waits for a disk is left alone, since it may go on.
 */
#include "core/clock.h"
#include "os/file.h"
#include "server/master.h"

#include <signal.h>
#include <stdio.h>

#define HUNG_MS 3000
#define ENDLESS_MS 60000

/* The state letter of a process as /proc has it, 0 if it cannot be told. */
static char process_state(pid_t pid)
{
    char path[64];
    struct buf b;
    char state = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    buf_init(&b, 0);
    if (file_read(path, 4096, &b, NULL, NULL) == STATUS_OK) {
        ssize_t end = str_rchr(buf_view(&b), ')'); /* of the name, which may hold anything */
        if (end >= 0 && (size_t)end + 2 < b.n)
            state = b.p[end + 2];
    }
    buf_fini(&b);
    return state;
}

static void look(struct master *m, struct child *ch, uint64_t now_ms)
{
    uint64_t beat = score_read(&ch->board->score).heartbeat_ms;
    uint64_t silent = beat < now_ms ? now_ms - beat : 0;
    if (silent >= HUNG_MS && !ch->hung) {
        log_warn(&log_process, "worker process %d has not turned for %llu ms, others accept for it",
                 (int)ch->pid, (unsigned long long)silent);
        ch->hung = true;
        child_cover(m, ch, true);
    } else if (silent < HUNG_MS && ch->hung) {
        log_notice(&log_process, "worker process %d turns again", (int)ch->pid);
        ch->hung = false;
        child_cover(m, ch, false);
    } else if (silent >= ENDLESS_MS && process_state(ch->pid) == 'R') {
        log_alert(&log_process, "worker process %d is in an endless loop, killing it",
                  (int)ch->pid);
        kill(ch->pid, SIGABRT);
    }
}

void watch(struct master *m, uint64_t now_ms)
{
    uint64_t since = now_ms - m->watch_ms;
    if (since < WATCH_MS)
        return;
    bool late = m->watch_ms != 0 && since > 2 * WATCH_MS; /* it was us who did not turn */
    m->watch_ms = now_ms;
    for (size_t i = 0; !late && i < m->child_count; i++)
        if (m->children[i].state == CHILD_READY && m->children[i].cycle == m->cycle)
            look(m, &m->children[i], now_ms);
}
