/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directives of http's own core: one struct for http, server and location blocks.  The first
 * part is filled by the rows in http_conf.c, the second is derived from it by http_freeze.c.
 */
#ifndef SLUICE_HTTP_HTTP_CONF_H
#define SLUICE_HTTP_HTTP_CONF_H

#include "conf/schema.h"
#include "core/map.h"
#include "http/rate.h"

enum http_links { HTTP_LINKS_OFF, HTTP_LINKS_ON, HTTP_LINKS_IF_NOT_OWNER, HTTP_LINKS_BENEATH };
enum http_etag { HTTP_ETAG_ON, HTTP_ETAG_OFF, HTTP_ETAG_CONTENT };
enum http_ims { HTTP_IMS_OFF, HTTP_IMS_EXACT, HTTP_IMS_BEFORE };
enum http_linger { HTTP_LINGER_OFF, HTTP_LINGER_ON, HTTP_LINGER_ALWAYS };
enum http_hidden { HTTP_HIDDEN_DENY, HTTP_HIDDEN_ALLOW };
enum http_satisfy { HTTP_SATISFY_ALL, HTTP_SATISFY_ANY };
enum http_splice { HTTP_SPLICE_AUTO, HTTP_SPLICE_ON, HTTP_SPLICE_OFF };

/* The longest request head that can be allowed. */
#define HTTP_HEAD_MAX (1u << 20)

struct http_types {
    struct map by_extension;     /* lower-case extension -> struct str *; over the built-in table */
};

struct http_conf {
    /* rows: blocks of servers */
    struct instances listen, server_name;
    struct keyed map;
    /* rows: files */
    struct arg root, alias;
    struct arg default_type, charset, limit_rate, limit_rate_after;
    struct keyed types;
    struct instances charset_types;
    struct instances disable_symlinks;
    int etag, if_modified_since, splice, hidden_files;
    int64_t splice_min_size, max_ranges;
    bool merge_slashes, log_not_found, internal;
    /* rows: cache (http only) */
    struct instances open_file_cache;
    int64_t open_file_cache_valid, file_cache_memory, file_cache_max_body;
    bool open_file_cache_events, open_file_cache_errors;
    /* rows: responses */
    struct instances error_page;
    bool server_tokens, absolute_redirect, port_in_redirect, server_name_in_redirect;
    bool recursive_error_pages;
    /* rows: access */
    int satisfy;
    int64_t auth_delay;
    /* rows: connections */
    struct instances keepalive_timeout, keepalive_disable, large_client_header_buffers;
    int64_t keepalive_requests, keepalive_time, client_header_timeout, client_body_timeout,
        send_timeout, client_header_buffer_size, max_headers, client_max_body_size,
        lingering_time, lingering_timeout;
    int lingering_close;
    bool chunked_transfer_encoding, lenient_line_ends, ignore_invalid_headers,
        underscores_in_headers, reset_timedout_connection, tcp_nodelay;

    /* derived (http_freeze.c); alias.text is empty where root is what counts */
    struct template root_t, alias_t;
    struct str root_path;            /* absolute, when root is literal; else empty */
    struct str alias_path;           /* likewise */
    struct str alias_name;           /* of the location that has the alias: what it stands for */
    bool alias_file;                 /* alias is a file: asked for by alias_name alone */
    bool alias_whole;                /* alias stands for the whole path (a regex location) */
    struct str default_type_s, charset_s; /* charset "off": empty */
    struct http_types *types_map;
    struct media_types *charset_for; /* media types that get a charset: see http_charset */
    const struct http_rate *rate, *rate_after;
    int links;                       /* enum http_links */
    bool cache_off;                  /* open_file_cache: off */
    uint32_t cache_max;
    int64_t cache_inactive_ms;
    int64_t keepalive_ms;            /* 0: no keep-alive */
    int64_t keepalive_header_s;      /* Keep-Alive: timeout=N; 0: none */
    bool keepalive_not_msie6, keepalive_not_safari; /* keepalive_disable */
    uint32_t head_max, line_max, field_max;
    struct error_page *error_pages;  /* list, errors.h; NULL: none */
};

/* client_max_body_size, where 0 is no limit. */
static inline uint64_t http_body_max(const struct http_conf *c)
{
    return c->client_max_body_size == 0 ? UINT64_MAX : (uint64_t)c->client_max_body_size;
}

extern unsigned http_slot;
extern const struct section http_section;

#define HTTP(block) CONF(block, http)

/* The charset for a media type, parameters ignored; empty: none, or it says one itself. */
struct str http_charset(const struct http_conf *conf, struct str media_type);

#endif
