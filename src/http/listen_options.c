/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table of the options of `listen`: how a value is checked, how it is applied, whether it
 * makes sense for a Unix socket.  Names that nginx has and sluice has not get an answer of their
 * own instead of "unknown".
 */
#include "http/listen_options.h"

#include "conf/value.h"
#include "core/check.h"

#include <limits.h>

struct target {
    struct sock_options *socket;
    bool *proxy_protocol;
};

typedef const char *option_f(struct str value, const struct target *to);

static const char *set_int(struct str value, int64_t min, int *to)
{
    int64_t v;
    const char *why;
    if (!value_int(value, &v, &why))
        return why;
    if (v < min || v > INT_MAX)
        return min == 0 ? "a number from 0 to 2147483647" : "a number from 1 to 2147483647";
    *to = (int)v;
    return NULL;
}

static const char *set_backlog(struct str value, const struct target *to)
{
    return set_int(value, 1, &to->socket->backlog);
}

static const char *set_fastopen(struct str value, const struct target *to)
{
    return set_int(value, 0, &to->socket->fastopen);
}

static const char *set_ipv6only(struct str value, const struct target *to)
{
    const char *why = NULL;
    return value_switch(value, &to->socket->ipv6only, &why) ? NULL : why;
}

static const char *set_deferred(struct str value, const struct target *to)
{
    bool on = false;
    const char *why = NULL;
    if (!value_switch(value, &on, &why))
        return why;
    to->socket->deferred = on ? LISTEN_DEFER_S : 0;
    return NULL;
}

static const char *set_buffer(struct str value, int *to)
{
    int64_t v;
    const char *why;
    if (!value_size(value, &v, &why))
        return why;
    if (v < 1 || v > INT_MAX / 2) /* the kernel doubles it */
        return "a size from 1 to 1g";
    *to = (int)v;
    return NULL;
}

static const char *set_rcvbuf(struct str value, const struct target *to)
{
    return set_buffer(value, &to->socket->rcvbuf);
}

static const char *set_sndbuf(struct str value, const struct target *to)
{
    return set_buffer(value, &to->socket->sndbuf);
}

/* on, off, or idle:interval:count, each of which may be left out ("30m::10"). */
static const char *set_keepalive(struct str value, const struct target *to)
{
    static const char what[] = "on, off or idle:interval:count, as in 30m::10";
    struct sock_options *o = to->socket;
    bool on;
    if (value_switch(value, &on, NULL)) {
        o->keepalive = on ? SOCK_KEEPALIVE_ON : SOCK_KEEPALIVE_OFF;
        return NULL;
    }
    int *seconds[] = {&o->keepalive_idle, &o->keepalive_interval};
    struct str part, rest = value;
    size_t n = 0, some = 0;
    int64_t v;
    for (; str_split(&rest, ':', &part); n++) {
        some += part.n;
        if (part.n == 0)
            continue;
        if (n < ARRAY_LEN(seconds)) {
            if (!value_time(part, &v, NULL) || v < 1000 || v / 1000 > 32767)
                return what;
            *seconds[n] = (int)(v / 1000);
        } else if (!value_int(part, &v, NULL) || v < 1 || v > 127) {
            return what;
        } else {
            o->keepalive_count = (int)v;
        }
    }
    o->keepalive = SOCK_KEEPALIVE_ON;
    return n != 3 || some == 0 ? what : NULL;
}

static const char *set_proxy_protocol(struct str value, const struct target *to)
{
    const char *why = NULL;
    return value_switch(value, to->proxy_protocol, &why) ? NULL : why;
}

static const struct option {
    struct str name;
    bool bare;        /* may stand without "=value": on */
    bool tcp_only;
    option_f *set;
} options[LISTEN_OPTIONS] = {
    [LISTEN_BACKLOG] = {STR_INIT("backlog"), false, false, set_backlog},
    [LISTEN_IPV6ONLY] = {STR_INIT("ipv6only"), false, true, set_ipv6only},
    [LISTEN_DEFERRED] = {STR_INIT("deferred"), true, true, set_deferred},
    [LISTEN_FASTOPEN] = {STR_INIT("fastopen"), false, true, set_fastopen},
    [LISTEN_KEEPALIVE] = {STR_INIT("so_keepalive"), false, true, set_keepalive},
    [LISTEN_RCVBUF] = {STR_INIT("rcvbuf"), false, false, set_rcvbuf},
    [LISTEN_SNDBUF] = {STR_INIT("sndbuf"), false, false, set_sndbuf},
    [LISTEN_PROXY_PROTOCOL] = {STR_INIT("proxy_protocol"), true, false, set_proxy_protocol},
};

