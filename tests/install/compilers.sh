#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tree compiles without a warning under the other compiler and without the optional libraries,
# and what `make dist` packs is all that this takes.
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

tarball=sluice-$(sed -n 's/^version=//p' configure).tar.gz
check "make dist" make dist
check "make dist leaves the tarball" mv "$tarball" "$tmp/first.tar.gz"
check "make dist again" make dist
check "the same bytes" cmp "$tarball" "$tmp/first.tar.gz"
rm -f "$tarball"
check "it unpacks" tar xzf "$tmp/first.tar.gz" -C "$tmp"
cd "$tmp/${tarball%.tar.gz}" || exit 1
check "nothing that was built is in it" sh -c '[ ! -e build ] && [ ! -e Makefile ]'

builds clang --with-cc=clang --with-debug
builds bare --without-tls --without-zlib --without-pcre2 --without-crypt

summary
