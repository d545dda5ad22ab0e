/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A schema for the tests of the configuration layer: rows like those of config.md, every type
 * among them, in four sections.  The real rows belong to the layers above and are not used here.
 */
#ifndef SLUICE_TESTS_CONF_SCHEMA_H
#define SLUICE_TESTS_CONF_SCHEMA_H

#include "conf/bind.h"
#include "conf/value.h"

struct main_conf {
    struct instances user;
    bool daemon;
    struct arg worker_processes;
    int64_t worker_rlimit_nofile;
    int64_t worker_shutdown_timeout;
    struct str pid;
};

struct log_conf {
    struct instances error_log;
};

struct events_conf {
    int use, sqpoll;
    int64_t worker_connections, sqpoll_idle, registered_buffers;
    struct instances recv_buffers;
};

struct http_conf {
    struct arg root, default_type;
    struct instances index, listen, server_name, keepalive_timeout, access_log, error_page, ret;
    struct instances add_header, certificates;
    struct keyed types, log_format, map;
    int if_modified_since;
    int64_t client_max_body_size, limit_rate, keepalive_requests, send_timeout, max_headers;
    bool server_tokens, merge_slashes, internal;
    int etag;
    struct str alias_file, password_file;
};

static unsigned main_slot, log_slot, events_slot, http_slot;

static bool check_processes(struct diag *d, struct str path, const struct directive *row,
                            const struct args *args, void *conf)
{
    int64_t n;
    const char *why;
    (void)row;
    (void)conf;
    if (str_eq(args->v[0].text, STR("auto")) || value_int(args->v[0].text, &n, &why))
        return true;
    diag_error(d, args->v[0].pos, path, "\"" STR_FMT "\" is not valid, expected a number or auto",
               STR_ARG(args->v[0].text));
    return false;
}

static bool check_listen(struct diag *d, struct str path, const struct directive *row,
                         const struct args *args, void *conf)
{
    struct value_address address;
    const char *why;
    (void)row;
    (void)conf;
    if (value_address(args->v[0].text, &address, &why))
        return true;
    diag_error(d, args->v[0].pos, path, "\"" STR_FMT "\" is not valid, expected %s",
               STR_ARG(args->v[0].text), why);
    return false;
}

static const char *const use_choices[] = {"auto", "io_uring", "epoll", NULL};
static const char *const sqpoll_choices[] = {"auto", "on", "off", NULL};
static const char *const etag_choices[] = {"on", "off", "content", NULL};
static const char *const since_choices[] = {"off", "exact", "before", NULL};

#define MAIN(field) .offset = offsetof(struct main_conf, field), .scopes = SCOPE_MAIN
#define EVENTS(field) .offset = offsetof(struct events_conf, field), .scopes = SCOPE_EVENTS
#define HTTP(field) .offset = offsetof(struct http_conf, field), .scopes = SCOPE_ANY_HTTP
#define HTTP_IN(field, where) .offset = offsetof(struct http_conf, field), .scopes = (where)

static const struct directive main_rows[] = {
    {"user", CTYPE_ARGS, MAIN(user), .min = 1, .max = 2, .args_doc = "user [group]",
     .doc = "Who the workers run as."},
    {"daemon", CTYPE_SWITCH, MAIN(daemon), .dflt = "on", .doc = "Goes to the background."},
    {"worker_processes", CTYPE_TEXT, MAIN(worker_processes), .dflt = "auto",
     .check = check_processes, .args_doc = "number | auto", .doc = "How many workers."},
    {"worker_rlimit_nofile", CTYPE_INT, MAIN(worker_rlimit_nofile), .min = 16, .max = 1048576,
     .doc = "Open files of a worker."},
    {"worker_shutdown_timeout", CTYPE_TIME, MAIN(worker_shutdown_timeout), .dflt = "5m",
     .flags = ROW_UNLIMITED, .doc = "How long a worker may take to end."},
    {"pid", CTYPE_PATH, MAIN(pid), .dflt = "logs/sluice.pid", .doc = "The pid file."},
    {"events", CTYPE_BLOCK, SCOPE_MAIN, .block = SCOPE_EVENTS},
    {"http", CTYPE_BLOCK, SCOPE_MAIN, .block = SCOPE_HTTP},
    {0},
};

static const struct directive log_rows[] = {
    {"error_log", CTYPE_ARGS, .scopes = SCOPE_MAIN | SCOPE_ANY_HTTP,
     .offset = offsetof(struct log_conf, error_log), .min = 1, .max = 2,
     .flags = ROW_REPEATABLE, .dflt = "logs/error.log error", .args_doc = "file [level]",
     .doc = "Where errors go."},
    {0},
};

