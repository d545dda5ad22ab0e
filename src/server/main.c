/* SPDX-License-Identifier: BSD-2-Clause */
/* The program: what the command line asks for. */
#include "conf/bind.h"
#include "config.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/pidfile.h"
#include "os/signal.h"
#include "os/title.h"
#include "server/master.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static void print_build(void)
{
    struct ev_conf ev;
    char text[256];
    ev_conf_init(&ev);
    loop_probe(&ev, text, sizeof(text));
    printf("sluice %s\nbuilt by %s\nconfigure arguments: %s\nmodules:", SLUICE_VERSION,
           SLUICE_COMPILER, SLUICE_CONFIGURE);
    for (const struct module *const *m = http_modules; *m != NULL; m++)
        printf(" %s", (*m)->section.name);
    printf("\nevent back end: %s\n", text);

    struct arena *a = arena_new(64u << 10, 0);
    struct cpuset allowed;
    struct cpu_topology topology;
    struct cpu_plan plan;
    struct cpu_wish wish = {0};
    if (a != NULL && cpuset_affinity(&allowed) == STATUS_OK &&
        cpu_topology_read(a, "/", &allowed, &topology) == STATUS_OK &&
        cpu_plan_make(a, &topology, cpu_quota_read("/"), &wish, &plan) == STATUS_OK)
        printf("workers: " STR_FMT "\nsqpoll: " STR_FMT "\n", STR_ARG(plan.workers_reason),
               STR_ARG(plan.sqpoll_reason));
    arena_delete(a);
}

static void print_directives(void)
{
    struct buf out;
    buf_init(&out, 0);
    conf_reference(cycle_sections(), &out);
    fwrite(out.p, 1, out.n, stdout);
    buf_fini(&out);
}

static void print_report(const struct buf *report)
{
    if (report->n != 0) /* there is no text at all otherwise */
        fwrite(report->p, 1, report->n, stderr);
}

static int test(const struct options *o, struct cycle *c)
{
    struct buf out;
    buf_init(&out, 0);
    bool good = cycle_check(c, &out);
    print_report(&out);
    out.n = 0;
    if (o->action == ACTION_DUMP) {
        conf_dump(c->main_block, cycle_sections(), &out);
        fwrite(out.p, 1, out.n, stdout);
    } else if (good && !o->quiet) {
        fprintf(stderr, "sluice: the configuration %s is good\n", o->conf);
    }
    buf_fini(&out);
    return good ? 0 : 1;
}

static int signal_number(const char *word)
{
    static const struct {
        const char *word;
        int signal;
    } table[] = {{"stop", SIGTERM}, {"quit", SIGQUIT}, {"reload", SIGHUP}, {"reopen", SIGUSR1},
                 {"upgrade", SIGUSR2}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcmp(word, table[i].word) == 0)
            return table[i].signal;
    return 0;
}

/* A plain signal to the process that the pid file names. */
static int send_signal(const struct options *o, const char *pid_path)
{
    struct os_error e;
    pid_t pid;
    if (pidfile_running(pid_path, &pid, &e) != STATUS_OK) {
        fprintf(stderr, "sluice: no running server is named by \"%s\"\n", pid_path);
        return 1;
    }
    if (kill(pid, signal_number(o->signal)) == -1) {
        fprintf(stderr, "sluice: kill() of process %d failed (%d: %s)\n", (int)pid, errno,
                strerrordesc_np(errno));
        return 1;
    }
    return 0;
}

/* A reload is asked for on the control socket, which knows what comes of it. -1: there is none. */
static int ask_reload(const char *control)
{
    return control[0] == '\0' ? -1 : control_ask(control, "reload");
}

/* Without a control socket the signal is sent, but nobody can say that it did what it should. */
static int tell_server(const struct options *o, const struct cycle *c)
{
    char control[PATH_MAX];
    bool reload = strcmp(o->signal, "reload") == 0;
    if (!cycle_control(c, control, sizeof(control)))
        control[0] = '\0';
    int code = reload ? ask_reload(control) : -1;
    if (code >= 0)
        return code;
    code = send_signal(o, c->main->pid.p);
    if (code != 0 || !reload)
        return code;
    fprintf(stderr, "sluice: there is no control socket \"%s\": the signal was sent, the error log "
                    "says what became of it\n", control);
    return 1;
}

