/* SPDX-License-Identifier: BSD-2-Clause */
/* The `listen` directives of all servers, gathered into one listener per address. */
#ifndef SLUICE_HTTP_LISTEN_H
#define SLUICE_HTTP_LISTEN_H

#include "http/site.h"

/*
 * Fills cy->listeners from the servers in cy->vhosts, whose names have been compiled.  Host names
 * are resolved here, which may block.  No socket is opened.  False: reported to cy->diag.
 */
bool listen_compile(struct cycle_http *cy);

#endif
