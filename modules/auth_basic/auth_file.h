/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The password files that a worker uses, read with its own rights.  A file is looked at again when
 * it is asked for and the last look is AUTH_FILE_FRESH_MS old, so that a change counts from then on
 * without a reload; it is read again when it has changed.  The loop never waits for the disk.
 */
#ifndef SLUICE_MODULES_AUTH_FILE_H
#define SLUICE_MODULES_AUTH_FILE_H

#include "auth_table.h"
#include "event/loop.h"

#define AUTH_FILE_FRESH_MS 1000u
#define AUTH_FILES_MAX 1024u /* by the paths that templates make there may be any number */

struct auth_files;
struct auth_file;

struct auth_wait {
    struct list link;
    void (*done)(struct auth_wait *w);
};

struct auth_files *auth_files_new(struct loop *loop);  /* NULL: no memory */
/* Nobody waits any more. Turns the loop. NULL is fine. */
void auth_files_delete(struct auth_files *fs);

/*
 * The file of that path (absolute).  NULL: no memory, or all that there may be are in use.  It is
 * there until the loop's next turn, or as long as somebody waits for it.
 */
struct auth_file *auth_files_get(struct auth_files *fs, struct str path);

/*
 * STATUS_OK: auth_file_table() is fresh.  STATUS_AGAIN: w->done is called from the loop when it is,
 * unless auth_wait_cancel() comes first.
 */
enum status auth_file_check(struct auth_file *f, struct auth_wait *w);
static inline void auth_wait_cancel(struct auth_wait *w)
{
    list_remove(&w->link);
}

/* NULL: the file cannot be used; why has been logged. */
const struct auth_table *auth_file_table(const struct auth_file *f);

#endif
