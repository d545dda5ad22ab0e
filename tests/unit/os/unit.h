/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the unit tests of src/os share: cmocka with its prerequisites, and a directory of its own
 * for each test that needs files.
 */
#ifndef SLUICE_TESTS_UNIT_OS_UNIT_H
#define SLUICE_TESTS_UNIT_OS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char unit_dir[64];

__attribute__((unused)) static int unit_dir_make(void **state)
{
    (void)state;
    snprintf(unit_dir, sizeof(unit_dir), "/tmp/sluice-unit-XXXXXX");
    return mkdtemp(unit_dir) == NULL ? -1 : 0;
}

__attribute__((unused)) static int unit_remove(const char *path, const struct stat *st, int kind,
                                               struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

__attribute__((unused)) static int unit_dir_drop(void **state)
{
    (void)state;
    return nftw(unit_dir, unit_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* unit_dir "/" name, in one of four buffers used in turn. */
__attribute__((unused)) static const char *unit_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *to = paths[turn++ % 4];

    snprintf(to, PATH_MAX, "%s/%s", unit_dir, name);
    return to;
}

/* Writes a file below unit_dir, making its directories. */
__attribute__((unused)) static void unit_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
    for (char *p = path + strlen(unit_dir) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

#define UNIT_DIR_TEST(f) cmocka_unit_test_setup_teardown(f, unit_dir_make, unit_dir_drop)

#endif
