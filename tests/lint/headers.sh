#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every header compiles alone, and every .c that has one includes it first.

. tests/lint/lib.sh

build=${1:-build}
[ -f "$build/config.h" ] || { echo "$build/config.h: run ./configure first"; exit 1; }
cc=$(sed -n 's/^CC := //p' "$build/config.mk")
{
    tracked h | grep -E '^(src|modules|tests)/' | while read -r header; do
        # shellcheck disable=SC2086
        echo "#include \"$header\"" | $cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-function -Werror \
            -fsyntax-only -I. -Isrc "-I$build" -Itests "-I$(dirname "$header")" -x c - 2>&1 | grep -m 1 error
    done
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
