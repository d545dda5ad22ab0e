/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line; paths become absolute here, because a daemon leaves its directory. */
#include "server/options.h"

#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UPGRADE_ARGS 10 /* program, four options with values, NULL */

static const char *const signal_words[] = {"stop", "quit", "reload", "reopen", "upgrade", NULL};

void options_usage(void)
{
    printf("usage: sluice [-c FILE] [-p PREFIX] [-e ERROR_LOG] [-g YAML] [-q]\n"
           "              [-t | -T | -s stop|quit|reload|reopen|upgrade] [-v | -V] [-h]\n"
           "\n"
           "  -c FILE    configuration file (%s)\n"
           "  -p PREFIX  where relative paths begin (%s)\n"
           "  -e FILE    error log until the configuration names one\n"
           "  -g YAML    directives that win over those of the file\n"
           "  -t         test the configuration and exit\n"
           "  -T         test it and print what is in force\n"
           "  -q         with -t: print faults only\n"
           "  -s WORD    tell the running server\n"
           "  -v, -V     print the version; with how it was built and the event back end\n"
           "  -h         this text\n",
           SLUICE_CONF_PATH, SLUICE_PREFIX);
}

static char *copy(const char *s)
{
    char *p = strdup(s);
    if (p == NULL) {
        fputs("sluice: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static char *absolute(const char *dir, const char *path)
{
    char *p;
    if (path[0] == '/')
        return copy(path);
    const char *slash = dir[0] != '\0' && dir[strlen(dir) - 1] == '/' ? "" : "/";
    if (asprintf(&p, "%s%s%s", dir, slash, path) == -1)
        return copy(path);
    return p;
}

static void strip_slashes(char *p)
{
    size_t n = strlen(p);
    while (n > 1 && p[n - 1] == '/')
        p[--n] = '\0';
}

/* The program's own path: argv[0] if it has a slash, else what PATH finds. */
static char *program_path(const char *cwd, const char *argv0)
{
    if (strchr(argv0, '/') != NULL)
        return absolute(cwd, argv0);
    const char *path = getenv("PATH");
    char *list = copy(path != NULL ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
    char *rest = list;
    for (char *dir; (dir = strsep(&rest, ":")) != NULL;) {
        char *base = absolute(cwd, dir[0] == '\0' ? "." : dir);
        char *p = absolute(base, argv0);
        free(base);
        if (access(p, X_OK) == 0) {
            free(list);
            return p;
        }
        free(p);
    }
    free(list);
    return copy(argv0);
}

static bool known_signal(const char *word)
{
    for (size_t i = 0; signal_words[i] != NULL; i++)
        if (strcmp(word, signal_words[i]) == 0)
            return true;
    fprintf(stderr, "sluice: -s %s: expected stop, quit, reload, reopen or upgrade\n", word);
    return false;
}

/* A test that stops the server, or a signal that only tests, is never what was meant. */
static bool choose(struct options *o, enum action action)
{
    bool mixed = action == ACTION_SIGNAL
                     ? o->action == ACTION_TEST || o->action == ACTION_DUMP
                     : o->action == ACTION_SIGNAL;
    o->action = action;
    if (mixed)
        fputs("sluice: -s goes with neither -t nor -T\n", stderr);
    return !mixed;
}

struct given {
    const char *prefix, *conf, *error_log, *overrides;
};

static bool take(struct options *o, struct given *g, int opt)
{
    switch (opt) {
    case 'c': g->conf = optarg; return true;
    case 'p': g->prefix = optarg; return true;
    case 'e': g->error_log = optarg; return true;
    case 'g': g->overrides = optarg; return true;
    case 'q': o->quiet = true; return true;
    case 't': return choose(o, o->action == ACTION_DUMP ? ACTION_DUMP : ACTION_TEST);
    case 'T': return choose(o, ACTION_DUMP);
    case 's': o->signal = optarg; return known_signal(optarg) && choose(o, ACTION_SIGNAL);
    case 'v': o->action = ACTION_VERSION; return true;
    case 'V': o->action = ACTION_BUILD; return true;
    case 'h': o->action = ACTION_HELP; return true;
    case 'D': o->action = ACTION_DIRECTIVES; return true;
    default: return false;
    }
}

/*
 * The arguments with which an upgrade runs the program: the new one may find itself in another
 * directory than we were started in, so all paths are absolute, that of the program too.
 */
static char **upgrade_argv(const struct options *o)
{
    char **v = calloc(UPGRADE_ARGS, sizeof(*v)), **at = v;
    if (v == NULL) {
        fputs("sluice: out of memory\n", stderr);
        exit(1);
    }
    *at++ = copy(o->program);
    const struct {
        const char *option, *value;
    } rows[] = {{"-p", o->prefix}, {"-c", o->conf}, {"-e", o->error_log}, {"-g", o->overrides}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value == NULL)
            continue;
        *at++ = copy(rows[i].option);
        *at++ = copy(rows[i].value);
    }
    return v;
}

bool options_parse(struct options *o, int argc, char **argv)
{
    static const struct option longs[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {"dump-directives", no_argument, NULL, 'D'},
        {NULL, 0, NULL, 0},
    };
    struct given g = {.prefix = SLUICE_PREFIX};
    char cwd[PATH_MAX];
    *o = (struct options){.action = ACTION_RUN};
    if (getcwd(cwd, sizeof(cwd)) == NULL)
        memcpy(cwd, "/", 2); /* it was deleted under us: relative paths begin at the root */
    for (int opt; (opt = getopt_long(argc, argv, "c:p:e:g:qtTs:vVh", longs, NULL)) != -1;)
        if (!take(o, &g, opt)) {
            fputs("sluice: see sluice -h\n", stderr);
            return false;
        }
    if (optind < argc) {
        fprintf(stderr, "sluice: unexpected argument \"%s\": see sluice -h\n", argv[optind]);
        return false;
    }
    o->prefix = absolute(cwd, g.prefix);
    strip_slashes(o->prefix);
    o->conf = g.conf != NULL ? absolute(cwd, g.conf)
                                : absolute(o->prefix, SLUICE_CONF_PATH);
    o->error_log = g.error_log != NULL ? absolute(cwd, g.error_log) : NULL;
    o->overrides = g.overrides != NULL ? copy(g.overrides) : NULL;
    o->program = program_path(cwd, argc > 0 ? argv[0] : "sluice");
    o->argv = upgrade_argv(o);
    return true;
}

void options_free(struct options *o)
{
    for (char **v = o->argv; v != NULL && *v != NULL; v++)
        free(*v);
    free(o->argv);
    free(o->prefix);
    free(o->conf);
    free(o->error_log);
    free(o->overrides);
    free(o->program);
}
