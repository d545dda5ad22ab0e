#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tree compiles without a warning under the other compiler and without the optional libraries,
# and what `make dist` packs is all that this takes.  The example module of HACKING.md is built with
# it, from outside of the tree, and answers.
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

hello=$tmp/hello
mkdir "$hello"
sed -n '/^<!-- BEGIN example hello.c -->$/,/^<!-- END example -->$/p' HACKING.md | sed -e '/^<!--/d' -e '/^```/d' \
    >"$hello/hello.c"
sed -n 's/^    \(module_[a-z]* = .*\)/\1/p' HACKING.md >"$hello/module.mk"
check "HACKING.md has the example" grep -q hello_module "$hello/hello.c"
check "in some 40 lines" [ "$(wc -l <"$hello/hello.c")" -le 45 ]

builds clang --with-cc=clang --with-debug --add-module="$hello"
check "the example module answers" python3 tests/install/hello.py "$tmp/clang/sluice" "$tmp"
builds bare --without-tls --without-zlib --without-pcre2 --without-crypt --without-nettle

summary
