/* SPDX-License-Identifier: BSD-2-Clause */
/* Random bytes from the kernel (getrandom(2)), buffered; reseeds itself after fork. */
#ifndef SLUICE_CORE_RAND_H
#define SLUICE_CORE_RAND_H

#include <stddef.h>
#include <stdint.h>

/* Never fails: falls back to clock and pid only if the kernel refuses. */
void rand_bytes(void *to, size_t n);
uint64_t rand_u64(void);

#endif
