#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every header compiles alone, and every .c that has one includes it first.

. tests/lint/lib.sh

build=${1:-build}
[ -f "$build/config.h" ] || { echo "$build/config.h: run ./configure first"; exit 1; }
cc=$(sed -n 's/^CC := //p' "$build/config.mk")
{
    # Each says one line at most: the first error.
    export build cc
    # shellcheck disable=SC2016
    tracked h | grep -E '^(src|modules|tests)/' | xargs -P "$(nproc)" -n 1 sh -c '
        echo "#include \"$1\"" | $cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-function -Werror \
            -fsyntax-only -I. -Isrc "-I$build" -Itests "-I$(dirname "$1")" -x c - 2>&1 | grep -m 1 error
        exit 0' -
    source_files | grep '\.c$' | while read -r file; do
        own=${file%.c}.h
        [ -f "$own" ] || continue
        case $own in src/*) want=${own#src/} ;; *) want=$(basename "$own") ;; esac
        first=$(grep -m 1 '^#include' "$file")
        case $first in
            "#include \"$want\"" | '#include "config.h"') ;;
            *) echo "$file:1: first include is not \"$want\"" ;;
        esac
    done
} | offences
