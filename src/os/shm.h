/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a master and the workers it forks share.  It has no name in any file system and goes
 * when the last process that maps it goes.
 *
 * The master may run as root and the workers do not: whatever lies here, a worker may have written.
 * The master never takes an index, a pid or a pointer from shared memory as true.
 */
#ifndef SLUICE_OS_SHM_H
#define SLUICE_OS_SHM_H

#include <stddef.h>

/* Zeroed, page-aligned; NULL when there is no memory (errno). Children of fork map it too. */
void *shm_alloc(size_t size);

/* Unmaps it in this process only; NULL is fine. `size` as it was asked for. */
void shm_free(void *p, size_t size);

#endif
