/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving up privileges, for good: every step is checked, and afterwards the process proves to
 * itself that there is no way back.  A worker that cannot is not allowed to serve.
 */
#ifndef SLUICE_OS_PRIV_H
#define SLUICE_OS_PRIV_H

#include "os/error.h"

#include <sys/types.h>

#define PRIV_GROUPS 64
#define PRIV_NAME 64

struct priv_identity {
    uid_t uid;
    gid_t gid;
    gid_t groups[PRIV_GROUPS];   /* supplementary, the user's own */
    size_t group_count;
    char user[PRIV_NAME];        /* as given, for messages */
};

/*
 * Looks a user and a group up, by name or number; before a chroot, not in a worker.  group NULL:
 * the group named like the user, else the user's primary group, else (a number without an entry)
 * the group of that number.
 */
enum status priv_lookup(const char *user, const char *group, struct priv_identity *out,
                        struct os_error *e);

/*
 * Becomes that identity: groups, group, user, no capabilities.  For a process that runs as root.
 * On failure the process may be half-way: it must exit.
 */
enum status priv_drop(const struct priv_identity *id, struct os_error *e);

/* Empties all capability sets (also those that a service manager granted) and verifies it. */
enum status priv_drop_capabilities(struct os_error *e);

/* No execve gains privileges any more; no core dump and no ptrace unless `dumpable`. */
enum status priv_lock(bool dumpable, struct os_error *e);

#endif