static const struct directive events_rows[] = {
    {"use", CTYPE_ENUM, EVENTS(use), .choices = use_choices, .dflt = "auto"},
    {"sqpoll", CTYPE_ENUM, EVENTS(sqpoll), .choices = sqpoll_choices, .dflt = "auto"},
    {"sqpoll_idle", CTYPE_TIME, EVENTS(sqpoll_idle), .min = 1, .max = 3600000, .dflt = "1s"},
    {"worker_connections", CTYPE_INT, EVENTS(worker_connections), .min = 1, .max = 1 << 24,
     .dflt = "16384"},
    {"recv_buffers", CTYPE_ARGS, EVENTS(recv_buffers), .min = 2, .max = 2, .dflt = "1024 4k"},
    {"registered_buffers", CTYPE_SIZE, EVENTS(registered_buffers), .dflt = "4m"},
    {0},
};

static const struct directive http_rows[] = {
    {"root", CTYPE_TEXT, HTTP(root), .dflt = "html", .doc = "Where files are."},
    {"index", CTYPE_ARGS, HTTP(index), .min = 1, .dflt = "index.html"},
    {"types", CTYPE_KEYED, HTTP(types), .min = 1, .flags = ROW_MERGE},
    {"default_type", CTYPE_TEXT, HTTP(default_type), .dflt = "application/octet-stream"},
    {"keepalive_timeout", CTYPE_ARGS, HTTP(keepalive_timeout), .min = 1, .max = 2,
     .dflt = "75s"},
    {"keepalive_requests", CTYPE_INT, HTTP(keepalive_requests), .min = 1, .max = INT32_MAX,
     .dflt = "10000"},
    {"send_timeout", CTYPE_TIME, HTTP(send_timeout), .min = 1, .max = INT64_C(315360000000),
     .dflt = "30s"},
    {"client_max_body_size", CTYPE_SIZE, HTTP(client_max_body_size), .dflt = "1m"},
    {"limit_rate", CTYPE_SIZE, HTTP(limit_rate), .min = 1, .flags = ROW_UNLIMITED,
     .dflt = "unlimited"},
    {"if_modified_since", CTYPE_ENUM, HTTP(if_modified_since), .choices = since_choices,
     .dflt = "before"},
    {"max_headers", CTYPE_INT, HTTP_IN(max_headers, SCOPE_HTTP | SCOPE_SERVER), .min = 1,
     .max = 10000, .dflt = "100"},
    {"server_tokens", CTYPE_SWITCH, HTTP(server_tokens), .dflt = "off"},
    {"merge_slashes", CTYPE_SWITCH, HTTP_IN(merge_slashes, SCOPE_HTTP | SCOPE_SERVER),
     .dflt = "on"},
    {"etag", CTYPE_ENUM, HTTP(etag), .choices = etag_choices, .dflt = "on"},
    {"error_page", CTYPE_ARGS, HTTP(error_page), .min = 2, .flags = ROW_REPEATABLE},
    {"add_header", CTYPE_ARGS, HTTP(add_header), .min = 2, .max = 3, .flags = ROW_REPEATABLE},
    {"access_log", CTYPE_ARGS, HTTP(access_log), .min = 1, .flags = ROW_REPEATABLE,
     .dflt = "logs/access.log combined"},
    {"auth_basic_user_file", CTYPE_CONF_PATH, HTTP(password_file)},
    {"internal", CTYPE_SWITCH, HTTP_IN(internal, SCOPE_LOCATION),
     .flags = ROW_BARE | ROW_NO_INHERIT},
    {"return", CTYPE_ARGS, HTTP_IN(ret, SCOPE_SERVER | SCOPE_LOCATION), .min = 1, .max = 2,
     .flags = ROW_NO_INHERIT},
    {"spa", CTYPE_PATH, HTTP_IN(alias_file, SCOPE_LOCATION)},
    {"log_format", CTYPE_KEYED, HTTP_IN(log_format, SCOPE_HTTP), .min = 1, .max = 1,
     .flags = ROW_VERBATIM},
    {"map", CTYPE_KEYED, HTTP_IN(map, SCOPE_HTTP)},
    {"server", CTYPE_BLOCK, SCOPE_HTTP, .flags = ROW_BLOCK_LIST, .block = SCOPE_SERVER},
    {"location", CTYPE_BLOCK, SCOPE_SERVER | SCOPE_LOCATION, .flags = ROW_BLOCK_KEYED,
     .block = SCOPE_LOCATION},
    {"listen", CTYPE_ARGS, HTTP_IN(listen, SCOPE_SERVER), .min = 1, .dflt = "80",
     .flags = ROW_REPEATABLE, .check = check_listen},
    {"server_name", CTYPE_ARGS, HTTP_IN(server_name, SCOPE_SERVER), .min = 1},
    {"ssl_certificate", CTYPE_CONF_PATH, HTTP_IN(certificates, SCOPE_HTTP | SCOPE_SERVER),
     .flags = ROW_REPEATABLE},
    {0},
};

static const struct section main_section = {"main", main_rows, sizeof(struct main_conf),
                                            &main_slot};
static const struct section log_section = {"log", log_rows, sizeof(struct log_conf), &log_slot};
static const struct section events_section = {"events", events_rows, sizeof(struct events_conf),
                                              &events_slot};
static const struct section http_section = {"http", http_rows, sizeof(struct http_conf),
                                            &http_slot};

static const struct section *const test_sections[] = {
    &main_section, &log_section, &events_section, &http_section, NULL,
};

#endif
