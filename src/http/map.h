/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive map: variables whose value depends on that of a source. */
#ifndef SLUICE_HTTP_MAP_H
#define SLUICE_HTTP_MAP_H

#include "http/site.h"

/*
 * Defines the variable of every map in the http block, so that anything may name it; the tables
 * are filled in later.  False: reported.
 */
bool maps_define(struct cycle_http *cy);

/* Compiles sources and entries of what maps_define has defined. False: reported. */
bool maps_compile(struct cycle_http *cy);

#endif
