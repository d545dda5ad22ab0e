#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""HUP: fifty reloads under load lose nothing; listeners come and go; workers grow and shrink;
what is being sent is finished by the old worker, at most for worker_shutdown_timeout."""

import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403

BIG = 64 << 20


def http(s, generation, extra="", port=None):
    return ("  access_log: off\n"
            "  keepalive_requests: 100000000\n"
            "  server:\n"
            "    - listen: 127.0.0.1:%d\n"
            "      root: html\n"
            "      add_header: X-Generation %d\n%s" % (port or s.port, generation, extra))


def under_load(backend, reloads):
    s = Server(backend)
    s.conf(http(s, 0))
    s.must_start()
    master = s.pid()
    seen = set(s.workers())
    tool = wrk(s.port, 4 + reloads * (2 if SANITIZED else 1) // 3)
    load = Load(s.port)
    time.sleep(0.5)
    stale = 0
    for i in range(1, reloads + 1):
        s.conf(http(s, i))
        now = s.reload()
        seen |= set(now)
        if not until(lambda: fetch(s.port)[1].get("x-generation") == str(i), 5):
            stale += 1
    total = load.stop()
    check("%s: a reload takes effect" % backend, stale == 0, stale)
    check("%s: nothing fails in %d reloads" % (backend, reloads), not load.bad(),
          "%s %s" % (total, load.said))
    check("%s: requests were made" % backend, total["good"] > reloads * 10, total)
    check("%s: few kept connections end under a request" % backend,
          total["raced"] <= total["good"] // 100 + 5, total)
    if tool:
        n, wrong = wrk_result(tool)
        check("%s: wrk sees no failure in %d requests" % (backend, n), n > 0 and not wrong, wrong)
    check("%s: same master" % backend, s.pid() == master and alive(master))
    check("%s: workers were replaced each time" % backend, len(seen) >= 2 * reloads, len(seen))
    check("%s: old workers have gone" % backend, until(lambda: len(s.workers()) == 2, 10), s.workers())
    check("%s: stops" % backend, s.stop() == 0)
    check("%s: no alarm" % backend, not s.alarms(), "\n".join(s.alarms()[:9]))


def storm():
    """hostile.md 111: many HUPs at once are one or two reloads, and two generations at most live."""
    s = Server()
    s.conf(http(s, 1))
    s.must_start()
    load = Load(s.port, keep=1, fresh=1)
    most = 0
    for i in range(200):
        s.kill(signal.SIGHUP)
        time.sleep(0.003)
        if i % 20 == 0:
            most = max(most, len(s.workers()))
    total = load.stop()
    check("storm: nothing fails", not load.bad(), "%s %s" % (total, load.said))
    check("storm: few processes", most <= 12, most)
    check("storm: settles", until(lambda: len(s.workers()) == 2, 20), s.workers())
    check("storm: stops", s.stop() == 0)
    check("storm: no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))


def listeners():
    """hostile.md 113: what stays never blinks, what is new accepts, what is gone refuses."""
    s = Server()
    more = "    - {listen: '127.0.0.1:%d', root: html}\n" % s.port2
    s.conf(http(s, 1))
    s.must_start()
    load = Load(s.port)
    for i in range(5):
        s.conf(http(s, 10 + i, more))
        s.reload()
        ok = until(lambda: attempt(s.port2) == 200, 5)
        if not check("listener added", ok):
            break
        s.conf(http(s, 20 + i))
        s.reload()
        if not check("listener removed", until(lambda: attempt(s.port2) is None, 10)):
            break
    total = load.stop()
    check("the other listener never blinks", not load.bad(), "%s %s" % (total, load.said))
    check("stops", s.stop() == 0)
    check("no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))


def attempt(port):
    try:
        return fetch(port)[0]
    except OSError:
        return None


def worker_counts():
    s = Server()
    s.conf(http(s, 0), workers=1)
    s.must_start()
    load = Load(s.port)
    for n in (3, 1, 4, 2, 1, 2):
        s.conf(http(s, n), workers=n)
        s.kill(signal.SIGHUP)
        check("%d workers" % n, until(lambda: len(s.workers()) == n, 20), s.workers())
        time.sleep(0.3)
    # Sockets that nobody needs are closed once nothing can come to them any more.
    for n in 4, 1, 3:
        s.conf(http(s, n), workers=n)
        s.reload()
        check("%d sockets" % n, until(lambda: listening(s.port) == n, 10), listening(s.port))
    for pid in s.workers() + [s.pid()]:
        check("each holds no others", len(sockets_of(pid, s.port)) == 3, sockets_of(pid, s.port))
    total = load.stop()
    check("growing and shrinking loses nothing", not load.bad(), "%s %s" % (total, load.said))
    check("no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))
    old = set(s.workers())
    s.kill(signal.SIGKILL, max(old))
    check("a worker that died is replaced", until(lambda: len(set(s.workers()) - old) == 1 and
                                                  len(s.workers()) == 3))
    check("and serves", all(fetch(s.port)[0] == 200 for _ in range(30)))
    check("stops", s.stop() == 0)


def listening(port):
    return len(inodes(port))


def inodes(port):
    """The listening sockets of a port of 127.0.0.1."""
    with open("/proc/net/tcp") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return {r[9] for r in rows if r[3] == "0A" and r[1] == "0100007F:%04X" % port}


def sockets_of(pid, port):
    wanted, found = {"socket:[%s]" % i for i in inodes(port)}, set()
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            found.add(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
        except OSError:
            pass
    return wanted & found


def draining():
    """K10, K11, hostile.md 114: a download under way is finished; a limit ends one that hangs."""
    s = Server()
    s.write("html/big.bin", bytes(BIG))
    s.conf(http(s, 1))
    s.must_start()
    slow, idle = Conn(s.port), Conn(s.port)
    slow.send("/big.bin")
    idle.get()
    old = set(s.workers())
    s.conf(http(s, 2))
    s.kill(signal.SIGHUP)
    check("new workers beside the draining one",
          until(lambda: len(set(s.workers()) - old) == 2), s.workers())
    check("an idle connection is ended", until_eof(idle, 5))
    time.sleep(0.5)
    check("the draining worker is still there", old & set(s.workers()), s.workers())
    status, fields, body = slow.receive()
    check("the download is whole, from the old configuration",
          status == 200 and len(body) == BIG and fields.get("x-generation") == "1",
          (status, len(body), fields))
    check("then its worker goes", until(lambda: not old & set(s.workers()), 10), s.workers())
    s.conf(http(s, 3), main="worker_shutdown_timeout: 1s\n")
    s.reload()
    slow = Conn(s.port)
    slow.send("/big.bin")
    time.sleep(0.2)
    old = set(s.workers())
    start = time.monotonic()
    s.kill(signal.SIGHUP)
    time.sleep(0.3)
    check("worker_shutdown_timeout ends the rest",
          until(lambda: s.workers() and not old & set(s.workers()), 10), s.workers())
    check("not before its time", time.monotonic() - start > 0.8, time.monotonic() - start)
    check("stops", s.stop() == 0)
    check("no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))


def until_eof(c, seconds):
    c.s.settimeout(seconds)
    try:
        return c.s.recv(1) == b""
    except OSError:
        return False


if __name__ == "__main__":
    under_load("io_uring", 10 if SANITIZED else 50)
    under_load("epoll", 5 if SANITIZED else 20)
    storm()
    listeners()
    worker_counts()
    draining()
    finish()
