/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Injected completion faults, for test builds: strace and LD_PRELOAD cannot see what a ring does.
 * A specification is a comma-separated list of KIND:WHICH:WHAT, for example
 * "recv:3:ECONNRESET,send:2+:short:10,accept:1:EMFILE,recv:4:dup": the third receive fails, every
 * send from the second on is cut to 10 bytes, the first accept finds no descriptor, and the fourth
 * receive is followed by a late duplicate of an older one.
 *
 * KIND: accept recv send sendv send_file read write open poll connect.  WHICH: the number of the
 * completion (of the submission for `short`), counted from 1 over all ops of the kind; "N+" means
 * from then on.  WHAT: an errno name, "dup", or "short:BYTES" (send, sendv, read, write).
 */
#ifndef SLUICE_EVENT_FAULT_H
#define SLUICE_EVENT_FAULT_H

#include "event/op.h"

struct ev_fault;

/* NULL when the text is bad: `why` says what is. Freed by ev_fault_free (NULL is fine). */
struct ev_fault *ev_fault_parse(const char *spec, char *why, size_t size);
void ev_fault_free(struct ev_fault *f);

/* May cut the length of an op that is about to be submitted; true if it did. */
bool ev_fault_submit(struct ev_fault *f, struct op *op);

/*
 * A completion on its way to done(): may change *res.  A descriptor that an op won for real is
 * closed when its success is turned into a failure.  False: this completion is not to be delivered
 * at all, because an op that has more to come was chosen to fail; it has been cancelled, and the
 * error becomes the result of its final completion.
 */
bool ev_fault_complete(struct loop *loop, struct op *op, int32_t *res, unsigned flags);

#endif
