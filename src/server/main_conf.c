/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of the main and events blocks. */
#include "server/main_conf.h"

#include "config.h"

unsigned main_slot, events_slot;

#define MAIN(field) offsetof(struct main_conf, field)
#define EVENTS(field) offsetof(struct events_conf, field)

static const struct directive main_directives[] = {
    {.name = "user", .type = CTYPE_ARGS, .scopes = SCOPE_MAIN, .offset = MAIN(user), .min = 1,
     .max = 2, .dflt = SLUICE_USER " " SLUICE_GROUP, .args_doc = "user [group]",
     .doc = "User and group of the workers, when started by root."},
    {.name = "daemon", .type = CTYPE_SWITCH, .scopes = SCOPE_MAIN, .offset = MAIN(daemon),
     .dflt = "on", .doc = "Run in the background."},
    {.name = "master_process", .type = CTYPE_SWITCH, .scopes = SCOPE_MAIN,
     .offset = MAIN(master_process), .dflt = "on",
     .doc = "Run workers as processes of their own; off serves from the one process."},
    {.name = "worker_processes", .type = CTYPE_ARGS, .scopes = SCOPE_MAIN,
     .offset = MAIN(worker_processes), .min = 1, .max = 1, .dflt = "auto",
     .args_doc = "number | auto",
     .doc = "Number of workers; auto is one per physical core the process may run on."},
    {.name = "worker_cpu_affinity", .type = CTYPE_ARGS, .scopes = SCOPE_MAIN,
     .offset = MAIN(worker_cpu_affinity), .min = 1, .max = 0, .dflt = "auto",
     .args_doc = "auto | off | cpulist ...",
     .doc = "CPUs of the workers: chosen, left to the kernel, or one list like 0-3,8 each."},
    {.name = "worker_rlimit_nofile", .type = CTYPE_INT, .scopes = SCOPE_MAIN,
     .offset = MAIN(worker_rlimit_nofile), .min = 0, .max = 1 << 30, .dflt = "0",
     .doc = "Limit of open files per worker; 0 raises it as far as worker_connections needs."},
    {.name = "worker_priority", .type = CTYPE_ARGS, .scopes = SCOPE_MAIN,
     .offset = MAIN(worker_priority), .min = 1, .max = 1, .dflt = "0", .args_doc = "number",
     .doc = "Scheduling priority of the workers, -20 to 20."},
    {.name = "worker_shutdown_timeout", .type = CTYPE_TIME, .scopes = SCOPE_MAIN,
     .offset = MAIN(worker_shutdown_timeout), .flags = ROW_UNLIMITED, .dflt = "5m",
     .doc = "How long a retiring worker may take to finish its responses."},
    {.name = "pid", .type = CTYPE_PATH, .scopes = SCOPE_MAIN, .offset = MAIN(pid),
     .dflt = SLUICE_PID_PATH, .doc = "File that holds the master's process number."},
    {.name = "control", .type = CTYPE_PATH, .scopes = SCOPE_MAIN, .offset = MAIN(control),
     .doc = "Control socket of the master; by default beside the pid file, with .sock for .pid."},
    {.name = "error_log", .type = CTYPE_ARGS,
     .scopes = SCOPE_MAIN, .offset = MAIN(error_log), .min = 1, .max = 2,
     .flags = ROW_REPEATABLE, .args_doc = "file | stderr [level]",
     .doc = "Where errors are logged, and from which level on (default error)."},
    {.name = "events", .type = CTYPE_BLOCK, .scopes = SCOPE_MAIN, .block = SCOPE_EVENTS,
     .doc = "How workers wait for events."},
    {.name = NULL},
};

static const char *const use_names[] = {"auto", "io_uring", "epoll", NULL};
static const char *const tristate_names[] = {"auto", "on", "off", NULL};

static const struct directive events_directives[] = {
    {.name = "use", .type = CTYPE_ENUM, .scopes = SCOPE_EVENTS, .offset = EVENTS(use),
     .choices = use_names, .dflt = "auto",
     .doc = "Back end; auto takes io_uring where the kernel allows it, else epoll."},
    {.name = "worker_connections", .type = CTYPE_INT, .scopes = SCOPE_EVENTS,
     .offset = EVENTS(worker_connections), .min = 1, .max = 1 << 24, .dflt = "16384",
     .doc = "Connections a worker may have open at a time."},
    {.name = "sqpoll", .type = CTYPE_ENUM, .scopes = SCOPE_EVENTS, .offset = EVENTS(sqpoll),
     .choices = tristate_names, .dflt = "auto",
     .doc = "A kernel thread per worker that submits; auto: where a spare CPU is at hand."},
    {.name = "sqpoll_idle", .type = CTYPE_TIME, .scopes = SCOPE_EVENTS,
     .offset = EVENTS(sqpoll_idle), .min = 1, .max = 3600000, .dflt = "1s",
     .doc = "How long that thread polls without work before it sleeps."},
    {.name = "sqpoll_cpu", .type = CTYPE_ARGS, .scopes = SCOPE_EVENTS,
     .offset = EVENTS(sqpoll_cpu), .min = 1, .max = 0, .dflt = "auto",
     .args_doc = "auto | cpu ...", .doc = "CPU of each worker's SQPOLL thread."},
    {.name = "ring_entries", .type = CTYPE_INT, .scopes = SCOPE_EVENTS,
     .offset = EVENTS(ring_entries), .min = 8, .max = 32768, .dflt = "4096",
     .doc = "Entries of the submission queue."},
    {.name = "recv_buffers", .type = CTYPE_ARGS, .scopes = SCOPE_EVENTS,
     .offset = EVENTS(recv_buffers), .min = 1, .max = 2, .dflt = "1024 4k",
     .args_doc = "count [size]",
     .doc = "Receive buffers per worker; idle connections hold none of them."},
    {.name = "registered_files", .type = CTYPE_SWITCH, .scopes = SCOPE_EVENTS,
     .offset = EVENTS(registered_files), .dflt = "on",
     .doc = "Register descriptors of files that are read from disk piece by piece."},
    {.name = "registered_buffers", .type = CTYPE_SIZE, .scopes = SCOPE_EVENTS,
     .offset = EVENTS(registered_buffers), .min = 0, .max = 1 << 30, .dflt = "4m",
     .doc = "Registered memory for reading files from disk; 0 is none."},
    {.name = NULL},
};

const struct section main_section = {"main", main_directives, sizeof(struct main_conf),
                                     &main_slot};
const struct section events_section = {"events", events_directives, sizeof(struct events_conf),
                                       &events_slot};
