/* SPDX-License-Identifier: BSD-2-Clause */
/* Password files on the loop, on each back end: looked at once a second, read when they change. */
#include "lib/ev_harness.h"

#include "../../../modules/auth_basic/auth_file.c"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static char dir[64];

struct waiter {
    struct auth_wait wait;
    unsigned done;
};

static void done(struct auth_wait *w)
{
    container_of(w, struct waiter, wait)->done++;
}

static const char *path_of(const char *name)
{
    static char paths[2][128];
    static unsigned next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
    return path;
}

/* Changed long ago, as most are. */
static void write_file(const char *name, const char *text, int age)
{
    struct timespec old[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(utimensat(AT_FDCWD, path_of(name), old, 0), 0);
}

/* The user's hash as it is after a look that is due; NULL: no table, "": no such user. */
static const char *look(struct ev_env *env, struct auth_files *fs, const char *name)
{
    static char text[256];
    struct waiter w = {.wait = {.done = done}};
    struct auth_file *f = auth_files_get(fs, str_z(path_of(name)));
    assert_non_null(f);
    list_init(&w.wait.link);
    f->fresh_until_ms = 0;
    assert_int_equal(auth_file_check(f, &w.wait), STATUS_AGAIN);
    assert_int_equal(w.done, 0);
    EV_UNTIL(env, w.done == 1);
    assert_ptr_equal(f, auth_files_get(fs, str_z(path_of(name))));
    assert_int_equal(auth_file_check(f, &w.wait), STATUS_OK); /* fresh */
    if (auth_file_table(f) == NULL)
        return NULL;
    const struct htpasswd_entry *e = auth_table_find(auth_file_table(f), STR("u"));
    snprintf(text, sizeof(text), STR_FMT, STR_ARG(e != NULL ? e->hash : STR("")));
    return text;
}

static void follows_changes(struct ev_env *env)
{
    struct auth_files *fs = auth_files_new(&env->loop);
    unsigned fds = ev_open_fds();
    write_file("f", "u:{PLAIN}1\n", 100);
    assert_string_equal(look(env, fs, "f"), "{PLAIN}1");
    const struct auth_table *before = auth_file_table(auth_files_get(fs, str_z(path_of("f"))));
    auth_files_get(fs, str_z(path_of("f")))->racy = false; /* its ctime is of now, all the same */
    assert_string_equal(look(env, fs, "f"), "{PLAIN}1");
    assert_ptr_equal(auth_file_table(auth_files_get(fs, str_z(path_of("f")))), before);
    write_file("f", "u:{PLAIN}two\n", 50);
    assert_string_equal(look(env, fs, "f"), "{PLAIN}two");
    write_file("f", "v:{PLAIN}two\n", 50); /* same size and mtime: the ctime tells */
    assert_string_equal(look(env, fs, "f"), "");
    assert_int_equal(unlink(path_of("f")), 0);
    assert_null(look(env, fs, "f"));
    write_file("f", "", 0);
    assert_string_equal(look(env, fs, "f"), "");
    write_file("g", "u:{PLAIN}3\n", 100);
    assert_int_equal(rename(path_of("g"), path_of("f")), 0);
    assert_string_equal(look(env, fs, "f"), "{PLAIN}3");
    ev_turn_for(env, 5);
    assert_int_equal(ev_open_fds(), fds);
    auth_files_delete(fs);
    auth_files_delete(NULL);
}

static void unusable_ones(struct ev_env *env)
{
    struct auth_files *fs = auth_files_new(&env->loop);
    char *big = malloc(AUTH_FILE_MAX + 2);
    memset(big, '\n', AUTH_FILE_MAX + 1);
    big[AUTH_FILE_MAX + 1] = '\0';
    write_file("big", big, 100);
    memset(big, '#', AUTH_FILE_MAX);
    big[AUTH_FILE_MAX] = '\0';
    memcpy(big, "u:{PLAIN}1\n", 11);
    write_file("full", big, 100);
    free(big);
    assert_null(look(env, fs, "big"));
    assert_string_equal(look(env, fs, "full"), "{PLAIN}1");
    assert_null(look(env, fs, "missing"));
    assert_null(look(env, fs, "f/below"));
    assert_null(look(env, fs, "."));
    (void)unlink(path_of("fifo"));
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    assert_null(look(env, fs, "fifo"));
    if (geteuid() != 0) {
        write_file("secret", "u:{PLAIN}1\n", 100);
        assert_int_equal(chmod(path_of("secret"), 0), 0);
        assert_null(look(env, fs, "secret"));
    }
    auth_files_delete(fs);
}

/* Many who ask at once are told together, those who have gone are not. */
static void many_wait(struct ev_env *env)
{
    struct auth_files *fs = auth_files_new(&env->loop);
    struct waiter w[3] = {{{.done = done}, 0}, {{.done = done}, 0}, {{.done = done}, 0}};
    write_file("f", "u:{PLAIN}1\n", 100);
    struct auth_file *f = auth_files_get(fs, str_z(path_of("f")));
    for (size_t i = 0; i < 3; i++) {
        list_init(&w[i].wait.link);
        assert_int_equal(auth_file_check(f, &w[i].wait), STATUS_AGAIN);
    }
    auth_wait_cancel(&w[1].wait);
    EV_UNTIL(env, w[2].done == 1);
    assert_int_equal(w[0].done, 1);
    assert_int_equal(w[1].done, 0);
    auth_files_delete(fs);
}

/* Whatever paths are asked for, there is a limit; one that is being looked at stays. */
static void bounded(struct ev_env *env)
{
    struct auth_files *fs = auth_files_new(&env->loop);
    struct waiter w = {{.done = done}, 0};
    char path[64];
    list_init(&w.wait.link);
    struct auth_file *busy = auth_files_get(fs, STR("/nonexistent/busy"));
    assert_int_equal(auth_file_check(busy, &w.wait), STATUS_AGAIN);
    for (unsigned i = 0; i < AUTH_FILES_MAX + 10; i++) {
        snprintf(path, sizeof(path), "/nonexistent/%u", i);
        assert_non_null(auth_files_get(fs, str_z(path)));
        assert_true(fs->count <= AUTH_FILES_MAX);
    }
    assert_ptr_equal(auth_files_get(fs, STR("/nonexistent/busy")), busy);
    EV_UNTIL(env, w.done == 1);
    auth_files_delete(fs);
}

static void ends_in_the_middle(struct ev_env *env)
{
    struct auth_files *fs = auth_files_new(&env->loop);
    struct waiter w = {{.done = done}, 0};
    write_file("f", "u:{PLAIN}1\n", 100);
    list_init(&w.wait.link);
    auth_file_check(auth_files_get(fs, str_z(path_of("f"))), &w.wait);
    auth_wait_cancel(&w.wait);
    auth_files_delete(fs);
    assert_int_equal(w.done, 0);
}

static const struct ev_case cases[] = {
    {.name = "follows changes", .run = follows_changes},
    {.name = "unusable ones", .run = unusable_ones},
    {.name = "many wait", .run = many_wait},
    {.name = "bounded", .run = bounded},
    {.name = "ends in the middle", .run = ends_in_the_middle},
};

int main(void)
{
    char cleanup[80];
    snprintf(dir, sizeof(dir), "/tmp/sluice-auth-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 99;
    int failed = ev_run_cases("auth_file", cases, ARRAY_LEN(cases));
    snprintf(cleanup, sizeof(cleanup), "rm -rf '%s'", dir);
    return system(cleanup) == 0 ? failed : 99;
}
