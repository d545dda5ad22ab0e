#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A file includes only its own and lower layers, each library has one home, and a module never
# looks into another one.  Tests may include anything.

. tests/lint/lib.sh

files=$(source_files)
[ -n "$files" ] || exit 0
# shellcheck disable=SC2086
code_of $files | awk '
BEGIN {
    may["core"] = "core"
    may["os"] = "os core"
    may["event"] = "event core os"
    may["proto"] = "proto core"
    may["conf"] = "conf core os"
    may["net"] = "net core os event proto"
    may["tls"] = "tls core os event conf net"
    may["cache"] = "cache core os event proto"
    may["http"] = "http core os event proto conf net cache"
    may["modules"] = "http core os event proto conf net cache"
    may["server"] = "server core os event proto conf net tls cache http"

    # header (a regular expression) -> the files (likewise) that may name it
    home["^liburing"] = "^src/event/"
    home["^linux/io_uring"] = "^src/event/"
    home["^sys/epoll"] = "^src/event/"
    home["^yaml\\.h"] = "^src/conf/"
    home["^openssl/"] = "^src/tls/"
    home["^zlib\\.h"] = "^src/cache/"
    home["^pcre2"] = "^src/http/"
    home["^crypt\\.h"] = "^modules/auth_basic/"
    home["^nettle/"] = "^modules/auth_basic/"
}
{
    split($0, field, ":")
    file = field[1]; at = file ":" field[2] ": "
    text = substr($0, length(file) + length(field[2]) + 3)
    if (text !~ /^[ \t]*#[ \t]*include/) next
    if (!match(text, /["<][^">]*[">]/)) next
    quote = substr(text, RSTART, 1)
    name = substr(text, RSTART + 1, RLENGTH - 2)

    split(file, part, "/")
    layer = part[1] == "modules" ? "modules" : part[2]

    for (header in home)
        if (name ~ header && file !~ home[header])
            print at "<" name "> belongs in " substr(home[header], 2)
    if (name ~ /^pcre2/) pcre2[file] = at

    if (quote != "\"" || name == "config.h") next
    if (name ~ /\.\./) { print at "\"" name "\": paths begin at src/"; next }
    if (!(layer in may)) { print at "no such layer: " layer; next }
    n = split(name, target, "/")
    if (n == 1) {
        # A module has its own headers beside it.
        if (layer != "modules") print at "\"" name "\": paths begin at src/"
        next
    }
    if (index(" " may[layer] " ", " " target[1] " ") == 0)
        print at layer " must not include \"" name "\""
}
END {
    for (file in pcre2) if (++n_pcre2 > 1) print pcre2[file] "a second home for PCRE2"
}' | sort | offences
