/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directives that are named in the manual or known from nginx but have no row in this program.
 * The tables of the manual (conf_reference in bind.h) are made here too.
 */
#ifndef SLUICE_CONF_REFERENCE_H
#define SLUICE_CONF_REFERENCE_H

#include "core/str.h"

/*
 * Is it such a name?  *hint then receives what to write instead, or stays NULL.  Only for names
 * that have no row: the modules in this program are the truth, this is what else people expect.
 */
bool reference_unbuilt(struct str name, const char **hint);

#endif
