/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * URLs and paths made of templates.  A variable that holds part of a decoded path ($uri, $1) is
 * percent-encoded on its way into a URL; whatever else could not stand there is too, so that
 * neither CR nor LF nor a quote of a client ever reaches a Location.
 */
#ifndef SLUICE_REWRITE_URL_H
#define SLUICE_REWRITE_URL_H

#include "http/site.h"

/* Text for a URL in request memory; `query`: it begins behind the "?". p NULL: no memory. */
struct str rewrite_url(const struct template *t, struct request *r, bool query);

enum rewrite_path { REWRITE_PATH_OK, REWRITE_PATH_BAD, REWRITE_PATH_NO_MEMORY };

/*
 * A path (decoded) made of a template, normalised if that is necessary.  BAD: it does not begin
 * with a slash, leads above the root or holds a NUL.
 */
enum rewrite_path rewrite_path(const struct template *t, struct request *r, struct str *out);

/* "http://", "https://" or "$scheme" in front. */
bool rewrite_is_url(struct str text);

#endif
