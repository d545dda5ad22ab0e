/* SPDX-License-Identifier: BSD-2-Clause */
/* Escaping of foreign bytes for HTML, JSON and log lines. One pass into a bounded writer. Pure. */
#ifndef SLUICE_PROTO_ESCAPE_H
#define SLUICE_PROTO_ESCAPE_H

#include "core/buf.h"

/* & < > " ' */
void escape_html(struct wbuf *w, struct str s);

/*
 * A name as HTML text or attribute for people: as escape_html; controls become the symbols for them
 * (U+2400 to U+2421), bytes that are not UTF-8 U+FFFD. The result is UTF-8.
 */
void escape_html_name(struct wbuf *w, struct str s);

/* XML text or attribute: TAB, LF and CR as references; what XML cannot hold becomes U+FFFD. */
void escape_xml(struct wbuf *w, struct str s);

/* The most bytes that any of these makes of one. */
#define ESCAPE_MAX(n) ((n) * 6)

/* Inside quotes: '"', '\\', '<', '>', controls; bytes that are not UTF-8 become \u00XX. */
void escape_json(struct wbuf *w, struct str s);

/* As nginx: '"', '\\', bytes < 0x20 and >= 0x7f become \xHH. */
void escape_log(struct wbuf *w, struct str s);

#endif
