/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding and reading the files a configuration is made of.  A pattern that matches nothing is
 * fine, as with nginx; a plain name that is missing is not.  Cycles are found by device and inode,
 * so that two names of one file do not hide one.
 */
#include "conf/include.h"

#include "conf/bind.h"

#include <errno.h>
#include <glob.h>

static struct str find_line(void *arg, const struct pos *pos)
{
    const struct includes *inc = arg;
    for (const struct source *s = inc->sources; s != NULL; s = s->next)
        if (s->name == pos->file)
            return source_line(s, pos->line);
    return STR_NONE;
}

void includes_init(struct includes *inc, struct arena *a, struct diag *d, struct str dir)
{
    *inc = (struct includes){.a = a, .d = d, .dir = dir};
    map_init(&inc->files, a, false);
    d->source_line = find_line;
    d->source_arg = inc;
}

/* Parses a text that was read; NULL when it cannot be used at all. */
static struct include_file *parse(struct includes *inc, struct source *src)
{
    struct include_file *f = ARENA_NEW(inc->a, struct include_file);
    if (f == NULL)
        return NULL;
    f->src = src;
    src->next = inc->sources;
    inc->sources = src;
    if (!source_check(inc->d, src))
        return NULL;
    return yaml_read(inc->a, inc->d, src, &inc->limits, &f->root) == STATUS_OK ? f : NULL;
}

const struct include_file *include_text(struct includes *inc, const char *name, struct str text)
{
    struct source *src = source_from_text(inc->a, name, text);
    return src == NULL ? NULL : parse(inc, src);
}

const struct include_file *include_open(struct includes *inc, const char *path, struct pos at,
                                        struct str where)
{
    struct include_file *f = map_get(&inc->files, str_z(path));
    if (f != NULL)
        return f->src == NULL ? NULL : f;
    struct source *src = source_read(inc->a, inc->d, path, at, where);
    f = src == NULL ? NULL : parse(inc, src);
    if (f != NULL) {
        if (map_set(&inc->files, str_z(path), f) != STATUS_OK)
            return NULL;
        return f;
    }
    inc->broken = true;
    if (src != NULL) { /* its faults were reported with their places: once is enough */
        f = ARENA_NEW(inc->a, struct include_file);
        if (f != NULL)
            (void)map_set(&inc->files, str_z(path), f);
    }
    return NULL;
}

/* A file that includes itself, directly or by way of others. */
static bool is_cycle(const struct include_file *f, const struct include_chain *up)
{
    for (; up != NULL; up = up->up)
        if (up->file->src->dev == f->src->dev && up->file->src->ino == f->src->ino &&
            f->src->ino != 0)
            return true;
    return false;
}

static bool add_file(struct includes *inc, const char *path, const struct arg *name,
                     struct str where, const struct include_chain *up, struct include_list *out)
{
    const struct include_file *f = include_open(inc, path, name->pos, where);
    if (f == NULL)
        return false;
    unsigned depth = up == NULL ? 1 : up->depth + 1;
    if (is_cycle(f, up)) {
        diag_error(inc->d, name->pos, where, "\"%s\" is included by itself", path);
        return false;
    }
    if (depth > INCLUDE_DEPTH_MAX) {
        diag_error(inc->d, name->pos, where, "files include files, expected at most %u levels",
                   INCLUDE_DEPTH_MAX);
        return false;
    }
    inc->text += f->src->text.n + 64; /* an empty file costs something too */
    if (inc->text > INCLUDE_TEXT_MAX) {
        diag_error(inc->d, name->pos, where,
                   "the included files are too much, expected at most %u MiB in all uses",
                   INCLUDE_TEXT_MAX >> 20);
        return false;
    }
    struct include_chain *chain = ARENA_NEW(inc->a, struct include_chain);
    const struct include_chain **slot = vec_push(&out->files, inc->a);
    if (chain == NULL || slot == NULL)
        return false;
    *chain = (struct include_chain){f, up, depth};
    *slot = chain;
    return true;
}

/* Told of a directory that cannot be read; one that is not there just matches nothing. */
static int unreadable(const char *dir, int err)
{
    (void)dir;
    return err != ENOENT && err != ENOTDIR;
}

static bool add_pattern(struct includes *inc, const char *pattern, const struct arg *name,
                        struct str where, const struct include_chain *up,
                        struct include_list *out)
{
    glob_t found;
    int rc = glob(pattern, 0, unreadable, &found);
    bool ok = true;
    if (rc == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *path = arena_strz(inc->a, str_z(found.gl_pathv[i]));
            ok = path != NULL && add_file(inc, path, name, where, up, out) && ok;
        }
    } else if (rc != GLOB_NOMATCH) {
        diag_error(inc->d, name->pos, where, "cannot search for \"%s\": %s", pattern,
                   rc == GLOB_NOSPACE ? "out of memory" : "a directory cannot be read");
        ok = false;
    }
    globfree(&found);
    return ok;
}

bool include_expand(struct includes *inc, const struct arg *name, const struct place *where,
                    const struct include_chain *up, struct include_list *out)
{
    struct str at = place_text(inc->a, where);
    if (name->text.n == 0) {
        diag_error(inc->d, name->pos, at, "an empty file name");
        return false;
    }
    struct str full = conf_path(inc->a, inc->dir, name->text);
    if (full.p == NULL)
        return false;
    bool ok = strpbrk(full.p, "*?[") != NULL ? add_pattern(inc, full.p, name, at, up, out)
                                             : add_file(inc, full.p, name, at, up, out);
    inc->broken |= !ok;
    return ok;
}
