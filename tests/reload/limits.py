#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 120
"""Zones of limit_req and limit_conn over the lives of workers (T8): a reload keeps what was counted,
a worker that is killed takes what it counted with it, a zone that was changed starts empty."""

import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403

SIZE = 8 << 20


def http(s, key="$arg_k", rate="1r/m", size="64k"):
    return ("  access_log: off\n"
            "  limit_req_zone: %s zone=asked:%s rate=%s\n"
            "  limit_conn_zone: $arg_k zone=open:64k\n"
            "  server:\n"
            "    listen: '127.0.0.1:%d'\n"
            "    root: html\n"
            "    location:\n"
            "      /req/: {limit_req: zone=asked burst=4 nodelay}\n"
            "      /conn/: {limit_conn: open 4}\n" % (key, size, rate, s.port))


def server(backend):
    s = Server(backend)
    for place in "req", "conn":
        s.write("html/%s/small" % place, "small\n")
    s.write("html/conn/large", bytes(SIZE))
    s.conf(http(s))
    s.must_start()
    return s


def reload(s):
    """HUP, and waits until the new workers serve; the old ones may have something to finish."""
    before = s.read("logs/error.log").count(" serves\n")
    s.kill(signal.SIGHUP)
    until(lambda: s.read("logs/error.log").count(" serves\n") > before)


def status(s, target):
    return fetch(s.port, target)[0]


def statuses(s, target, n):
    return [status(s, target) for _ in range(n)]


def slow(s, key):
    """A connection that holds a count: it takes the head of its answer and no more."""
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.settimeout(15)
    c.connect(("127.0.0.1", s.port))
    c.sendall(b"GET /conn/large?k=%s HTTP/1.1\r\nHost: a\r\n\r\n" % key)
    return c, c.recv(16)


def reload_keeps(backend):
    s = server(backend)
    check("%s: the burst and no more" % backend,
          statuses(s, "/req/small?k=a", 7) == [200] * 5 + [503] * 2)
    held = [slow(s, b"a") for _ in range(4)]
    check("%s: held" % backend, all(b" 200 " in head for _, head in held), held)
    check("%s: limit_conn refuses" % backend, status(s, "/conn/small?k=a") == 503)
    for rate in "1r/m", "2r/m": # a rate may change without the zone being another
        s.conf(http(s, rate=rate))
        reload(s)
        check("%s: limit_req remembers, %s" % (backend, rate), status(s, "/req/small?k=a") == 503)
        check("%s: what old workers hold counts" % backend, status(s, "/conn/small?k=a") == 503)
        check("%s: another key" % backend, status(s, "/conn/small?k=%s" % rate[0]) == 200)
    check("%s: nothing was said of other zones" % backend,
          "starts empty" not in s.read("logs/error.log"))
    for c, _ in held:
        c.close()
    check("%s: given back by the old workers" % backend,
          until(lambda: status(s, "/conn/small?k=a") == 200))
    s.conf(http(s, key="$arg_k$arg_j"))
    reload(s)
    check("%s: another key starts empty" % backend, status(s, "/req/small?k=a") == 200)
    check("%s: and is reported" % backend,
          'the zone "asked" is another one than before' in s.read("logs/error.log"))
    s.conf(http(s, size="128k"))
    reload(s)
    check("%s: another size starts empty" % backend, status(s, "/req/small?k=a") == 200)
    s.conf(http(s, size="1k"))
    s.kill(signal.SIGHUP)
    check("%s: a bad zone" % backend, until(lambda: "a size of 32k" in s.read("logs/error.log")))
    statuses(s, "/req/small?k=b", 5)
    check("%s: the old zone stays in force" % backend, status(s, "/req/small?k=b") == 503)
    check("%s: stops" % backend, s.stop() == 0)
    check("%s: no alarm" % backend, s.alarms() == [], s.alarms())


def owner(s, c):
    """The worker that has the other end of a connection."""
    port = c.getsockname()[1]
    for line in open("/proc/net/tcp").read().splitlines()[1:]:
        field = line.split()
        if field[1].endswith(":%04X" % s.port) and field[2].endswith(":%04X" % port):
            for pid in s.workers():
                for fd in os.listdir("/proc/%d/fd" % pid):
                    try:
                        if os.readlink("/proc/%d/fd/%s" % (pid, fd)) == "socket:[%s]" % field[9]:
                            return pid
                    except OSError:
                        pass
    return 0


def killed_worker(backend):
    """The counts of one worker go with it, those of the other stay."""
    s = server(backend)
    for i in range(2):
        held = [slow(s, b"k") for _ in range(4)]
        check("%s: limit_conn refuses" % backend, status(s, "/conn/small?k=k") == 503)
        owners = [owner(s, c) for c, _ in held]
        victim = owners[0]
        gone = owners.count(victim)
        check("%s: all have an owner" % backend, 0 not in owners and gone > 0, owners)
        os.kill(victim, signal.SIGKILL)
        until(lambda: len(s.workers()) == 2 and victim not in s.workers())
        more = []
        for _ in range(gone):
            check("%s: room for %d of %d more" % (backend, len(more) + 1, gone),
                  until(lambda: served(s, "/conn/small?k=k") == 200))
            more.append(slow(s, b"k"))
        check("%s: counted anew" % backend, all(b" 200 " in head for _, head in more), more)
        check("%s: the other's %d have stayed" % (backend, 4 - gone),
              served(s, "/conn/small?k=k") == 503)
        for c, _ in held + more:
            c.close()
        check("%s: given back" % backend, until(lambda: status(s, "/conn/small?k=k") == 200))
        time.sleep(1.2) # one that keeps dying is held back; these are single faults
    check("%s: stops" % backend, s.stop() == 0)


def served(s, target):
    try:
        return status(s, target)
    except OSError:
        return 0


def killed_asking(backend):
    """Workers killed under requests that count: nobody waits for the lock of a dead one."""
    s = server(backend)
    load = [Load(s.port, "/req/small?j=%d" % i, b"small\n", keep=1, fresh=1) for i in range(2)]
    limited = Load(s.port, "/req/small?k=l", b"small\n", keep=1, fresh=1)
    for i in range(4):
        time.sleep(0.3)
        victim = s.workers()[i % 2]
        os.kill(victim, signal.SIGKILL)
        check("%s: replaced" % backend,
              until(lambda: len(s.workers()) == 2 and victim not in s.workers()))
        time.sleep(1)
    good = sum(one.stop()["good"] for one in load)
    limited.stop()
    check("%s: served meanwhile" % backend, good > 200, good)
    check("%s: and after" % backend, status(s, "/req/small?k=new") == 200)
    check("%s: the limit holds" % backend, status(s, "/req/small?k=l") == 503)
    check("%s: stops" % backend, s.stop() == 0)


if __name__ == "__main__":
    reload_keeps("io_uring")
    reload_keeps("epoll")
    killed_worker("io_uring")
    killed_worker("epoll")
    killed_asking("io_uring")
    finish()
