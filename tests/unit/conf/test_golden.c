/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/conf: every file in bad/ is refused with exactly the report that lies beside it (h124-h128
 * and more), every file in good/ loads, and what -T prints of it loads to the same.  tests/conf/run
 * does the same with the program itself; what only its rows can say is listed in program-only.
 */
#include "load.h"

#include <glob.h>

#define CASES_MIN 60

static char top[PATH_MAX];

static void read_file(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("%s: cannot be read", path);
    size_t n = fread(to, 1, room - 1, f);
    assert_true(n < room - 1);
    to[n] = '\0';
    (void)fclose(f);
}

/* "bad/x.yaml" -> "bad/x.out" */
static void beside(const char *path, char *to)
{
    size_t n = strlen(path) - strlen(".yaml");
    memcpy(to, path, n);
    strcpy(to + n, ".out");
}

static void find(const char *dir, glob_t *found)
{
    char pattern[PATH_MAX + 64];
    (void)snprintf(pattern, sizeof(pattern), "%s/%s/*.yaml", top, dir);
    assert_int_equal(glob(pattern, 0, NULL, found), 0);
}

/* A line of tests/conf/program-only names it. */
static bool for_program(const char *path)
{
    static char list[4096], name[PATH_MAX + 32];
    char line[PATH_MAX];
    if (list[0] == '\0') {
        (void)snprintf(name, sizeof(name), "%s/program-only", top);
        list[0] = '\n';
        read_file(name, list + 1, sizeof(list) - 1);
    }
    const char *rel = path + strlen(top) + 1;
    (void)snprintf(line, sizeof(line), "\n%.*s\n", (int)(strlen(rel) - strlen(".yaml")), rel);
    return strstr(list, line) != NULL;
}

static void bad(void **state)
{
    static char want[65536], name[PATH_MAX], dir[PATH_MAX + 8];
    (void)state;
    glob_t found;
    size_t wrong = 0;
    find("bad", &found);
    assert_true(found.gl_pathc >= CASES_MIN);
    (void)snprintf(dir, sizeof(dir), "%s/bad", top);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (for_program(found.gl_pathv[i]))
            continue;
        struct loaded *l = load_path(found.gl_pathv[i], dir, NULL);
        beside(found.gl_pathv[i], name);
        read_file(name, want, sizeof(want));
        if (l->status != STATUS_INVALID || strcmp(l->report, want) != 0) {
            print_error("%s: status %d\n--- expected\n%s--- found\n%s", found.gl_pathv[i],
                        l->status, want, l->report);
            wrong++;
        }
        unload(l);
    }
    globfree(&found);
    assert_int_equal(wrong, 0);
}

static void good(void **state)
{
    static char dir[PATH_MAX + 8];
    (void)state;
    glob_t found;
    find("good", &found);
    (void)snprintf(dir, sizeof(dir), "%s/good", top);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (for_program(found.gl_pathv[i]))
            continue;
        struct loaded *l = load_path(found.gl_pathv[i], dir, NULL);
        if (l->status != STATUS_OK || l->d.warnings != 0)
            fail_msg("%s: refused\n%s", found.gl_pathv[i], l->report);
        struct buf once, twice;
        dump_to(l, &once);
        struct loaded *again = load_text(once.p);
        if (again->status != STATUS_OK)
            fail_msg("%s: its dump is refused\n%s", found.gl_pathv[i], again->report);
        dump_to(again, &twice);
        assert_string_equal(once.p, twice.p);
        buf_fini(&once);
        buf_fini(&twice);
        unload(again);
        unload(l);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad),
        cmocka_unit_test(good),
    };
    if (realpath("tests/conf", top) == NULL) {
        (void)fprintf(stderr, "run it at the top of the source\n");
        return 1;
    }
    (void)unsetenv("SLUICE_TEST_UNSET");
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
