/* SPDX-License-Identifier: BSD-2-Clause */
/* References to the environment in configuration text: ${env:NAME} and ${env:NAME:-default}. */
#ifndef SLUICE_CONF_ENV_H
#define SLUICE_CONF_ENV_H

#include "core/arena.h"
#include "core/str.h"

/* Is there anything to replace? */
bool env_refers(struct str s);

/*
 * The text with all references replaced, in `a`.  As in the shell, the default is taken when the
 * variable is not set or empty.  What was put in is not looked at again.  False on a fault: *at is
 * its offset in s and *why says what it is (both unset when memory ran out: *why is STR_NONE).
 */
bool env_expand(struct arena *a, struct str s, struct str *out, size_t *at, struct str *why);

#endif
