/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of http's own directives. What they cannot say is derived in http_freeze.c. */
#include "http/http_conf.h"

unsigned http_slot;

#define YEARS10_MS INT64_C(315360000000)
#define SIZE_MAX_K (INT64_C(1) << 30)

static const char *const etag_words[] = {"on", "off", "content", NULL};
static const char *const since_words[] = {"off", "exact", "before", NULL};
static const char *const splice_words[] = {"auto", "on", "off", NULL};
static const char *const linger_words[] = {"off", "on", "always", NULL};
static const char *const satisfy_words[] = {"all", "any", NULL};
static const char *const hidden_words[] = {"deny", "allow", NULL};

#define FIELD(name) .offset = offsetof(struct http_conf, name)
#define ANY .scopes = SCOPE_ANY_HTTP
#define OUTER .scopes = SCOPE_HTTP | SCOPE_SERVER
#define ONLY(scope) .scopes = SCOPE_##scope

static const struct directive rows[] = {
    /* files; root and alias first: they are asked for by name once per location */
    {"root", CTYPE_TEXT, ANY, FIELD(root), .dflt = "html", .args_doc = "directory",
     .doc = "Where files are: the path of a request is looked up below it."},
    {"alias", CTYPE_TEXT, ONLY(LOCATION), FIELD(alias), .args_doc = "path",
     .doc = "Stands in place of the location's name, matched by whole segments; in a regex "
            "location in place of the whole path."},
    {"internal", CTYPE_SWITCH, ONLY(LOCATION), FIELD(internal),
     .flags = ROW_BARE | ROW_NO_INHERIT, .doc = "Reached by internal redirects only, else 404."},
    {"types", CTYPE_KEYED, ANY, FIELD(types), .min = 1, .max = -1, .flags = ROW_MERGE,
     .args_doc = "{type: extension ..., ...}",
     .doc = "Media types by file extension, added to the built-in ones; an extension moves here."},
    {"default_type", CTYPE_TEXT, ANY, FIELD(default_type), .dflt = "application/octet-stream",
     .args_doc = "type", .doc = "The media type of files whose extension is not known."},
    {"charset", CTYPE_TEXT, ANY, FIELD(charset), .dflt = "utf-8", .args_doc = "name | off",
     .doc = "Is added to Content-Type for the types of charset_types."},
    {"charset_types", CTYPE_ARGS, ANY, FIELD(charset_types), .min = 1, .max = -1,
     .dflt = "text/* application/javascript", .args_doc = "type ... | *",
     .doc = "The types that get the charset besides text/html; text/* stands for all of text."},
    {"etag", CTYPE_ENUM, ANY, FIELD(etag), .choices = etag_words, .dflt = "on",
     .doc = "ETag from the time and size of the file, or its content: the same on all hosts."},
    {"if_modified_since", CTYPE_ENUM, ANY, FIELD(if_modified_since), .choices = since_words,
     .dflt = "before", .doc = "How the time of If-Modified-Since is compared with the file's."},
    {"hidden_files", CTYPE_ENUM, ANY, FIELD(hidden_files), .choices = hidden_words,
     .dflt = "deny",
     .doc = "With deny a path with a segment that begins with a dot is 404, /.well-known/ apart."},
    {"disable_symlinks", CTYPE_ARGS, ANY, FIELD(disable_symlinks), .min = 1, .max = 2,
     .dflt = "beneath", .args_doc = "off | on | if_not_owner [from=$document_root] | beneath",
     .doc = "beneath: symbolic links are followed but may not lead out of the root (403)."},
    {"merge_slashes", CTYPE_SWITCH, OUTER, FIELD(merge_slashes), .dflt = "on",
     .doc = "Several slashes in a row of a path count as one."},
    {"log_not_found", CTYPE_SWITCH, ANY, FIELD(log_not_found), .dflt = "on",
     .doc = "A file that is not there is reported in the error log."},
    {"splice", CTYPE_ENUM, ANY, FIELD(splice), .choices = splice_words, .dflt = "auto",
     .doc = "Sends large files without copying them; auto: from splice_min_size on."},
    {"splice_min_size", CTYPE_SIZE, ANY, FIELD(splice_min_size), .dflt = "64k",
     .doc = "What is smaller is read and sent from memory."},
    {"limit_rate", CTYPE_TEXT, ANY, FIELD(limit_rate), .dflt = "unlimited",
     .args_doc = "size | unlimited",
     .doc = "Bytes per second in which the body of a response is sent, on average; may hold "
            "variables. 0: unlimited."},
    {"limit_rate_after", CTYPE_TEXT, ANY, FIELD(limit_rate_after), .dflt = "0", .args_doc = "size",
     .doc = "The first so many bytes are not held back by limit_rate; may hold variables."},
    {"max_ranges", CTYPE_INT, ANY, FIELD(max_ranges), .min = 0, .max = 1 << 20,
     .flags = ROW_UNLIMITED, .dflt = "16",
     .doc = "Ranges that one request may ask for; with more it gets the whole file. 0: none."},

    /* cache */
    {"open_file_cache", CTYPE_ARGS, ANY, FIELD(open_file_cache), .min = 1, .max = 2,
     .dflt = "max=10000 inactive=60s", .args_doc = "max=N [inactive=time] | off",
     .doc = "How many open files a worker keeps, and for how long unused ones; off: none, and no "
            "bodies and variants in memory."},
    {"open_file_cache_valid", CTYPE_TIME, ONLY(HTTP), FIELD(open_file_cache_valid), .dflt = "60s",
     .min = 1, .max = YEARS10_MS,
     .doc = "A kept file is looked at again after this; unless set, after 1s where no change "
            "events come."},
    {"open_file_cache_events", CTYPE_SWITCH, ONLY(HTTP), FIELD(open_file_cache_events),
     .dflt = "on", .doc = "The kernel's change events (inotify) drop what has changed at once."},
    {"open_file_cache_errors", CTYPE_SWITCH, ONLY(HTTP), FIELD(open_file_cache_errors),
     .dflt = "on", .doc = "That a file is missing or unreadable is remembered too."},
    {"file_cache_memory", CTYPE_SIZE, ONLY(HTTP), FIELD(file_cache_memory), .dflt = "64m",
     .doc = "How much of files' contents a worker holds in memory."},
    {"file_cache_max_body", CTYPE_SIZE, ONLY(HTTP), FIELD(file_cache_max_body), .dflt = "64k",
     .max = SIZE_MAX_K, .doc = "The largest file that is held in memory."},

    /* responses */
    {"error_page", CTYPE_ARGS, ANY, FIELD(error_page), .min = 2, .max = -1,
     .flags = ROW_REPEATABLE, .args_doc = "status ... [=[status]] path | @name | url",
     .doc = "What is answered in place of an error."},
    {"recursive_error_pages", CTYPE_SWITCH, ANY, FIELD(recursive_error_pages), .dflt = "off",
     .doc = "An error while an error page is fetched has a page too."},
    {"server_tokens", CTYPE_SWITCH, ANY, FIELD(server_tokens), .dflt = "off",
     .doc = "The version is said in Server and on error pages."},
    {"absolute_redirect", CTYPE_SWITCH, ANY, FIELD(absolute_redirect), .dflt = "off",
     .doc = "Redirects of the server's own name scheme and host."},
    {"port_in_redirect", CTYPE_SWITCH, ANY, FIELD(port_in_redirect), .dflt = "on",
     .doc = "An absolute redirect names the port if it is not the usual one."},
    {"server_name_in_redirect", CTYPE_SWITCH, ANY, FIELD(server_name_in_redirect), .dflt = "off",
     .doc = "An absolute redirect names the first server_name instead of the request's host."},

    /* access */
    {"satisfy", CTYPE_ENUM, ANY, FIELD(satisfy), .choices = satisfy_words, .dflt = "all",
     .doc = "Whether address and password have to be right, or one of them."},
    {"auth_delay", CTYPE_TIME, ANY, FIELD(auth_delay), .max = YEARS10_MS, .dflt = "0s",
     .doc = "How long a client waits for a 401: guessing takes as long."},

    /* connections */
    {"keepalive_timeout", CTYPE_ARGS, ANY, FIELD(keepalive_timeout), .min = 1, .max = 2,
     .dflt = "75s", .args_doc = "time [header-time]",
     .doc = "How long a connection waits for a next request, 0: not at all; the second is said to "
            "the client."},
    {"keepalive_requests", CTYPE_INT, ANY, FIELD(keepalive_requests), .min = 1, .max = INT32_MAX,
     .dflt = "10000", .doc = "So many requests are served over one connection."},
    {"keepalive_time", CTYPE_TIME, ANY, FIELD(keepalive_time), .min = 1, .max = YEARS10_MS,
     .dflt = "1h", .doc = "A connection older than this is closed after its next response."},
    {"keepalive_disable", CTYPE_ARGS, ANY, FIELD(keepalive_disable), .min = 1, .max = 2,
     .dflt = "msie6", .args_doc = "none | [msie6] [safari]",
     .doc = "Old browsers whose connections are not kept: MSIE up to 6 after a POST, Safari of "
            "macOS."},
    {"client_header_timeout", CTYPE_TIME, OUTER, FIELD(client_header_timeout), .min = 1,
     .max = YEARS10_MS, .dflt = "15s", .doc = "How long the head of a request may take, in all."},
    {"client_body_timeout", CTYPE_TIME, ANY, FIELD(client_body_timeout), .min = 1,
     .max = YEARS10_MS, .dflt = "15s", .doc = "How long a request body may pause."},
    {"send_timeout", CTYPE_TIME, ANY, FIELD(send_timeout), .min = 1, .max = YEARS10_MS,
     .dflt = "30s",
     .doc = "How long a client may take nothing, or next to nothing, of a response."},
    {"client_header_buffer_size", CTYPE_SIZE, OUTER, FIELD(client_header_buffer_size), .min = 256,
     .max = 1 << 20, .dflt = "1k", .doc = "What is set aside at first for a head in pieces."},
    {"large_client_header_buffers", CTYPE_ARGS, OUTER, FIELD(large_client_header_buffers),
     .min = 2, .max = 2, .dflt = "4 8k", .args_doc = "number size",
     .doc = "The size is the longest request line and field; number times size, up to 1m, the "
            "longest head."},
    {"max_headers", CTYPE_INT, OUTER, FIELD(max_headers), .min = 1, .max = 10000, .dflt = "100",
     .doc = "The most field lines of a request, else 431."},
    {"client_max_body_size", CTYPE_SIZE, ANY, FIELD(client_max_body_size), .dflt = "1m",
     .doc = "A larger request body is 413; 0: any size."},
    {"lingering_close", CTYPE_ENUM, ANY, FIELD(lingering_close), .choices = linger_words,
     .dflt = "on", .doc = "Reads on for a while before closing, so that the response is not lost."},
    {"lingering_time", CTYPE_TIME, ANY, FIELD(lingering_time), .min = 1, .max = YEARS10_MS,
     .dflt = "30s", .doc = "How long that may take in all."},
    {"lingering_timeout", CTYPE_TIME, ANY, FIELD(lingering_timeout), .min = 1, .max = YEARS10_MS,
     .dflt = "5s", .doc = "How long it waits for more to come."},
    {"reset_timedout_connection", CTYPE_SWITCH, ANY, FIELD(reset_timedout_connection),
     .dflt = "off", .doc = "A client that timed out gets a reset, which frees memory at once."},
    {"tcp_nodelay", CTYPE_SWITCH, OUTER, FIELD(tcp_nodelay), .dflt = "on",
     .doc = "Small pieces are not held back by the kernel; the default server of an address "
            "decides."},
    {"chunked_transfer_encoding", CTYPE_SWITCH, ANY, FIELD(chunked_transfer_encoding),
     .dflt = "on", .doc = "Responses of unknown length are sent in chunks, else until the close."},
    {"lenient_line_ends", CTYPE_SWITCH, OUTER, FIELD(lenient_line_ends), .dflt = "off",
     .doc = "A line of a request may end in a bare LF."},
    {"ignore_invalid_headers", CTYPE_SWITCH, OUTER, FIELD(ignore_invalid_headers), .dflt = "off",
     .doc = "A field with a bad name is passed over; off: it is 400."},
    {"underscores_in_headers", CTYPE_SWITCH, OUTER, FIELD(underscores_in_headers), .dflt = "on",
     .doc = "Names of fields may have underscores; off: such a name is a bad one."},

    /* blocks, and what is found by name */
    {"http", CTYPE_BLOCK, ONLY(MAIN), .block = SCOPE_HTTP, .doc = "Everything about HTTP."},
    {"server", CTYPE_BLOCK, ONLY(HTTP), .block = SCOPE_SERVER, .flags = ROW_BLOCK_LIST,
     .doc = "A virtual server; a list for several."},
    {"location", CTYPE_BLOCK, .scopes = SCOPE_SERVER | SCOPE_LOCATION, .block = SCOPE_LOCATION,
     .flags = ROW_BLOCK_KEYED, .args_doc = "{[= | ^~ | ~ | ~*] path: {...}, @name: {...}}",
     .doc = "Directives for some paths: exact, longest prefix, regexes in order."},
    {"listen", CTYPE_ARGS, ONLY(SERVER), FIELD(listen), .min = 1, .max = -1,
     .flags = ROW_REPEATABLE | ROW_NO_INHERIT,
     .args_doc = "address [default_server] [ssl] [proxy_protocol] [backlog=N] [ipv6only=on|off] "
                 "[deferred=on|off] [fastopen=N] [so_keepalive=on|off|idle:interval:count] "
                 "[rcvbuf=size] [sndbuf=size]",
     .doc = "An address to accept on; without any it is port 80, as another user than root 8000."},
    {"server_name", CTYPE_ARGS, ONLY(SERVER), FIELD(server_name), .min = 1, .max = -1,
     .flags = ROW_NO_INHERIT, .args_doc = "name ... | *.name | name.* | ~regex",
     .doc = "The hosts this server is for."},
    {"map", CTYPE_KEYED, ONLY(HTTP), FIELD(map), .args_doc = "{source $variable: {...}, ...}",
     .doc = "Makes a variable whose value depends on that of the source."},
    {.name = NULL},
};

const struct section http_section = {"http", rows, sizeof(struct http_conf), &http_slot};
