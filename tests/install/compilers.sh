#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tree compiles without a warning under the other compiler and without the optional libraries.
# timeout: 600

cd "$(dirname "$0")/../.." || exit 1
. tests/install/lib.sh

# builds NAME OPTION...
builds()
{
    name=$1
    shift
    check "configure: $name" ./configure --builddir="$tmp/$name" "$@"
    check "make: $name" make -f "$tmp/$name/Makefile" -j"$(nproc)" all
}

builds clang --with-cc=clang
builds bare --without-tls --without-zlib --without-pcre2 --without-crypt
builds debug --with-debug --with-cc-opt=-O0

summary
