/* SPDX-License-Identifier: BSD-2-Clause */
/* The built-in media types by file extension. Pure. */
#ifndef SLUICE_PROTO_MIME_H
#define SLUICE_PROTO_MIME_H

#include "core/str.h"

/* Media type for an extension (without dot, any case); STR_NONE when unknown. */
struct str mime_builtin(struct str extension);

/* Walks the table: i from 0, false at the end. */
bool mime_builtin_at(size_t i, struct str *extension, struct str *type);

#endif
