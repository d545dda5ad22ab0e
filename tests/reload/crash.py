#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 200
"""Processes that die: workers are replaced and connects never refused; without a master the
workers stop accepting, finish and go, and the port is free. hostile.md 106, 107, 108, 110."""

import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403


def http(s):
    return ("  access_log: off\n  keepalive_requests: 100000000\n"
            "  server: {listen: '127.0.0.1:%d', root: html}\n" % s.port)


def kill_worker(backend):
    s = Server(backend)
    s.conf(http(s))
    s.must_start()
    load = Load(s.port, keep=2, fresh=3)
    time.sleep(0.3)
    slowest = 0
    for i in range(8):
        victim = s.workers()[i % 2]
        os.kill(victim, signal.SIGKILL)
        start = time.monotonic()
        ok = until(lambda: len(s.workers()) == 2 and victim not in s.workers(), 10)
        slowest = max(slowest, time.monotonic() - start)
        if not check("%s: replaced" % backend, ok, s.workers()):
            break
        time.sleep(1.2) # one that keeps dying is held back; these are single faults
    total = load.stop()
    check("%s: connects never refused" % backend, total["refused"] == 0, load.said)
    check("%s: only its own requests are lost" % backend,
          total["reset"] + total["cut"] <= 8 * 5 and total["wrong"] == 0, total)
    check("%s: served meanwhile" % backend, total["good"] > 500, total)
    check("%s: replaced soon (slowest %.2f s)" % (backend, slowest), slowest < 1.5)
    check("%s: said in the log" % backend, "signal 9" in s.read("logs/error.log"))
    check("%s: stops" % backend, s.stop() == 0)


def kill_all():
    s = Server()
    s.conf(http(s))
    s.must_start()
    load = Load(s.port, keep=0, fresh=2)
    for _ in range(6):
        for pid in s.workers():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.1)
    check("all workers at once: all come back", until(lambda: len(s.workers()) == 2, 20), s.workers())
    check("and serve", until(lambda: served(s.port), 20))
    total = load.stop()
    check("connects never refused", total["refused"] == 0, "%s %s" % (total, load.said))
    check("stops", s.stop() == 0)


def served(port):
    try:
        return fetch(port)[2] == b"probe\n"
    except OSError:
        return False


def stopped_worker():
    """A worker that hangs: the siblings answer all the same (new connections, in a while)."""
    s = Server()
    s.conf(http(s))
    s.must_start()
    victim = s.workers()[0]
    os.kill(victim, signal.SIGSTOP)
    good = sum(until(lambda: served_in(s.port, 5), 10) is True for _ in range(20))
    os.kill(victim, signal.SIGCONT)
    check("beside a hung worker connections are served", good == 20, good)
    check("hostile.md 102: it goes on after SIGCONT", until(lambda: served(s.port), 10))
    check("stops", s.stop() == 0)


def served_in(port, seconds):
    try:
        c = Conn(port, seconds)
        ok = c.get()[2] == b"probe\n"
        c.close()
        return ok
    except OSError:
        return False


def kill_master(backend):
    s = Server(backend)
    s.write("html/big.bin", bytes(32 << 20))
    s.conf(http(s))
    s.must_start()
    workers = s.workers()
    slow, idle = Conn(s.port), Conn(s.port)
    idle.get()
    slow.send("/big.bin")
    time.sleep(0.2)
    s.process.kill()
    s.process.wait()
    # The port is free for the next master at once, though the workers still drain.
    refused = until(lambda: not connects(s.port), 3)
    check("%s: workers stop accepting" % backend, refused)
    with socket.socket() as other:
        try:
            other.bind(("127.0.0.1", s.port))
            bound = True
        except OSError:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                other.bind(("127.0.0.1", s.port))
                bound = True
            except OSError as e:
                bound = e
    check("%s: the port is free" % backend, bound is True, bound)
    try:
        status, _, body = slow.receive()
    except OSError as e:
        status, body = e, b""
    check("%s: a download is finished" % backend, status == 200 and len(body) == 32 << 20,
          (status, len(body)))
    slow.close()
    idle.close()
    check("%s: workers end" % backend, until(lambda: not any(map(alive, workers)), 15))
    check("%s: the next one starts" % backend, s.start())
    check("%s: and serves" % backend, served(s.port))
    check("%s: stops" % backend, s.stop() == 0)


def connects(port):
    with socket.socket() as c:
        c.settimeout(1)
        return c.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    kill_worker("io_uring")
    kill_worker("epoll")
    kill_all()
    stopped_worker()
    kill_master("io_uring")
    kill_master("epoll")
    finish()
