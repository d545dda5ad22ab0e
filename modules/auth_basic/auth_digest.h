/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one call that differs between Nettle 3 and 4: the latter writes whole digests only, and is
 * not told their length.  `to` is an array of the digest's size.
 */
#ifndef SLUICE_MODULES_AUTH_DIGEST_H
#define SLUICE_MODULES_AUTH_DIGEST_H

#include <nettle/version.h>

#if NETTLE_VERSION_MAJOR >= 4
#define AUTH_DIGEST(name, ctx, to) name##_digest((ctx), (to))
#else
#define AUTH_DIGEST(name, ctx, to) name##_digest((ctx), sizeof(to), (to))
#endif

#endif
