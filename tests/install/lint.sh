#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Each lint sees what it is there for: small offences, one at a time, in a tree of their own.

cd "$(dirname "$0")/../.." || exit 1
. tests/install/lib.sh

tree=$tmp/tree
mkdir -p "$tree/tests" "$tree/build"
cp -R tests/lint "$tree/tests/"
cp build/config.mk build/config.h "$tree/build/" || exit 1
cd "$tree" || exit 1

spdx='/* SPDX-License-Identifier: BSD-2-Clause */'

# offends LINT FILE TEXT LINE... : the file with these lines is an offence that says TEXT.
offends()
{
    lint=$1 file=$2 text=$3
    shift 3
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
    sh "tests/lint/$lint.sh" build >"$tmp/lint.out" 2>&1
    status=$?
    check "$lint: $text" [ $status = 1 ]
    check "$lint says: $text" grep -qF -- "$text" "$tmp/lint.out"
    rm -rf src modules man
}

# passes LINT FILE LINE...
passes()
{
    lint=$1 file=$2
    shift 2
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
    check "$lint passes: $*" sh "tests/lint/$lint.sh" build
    rm -rf src modules man
}

offends layers src/proto/a.c 'proto must not include "http/request.h"' '#include "http/request.h"'
offends layers src/core/a.c 'core must not include "os/fd.h"' '  #  include "os/fd.h"'
offends layers src/http/a.c 'http must not include "tls/tls_conf.h"' '#include "tls/tls_conf.h"'
offends layers src/net/a.h 'net must not include "conf/node.h"' '#include "conf/node.h"'
offends layers modules/a/a.c 'modules must not include "server/cycle.h"' '#include "server/cycle.h"'
offends layers modules/a/a.c 'paths begin at src/' '#include "../b/b.h"'
offends layers modules/a/a.c 'modules must not include "modules/b/b.h"' '#include "modules/b/b.h"'
offends layers src/os/a.c 'paths begin at src/' '#include "fd.h"'
offends layers src/new/a.c 'no such layer: new' '#include "core/str.h"'
offends layers src/server/a.c '<liburing.h> belongs in src/event/' '#include <liburing.h>'
offends layers src/http/a.c '<yaml.h> belongs in src/conf/' '#include <yaml.h>'
offends layers src/net/a.c '<openssl/ssl.h> belongs in src/tls/' '#include <openssl/ssl.h>'
offends layers modules/a/a.c '<zlib.h> belongs in src/cache/' '#include <zlib.h>'
offends layers src/core/a.c '<crypt.h> belongs in modules/auth_basic/' '#include <crypt.h>'
offends layers modules/a/a.c '<nettle/md5.h> belongs in modules/auth_basic/' '#include <nettle/md5.h>'
offends layers src/conf/a.c '<pcre2.h> belongs in src/http/' '#include <pcre2.h>'
passes layers src/tls/a.c '#include "conf/node.h"' '/* #include "server/main.h" */' '#include <openssl/ssl.h>'
passes layers modules/a/a.c '#include "http/module.h"' '#include "a.h"' '#include "config.h"'

body=$(for i in $(seq 121); do echo "    f($i);"; done)
offends sizes src/core/a.c 'f: 121 lines, at most 120' 'void f(void)' '{' "$body" '}'
offends sizes src/core/a.c '601 lines, at most 600' "$(seq 601)"
offends sizes src/core/a.h '251 lines, at most 250' "$(seq 251)"
offends sizes src/core/a.c 'the brace of a function stands alone' 'static int f(void) {' '}'
passes sizes src/core/a.c 'void f(void)' '{' "$(echo "$body" | tail -n 120)" '}' "$(seq 470)"

offends style src/core/a.c 'first line is not' 'int a;'
offends style src/core/a.c 'a.c:2: tab' "$spdx" "$(printf '\tint a;')"
offends style src/core/a.c '101 columns' "$spdx" "$(printf '%0101d' 0)"
offends style src/core/a.c 'blanks at the end' "$spdx" 'int a; '
offends style src/core/a.c 'unfinished business' "$spdx" '/* TODO: all */'
passes style src/core/a.c "$spdx" "$(printf '%0100d' 0)"

offends forbidden src/core/a.c 'forbidden function: strcpy' ' strcpy(a, b);'
offends forbidden src/http/a.c 'forbidden function: x = atoi' ' x = atoi(b);'
offends forbidden modules/a/a.c 'numbers are read by' ' x = strtoul(b, 0, 10);'
offends forbidden src/proto/a.c 'proto is pure: p = malloc' ' p = malloc(1);'
passes forbidden src/core/num.c ' x = strtoul(b, 0, 10);'
passes forbidden src/http/a.c ' p = malloc(1); /* strcpy(a, b) */ puts("strcpy(a)"); my_strcpy(a); snprintf(a, 1, "");'

offends headers src/core/a.h 'a.h:1' 'int f(struct nowhere x);'
mkdir -p src/core && echo 'int f(void);' >src/core/a.h
offends headers src/core/a.c 'first include is not "core/a.h"' '#include <stdio.h>' '#include "core/a.h"'
mkdir -p src/core && echo 'int f(void);' >src/core/a.h
passes headers src/core/a.c '#include "core/a.h"'

offends modules modules/a/a.c 'modules/a: has no module.mk' ''
if command -v mandoc >/dev/null; then
    offends man man/sluice.8 'sluice.8:' 'no macro at all'
fi

summary
