/* SPDX-License-Identifier: BSD-2-Clause */
/* A response in the making: status, headers, a body of one of a few kinds. */
#ifndef SLUICE_HTTP_RESPONSE_H
#define SLUICE_HTTP_RESPONSE_H

#include "cache/fcache.h"
#include "core/buf.h"
#include "http/phase.h"

struct request;

struct header {
    struct header *next;
    struct str name, value;   /* free of control bytes (header_add sees to it) */
};

enum body_kind {
    BODY_NONE,
    BODY_BYTES,   /* `bytes`: in request memory or constant */
    BODY_FILE,    /* [off, off + length) of `entry` */
    BODY_PARTS,   /* `parts` of `entry`, one after the other */
    BODY_STREAM,  /* pulled from `stream` piece by piece */
};

/* Some text, then [off, off + length) of the entry. */
struct body_part {
    struct str head;
    uint64_t off, length;
};

enum pull { PULL_MORE, PULL_END, PULL_WAIT, PULL_ERROR };

/* A body that is produced while it is sent, and can wait. */
struct stream {
    /*
     * Writes some bytes to w (at least one for PULL_MORE). PULL_WAIT: nothing now,
     * response_resume(r) will be called; it may be asked again before that. After PULL_END,
     * response_resume(r) must not be called. PULL_ERROR: the connection is aborted.
     */
    enum pull (*pull)(struct stream *s, struct request *r, struct wbuf *w);
    void (*fini)(struct stream *s, struct request *r); /* once, at the request's end; may be NULL */
};

#define LENGTH_UNKNOWN UINT64_MAX

struct response {
    uint16_t status;            /* 0: not set yet */
    uint8_t body;               /* enum body_kind */
    bool keep_length;           /* HEAD and 304: length is of the body that is not sent */
    bool etag_weak;
    bool accept_ranges;
    bool head_cacheable;        /* a plain 200/304 for `entry`: its head may be kept with it */
    uint16_t coding;            /* enum coding of the body; IDENTITY: none */
    bool vary;                  /* by Accept-Encoding */
    bool chunked;               /* the codec's: the stream goes out in chunks */
    uint64_t off, length;       /* of the body; LENGTH_UNKNOWN for some streams */
    struct str bytes;
    struct fentry *entry;       /* referenced; validators come from it too */
    struct stream *stream;
    struct body_part *parts;
    size_t part_count;
    struct str content_type;    /* empty: none */
    struct str charset;         /* appended to content_type by the writer */
    struct str location;        /* Location, already encoded */
    struct str etag, last_modified; /* with quotes; empty: none */
    struct header *headers, **headers_end;  /* in order, besides those the writer makes itself */
    struct str trailer_names;   /* "A, B": sent in chunks, with these behind; empty: no trailers */
    void (*write_trailers)(struct request *r, const void *arg); /* then adds them: trailer_add */
    const void *trailer_arg;
    struct header *trailers, **trailers_end;
    const struct fhead *head;   /* finished head to be used instead of all of the above */
};

void response_init(struct response *res);
/* Everything that was set is forgotten and given back. */
void response_reset(struct request *r);

/* May the value stand in a head (RFC 9110 5.5)? No control byte but the tab. */
bool header_value_ok(struct str value);
/* Adds a line; both strings live as long as the request. False: bad bytes or no memory. */
bool header_add(struct request *r, struct str name, struct str value);
bool trailer_add(struct request *r, struct str name, struct str value); /* behind the body */
struct header *header_find(const struct response *res, struct str name);   /* any case; NULL */
void header_remove(struct response *res, struct str name);                 /* all of that name */

/* The media type that the extension of the request's path stands for, else default_type. */
struct str response_type(const struct request *r);

/* Sets the answer to bytes (constant or in request memory) with a type. */
void response_bytes(struct request *r, unsigned status, struct str type, struct str bytes);
/* 3xx with a Location and a small page; bytes that no URL has in it are encoded here. */
enum verdict response_redirect(struct request *r, unsigned status, struct str location);
/* The tag of the selected file without W/ and quotes, however it is encoded; empty: none. */
struct str response_base_tag(const struct request *r);
/* The same with a suffix, quotes and, where it is, W/; in request memory. */
struct str response_make_tag(struct request *r, struct str suffix, bool weak);

/* The selected file, in the selected form, as a 200; validators and type from it and location. */
void response_file(struct request *r);
/*
 * The request has had all the memory it may have: a plain 500 in place of whatever was there, which
 * takes none.
 */
void response_no_memory(struct request *r);
/*
 * An error or other status without a body of its own: error_page is looked up, else the built-in
 * page. Returns what the hook has to return (REROUTE for an internal error page).
 */
enum verdict response_error(struct request *r, unsigned status);

/* For streams that said PULL_WAIT. */
void response_resume(struct request *r);

#endif
