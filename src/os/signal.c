/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signal dispositions, masks and the signalfd.  The one trap is SIGCHLD or any other signal that
 * was ignored when the program was started: it stays ignored across exec and would never be seen.
 */
#include "os/signal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void set_default(int signal_number)
{
    struct sigaction sa;

    memset(&sa, 0, sizeof(sa));
    sa.sa_handler = SIG_DFL;
    sigemptyset(&sa.sa_mask);
    sigaction(signal_number, &sa, NULL); /* fails for KILL, STOP and libc's own: as it should */
}

void signal_reset(void)
{
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        set_default(s);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void signal_ignore_pipe(void)
{
    struct sigaction sa;

    memset(&sa, 0, sizeof(sa));
    sa.sa_handler = SIG_IGN;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGPIPE, &sa, NULL);
}

enum status signal_open(int *fd, const int *signals, size_t count)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < count; i++)
        sigaddset(&set, signals[i]);
    *fd = -1;
    /* Blocked before the disposition changes: none that comes in between can kill. */
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return status_from_errno(errno);
    for (size_t i = 0; i < count; i++)
        set_default(signals[i]);
    *fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return *fd < 0 ? status_from_errno(errno) : STATUS_OK;
}

bool signal_read(int fd, struct signal_event *out)
{
    struct signalfd_siginfo si;
    ssize_t r;

    do {
        r = read(fd, &si, sizeof(si));
    } while (r < 0 && errno == EINTR);
    if (r != (ssize_t)sizeof(si))
        return false;
    *out = (struct signal_event){(int)si.ssi_signo, (pid_t)si.ssi_pid, (uid_t)si.ssi_uid};
    return true;
}

const char *signal_name(int signal)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},   {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},     {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},   {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},   {SIGCHLD, "SIGCHLD"},
        {SIGCONT, "SIGCONT"}, {SIGSTOP, "SIGSTOP"}, {SIGWINCH, "SIGWINCH"}, {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
    };
    static char other[24];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].number == signal)
            return names[i].name;
    }
    snprintf(other, sizeof(other), "signal %d", signal);
    return other;
}
