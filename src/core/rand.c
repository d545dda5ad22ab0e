/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random bytes in batches of one page from getrandom(2).  The page is MADV_WIPEONFORK: in a child,
 * however it was forked, it reads as zero, that is as an empty batch, so parent and child never
 * hand out the same bytes.  Bytes are wiped as they are handed out.
 */
#include "core/rand.h"

#include "core/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

struct rand_batch {
    size_t left; /* unused bytes, at the end of bytes[] */
    unsigned char bytes[4096 - sizeof(size_t)];
};

_Static_assert(sizeof(struct rand_batch) == 4096, "a batch fills the smallest page");

/* For a kernel (or sandbox) without getrandom only: unpredictable enough to spread hash seeds. */
static void fill_weakly(unsigned char *to, size_t n)
{
    static uint64_t calls;
    uint64_t state = clock_mono_ns() ^ (uint64_t)clock_wall().tv_nsec << 32;

    state ^= (uint64_t)getpid() << 17 ^ ++calls * 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < n; i++) { /* one xorshift-multiply step per byte */
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        to[i] = (unsigned char)(state * 0x2545f4914f6cdd1dull >> 56);
        state += state == 0;
    }
}

static void fill(unsigned char *to, size_t n)
{
    while (n != 0) {
        ssize_t got = getrandom(to, n, 0);
        if (got < 0 && errno != EINTR) {
            fill_weakly(to, n);
            return;
        }
        if (got > 0) {
            to += got;
            n -= (size_t)got;
        }
    }
}

/* The batch of this process; NULL when there is no page that a fork would wipe. */
static struct rand_batch *batch_get(void)
{
    static struct rand_batch *batch;
    static bool refused;

    if (batch == NULL && !refused) {
        void *page = mmap(NULL, sizeof *batch, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED && madvise(page, sizeof *batch, MADV_WIPEONFORK) == 0) {
            batch = page;
        } else {
            if (page != MAP_FAILED)
                munmap(page, sizeof *batch);
            refused = true;
        }
    }
    return batch;
}

void rand_bytes(void *to, size_t n)
{
    int saved = errno;
    struct rand_batch *b = n <= sizeof b->bytes ? batch_get() : NULL;

    if (b == NULL) {
        fill(to, n);
    } else if (n != 0) {
        if (b->left < n) {
            fill(b->bytes, sizeof b->bytes);
            b->left = sizeof b->bytes;
        }
        unsigned char *from = b->bytes + sizeof b->bytes - b->left;
        memcpy(to, from, n);
        explicit_bzero(from, n);
        b->left -= n;
    }
    errno = saved;
}

uint64_t rand_u64(void)
{
    uint64_t v;

    rand_bytes(&v, sizeof v);
    return v;
}
