/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: what each combination asks for, and which paths come of it (config.md 5). */
#include "server/options.h"

#include "../os/unit.h"
#include "config.h"

#include <getopt.h>

#define ARGS 12

struct row {
    const char *name;
    const char *argv[ARGS];
    bool good;
    enum action action;
    const char *prefix, *conf, *error_log, *overrides, *signal; /* NULL: not looked at */
    bool quiet;
};

static const struct row rows[] = {
    {"nothing", {"/opt/sluice"}, true, .action = ACTION_RUN, .prefix = SLUICE_PREFIX},
    {"prefix", {"/opt/sluice", "-p", "/srv/x"}, true, .action = ACTION_RUN, .prefix = "/srv/x",
     .conf = "/srv/x/conf/sluice.yaml"},
    {"prefix with slashes", {"/opt/sluice", "-p", "/srv/x//"}, true, .action = ACTION_RUN,
     .prefix = "/srv/x", .conf = "/srv/x/conf/sluice.yaml"},
    {"the root as prefix", {"/opt/sluice", "-p", "/"}, true, .action = ACTION_RUN, .prefix = "/",
     .conf = "/conf/sluice.yaml"},
    {"conf beside the prefix", {"/opt/sluice", "-c", "/etc/s.yaml", "-p", "/srv"}, true,
     .action = ACTION_RUN, .prefix = "/srv", .conf = "/etc/s.yaml"},
    {"joined values", {"/opt/sluice", "-c/etc/s.yaml", "-p/srv"}, true, .action = ACTION_RUN,
     .prefix = "/srv", .conf = "/etc/s.yaml"},
    {"error log", {"/opt/sluice", "-e", "/var/e"}, true, .action = ACTION_RUN,
     .error_log = "/var/e"},
    {"overrides", {"/opt/sluice", "-g", "daemon: off"}, true, .action = ACTION_RUN,
     .overrides = "daemon: off"},
    {"the last one counts", {"/opt/sluice", "-g", "a: 1", "-g", "b: 2"}, true, .action = ACTION_RUN,
     .overrides = "b: 2"},
    {"-t", {"/opt/sluice", "-t"}, true, .action = ACTION_TEST},
    {"-q -t", {"/opt/sluice", "-q", "-t"}, true, .action = ACTION_TEST, .quiet = true},
    {"-qt", {"/opt/sluice", "-qt"}, true, .action = ACTION_TEST, .quiet = true},
    {"-T", {"/opt/sluice", "-T"}, true, .action = ACTION_DUMP},
    {"-T -t", {"/opt/sluice", "-T", "-t"}, true, .action = ACTION_DUMP},
    {"-t -T", {"/opt/sluice", "-t", "-T"}, true, .action = ACTION_DUMP},
    {"-s stop", {"/opt/sluice", "-s", "stop"}, true, .action = ACTION_SIGNAL,
     .signal = "stop"},
    {"-s quit", {"/opt/sluice", "-s", "quit"}, true, .action = ACTION_SIGNAL,
     .signal = "quit"},
    {"-s reload", {"/opt/sluice", "-s", "reload"}, true, .action = ACTION_SIGNAL,
     .signal = "reload"},
    {"-s reopen", {"/opt/sluice", "-s", "reopen"}, true, .action = ACTION_SIGNAL,
     .signal = "reopen"},
    {"-s upgrade", {"/opt/sluice", "-s", "upgrade"}, true, .action = ACTION_SIGNAL,
     .signal = "upgrade"},
    {"-v", {"/opt/sluice", "-v"}, true, .action = ACTION_VERSION},
    {"--version", {"/opt/sluice", "--version"}, true, .action = ACTION_VERSION},
    {"-V", {"/opt/sluice", "-V"}, true, .action = ACTION_BUILD},
    {"-h", {"/opt/sluice", "-h"}, true, .action = ACTION_HELP},
    {"--help", {"/opt/sluice", "--help"}, true, .action = ACTION_HELP},
    {"-s dance", {"/opt/sluice", "-s", "dance"}, false, .signal = NULL},
    {"-s without a word", {"/opt/sluice", "-s"}, false, .signal = NULL},
    {"-x", {"/opt/sluice", "-x"}, false, .signal = NULL},
    {"--nothing", {"/opt/sluice", "--nothing"}, false, .signal = NULL},
    {"-t -s", {"/opt/sluice", "-t", "-s", "quit"}, false, .signal = NULL},
    {"-s -T", {"/opt/sluice", "-s", "quit", "-T"}, false, .signal = NULL},
    {"a word too many", {"/opt/sluice", "-t", "conf"}, false, .signal = NULL},
};

