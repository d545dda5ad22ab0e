/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fields of struct http_conf mean: checked and compiled once per block. */
#ifndef SLUICE_HTTP_HTTP_FREEZE_H
#define SLUICE_HTTP_HTTP_FREEZE_H

#include "http/site.h"

/* Fills the derived part of HTTP(b); the enclosing block's has been. False: reported. */
bool http_freeze(struct cycle_http *cy, struct block *b);

#endif
