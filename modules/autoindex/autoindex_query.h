/* SPDX-License-Identifier: BSD-2-Clause */
/* What a query says of a listing: order (as Apache's: C=N|M|S, O=A|D) and the JSONP callback. */
#ifndef AUTOINDEX_QUERY_H
#define AUTOINDEX_QUERY_H

#include "autoindex_list.h"

/* Arguments are separated by '&' or ';'; what is not known is passed over, the first one counts. */
struct list_order query_order(struct str args);

/* The value of `callback` if it is an identifier (or several with dots between), else empty. */
struct str query_callback(struct str args);

#endif
