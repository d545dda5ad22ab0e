/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request from its head to the line in the log.  Owned by its codec, which frees it when the
 * response has gone out (or cannot) and the log phase has run.
 */
#ifndef SLUICE_HTTP_REQUEST_H
#define SLUICE_HTTP_REQUEST_H

#include "core/arena.h"
#include "http/response.h"
#include "http/site.h"
#include "net/conn.h"
#include "proto/h1_fields.h"

#define REQUEST_MAGIC 0x52455131u
#define REQUEST_REROUTES 10      /* internal redirects before it is a loop: 500 */
#define REQUEST_CAPTURES 10

struct codec;
struct var;

/*
 * The file that answers, step by step through the content phase: found by one hook, its form
 * (RFC 9110 3.2: the selected representation) chosen by another, served by the last.
 */
struct selected {
    struct fentry *file;             /* referenced; NULL: none */
    struct fentry *form;             /* referenced; what is sent in place of the file, or NULL */
    uint8_t coding;                  /* enum coding that form is in; of file, if form is NULL */
    bool negotiated;                 /* another client would get another: Vary */
    bool streamed;                   /* the coding is applied while it is sent: no length, ranges */
    struct str etag;                 /* with quotes and W/; empty: the entry's own */
    struct str digest;               /* etag: content: the file's tag without quotes; else empty */
};

/* What a named group of a regular expression matched, newest first. */
struct named_capture {
    struct named_capture *next;
    const struct var *var;
    struct str value;
};

struct request {
    unsigned magic;
    struct list link;                /* the codec's */
    struct conn *conn;
    const struct codec *codec;
    struct http_worker *worker;
    struct log_ctx log;
    struct arena mem;

    /* as it came */
    struct h1_line line;             /* views into request memory */
    struct str line_text;            /* the whole request line: $request */
    struct field *fields;
    size_t field_count;
    struct h1_meta meta;
    bool absolute;                   /* absolute-form: its authority is the host */
    struct str host;                 /* lower case, no port; empty on HTTP/1.0 without */
    int32_t host_port;
    uint32_t head_bytes;
    uint64_t body_bytes;             /* received of the body */

    /* as it is served; internal redirects change these */
    struct str uri;                  /* normalised path */
    struct str args;
    struct str extension;
    struct vhost *vhost;
    struct location *loc;
    uint8_t phase;
    uint8_t reroutes;
    bool internal;                   /* came to this location by an internal redirect */
    bool pending;                    /* a hook said PENDING */
    bool pipelined;                  /* came before the response to its predecessor was out */
    bool responded;                  /* handed to the codec */
    bool error_page;                 /* is being answered by an error page: keep error_status */
    uint16_t error_status;           /* of the error the page is for; 0: none */
    uint16_t hook;                   /* index of the next hook in loc->phases[phase] */
    struct str captures[REQUEST_CAPTURES];
    uint8_t capture_count;
    bool match_failed;               /* a regex gave up while routing: answer 500, clear */
    uint16_t refused;                /* held back by satisfy any: 401 or 403; 0: nothing */
    struct str challenge;            /* of a 401: WWW-Authenticate */
    const struct conn_peer *peer;    /* the client behind trusted proxies; see request_peer() */
    struct named_capture *named;
    struct str id;                   /* $request_id, once somebody has asked for it */
    struct str document_uri0;        /* the first uri */

    struct selected selected;
    struct response res;

    /* account */
    uint64_t start_ms;
    struct timespec start_wall;
    uint64_t out_start, out_end;     /* its place in the connection's output */
    uint32_t head_sent;              /* bytes of response head written */
    bool keepalive;                  /* after this response */
    bool paced;                      /* limit_rate holds its body back */
    bool aborted;                    /* the response did not go out whole */
    bool completed;
    struct flookup lookup;           /* the file lookup in flight */
    bool looking;
    void **module_data;              /* by section slot; request_data() */
    uint8_t inline_mem[];            /* the arena's first memory */
};

/* The value of a request field; combined with ", " when there are several lines. False: absent. */
bool request_field(struct request *r, enum field_id id, struct str *value);
bool request_field_name(struct request *r, struct str name, struct str *value);

/* Runs the phases from where the request stands until it is answered or waits. */
void request_run(struct request *r);
/* Goes on as if a hook had returned v. */
void request_verdict(struct request *r, enum verdict v);
/* A hook that said PENDING is to be called again (or, after=true, passed over). */
void request_resume(struct request *r, bool after);

/*
 * Internal redirect: new path (normalised) and arguments, location chosen anew. Returns
 * VERDICT_REROUTE, or what response_error(500) gives after REQUEST_REROUTES of them.
 */
enum verdict request_redirect(struct request *r, struct str path, struct str args);
enum verdict request_redirect_named(struct request *r, struct str name);

/* 301 to the request's own path with a slash behind it, query kept. */
enum verdict request_add_slash(struct request *r);

/*
 * What a hook of PHASE_ACCESS has found, which it returns the value of; VERDICT_NEXT by itself is
 * neither.  With `satisfy all` a grant leaves it to the next hook and a refusal is the answer.
 * With `any` a grant is the end of the phase, and the answer waits until nobody has granted: 401 if
 * somebody wants credentials, else 403.  A 401 comes with its challenge, in request memory, which
 * stays with the response through error pages, and after auth_delay.
 */
enum verdict request_grant(struct request *r);
enum verdict request_refuse(struct request *r, unsigned status, struct str challenge);

/*
 * Who the client is, for everything that looks at addresses: as trusted proxies say, else the
 * peer of the connection.  NULL: no memory, or it is gone.
 */
static inline const struct conn_peer *request_peer(struct request *r)
{
    return r->peer != NULL ? r->peer : conn_peer(r->conn);
}

/* A module's own pointer in a request, NULL until it is set; the place, or NULL: no memory. */
void **request_data(struct request *r, unsigned slot);

/*
 * Looks a path up as this location would serve it, in r->lookup: STATUS_OK sets lookup.entry,
 * STATUS_AGAIN: done will be called and the hook returns VERDICT_PENDING, STATUS_NOTFOUND: the
 * path is outside of the location's alias, STATUS_NOMEM.  done sets r->looking and r->pending to
 * false.
 */
enum status request_look(struct request *r, struct str path, void (*done)(struct flookup *l));

/* What links may do in the location's files: enum flinks. */
enum flinks request_links(const struct request *r);

/* Forgets the file that was to answer. */
void request_unselect(struct request *r);

/* root or alias applied to a path: directory and the path below it; false: no memory or bad. */
bool request_file(struct request *r, struct str path, struct str *root, struct str *below);

/* Bytes of the response that have gone out so far, head included and not. */
uint64_t request_sent(const struct request *r);
uint64_t request_body_sent(const struct request *r);

/* Last step: log phase, then everything is released. For codecs. */
void request_finish(struct request *r);

#endif