/*
 * A path of the main file if it cannot be loaded: what a line "KEY: ..." says, else the usual one.
 * *to stays empty without either.
 */
static void guess_path(const struct options *o, struct str key, struct str path, char *to,
                       size_t size)
{
    struct buf file;
    struct str rest, line;
    buf_init(&file, 0);
    if (file_read(o->conf, REPORT_MAX, &file, NULL, NULL) != STATUS_OK)
        file.n = 0;
    rest = buf_view(&file);
    while (rest.n != 0 && str_split(&rest, '\n', &line)) {
        if (!str_starts(line, key))
            continue;
        line = str_skip(line, key.n);
        while (line.n != 0 && strchr(" \t\"'[", line.p[0]) != NULL)
            line = str_skip(line, 1);
        size_t n = 0;
        while (n < line.n && strchr(" \t\r\"']#", line.p[n]) == NULL)
            n++;
        if (n != 0)
            path = str_head(line, n);
    }
    to[0] = '\0';
    if (path.n != 0)
        snprintf(to, size, "%s%s" STR_FMT, path.p[0] == '/' ? "" : o->prefix,
                 path.p[0] == '/' ? "" : "/", STR_ARG(path));
    buf_fini(&file);
}

/*
 * The configuration is bad.  A reload is refused then: the running server is asked all the same, so
 * that its log says so too, and its report is the one that counts.  Other signals need nothing from
 * the file but the place of the pid file.
 */
static int signal_without_cycle(const struct options *o, const struct buf *report)
{
    char pid[PATH_MAX], control[PATH_MAX];
    guess_path(o, STR("pid:"), STR(SLUICE_PID_PATH), pid, sizeof(pid));
    guess_path(o, STR("control:"), STR(""), control, sizeof(control));
    if (control[0] == '\0' && !control_path(pid, control, sizeof(control)))
        control[0] = '\0';
    int code = strcmp(o->signal, "reload") == 0 ? ask_reload(control) : -1;
    if (code >= 0)
        return code;
    print_report(report);
    if (strcmp(o->signal, "reload") == 0)
        return 1;
    return send_signal(o, pid);
}

static int without_cycle(const struct options *o, const struct buf *report)
{
    if (o->action == ACTION_SIGNAL)
        return signal_without_cycle(o, report);
    print_report(report);
    upgrade_say(buf_view(report));
    return 1;
}

static int with_configuration(const struct options *o)
{
    struct buf report;
    buf_init(&report, REPORT_MAX);
    struct cycle *c = cycle_load(o, 1, &report);
    int code = c == NULL ? without_cycle(o, &report) : 0;
    if (c != NULL && o->action != ACTION_SIGNAL)
        print_report(&report);
    buf_fini(&report);
    if (c == NULL)
        return code;
    switch (o->action) {
    case ACTION_TEST:
    case ACTION_DUMP:
        code = test(o, c);
        break;
    case ACTION_SIGNAL:
        code = tell_server(o, c);
        break;
    default:
        return master_run(o, c);
    }
    cycle_unref(c);
    return code;
}

int main(int argc, char **argv)
{
    struct options o;
    if (fd_reserve_stdio() != STATUS_OK)
        return 1;
    signal_reset();
    signal_ignore_pipe();
    upgrade_hello();
    if (!options_parse(&o, argc, argv))
        return EXIT_USAGE;
    title_init(argc, argv);
    int code = 0;
    switch (o.action) {
    case ACTION_HELP:
        options_usage();
        break;
    case ACTION_VERSION:
        printf("sluice %s\n", SLUICE_VERSION);
        break;
    case ACTION_BUILD:
        print_build();
        break;
    case ACTION_DIRECTIVES:
        print_directives();
        break;
    default:
        code = with_configuration(&o);
        break;
    }
    options_free(&o);
    return code;
}
