/* SPDX-License-Identifier: BSD-2-Clause */
/* Listings of directories: configuration, and the work on one of them. */
#ifndef AUTOINDEX_H
#define AUTOINDEX_H

#include "autoindex_view.h"
#include "http/http.h"
#include "http/request.h"

struct autoindex_conf {
    bool autoindex, autoindex_exact_size, autoindex_localtime;
    int autoindex_format; /* enum autoindex_format */
};

struct autoindex_worker {
    struct list_budget budget;
    struct list works;    /* those under way, with their requests or without */
};

extern unsigned autoindex_slot;

/*
 * Begins to list the directory of the request; the request goes on when it is done.  NEXT: it is
 * for another handler to say what is wrong with the path.
 */
enum verdict autoindex_list(struct request *r);
/* Waits for what is in flight; no request is left. */
void autoindex_works_end(struct autoindex_worker *w, struct loop *loop);

#endif
