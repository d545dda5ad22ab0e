/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line as ps shows it.  The kernel lays the strings of argv and environ out one behind
 * the other; as long as that holds, all of it is room for the title.
 */
#include "os/title.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct {
    char *p;
    size_t room;
    char **env;   /* the block of copy_environ(); setenv(3) may make an array of its own */
} title;

/* Extends *end over s if s lies right behind it. */
static bool follows(char **end, char *s)
{
    if (s != *end)
        return false;
    *end = s + strlen(s) + 1;
    return true;
}

/*
 * A copy of the environment, pointers and strings in one block: unsetenv(3) forgets single strings,
 * the block stays known as a whole.  NULL without memory.
 */
static char **copy_environ(void)
{
    size_t n, size = 0;
    char **copy, *to;

    for (n = 0; environ[n] != NULL; n++)
        size += strlen(environ[n]) + 1;
    copy = malloc((n + 1) * sizeof(*copy) + size);
    if (copy == NULL)
        return NULL;
    to = (char *)(copy + n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t room = strlen(environ[i]) + 1;
        copy[i] = memcpy(to, environ[i], room);
        to += room;
    }
    copy[n] = NULL;
    return copy;
}

void title_init(int argc, char **argv)
{
    char *end, *name, *short_name, **env;

    if (argc < 1 || argv[0] == NULL)
        return;
    env = copy_environ();
    name = strdup(program_invocation_name);
    short_name = strdup(program_invocation_short_name);
    if (env == NULL || name == NULL || short_name == NULL)
        return; /* without a title the server serves as well */
    end = argv[0];
    for (int i = 0; i < argc; i++) {
        if (argv[i] == NULL || !follows(&end, argv[i]))
            break;
    }
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (!follows(&end, environ[i]))
            break;
    }
    environ = title.env = env;
    program_invocation_name = name;
    program_invocation_short_name = short_name;
    title.p = argv[0];
    title.room = (size_t)(end - argv[0]);
}

void title_set(const char *name, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    int head, n;

    if (name != NULL)
        prctl(PR_SET_NAME, name, 0, 0, 0);
    if (title.p == NULL || title.room < 2)
        return;
    head = snprintf(text, sizeof(text), "sluice: ");
    va_start(ap, fmt);
    n = vsnprintf(text + head, sizeof(text) - (size_t)head, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    /* The rest must be NUL: what is left of the old strings would be shown. */
    memset(title.p, 0, title.room);
    memccpy(title.p, text, '\0', title.room - 1);
}
