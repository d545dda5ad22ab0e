/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared anonymous mappings.  They are part of a core dump like other memory: zones hold
 * counters and addresses, never keys.
 */
#include "os/shm.h"

#include <errno.h>
#include <sys/mman.h>

void *shm_alloc(size_t size)
{
    void *p;

    if (size == 0) {
        errno = EINVAL;
        return NULL;
    }
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void shm_free(void *p, size_t size)
{
    if (p != NULL)
        munmap(p, size);
}
