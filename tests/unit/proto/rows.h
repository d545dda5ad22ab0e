/* SPDX-License-Identifier: BSD-2-Clause */
/* What the table-driven tests of src/proto share: cmocka, and checks that name the failing row. */
#ifndef SLUICE_TESTS_PROTO_ROWS_H
#define SLUICE_TESTS_PROTO_ROWS_H

#include "core/check.h"
#include "core/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Fails the test and says which row did it. */
#define ROW(name, cond)                                                                            \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fail_msg("row %s: %s", name, #cond);                                                   \
        }                                                                                          \
    } while (0)

/* As ROW, for two views; prints both. */
#define ROW_STR(name, got, want)                                                                   \
    do {                                                                                           \
        struct str got_ = (got), want_ = (want);                                                   \
        if (!str_eq(got_, want_)) {                                                                \
            fail_msg("row %s: got \"%.*s\", want \"%.*s\"", name, STR_ARG(got_), STR_ARG(want_));  \
        }                                                                                          \
    } while (0)

/* A heap copy without a spare byte, so that the address sanitizer sees any read beyond the end. */
static inline struct str copy_exact(struct str s)
{
    char *p = malloc(s.n != 0 ? s.n : 1);

    if (p == NULL) {
        abort();
    }
    if (s.n != 0) {
        memcpy(p, s.p, s.n);
    }
    return str_make(p, s.n);
}

static inline void free_exact(struct str s)
{
    free((void *)(uintptr_t)s.p);
}

#endif
