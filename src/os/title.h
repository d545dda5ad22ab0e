/* SPDX-License-Identifier: BSD-2-Clause */
/* What ps shows for this process: "sluice: worker process". */
#ifndef SLUICE_OS_TITLE_H
#define SLUICE_OS_TITLE_H

#include "core/check.h"

/*
 * Takes over the memory of the arguments and the environment, where the kernel reads the command
 * line from; the environment is copied first and stays valid.  Once, early in main.  Pointers to
 * argv's strings that are needed later must have been copied.
 */
void title_init(int argc, char **argv);

/*
 * Writes "sluice: " and the text, cut off where the memory ends.  `name` (at most 15 bytes, NULL:
 * unchanged) is the thread's name, as top and /proc/PID/comm show it; the master leaves it alone,
 * because proc_is_ours goes by it.  Before title_init only the name is set.
 */
void title_set(const char *name, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
