/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the built-in variables share: values in request memory, getters by file. */
#ifndef SLUICE_HTTP_VARS_CORE_H
#define SLUICE_HTTP_VARS_CORE_H

#include "core/check.h"
#include "http/vars.h"

/* A value made of a number or text; false when request memory has run out. */
bool var_number(struct request *r, uint64_t n, struct str *out);
bool var_printf(struct request *r, struct str *out, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Does a field's name stand for what a variable calls it: no case, '-' is '_'? */
bool var_names_field(struct str field, struct str name);

/* vars_sent.c */
var_get_f var_sent_http;

/* vars_proxied.c: of the client; with data, of the server it reached */
var_get_f var_proxied_addr, var_proxied_port;

/* vars_time.c */
var_get_f var_msec, var_time_iso8601, var_time_local, var_request_time, var_connection_time;

#endif
