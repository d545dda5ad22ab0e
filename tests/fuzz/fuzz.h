/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fuzz targets share. A target defines LLVMFuzzerTestOneInput(); it is linked either with
 * libFuzzer or with replay.c. Targets do not only look for crashes: they compare with a reference
 * or with the same bytes cut elsewhere, and abort when the two differ.
 */
#ifndef SLUICE_TESTS_FUZZ_H
#define SLUICE_TESTS_FUZZ_H

#include "core/check.h"
#include "core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A heap copy of exactly s.n bytes, so that the address sanitizer sees any read beyond the end. */
static inline struct str fuzz_copy(struct str s)
{
    char *p = malloc(s.n != 0 ? s.n : 1);

    CHECK(p != NULL);
    if (s.n != 0) {
        memcpy(p, s.p, s.n);
    }
    return str_make(p, s.n);
}

static inline void fuzz_free(struct str s)
{
    free((void *)(uintptr_t)s.p);
}

/* Takes one byte off the front of the input, 0 when it is used up. */
static inline uint8_t fuzz_byte(struct str *s)
{
    uint8_t b = s->n != 0 ? (uint8_t)s->p[0] : 0;

    *s = str_skip(*s, 1);
    return b;
}

static inline struct str fuzz_input(const uint8_t *data, size_t size)
{
    return str_make(size != 0 ? (const char *)data : "", size);
}

/* Is `part` a view into `whole`? */
static inline bool fuzz_inside(struct str part, struct str whole)
{
    return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

#endif
