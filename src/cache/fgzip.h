/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gzip format (RFC 1952), written and read by zlib, whose only home this is.  A codec works
 * piece by piece; a few idle ones are kept, because making one costs more than a small file.
 */
#ifndef SLUICE_CACHE_FGZIP_H
#define SLUICE_CACHE_FGZIP_H

#include "core/buf.h"
#include "core/status.h"

struct fgzip;
struct fgzip_pool;

#define FGZIP_UNZIP 0 /* as a level: reads gzip instead of writing it */

struct fgzip_pool *fgzip_pool_new(void); /* NULL: no memory */
void fgzip_pool_delete(struct fgzip_pool *pool); /* every codec has been put back */

/* level 1 to 9, or FGZIP_UNZIP. NULL: no memory, or built without zlib. */
struct fgzip *fgzip_get(struct fgzip_pool *pool, int level);
void fgzip_put(struct fgzip_pool *pool, struct fgzip *z); /* in any state; NULL is fine */

enum fgzip_result {
    FGZIP_MORE, /* the input is used up: give more, or finish */
    FGZIP_FULL, /* the output is full: call again with room */
    FGZIP_END,  /* the stream is complete */
    FGZIP_BAD,  /* reading: not gzip, damaged or cut off */
};

/*
 * Takes from *in what it can and writes to w; `last`: no input will follow.  Reading takes several
 * members one behind the other, as gzip(1) does.
 */
enum fgzip_result fgzip_run(struct fgzip *z, struct str *in, bool last, struct wbuf *w);

/* Most bytes that n bytes can become when they are written, n <= UINT32_MAX. */
size_t fgzip_bound(size_t n);

/* Do the first bytes of a file look like gzip? */
bool fgzip_magic(struct str first);

#endif
