/* SPDX-License-Identifier: BSD-2-Clause */
/* Escaping of foreign bytes for HTML, JSON and log lines. One pass into a bounded writer. Pure. */
#ifndef SLUICE_PROTO_ESCAPE_H
#define SLUICE_PROTO_ESCAPE_H

#include "core/buf.h"

/* & < > " ' */
void escape_html(struct wbuf *w, struct str s);

/* Inside quotes: '"', '\\', '<', '>', controls; bytes that are not UTF-8 become \u00XX. */
void escape_json(struct wbuf *w, struct str s);

/* As nginx: '"', '\\', bytes < 0x20 and >= 0x7f become \xHH. */
void escape_log(struct wbuf *w, struct str s);

#endif
