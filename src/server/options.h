/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line. */
#ifndef SLUICE_SERVER_OPTIONS_H
#define SLUICE_SERVER_OPTIONS_H

#include <stdbool.h>

enum action {
    ACTION_RUN,
    ACTION_TEST,       /* -t */
    ACTION_DUMP,       /* -T */
    ACTION_SIGNAL,     /* -s */
    ACTION_VERSION,    /* -v */
    ACTION_BUILD,      /* -V */
    ACTION_HELP,       /* -h */
    ACTION_DIRECTIVES, /* --dump-directives: the tables of sluice.yaml(5) */
};

struct options {
    enum action action;
    char *prefix;        /* absolute */
    char *conf;          /* absolute */
    char *error_log;     /* -e, absolute; NULL: not given */
    char *overrides;     /* -g; NULL: not given */
    const char *signal;  /* -s */
    bool quiet;          /* -q */
    char *program;       /* how we were started, absolute: what an upgrade runs */
    char **argv;         /* what an upgrade runs it with; all paths absolute */
};

/* False: it has been said on standard error what is wrong (exit status 2). */
bool options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);
void options_usage(void);

#endif
