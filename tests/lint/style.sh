#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What every file looks like: the licence first, no tabs in C, no blanks at line ends, 100 columns
# (120 in tests, whose tables are read by rows), nothing left to do.

. tests/lint/lib.sh

{
    c=$(c_files | grep -v '^tests/fuzz/corpus/')
    # shellcheck disable=SC2086
    [ -z "$c" ] || awk '
    FNR == 1 && $0 != "/* SPDX-License-Identifier: BSD-2-Clause */" {
        print FILENAME ":1: first line is not /* SPDX-License-Identifier: BSD-2-Clause */"
    }
    /\t/ { print FILENAME ":" FNR ": tab" }
    # Bytes: a line of UTF-8 text may hold a few more than it has columns.
    length($0) > (FILENAME ~ /^tests\// ? 120 : 100) && $0 !~ /[\200-\377]/ { print FILENAME ":" FNR ": " length($0) " columns" }
    /(^|[^A-Za-z_"])(TODO|FIXME|XXX)([^A-Za-z_]|$)/ { print FILENAME ":" FNR ": unfinished business" }
    ' $c

    sh=$(tracked sh py)
    sh="$sh configure quickstart Makefile.in tests/run tests/lint/run .ci/run $(ls scripts/* 2>/dev/null)"
    for file in $sh; do
        [ -f "$file" ] || continue
        head -n 2 "$file" | grep -q '^# SPDX-License-Identifier: BSD-2-Clause$' ||
            echo "$file:1: no SPDX-License-Identifier in the first two lines"
    done

    text=$(tracked c h tbl sh py yaml md html in 8 5 mk)
    # shellcheck disable=SC2086
    [ -z "$text" ] || grep -nE '[[:blank:]]+$' $(echo "$text" | grep -vE '^tests/(conf|fuzz/corpus)/') |
        sed 's/^\([^:]*:[0-9]*\):.*/\1: blanks at the end of the line/'
} | offences
