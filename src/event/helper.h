/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A helper thread for computations that take longer than a turn of the loop may (password hashes
 * above all): they are done one after the other, and the loop serves everybody else meanwhile.
 * It runs at a lower priority than its loop, and starts with the first job.
 *
 * The contract is that of ops (op.h): each submitted job has exactly one done(), called from the
 * loop, never inside a submit or cancel; until then the job and all it names belong to the helper.
 * run() is called on the thread and touches nothing but the job: no loop, no log, no request.
 */
#ifndef SLUICE_EVENT_HELPER_H
#define SLUICE_EVENT_HELPER_H

#include "core/list.h"
#include "core/status.h"

#include <stdint.h>

struct loop;
struct helper;

struct helper_job {
    struct list link;
    void (*run)(struct helper_job *job);
    void (*done)(struct helper_job *job); /* may free it */
    bool ran;                             /* in done(): false when it was cancelled before */
};

/* At most `limit` jobs wait. The name (at most 15 bytes) is the thread's. NULL: no memory or fd. */
struct helper *helper_new(struct loop *loop, uint32_t limit, const char *name);

/*
 * Ends the thread when it is through with the job it is at; the jobs behind it are done without
 * having run.  Turns the loop.  NULL is fine.
 */
void helper_delete(struct helper *h);

/* STATUS_LIMIT: too many wait; STATUS_ERROR: no thread is to be had. Then there is no done(). */
enum status helper_submit(struct helper *h, struct helper_job *job);

/* For a job that has been submitted and is not done: it does not run if it has not begun. */
void helper_cancel(struct helper *h, struct helper_job *job);

#endif
