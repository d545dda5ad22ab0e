/* SPDX-License-Identifier: BSD-2-Clause */
/* The directives of the main and events blocks. */
#ifndef SLUICE_SERVER_MAIN_CONF_H
#define SLUICE_SERVER_MAIN_CONF_H

#include "conf/schema.h"
#include "event/loop.h"

struct main_conf {
    struct instances user, worker_processes, worker_cpu_affinity, error_log;
    bool daemon, master_process;
    struct instances worker_priority;
    int64_t worker_rlimit_nofile, worker_shutdown_timeout;
    struct str pid, control;
};

struct events_conf {
    int use, sqpoll;
    int64_t worker_connections, sqpoll_idle, ring_entries, registered_buffers;
    struct instances sqpoll_cpu, recv_buffers;
    bool registered_files;
};

extern unsigned main_slot, events_slot;
extern const struct section main_section, events_section;

#endif
