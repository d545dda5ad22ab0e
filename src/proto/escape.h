/* SPDX-License-Identifier: BSD-2-Clause */
/* Escaping of foreign bytes for HTML, JSON and log lines. One pass into a bounded writer. Pure. */
#ifndef SLUICE_PROTO_ESCAPE_H
#define SLUICE_PROTO_ESCAPE_H

#include "core/buf.h"

void escape_html(struct wbuf *w, struct str s);  /* & < > " ' */
void escape_json(struct wbuf *w, struct str s);  /* inside quotes; bytes that are not UTF-8 become \u00XX */
void escape_log(struct wbuf *w, struct str s);   /* nginx: '"', '\\', < 0x20, >= 0x7f as \xHH */

#endif
