/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of addresses as proxies write them (X-Forwarded-For: "client, proxy1, proxy2").  They are
 * read from the end, because only what a trusted proxy has added can be believed.
 */
#ifndef SLUICE_MODULES_REALIP_FORWARDED_H
#define SLUICE_MODULES_REALIP_FORWARDED_H

#include "os/addr.h"

/*
 * Takes the last element off *list into *out; elements are parted by commas and blanks.  False: no
 * element is left.
 */
bool forwarded_last(struct str *list, struct str *out);

/*
 * Reads "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80"; without a
 * port it is 0, a mapped address is IPv4.  False, *a untouched, for all else: no names, no zones.
 */
bool forwarded_addr(struct addr *a, struct str text);

#endif
