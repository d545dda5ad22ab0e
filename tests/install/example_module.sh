#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The module in HACKING.md is built from that page, from outside the tree, and answers.
# timeout: 300

cd "$(dirname "$0")/../.." || exit 1
. tests/install/lib.sh
module=$tmp/hello
build=$tmp/build
mkdir "$module"
chmod 755 "$tmp"

awk '/^<!-- BEGIN example hello.c/ { on = 1; next } /^<!-- END example/ { on = 0 }
     on && !/^```/' HACKING.md >"$module/hello.c"
printf 'module_name = hello\nmodule_sources = hello.c\n' >"$module/module.mk"
check "HACKING.md has the module" [ "$(wc -l <"$module/hello.c")" -gt 30 ]

check "configure" ./configure --builddir="$build" --prefix="$tmp/prefix" --add-module="$module"
check "make" make -f "$build/Makefile" -j"$(nproc)"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -p "$tmp/prefix/conf" "$tmp/prefix/logs"
cat >"$tmp/prefix/conf/sluice.yaml" <<END
daemon: off
worker_processes: 1
http:
  server:
    - listen: 127.0.0.1:$port
      location:
        /greet: {hello: world}
END
"$build/sluice" -p "$tmp/prefix" >"$tmp/server.out" 2>&1 &
pid=$!
tries=0
while [ ! -s "$tmp/prefix/logs/sluice.pid" ] && [ "$tries" -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
check "it answers" [ "$(curl -s "http://127.0.0.1:$port/greet")" = "hello, world" ]
check "-V names it" sh -c "'$build/sluice' -V | grep -q '^modules:.* hello'"
kill -TERM "$pid"
wait "$pid"
summary
