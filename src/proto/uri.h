/* SPDX-License-Identifier: BSD-2-Clause */
/* The path of a request target: decoding, dot segments, slashes; and encoding back. Pure. */
#ifndef SLUICE_PROTO_URI_H
#define SLUICE_PROTO_URI_H

#include "core/buf.h"
#include "core/str.h"

enum uri_result { URI_OK, URI_BAD };

/*
 * Decodes a raw path (begins with '/') once and normalises it: %XX decoded (bad escapes, %00:
 * URI_BAD; an encoded slash %2f: URI_BAD), "." and ".." segments resolved after decoding (above
 * the root: URI_BAD), runs of '/' merged when merge_slashes (else kept, ".." removes one empty
 * segment). A query is not part of `raw`. Writes at most raw.n bytes to `to`; *out is the result
 * there (begins with '/'). A path with nothing to decode or normalise gives *out = raw itself,
 * and `to` is not written.
 */
enum uri_result uri_normalise(struct str raw, bool merge_slashes, char *to, struct str *out);

/*
 * The first segment that begins with '.' (hidden file) other than a leading "/.well-known"
 * segment: a view of it in `path`, or STR_NONE.
 */
struct str uri_hidden_segment(struct str path);

/*
 * No segment "." or "..", no NUL, not empty: what a configuration makes of variables is checked
 * with this before it is used as a decoded path.
 */
bool uri_is_plain(struct str path);

/*
 * Percent-encodes a decoded path for Location and links (RFC 3986 pchar and '/'). A run of slashes
 * in front is written as one "/". ':' stands for itself: a relative link needs "./" before it.
 */
void uri_encode_path(struct wbuf *w, struct str path);
#define URI_ENCODED_MAX(n) ((n) * 3)

/* The extension behind the last '.' of the last segment, without the dot; empty if none. */
struct str uri_extension(struct str path);

#endif
