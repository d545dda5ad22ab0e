/* SPDX-License-Identifier: BSD-2-Clause */
/* Range requests (RFC 9110 14): a 200 for a file becomes a 206 or a 416. */
#ifndef SLUICE_HTTP_RANGE_H
#define SLUICE_HTTP_RANGE_H

#include "http/phase.h"

/* Has the request a Range that may matter (GET, ranges allowed here)? */
bool range_asked(const struct request *r);

/*
 * For a complete 200 of a file (or of a coded variant: the ranges are over the coded bytes), after
 * the preconditions: `applies` is what If-Range says.  Changes the response to a 206 with one
 * part or several, leaves it a 200, or answers 416; returns what the hook has to return.
 */
enum verdict range_apply(struct request *r, bool applies);

#endif
