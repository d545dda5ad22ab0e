/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users, groups and capabilities.  libcap is not needed: capget and capset are two system calls
 * with a fixed layout.
 */
#include "os/priv.h"
#include "core/num.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A number that can be an id; (uid_t)-1 means "unchanged" to the kernel and is none. */
static bool id_number(const char *text, uint32_t *id)
{
    uint64_t v;

    if (!num_dec(str_z(text), &v) || v >= UINT32_MAX)
        return false;
    *id = (uint32_t)v;
    return true;
}

static enum status find_group(const char *group, gid_t *gid, struct os_error *e)
{
    struct group *gr;

    errno = 0;
    gr = getgrnam(group);
    if (gr != NULL) {
        *gid = gr->gr_gid;
        return STATUS_OK;
    }
    if (id_number(group, gid))
        return STATUS_OK;
    if (errno != 0 && errno != ENOENT && errno != ESRCH)
        return os_fail(e, errno, "cannot look up group \"%s\"", group);
    os_fail(e, 0, "there is no group \"%s\"", group);
    return STATUS_NOTFOUND;
}

static enum status find_user(const char *user, struct priv_identity *out,
                             const struct passwd **entry, struct os_error *e)
{
    struct passwd *pw;

    errno = 0;
    pw = getpwnam(user);
    if (pw == NULL && id_number(user, &out->uid))
        pw = getpwuid(out->uid);
    else if (pw == NULL && errno != 0 && errno != ENOENT && errno != ESRCH)
        return os_fail(e, errno, "cannot look up user \"%s\"", user);
    else if (pw == NULL) {
        os_fail(e, 0, "there is no user \"%s\"", user);
        return STATUS_NOTFOUND;
    }
    if (pw != NULL)
        out->uid = pw->pw_uid;
    *entry = pw;
    return STATUS_OK;
}

static enum status find_supplementary(const struct passwd *pw, struct priv_identity *out,
                                      struct os_error *e)
{
    int n = PRIV_GROUPS;

    out->groups[0] = out->gid;
    out->group_count = 1;
    if (pw == NULL)
        return STATUS_OK;
    if (getgrouplist(pw->pw_name, out->gid, out->groups, &n) < 0) {
        os_fail(e, 0, "user \"%s\" is in more than %d groups", pw->pw_name, PRIV_GROUPS);
        return STATUS_LIMIT;
    }
    out->group_count = (size_t)n;
    return STATUS_OK;
}

enum status priv_lookup(const char *user, const char *group, struct priv_identity *out,
                        struct os_error *e)
{
    const struct passwd *pw = NULL;
    enum status st;

    memset(out, 0, sizeof(*out));
    snprintf(out->user, sizeof(out->user), "%s", user);
    st = find_user(user, out, &pw, e);
    if (st != STATUS_OK)
        return st;
    if (group != NULL) {
        st = find_group(group, &out->gid, e);
        if (st != STATUS_OK)
            return st;
    } else {
        const struct group *same = getgrnam(user);

        if (same != NULL)
            out->gid = same->gr_gid;
        else
            out->gid = pw != NULL ? pw->pw_gid : (gid_t)out->uid;
    }
    return find_supplementary(pw, out, e);
}

static enum status capabilities(bool set, struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};

    if (syscall(set ? SYS_capset : SYS_capget, &head, data) < 0)
        return status_from_errno(errno);
    return STATUS_OK;
}

enum status priv_drop_capabilities(struct os_error *e)
{
    struct __user_cap_data_struct data[2];

    memset(data, 0, sizeof(data));
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (capabilities(true, data) != STATUS_OK)
        return os_fail(e, errno, "capset() failed");
    memset(data, 0xff, sizeof(data));
    if (capabilities(false, data) != STATUS_OK)
        return os_fail(e, errno, "capget() failed");
    for (int i = 0; i < 2; i++) {
        if ((data[i].effective | data[i].permitted | data[i].inheritable) != 0) {
            os_fail(e, 0, "capabilities are left after they were given up");
            return STATUS_DENIED;
        }
    }
    return STATUS_OK;
}

/* What was asked for is what is there, and root cannot be had again. */
static enum status verify(const struct priv_identity *id, struct os_error *e)
{
    uid_t r, eff, saved;
    gid_t gr, geff, gsaved;

    if (getresuid(&r, &eff, &saved) < 0 || getresgid(&gr, &geff, &gsaved) < 0)
        return os_fail(e, errno, "getresuid() failed");
    if (r != id->uid || eff != id->uid || saved != id->uid || gr != id->gid || geff != id->gid ||
        gsaved != id->gid) {
        os_fail(e, 0, "user and group are not those of \"%s\" after the change", id->user);
        return STATUS_DENIED;
    }
    if (id->uid == 0)
        return STATUS_OK;
    if (setresuid((uid_t)-1, 0, (uid_t)-1) == 0 || setuid(0) == 0) {
        os_fail(e, 0, "root could be regained after the change to \"%s\"", id->user);
        return STATUS_DENIED;
    }
    return STATUS_OK;
}

enum status priv_drop(const struct priv_identity *id, struct os_error *e)
{
    enum status st;

    if (setgroups(id->group_count, id->groups) < 0)
        return os_fail(e, errno, "setgroups() for user \"%s\" failed", id->user);
    if (setresgid(id->gid, id->gid, id->gid) < 0)
        return os_fail(e, errno, "setresgid(%u) failed", (unsigned)id->gid);
    if (setresuid(id->uid, id->uid, id->uid) < 0)
        return os_fail(e, errno, "setresuid(%u) failed", (unsigned)id->uid);
    st = id->uid == 0 ? STATUS_OK : priv_drop_capabilities(e);
    return st == STATUS_OK ? verify(id, e) : st;
}

enum status priv_lock(bool dumpable, struct os_error *e)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return os_fail(e, errno, "prctl(PR_SET_NO_NEW_PRIVS) failed");
    if (prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0, 0, 0, 0) < 0)
        return os_fail(e, errno, "prctl(PR_SET_DUMPABLE) failed");
    return STATUS_OK;
}
