/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regular expressions: the one home of PCRE2.  Patterns are compiled once, at load, work on bytes
 * (no UTF), and "$" matches at the very end only, not before a final newline.  Matching is bounded
 * in steps and memory, so that no pattern and subject can hold up a worker.
 */
#ifndef SLUICE_HTTP_REGEX_H
#define SLUICE_HTTP_REGEX_H

#include "conf/diag.h"
#include "http/vars.h"

struct regex;

struct regex_source {
    struct str pattern;
    bool nocase;
    struct pos pos;      /* for messages: where the argument with the pattern is */
    struct str path;
};

enum regex_result { REGEX_NO, REGEX_YES, REGEX_FAILED /* gave up: a limit; already logged */ };

/*
 * Compiles a pattern into memory that is freed with the arena.  Its named groups become variables
 * in vs.  NULL: reported to d; also when regular expressions are not built in.
 */
struct regex *regex_compile(struct vars *vs, struct arena *a, struct diag *d,
                            const struct regex_source *src);

/*
 * Is there a match in the subject?  REGEX_YES leaves the groups in r (may be NULL) as views of the
 * subject, which must live as long as the request; REGEX_NO leaves r as it was.
 */
enum regex_result regex_match(const struct regex *re, struct str subject, struct request *r);

/* The number of groups, named ones included: $1 to $N mean something after a match. */
unsigned regex_groups(const struct regex *re);

/* "PCRE2 10.42", with ", JIT" where there is one; NULL when not built in. For -V. */
const char *regex_version(void);

#endif
