#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make install: where everything goes, what is never overwritten, and what uninstall leaves.
# timeout: 300

cd "$(dirname "$0")/../.." || exit 1
. tests/install/lib.sh
build=$tmp/build
live=$tmp/opt/sluice
dest=$tmp/dest
prefix=$dest$live
man=$tmp/usr/share/man
# Workers give up root and must still get to the pages.
chmod 755 "$tmp"

./configure --builddir="$build" --prefix="$live" --mandir="$man" >/dev/null || exit 1
make -f "$build/Makefile" -j"$(nproc)" >"$tmp/make.out" 2>&1 || { tail -n 30 "$tmp/make.out"; exit 1; }
run_make() { make -f "$build/Makefile" "DESTDIR=$dest" "$@"; }

check "make install" run_make install
check "program" [ -x "$prefix/sbin/sluice" ]
for file in conf/sluice.yaml conf/sluice.yaml.default conf/mime.types.yaml conf/mime.types.yaml.default \
    html/index.html html/50x.html; do
    check "$file" [ -f "$prefix/$file" ]
    check "$file can be read by all" [ "$(stat -c %a "$prefix/$file")" = 644 ]
done
check "logs" [ -d "$prefix/logs" ]
for page in man/*.[58]; do
    [ -f "$page" ] || continue
    check "$page" [ -f "$dest$man/man${page##*.}/$(basename "$page")" ]
done
check "nothing outside of the paths" [ "$(ls "$dest$tmp")" = "$(printf 'opt\nusr')" ]
check "nothing outside of DESTDIR" [ ! -e "$live" ]

# A second time: what the administrator has changed or taken away stays so.
echo "# mine" >>"$prefix/conf/sluice.yaml"
echo mine >"$prefix/html/index.html"
rm "$prefix/html/50x.html"
rm "$prefix/conf/mime.types.yaml"
ln -s /nowhere "$prefix/conf/mime.types.yaml"
echo "# old" >"$prefix/conf/sluice.yaml.default"
check "make install again" run_make install
check "the configuration is kept" [ "$(tail -n 1 "$prefix/conf/sluice.yaml")" = "# mine" ]
check "a link in its place is kept" [ -L "$prefix/conf/mime.types.yaml" ]
check "the new one lies beside it" cmp conf/sluice.yaml "$prefix/conf/sluice.yaml.default"
check "the pages are kept" [ "$(cat "$prefix/html/index.html")" = mine ]
check "a page that was removed does not come back" [ ! -e "$prefix/html/50x.html" ]

check "make uninstall" run_make uninstall
check "the program is gone" [ ! -e "$prefix/sbin/sluice" ]
check "the manual is gone" [ -z "$(find "$dest$man" -type f)" ]
check "the configuration stays" [ -f "$prefix/conf/sluice.yaml" ]
check "the pages stay" [ -f "$prefix/html/index.html" ]
check "the logs stay" [ -d "$prefix/logs" ]

# Installed for real it runs as it stands: on port 80, so in a network of its own.
check "make install without DESTDIR" make -f "$build/Makefile" install
if [ "$(id -u)" = 0 ]; then
    check "PREFIX/sbin/sluice" python3 tests/install/alone.py tests/install/as_it_stands.py "$live"
fi

# The hardening that configure promises.
check "position independent" sh -c 'readelf -h "$1" | grep -q "Type:.*DYN"' - "$build/sluice"
check "full RELRO" sh -c 'readelf -ld "$1" | grep -q GNU_RELRO && readelf -d "$1" | grep -q NOW' - "$build/sluice"
check "no executable stack" sh -c 'readelf -lW "$1" | grep GNU_STACK | grep -q "RW "' - "$build/sluice"
check "no folder of this machine in it" sh -c '! grep -qF "$2" "$1"' - "$build/sluice" "$(pwd)/src"

summary
