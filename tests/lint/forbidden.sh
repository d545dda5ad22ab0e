#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Functions that are not used here: those that overrun, those that read numbers carelessly outside
# of the one home for that, and, in the pure parsers, everything that has state.

. tests/lint/lib.sh

files=$(source_files)
[ -n "$files" ] || exit 0
# shellcheck disable=SC2086
code_of $files | awk '
BEGIN {
    never = "strcpy|stpcpy|strcat|strncat|sprintf|vsprintf|gets|strtok|alloca|" \
        "atoi|atol|atoll|atof|sscanf|fscanf|scanf"
    numbers = "strtol|strtoll|strtoul|strtoull|strtod|strtof|strtold|strtoimax|strtoumax"
    state = "malloc|calloc|realloc|free|time|clock_gettime|gettimeofday|open|read|write|" \
        "printf|fprintf|getenv|rand|random"
}
function called(names) { return text ~ ("(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\(") }
{
    split($0, field, ":")
    file = field[1]; at = file ":" field[2] ": "
    text = substr($0, length(file) + length(field[2]) + 3)
    if (called(never)) print at "forbidden function:" text
    if (file !~ /^src\/(core\/num|conf\/value)\.[ch]$/ && called(numbers))
        print at "numbers are read by core/num.c and conf/value.c:" text
    if (file ~ /^src\/proto\// && called(state)) print at "proto is pure:" text
}' | offences
