#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# configure: what it refuses, what it writes, and that a module from outside is found.
# timeout: 300

cd "$(dirname "$0")/../.." || exit 1
. tests/install/lib.sh

# refused TEXT OPTION... : configure fails and says TEXT on standard error.
refused()
{
    text=$1
    shift
    ./configure --builddir="$tmp/refused" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    check "refused: $*" [ $status = 1 ]
    check "says \"$text\": $*" grep -qF -- "$text" "$tmp/err"
}

makefile_before=$(cksum Makefile 2>/dev/null)

refused 'invalid option "--nonsense"' --nonsense
refused 'Try ./configure --help.' --nonsense
refused 'invalid option "--with-nonsense"' --with-nonsense
refused 'invalid option "--without-nonsense"' --without-nonsense
refused 'invalid option "--with-zlib=/opt"' --with-zlib=/opt
refused 'invalid option "html"' html
refused '"--prefix=" has no value' --prefix=
refused 'not an absolute path' --prefix=relative
refused 'blanks' '--prefix=/with blank'
refused 'contradict' --with-zlib --without-zlib
refused 'no such folder' --add-module=/nowhere
refused 'no module.mk' --add-module=/
refused 'does not compile' --with-cc=/nowhere/cc
refused 'apt-get install gcc' --with-cc=/nowhere/cc

# A library that is not there: its header is hidden behind one that does not compile.
for pair in pcre2:pcre2.h:libpcre2-dev zlib:zlib.h:zlib1g-dev tls:openssl/ssl.h:libssl-dev crypt:crypt.h:libcrypt-dev \
    nettle:nettle/md5.h:nettle-dev; do
    library=${pair%%:*} rest=${pair#*:}
    header=${rest%%:*} package=${rest#*:}
    rm -rf "$tmp/hide"
    mkdir -p "$tmp/hide/$(dirname "$header")"
    echo '#error hidden' >"$tmp/hide/$header"
    refused "apt-get install $package" "--with-$library" "--with-cc-opt=-I$tmp/hide"
    check "the log shows why: $library" grep -q 'error hidden' "$tmp/refused/configure.log"
    check "built without it: $library" ./configure --builddir="$tmp/without" "--without-$library" \
        "--with-cc-opt=-I$tmp/hide"
done
for pair in liburing.h:liburing-devel yaml.h:yaml-dev; do
    rm -rf "$tmp/hide"
    mkdir -p "$tmp/hide"
    echo '#error hidden' >"$tmp/hide/${pair%%:*}"
    refused "${pair#*:}" "--with-cc-opt=-I$tmp/hide"
done

# --help names every option that the parser knows.
./configure --help >"$tmp/help"
sed -n 's/^ *\(--[a-z-]*\)[=)| ].*) *.*$/\1/p; s/^ *\(--[a-z-]*=\)\*) .*/\1/p' configure | sort -u >"$tmp/options"
check "options are found in configure" [ "$(wc -l <"$tmp/options")" -ge 17 ]
while read -r option; do
    check "--help lists $option" grep -qE -- "(^| )$option" "$tmp/help"
done <"$tmp/options"
for library in tls pcre2 zlib crypt nettle; do
    check "--help lists --with-$library" grep -q -- "--with-$library .*--without-$library" "$tmp/help"
done
for dir in modules/*/; do
    [ -d "$dir" ] || continue
    check "--help lists $(basename "$dir")" grep -q -- "--without-$(basename "$dir")" "$tmp/help"
done

# What is written.
mkdir -p "$tmp/mod"
printf 'module_name = one-two\nmodule_sources = a.c b.c\nmodule_needs = zlib\n' >"$tmp/mod/module.mk"
echo 'int one_two_a(void);int one_two_a(void) { return 1; }' >"$tmp/mod/a.c"
echo 'int one_two_b(void);int one_two_b(void) { return 1; }' >"$tmp/mod/b.c"
check "configure with paths" ./configure --builddir="$tmp/b" --prefix=/opt/s --sbin-path=bin/x \
    --conf-path=/etc/s.yaml --user=u --add-module="$tmp/mod" --with-debug '--with-cc-opt=-DQ="\"a b\""'
has() { check "config.h: $1" grep -qxF -- "$1" "$tmp/b/config.h"; }
has '#define SLUICE_PREFIX "/opt/s"'
has '#define SLUICE_SBIN_PATH "bin/x"'
has '#define SLUICE_CONF_PATH "/etc/s.yaml"'
has '#define SLUICE_ERROR_LOG_PATH "logs/error.log"'
has '#define SLUICE_HTTP_LOG_PATH "logs/access.log"'
has '#define SLUICE_PID_PATH "logs/sluice.pid"'
has '#define SLUICE_MODULES_PATH "modules"'
has '#define SLUICE_USER "u"'
has '#define SLUICE_GROUP "u"'
has '#define SLUICE_DEBUG 1'
check "the Makefile has whole paths" grep -qxF 'SBIN_PATH := /opt/s/bin/x' "$tmp/b/config.mk"
check "config.h is C" cc -fsyntax-only -Wall -Werror -x c "$tmp/b/config.h"
check "config.h holds the options" grep -q 'SLUICE_CONFIGURE.*--conf-path=/etc/s.yaml' "$tmp/b/config.h"
check "modules.c names the module" grep -qxF '    &one_two_module,' "$tmp/b/modules.c"
check "the module is compiled" make -f "$tmp/b/Makefile" "$tmp/b/obj/add/one-two/a.o"
check "./Makefile is left alone" [ "$(cksum Makefile 2>/dev/null)" = "$makefile_before" ]
check "the same again by reconfigure" sh -c 'cp "$1/config.mk" "$1/old" && "$1/reconfigure" && cmp "$1/config.mk" "$1/old"' - "$tmp/b"
refused 'needs zlib' --without-zlib --add-module="$tmp/mod"
echo 'module_name = x y' >"$tmp/mod/module.mk"
refused 'module_sources is missing' --add-module="$tmp/mod"
printf 'module_name = zz\nmodule_sources = gone.c\n' >"$tmp/mod/module.mk"
refused 'no such file: gone.c' --add-module="$tmp/mod"
echo 'sources = gone.c' >>"$tmp/mod/module.mk"
refused 'not a line of a module.mk: sources = gone.c' --add-module="$tmp/mod"

summary
