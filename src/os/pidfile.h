/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pid file: one decimal number and a newline.  It is a hint for people and for "-s", nothing
 * more; a stale one, one of another program or a symbolic link in its place does no harm.
 */
#ifndef SLUICE_OS_PIDFILE_H
#define SLUICE_OS_PIDFILE_H

#include "os/error.h"

#include <sys/types.h>

#define PIDFILE_OLD_SUFFIX ".oldbin"

/* Replaces whatever has that name (see file_write); made 0644. */
enum status pidfile_write(const char *path, pid_t pid, struct os_error *e);

/* STATUS_NOTFOUND: no such file. STATUS_INVALID: it does not hold a pid, *e says so. */
enum status pidfile_read(const char *path, pid_t *pid, struct os_error *e);

/* As pidfile_read, and STATUS_NOTFOUND also when that process is gone or not this program. */
enum status pidfile_running(const char *path, pid_t *pid, struct os_error *e);

/* Removes the file if it holds `pid`; a file that another master has written stays. */
void pidfile_remove(const char *path, pid_t pid);

/* Before an upgrade: renames PATH to PATH.oldbin; back again when the new program has failed. */
enum status pidfile_retire(const char *path, struct os_error *e);
enum status pidfile_restore(const char *path, struct os_error *e);

#endif
