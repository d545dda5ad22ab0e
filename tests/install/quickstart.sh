#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ./quickstart: serves a folder in the foreground until Ctrl-C, and says what is wrong if it cannot.
# timeout: 300

cd "$(dirname "$0")/../.." || exit 1
. tests/install/lib.sh

# refused TEXT ARGUMENT...
refused()
{
    text=$1
    shift
    ./quickstart "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    check "refused: $*" [ $status = 1 ]
    check "says \"$text\"" grep -qF -- "$text" "$tmp/err"
}

site="$tmp/it's a site"
mkdir "$site"
chmod 755 "$tmp"
echo "hello from the site" >"$site/index.html"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

refused 'no such folder' /nowhere
refused 'not a number' html http
refused 'from 1 to 65535' html 65536
refused 'from 1 to 65535' html 0

./quickstart "$site" "$port" >"$tmp/served" 2>&1 </dev/null &
pid=$!
fetch() { python3 -c 'import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1], timeout=5).read().decode())' "$1"; }
tries=0
until fetch "http://127.0.0.1:$port/" >"$tmp/page" 2>"$tmp/fetch.err"; do
    tries=$((tries + 1))
    if [ $tries -gt 600 ] || ! kill -0 $pid 2>/dev/null; then break; fi
    sleep 0.2
done
check "the page is served" grep -q "hello from the site" "$tmp/page"
check "the URL is printed" grep -qF "http://127.0.0.1:$port/" "$tmp/served"
check "the back end is printed" grep -qiE 'io_uring|epoll' "$tmp/served"
refused 'is in use' "$site" "$port"
# A shell's background process ignores the interrupt unless it says otherwise, as sluice does.
kill -INT $pid
wait $pid
status=$?
check "the interrupt ends it well" [ $status = 0 ]
[ "$failed" = 0 ] || cat "$tmp/served"

summary
