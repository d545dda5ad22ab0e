# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What these scripts share: a scratch folder $tmp, `check NAME COMMAND...` and `summary`.

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0

# check NAME COMMAND... : counts; says what a command that fails has to say.
check()
{
    what=$1
    shift
    if "$@" >"$tmp/said" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok: $what"
        tail -n 15 "$tmp/said" | sed 's/^/    /'
    fi
}

summary()
{
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
