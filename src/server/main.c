/* SPDX-License-Identifier: BSD-2-Clause */
/* The program: what the command line asks for. */
#include "conf/bind.h"
#include "config.h"
#include "os/fd.h"
#include "os/pidfile.h"
#include "os/signal.h"
#include "os/title.h"
#include "server/master.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2
#define REPORT_MAX (256u << 10)

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

static int test(const struct options *o, const struct cycle *c)
{
    if (o->action == ACTION_DUMP) {
        struct buf out;
        buf_init(&out, 0);
        conf_dump(c->main_block, cycle_sections(), &out);
        fwrite(out.p, 1, out.n, stdout);
        buf_fini(&out);
    } else if (!o->quiet) {
        fprintf(stderr, "sluice: the configuration %s is good\n", o->conf);
    }
    return 0;
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

/*
 * The pid file's place is the configuration's to say. A reload is asked for on the control socket,
 * which knows what comes of it; the others are plain signals.
 */
static int send_signal(const struct options *o, const struct cycle *c)
{
    const char *path = c->main->pid.p;
    char control[4096];
    struct os_error e;
    pid_t pid;
    bool reload = strcmp(o->signal, "reload") == 0;
    if (reload && control_path(path, control, sizeof(control))) {
        int code = control_ask(control, "reload");
        if (code >= 0)
            return code;
    }
    if (pidfile_running(path, &pid, &e) != STATUS_OK) {
        fprintf(stderr, "sluice: no running server is named by \"%s\"\n", path);
        return 1;
    }
    if (kill(pid, signal_number(o->signal)) == -1) {
        fprintf(stderr, "sluice: cannot signal process %d: %s\n", (int)pid, strerror(errno));
        return 1;
    }
    if (reload)
        fprintf(stderr, "sluice: there is no control socket: the signal was sent, the error log "
                        "says what became of it\n");
    return 0;
}

/* For a reload the file may be bad: then the running server is to say so, from the usual place. */
static int signal_without_cycle(const struct options *o)
{
    char pid[4096], control[4096];
    snprintf(pid, sizeof(pid), "%s%s%s", SLUICE_PID_PATH[0] == '/' ? "" : o->prefix,
             SLUICE_PID_PATH[0] == '/' ? "" : "/", SLUICE_PID_PATH);
    if (strcmp(o->signal, "reload") != 0 || !control_path(pid, control, sizeof(control)))
        return 1;
    int code = control_ask(control, "reload");
    return code >= 0 ? code : 1;
}

static int with_configuration(const struct options *o)
{
    struct buf report;
    buf_init(&report, REPORT_MAX);
    struct cycle *c = cycle_load(o, 1, &report);
    if (c == NULL || o->action != ACTION_SIGNAL)
        print_report(&report);
    buf_fini(&report);
    if (c == NULL)
        return o->action == ACTION_SIGNAL ? signal_without_cycle(o) : 1;
    int code;
    switch (o->action) {
    case ACTION_TEST:
    case ACTION_DUMP:
        code = test(o, c);
        break;
    case ACTION_SIGNAL:
        code = send_signal(o, c);
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
