/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a process that has lost track of its own state: one line on standard error, written
 * with a single write(2) and without stdio, whose locks may be held by whoever failed.
 */
#include "core/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void check_failed(const char *cond, const char *file, int line)
{
    char text[512];
    int n = snprintf(text, sizeof text - 1, "sluice: broken invariant: %s at %s:%d", cond, file,
                     line);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text - 1 ? (size_t)n : sizeof text - 2;

    text[len++] = '\n';
    ssize_t written = write(STDERR_FILENO, text, len);
    (void)written;
    abort();
}
