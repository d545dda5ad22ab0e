/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The phases a request goes through.  Each location has, compiled at load, the list of hooks that
 * are enabled in it, ordered by phase and rank; what is off in a location costs nothing there.
 */
#ifndef SLUICE_HTTP_PHASE_H
#define SLUICE_HTTP_PHASE_H

#include <stdbool.h>

struct request;
struct response;

enum phase {
    PHASE_SERVER_REWRITE, /* rewrite rules of the server, before a location is chosen */
    PHASE_REWRITE,        /* …of the location */
    PHASE_PREACCESS,      /* limits */
    PHASE_ACCESS,         /* addresses, passwords */
    PHASE_PRECONTENT,     /* try_files */
    PHASE_CONTENT,        /* who answers: the first that says DONE */
    PHASE_LOG,            /* after the answer has gone out (or could not); verdicts are ignored */
    PHASES
};

enum verdict {
    VERDICT_NEXT,    /* not mine, or nothing to object: the next hook */
    VERDICT_DONE,    /* the response is set (status and body): send it */
    VERDICT_PENDING, /* request_resume() will be called later */
    VERDICT_REROUTE, /* request_redirect() gave it a new URI: choose a location again */
};

typedef enum verdict hook_f(struct request *r);

struct hook {
    enum phase phase;
    int rank;                            /* ascending within a phase; unique per phase */
    bool (*enabled)(const void *conf);   /* of the module's struct in a location; NULL: always */
    hook_f *run;                         /* NULL ends a table */
};

/*
 * A head filter looks at a response before its head is written and may change status, headers and
 * body (by putting a body of its own in front of the given one).
 */
struct filter {
    int rank;                            /* ascending */
    bool (*enabled)(const void *conf);   /* NULL: always */
    void (*run)(struct request *r, struct response *res);
    /*
     * What it does to a 200 for a plain GET depends on nothing but location, file and coding, so
     * that the finished head may be kept with the file. NULL: always so.
     */
    bool (*constant)(const void *conf);
};

#endif