/* nginx's words that are refused with a reason. */
static const struct {
    struct str word;
    const char *why;
} refused[] = {
    {STR_INIT("ssl"), "TLS is not built in"},
    {STR_INIT("http2"), "HTTP/2 is not built in"},
    {STR_INIT("quic"), "HTTP/3 is not built in"},
    {STR_INIT("reuseport"), "it is not needed, every worker has a socket of its own"},
    {STR_INIT("bind"), "it is not needed, every address is bound by itself"},
    {STR_INIT("multipath"), "MPTCP is not built in"},
    {STR_INIT("setfib"), "it does not exist on Linux"},
    {STR_INIT("accept_filter"), "it does not exist on Linux, deferred is the like of it"},
};

static bool unknown(struct diag *d, struct str path, const struct arg *arg)
{
    static const char *const names[] = {
        "default_server", "ssl",      "proxy_protocol", "backlog", "ipv6only",
        "deferred",       "fastopen", "so_keepalive",   "rcvbuf",  "sndbuf",
    };
    ssize_t eq = str_chr(arg->text, '=');
    struct str word = eq < 0 ? arg->text : str_head(arg->text, (size_t)eq);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        if (!str_eq(word, refused[i].word))
            continue;
        diag_error(d, arg->pos, path, "listen: " STR_FMT ": %s", STR_ARG(word), refused[i].why);
        return false;
    }
    const char *near = diag_suggest(word, names, ARRAY_LEN(names));
    struct str shown = diag_excerpt(d, arg->text);
    if (near != NULL)
        diag_error(d, arg->pos, path,
                   "listen: \"" STR_FMT "\" is not an option, did you mean \"%s\"?",
                   STR_ARG(shown), near);
    else
        diag_error(d, arg->pos, path,
                   "listen: \"" STR_FMT "\" is not an option, expected default_server, ssl, "
                   "proxy_protocol, backlog=, ipv6only=, deferred=, fastopen=, so_keepalive=, "
                   "rcvbuf= or sndbuf=",
                   STR_ARG(shown));
    return false;
}

static bool read_one(struct listen_options *o, struct diag *d, struct str path,
                     const struct arg *arg, bool unix_socket)
{
    if (str_eq(arg->text, STR("default_server")) || str_eq(arg->text, STR("default"))) {
        o->default_server = true;
        return true;
    }
    for (size_t i = 0; i < LISTEN_OPTIONS; i++) {
        struct str value;
        const struct option *opt = &options[i];
        if (opt->bare && str_eq(arg->text, opt->name))
            value = STR("on");
        else if (!value_option(arg->text, opt->name, &value))
            continue;
        struct sock_options scratch;
        bool flag;
        struct target to = {&scratch, &flag};
        const char *why = unix_socket && opt->tcp_only ? "nothing: a Unix socket has no such option"
                          : o->given[i].text.p != NULL ? "each option once"
                                                       : opt->set(value, &to);
        if (why != NULL) {
            diag_error(d, arg->pos, path, "listen: \"" STR_FMT "\" is not valid, expected %s",
                       STR_ARG(arg->text), why);
            return false;
        }
        o->given[i] = (struct arg){value, arg->pos};
        return true;
    }
    return unknown(d, path, arg);
}

bool listen_options_read(struct listen_options *o, struct diag *d, struct str path,
                         const struct args *args, bool unix_socket)
{
    bool good = true;
    *o = (struct listen_options){.default_server = false};
    for (size_t i = 1; i < args->n; i++)
        good = read_one(o, d, path, &args->v[i], unix_socket) && good;
    return good;
}

bool listen_options_merge(struct listen_options *o, const struct listen_options *more,
                          struct diag *d, struct str path, const char *address)
{
    bool good = true;
    for (size_t i = 0; i < LISTEN_OPTIONS; i++) {
        const struct arg *a = &o->given[i], *b = &more->given[i];
        if (b->text.p == NULL)
            continue;
        if (a->text.p != NULL && !str_eq(a->text, b->text)) {
            diag_error(d, b->pos, path,
                       "listen: " STR_FMT " of %s is \"" STR_FMT "\" in line %u already; servers "
                       "that share an address share its options",
                       STR_ARG(options[i].name), address, STR_ARG(a->text), a->pos.line);
            good = false;
            continue;
        }
        o->given[i] = *b;
    }
    return good;
}

void listen_options_apply(const struct listen_options *o, struct sock_options *to,
                          bool *proxy_protocol)
{
    struct target target = {to, proxy_protocol};
    sock_options_init(to);
    to->deferred = LISTEN_DEFER_S;
    *proxy_protocol = false;
    for (size_t i = 0; i < LISTEN_OPTIONS; i++)
        if (o->given[i].text.p != NULL)
            CHECK(options[i].set(o->given[i].text, &target) == NULL);
}