static bool parse(struct options *o, const char *const argv[ARGS])
{
    static char copies[ARGS][256];
    char *v[ARGS + 1];
    int n = 0;
    for (; n < ARGS && argv[n] != NULL; n++) {
        snprintf(copies[n], sizeof(copies[n]), "%s", argv[n]);
        v[n] = copies[n];
    }
    v[n] = NULL;
    optind = 0; /* getopt_long starts over */
    return options_parse(o, n, v);
}

static bool same(const char *want, const char *got)
{
    return want == NULL || (got != NULL && strcmp(want, got) == 0);
}

static void command_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        struct options o;
        bool good = parse(&o, r->argv);
        if (good != r->good ||
            (good && (o.action != r->action || o.quiet != r->quiet || !same(r->prefix, o.prefix) ||
                      !same(r->conf, o.conf) || !same(r->error_log, o.error_log) ||
                      !same(r->overrides, o.overrides) || !same(r->signal, o.signal))))
            fail_msg("%s", r->name);
        if (good)
            options_free(&o);
    }
}

/* Relative paths begin where the program was started, whatever becomes of that directory. */
static void relative(void **state)
{
    (void)state;
    struct options o;
    assert_int_equal(chdir(unit_dir), 0);
    assert_true(parse(&o, (const char *const[ARGS]){"./sluice", "-p", "x", "-c", "y/z.yaml", "-e",
                                                    "log"}));
    assert_int_equal(chdir("/"), 0);
    assert_string_equal(o.prefix, unit_path("x"));
    assert_string_equal(o.conf, unit_path("y/z.yaml"));
    assert_string_equal(o.error_log, unit_path("log"));
    assert_string_equal(o.program, unit_path("./sluice"));
    options_free(&o);
}

/* Without a slash the program is looked for as the shell did. */
static void found_by_path(void **state)
{
    (void)state;
    struct options o;
    char path[256];
    unit_file("b/sluice-test", "");
    chmod(unit_path("b/sluice-test"), 0755);
    snprintf(path, sizeof(path), "%s/a:%s/b", unit_dir, unit_dir);
    char *old = strdup(getenv("PATH") != NULL ? getenv("PATH") : "");
    setenv("PATH", path, 1);
    assert_true(parse(&o, (const char *const[ARGS]){"sluice-test"}));
    setenv("PATH", old, 1);
    free(old);
    assert_string_equal(o.program, unit_path("b/sluice-test"));
    options_free(&o);
}

/* h103: a directory that was deleted. */
static void no_directory(void **state)
{
    (void)state;
    struct options o;
    assert_int_equal(mkdir(unit_path("gone"), 0755), 0);
    assert_int_equal(chdir(unit_path("gone")), 0);
    assert_int_equal(rmdir(unit_path("gone")), 0);
    assert_true(parse(&o, (const char *const[ARGS]){"/opt/sluice", "-p", "/srv"}));
    assert_string_equal(o.conf, "/srv/conf/sluice.yaml");
    options_free(&o);
    assert_true(parse(&o, (const char *const[ARGS]){"/opt/sluice", "-p", "srv"}));
    assert_string_equal(o.prefix, "/srv");
    options_free(&o);
    assert_int_equal(chdir("/"), 0);
}

/* V1, h116: an upgrade runs in another directory and must find the same files, ten times over. */
static void upgrade_arguments(void **state)
{
    (void)state;
    struct options o;
    assert_int_equal(chdir(unit_dir), 0);
    assert_true(parse(&o, (const char *const[ARGS]){"./sluice", "-c", "c.yaml", "-p", "p", "-g",
                                                    "daemon: off", "-e", "e.log"}));
    assert_int_equal(chdir("/"), 0);
    for (int turn = 0; turn < 10; turn++) {
        const char *const want[] = {unit_path("./sluice"), "-p", unit_path("p"), "-c",
                                    unit_path("c.yaml"), "-e", unit_path("e.log"), "-g",
                                    "daemon: off"};
        const char *args[ARGS] = {NULL};
        for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
            assert_non_null(o.argv[i]);
            assert_string_equal(o.argv[i], want[i]);
            args[i] = o.argv[i];
        }
        assert_null(o.argv[sizeof(want) / sizeof(want[0])]);
        struct options next;
        assert_true(parse(&next, args));
        options_free(&o);
        o = next;
    }
    options_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_lines), UNIT_DIR_TEST(relative),   UNIT_DIR_TEST(found_by_path),
        UNIT_DIR_TEST(no_directory),     UNIT_DIR_TEST(upgrade_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
