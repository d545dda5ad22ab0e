/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference for uri_normalise() (hostile.md 40), for the unit test and the fuzz target: decode
 * everything first, split, then keep a stack of segments. Slow and plain on purpose.
 */
#ifndef SLUICE_TESTS_PROTO_URI_MODEL_H
#define SLUICE_TESTS_PROTO_URI_MODEL_H

#include "core/num.h"

#include <stdio.h>

#define URI_MODEL_MAX 100 /* bytes of a path it takes */

/* Writes the normalised path to `out` (256 bytes); its length, or -1 for a refusal. */
static inline int uri_model(const char *raw, int n, bool merge, char *out)
{
    char dec[256], seg[URI_MODEL_MAX + 1][URI_MODEL_MAX + 1];
    int d = 0, depth = 0, used = 0;

    for (int i = 0; i < n; i++) {
        int c = (unsigned char)raw[i];
        if (c == '%') {
            int high = i + 2 < n ? num_hexdigit((unsigned char)raw[i + 1]) : -1;
            int low = i + 2 < n ? num_hexdigit((unsigned char)raw[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return -1;
            }
            c = high * 16 + low;
            if (c == 0 || c == '/') {
                return -1;
            }
            i += 2;
        }
        dec[d++] = (char)c;
    }
    for (int i = 1;;) { /* dec[0] is the first slash */
        int len = 0;
        while (i + len < d && dec[i + len] != '/') {
            len++;
        }
        bool last = i + len == d;
        bool dot = len == 1 && dec[i] == '.';
        bool up = len == 2 && dec[i] == '.' && dec[i + 1] == '.';
        if (up && depth-- == 0) {
            return -1;
        }
        if (last && (dot || up)) {
            len = 0; /* the directory itself: an empty last segment */
        }
        if (last || !(dot || up || (merge && len == 0))) {
            memcpy(seg[depth], dec + i, (size_t)len);
            seg[depth++][len] = '\0';
        }
        if (last) {
            break;
        }
        i += len + 1;
    }
    for (int s = 0; s < depth; s++) {
        out[used++] = '/';
        used += sprintf(out + used, "%s", seg[s]);
    }
    return used;
}

#endif
