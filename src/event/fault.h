/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Injected completion faults, for test builds: strace and LD_PRELOAD cannot see what a ring does.
 * A specification is a comma-separated list of KIND:WHICH:WHAT, for example
 * "recv:3:ECONNRESET,send:2+:short:10,accept:1:EMFILE": the third receive fails, every send from
 * the second on is cut to 10 bytes, the first accept finds no descriptor.
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
 * The result that done() is to see for `res`. A descriptor that an op won for real is closed when its
 * success is turned into a failure.
 */
int32_t ev_fault_complete(struct ev_fault *f, const struct op *op, int32_t res);

#endif
