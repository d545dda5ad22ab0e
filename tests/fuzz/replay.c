/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target over files, without libFuzzer: replay FILE|DIRECTORY...
 * Each file is given whole, then every beginning of it up to PREFIX_MAX bytes, since a corpus of
 * good inputs holds that many bad ones. A fault ends the program by its signal; the last file
 * named is the one. Exit status 2: nothing to replay.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define FILE_MAX (1u << 20)
#define PREFIX_MAX 512u

static char content[FILE_MAX];
static unsigned replayed;

static void replay_bytes(size_t n)
{
    struct str copy = fuzz_copy(str_make(content, n));

    LLVMFuzzerTestOneInput((const uint8_t *)copy.p, copy.n);
    fuzz_free(copy);
}

static void replay_fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(2);
}

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");

    if (f == NULL) {
        replay_fail(path);
    }
    size_t n = fread(content, 1, sizeof(content), f);
    fclose(f);
    fprintf(stderr, "%s: %zu bytes\n", path, n);
    for (size_t i = 0; i < n && i < PREFIX_MAX; i++) {
        replay_bytes(i);
    }
    replay_bytes(n);
    replayed++;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void replay_path(const char *path)
{
    struct stat st;
    struct dirent **names;

    if (stat(path, &st) != 0) {
        replay_fail(path);
    }
    if (!S_ISDIR(st.st_mode)) {
        replay_file(path);
        return;
    }
    int n = scandir(path, &names, NULL, by_name);
    if (n < 0) {
        replay_fail(path);
    }
    for (int i = 0; i < n; i++) {
        char *inner;
        if (names[i]->d_name[0] != '.') {
            CHECK(asprintf(&inner, "%s/%s", path, names[i]->d_name) > 0);
            replay_path(inner);
            free(inner);
        }
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        replay_path(argv[i]);
    }
    fprintf(stderr, "%u files replayed\n", replayed);
    return replayed != 0 ? 0 : 2;
}
