/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PROXY protocol header, versions 1 and 2, that a load balancer puts before the client's
 * bytes (haproxy's proxy-protocol.txt). Pure.
 */
#ifndef SLUICE_PROTO_PROXY_HDR_H
#define SLUICE_PROTO_PROXY_HDR_H

#include "core/str.h"

#define PROXY_HDR_MAX 4096u /* longest header taken, fixed part and TLVs together */

enum proxy_family {
    PROXY_NONE, /* no address given: the connection's own count */
    PROXY_INET,
    PROXY_INET6,
    PROXY_UNIX  /* no address kept */
};

struct proxy_end {
    unsigned char addr[16]; /* network order; the first 4 for PROXY_INET */
    uint16_t port;          /* host order */
};

struct proxy_hdr {
    uint8_t version;        /* 1 or 2 */
    bool local;             /* v2 LOCAL: a health check of the proxy itself */
    enum proxy_family family;
    struct proxy_end src, dst;
    struct str tlvs;        /* v2: a view of the TLVs in the input, checked; see below */
    size_t size;            /* bytes of the header: what follows is the client's */
};

enum proxy_result { PROXY_MORE, PROXY_OK, PROXY_BAD };

/*
 * Reads the header at the front of `in`, which holds all bytes so far. MORE: it is not complete,
 * but may become one. BAD: it never will, the connection is to be closed; a connection without a
 * header is BAD as well, at its first byte. A CRC-32c TLV is verified.
 */
enum proxy_result proxy_hdr_parse(struct str in, struct proxy_hdr *out);

/* Takes the next TLV off a parsed header's `tlvs`. False at the end. */
bool proxy_hdr_tlv(struct str *tlvs, uint8_t *type, struct str *value);

#endif
