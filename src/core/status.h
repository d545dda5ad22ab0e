/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * enum status: the result of dealing with the outside world.  Zero is success, everything else is
 * negative.  It is never mixed with HTTP status codes.  Where a system call failed, errno still
 * holds the cause when the function returns.
 */
#ifndef SLUICE_CORE_STATUS_H
#define SLUICE_CORE_STATUS_H

enum status {
#define X(name, value, text) STATUS_##name = (value),
#include "core/status.tbl"
#undef X
};

/* The text of a status, "unknown status" for a value outside the table. */
const char *status_text(enum status st);

/* The status that stands for an errno value (positive). Unknown values give STATUS_ERROR. */
enum status status_from_errno(int err);

#endif
