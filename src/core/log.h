/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The error log.  A struct log is a set of sinks, each a descriptor and a level; a struct log_ctx
 * is what an object (connection, request) logs through: it names the log and can add its own
 * particulars (", client: …, request: …") to each line.
 *
 * A line is one write(2) of at most LOG_LINE_MAX bytes: control bytes are escaped as \xHH, so no
 * client can forge a line.  Writing never blocks for long and never fails loudly: lost lines are
 * counted.  The level is tested before the arguments are evaluated.
 *
 *     2026/11/30 21:52:20 [error] 1234#0: *17 open() "/srv/x" failed (13: Permission denied), client: …
 */
#ifndef SLUICE_CORE_LOG_H
#define SLUICE_CORE_LOG_H

#include "core/buf.h"
#include "core/check.h"
#include "core/str.h"

#define LOG_LINE_MAX 4096
#define LOG_SINKS 8

enum log_level {
    LEVEL_EMERG, LEVEL_ALERT, LEVEL_CRIT, LEVEL_ERROR,
    LEVEL_WARN, LEVEL_NOTICE, LEVEL_INFO, LEVEL_DEBUG
};

/* "emerg" … "debug"; NULL-terminated, in order. */
extern const char *const log_level_names[];

struct log_sink {
    int fd;                   /* -1: closed, lines are counted as lost */
    enum log_level level;     /* lines of this and more urgent levels */
    const char *path;         /* for reopening and messages; "stderr" */
};

struct log {
    enum log_level level;     /* the most verbose of the sinks */
    size_t sink_count;
    struct log_sink sinks[LOG_SINKS];
    uint64_t lost;            /* lines not written */
};

struct log_ctx {
    struct log *log;
    uint64_t id;              /* connection number, 0 for none */
    /* Appends ", client: …" and the like; may be NULL. */
    void (*describe)(const struct log_ctx *ctx, struct wbuf *to);
};

/* The process's own log: standard error at level notice until the configuration says otherwise. */
extern struct log log_main;
extern struct log_ctx log_process;

/* Adds a sink and recomputes the level. False when there are LOG_SINKS already. */
bool log_add_sink(struct log *l, int fd, enum log_level level, const char *path);

void log_msg(const struct log_ctx *ctx, enum log_level level, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Appends " (13: Permission denied)" for err, which is a positive errno value. */
void log_msg_errno(const struct log_ctx *ctx, enum log_level level, int err, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

#define log_on(ctx, lvl) ((ctx)->log->level >= (lvl))
#define log_at(ctx, lvl, ...) (log_on(ctx, lvl) ? log_msg((ctx), (lvl), __VA_ARGS__) : (void)0)
#define log_errno_at(ctx, lvl, err, ...) \
    (log_on(ctx, lvl) ? log_msg_errno((ctx), (lvl), (err), __VA_ARGS__) : (void)0)

#define log_debug(ctx, ...) log_at(ctx, LEVEL_DEBUG, __VA_ARGS__)
#define log_info(ctx, ...) log_at(ctx, LEVEL_INFO, __VA_ARGS__)
#define log_notice(ctx, ...) log_at(ctx, LEVEL_NOTICE, __VA_ARGS__)
#define log_warn(ctx, ...) log_at(ctx, LEVEL_WARN, __VA_ARGS__)
#define log_error(ctx, ...) log_at(ctx, LEVEL_ERROR, __VA_ARGS__)
#define log_alert(ctx, ...) log_at(ctx, LEVEL_ALERT, __VA_ARGS__)

/*
 * At most `burst` lines per second from one place in the code; what was held back is counted and
 * said with the next line that passes.  `site` is static and zeroed.
 */
struct log_rate {
    uint64_t second;
    uint32_t count, held;
};
bool log_rate_ok(struct log_rate *site, uint32_t burst, uint32_t *held);

/* Escapes control bytes, '"' and '\\' as \xHH into w: for client bytes in a line. */
void log_escape(struct wbuf *w, struct str s);

#endif
