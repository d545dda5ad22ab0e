/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening of log files, by a master that may be root in a directory that may belong to somebody
 * else: no link planted there is followed, no owner is changed that was not ours to set, and
 * nothing waits (a FIFO without a reader takes a pipeful and then loses lines).
 */
#ifndef SLUICE_OS_LOGFILE_H
#define SLUICE_OS_LOGFILE_H

#include "os/error.h"

#include <sys/types.h>

#define LOGFILE_MODE 0640
#define LOGFILE_NO_GROUP ((gid_t)-1)

/*
 * Opens for appending, made with LOGFILE_MODE where it is missing.  A file that root makes is given
 * to `group` (LOGFILE_NO_GROUP: left alone); one that existed keeps its owner.  In a directory that
 * anyone but root and this user can write, a symbolic link or a file with several names is
 * refused with STATUS_DENIED.
 */
enum status logfile_open(const char *path, gid_t group, int *fd, struct os_error *e);

/*
 * Puts the open file *from in the place of `fd`, which keeps its number, in one step, so that a
 * writer in between hits the old file or the new one; *from is closed and set to -1.
 */
enum status logfile_swap(int *from, int fd, struct os_error *e);

/* Opens `path` anew and swaps it into fd.  On failure fd is the old file as before. */
enum status logfile_reopen(const char *path, gid_t group, int fd, struct os_error *e);

/* Whether `path` names another file than fd by now, or none: renamed by logrotate, deleted. */
bool logfile_moved(const char *path, int fd);

#endif
