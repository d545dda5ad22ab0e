#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Budgets: a .c has at most 600 lines, a .h 250, a function 120.  Those that are over what we aim
# for (400 lines, 80 lines) are listed by SHOW_SOFT=1 and offend nobody.

. tests/lint/lib.sh

files=$(source_files)
[ -n "$files" ] || exit 0
# shellcheck disable=SC2086
awk -v soft="${SHOW_SOFT:-0}" '
function report(file, lines, limit, aim) {
    if (lines > limit) print file ":1: " lines " lines, at most " limit
    else if (soft && lines > aim) print file ":1: " lines " lines, aim for " aim > "/dev/stderr"
}
function close_file() {
    if (name == "") return
    if (name ~ /\.h$/) report(name, count, 250, 250)
    else if (name ~ /\.c$/) report(name, count, 600, 400)
}
FNR == 1 { close_file(); name = FILENAME; start = 0; head = "" }
{ count = FNR }
/^{$/ { start = FNR; title = head }
/^}$/ && start {
    n = FNR - start - 1
    at = FILENAME ":" start ": " title ": " n " lines"
    if (n > 120) print at ", at most 120"
    else if (soft && n > 80) print at ", aim for less than 80" > "/dev/stderr"
    start = 0
}
/^[a-z_].*\(/ && !start {
    head = $0; sub(/\(.*/, "", head); sub(/.*[ *]/, "", head)
    if ($0 ~ /\) ?\{$/ && $0 !~ /=/) print FILENAME ":" FNR ": " head ": the brace of a function stands alone"
}
END { close_file() }' $files | offences
