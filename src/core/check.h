/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Broken invariants.  CHECK() stays in release builds: a server that has lost track of its own
 * state must stop, not answer.  The outside world (files, peers, the kernel) is never CHECKed;
 * it is reported through enum status.
 */
#ifndef SLUICE_CORE_CHECK_H
#define SLUICE_CORE_CHECK_H

#include <stddef.h>

/* Prints the failed condition to standard error and aborts.  Never returns. */
_Noreturn void check_failed(const char *cond, const char *file, int line);

#define CHECK(cond) ((cond) ? (void)0 : check_failed(#cond, __FILE__, __LINE__))

/* The object of `type` whose `member` is at `ptr`. */
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
