/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the component of a path that keeps this process out, for one line of the error log that
 * spares its reader a walk through "namei -l".  The answer describes the moment of asking; it is
 * never the ground of a decision.
 */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_user(uid_t uid, struct wbuf *to)
{
    FILE *f = fopen("/etc/passwd", "re");
    struct passwd pw, *found = NULL;
    char text[1024];

    while (f != NULL && fgetpwent_r(f, &pw, text, sizeof(text), &found) == 0) {
        if (pw.pw_uid == uid)
            break;
        found = NULL;
    }
    if (found != NULL)
        wbuf_str(to, str_z(found->pw_name));
    else
        wbuf_dec(to, uid);
    if (f != NULL)
        fclose(f);
}

static void write_group(gid_t gid, struct wbuf *to)
{
    FILE *f = fopen("/etc/group", "re");
    struct group gr, *found = NULL;
    char text[4096];

    while (f != NULL && fgetgrent_r(f, &gr, text, sizeof(text), &found) == 0) {
        if (gr.gr_gid == gid)
            break;
        found = NULL;
    }
    if (found != NULL)
        wbuf_str(to, str_z(found->gr_name));
    else
        wbuf_dec(to, gid);
    if (f != NULL)
        fclose(f);
}

static void write_owner(const char *path, const struct stat *st, struct wbuf *to)
{
    wbuf_printf(to, "%s is %04o ", path, (unsigned)st->st_mode & 07777);
    write_user(st->st_uid, to);
    wbuf_char(to, ':');
    write_group(st->st_gid, to);
}

/* True when `path` is in the way. `last`: it is to be read, not passed through. */
static bool in_the_way(const char *path, bool last, struct wbuf *to)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        if (errno == ENOENT)
            wbuf_printf(to, "%s %s", path,
                        lstat(path, &st) == 0 ? "is a dangling symbolic link" : "does not exist");
        else
            wbuf_printf(to, "%s: %s", path, strerror(errno));
        return true;
    }
    if (!last && !S_ISDIR(st.st_mode)) {
        wbuf_printf(to, "%s is not a directory", path);
        return true;
    }
    if (faccessat(AT_FDCWD, path, last ? R_OK : X_OK, AT_EACCESS) < 0) {
        write_owner(path, &st, to);
        return true;
    }
    return false;
}

bool file_explain(const char *path, struct wbuf *to)
{
    char part[PATH_MAX];
    size_t n = strlen(path);

    if (n == 0 || n >= sizeof(part))
        return false;
    for (size_t i = 1; i < n; i++) {
        if (path[i] != '/' || path[i - 1] == '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (in_the_way(part, false, to))
            return true;
    }
    return in_the_way(path, true, to);
}
