/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The byte class table.  Each letter stands for the classes that a group of bytes shares:
 * W white space, A letters, digits and "-._~" (unreserved), S the sub-delims that are tchar too,
 * F '#', X tchar that a path must escape, D delimiters a path may hold, Q delimiters it may not.
 */
#include "proto/byte.h"

#define W BYTE_VALUE
#define A (BYTE_TCHAR | BYTE_VALUE | BYTE_TARGET | BYTE_PATH | BYTE_NAME)
#define S (BYTE_TCHAR | BYTE_VALUE | BYTE_TARGET | BYTE_PATH)
#define F (BYTE_TCHAR | BYTE_VALUE)
#define X (BYTE_TCHAR | BYTE_VALUE | BYTE_TARGET)
#define D (BYTE_VALUE | BYTE_TARGET | BYTE_PATH)
#define Q (BYTE_VALUE | BYTE_TARGET)

/* clang-format off */
const unsigned char byte_classes[256] = {
/*         0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f */
/* 0x00 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, W, 0, 0, 0, 0, 0, 0,
/* 0x10 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
/* 0x20 */ W, S, Q, F, S, X, S, S, D, D, S, S, D, A, A, D,
/* 0x30 */ A, A, A, A, A, A, A, A, A, A, D, D, Q, D, Q, Q,
/* 0x40 */ D, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A,
/* 0x50 */ A, A, A, A, A, A, A, A, A, A, A, Q, Q, Q, X, A,
/* 0x60 */ X, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A,
/* 0x70 */ A, A, A, A, A, A, A, A, A, A, A, Q, X, Q, A, 0,
    [0x80 ... 0xff] = BYTE_VALUE,
};
/* clang-format on */
