#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 200
"""Stopping, the pid file, daemon mode, -s; config.md 5, hostile.md 103, 117, 119."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403


def stops():
    """TERM and INT at once, QUIT after what is under way."""
    for sig in signal.SIGTERM, signal.SIGINT, signal.SIGQUIT:
        name = signal.Signals(sig).name
        s = Server()
        s.write("html/big.bin", bytes(32 << 20))
        s.conf()
        s.must_start()
        workers = s.workers()
        idle, slow = Conn(s.port), Conn(s.port)
        idle.get()
        slow.send("/big.bin")
        time.sleep(0.2)
        start = time.monotonic()
        s.process.send_signal(sig)
        if sig == signal.SIGQUIT:
            check("QUIT: does not accept any more", until(lambda: not accepts(s.port), 5))
            check("QUIT: waits for what is under way", s.process.poll() is None)
            status, fields, body = slow.receive()
            check("QUIT: finishes it", status == 200 and len(body) == 32 << 20, (status, len(body)))
        try:
            rc = s.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            rc = None
        check("%s: exit 0" % name, rc == 0, rc)
        if sig != signal.SIGQUIT:
            check("%s: at once" % name, time.monotonic() - start < 3, time.monotonic() - start)
        check("%s: no worker is left" % name, until(lambda: not any(map(alive, workers)), 3))
        check("%s: no pid file is left" % name, not os.path.exists(s.path("logs/sluice.pid")))
        check("%s: no alarm" % name, not s.alarms(), "\n".join(s.alarms()[:9]))
        idle.close()
        slow.close()
    s = Server()
    s.write("html/big.bin", bytes(32 << 20))
    s.conf()
    s.must_start()
    slow = Conn(s.port)
    slow.send("/big.bin")
    time.sleep(0.2)
    s.process.send_signal(signal.SIGQUIT)
    time.sleep(0.3)
    start = time.monotonic()
    check("QUIT, then TERM to hurry", s.stop(signal.SIGTERM) == 0 and time.monotonic() - start < 3)


def accepts(port):
    try:
        c = Conn(port, 2)
        c.get()
        c.close()
        return True
    except OSError:
        return False


def by_command():
    for word, expect in ("stop", 0), ("quit", 0):
        s = Server()
        s.conf()
        s.must_start()
        rc, out = s.run("-s", word)
        check("-s %s: 0" % word, rc == 0, (rc, out))
        try:
            rc = s.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            rc = None
        check("-s %s: it stops" % word, rc == expect, rc)
    s = Server()
    s.conf()
    s.must_start()
    os.rename(s.path("logs/access.log"), s.path("logs/access.old"))
    rc, out = s.run("-s", "reopen")
    check("-s reopen: 0", rc == 0, (rc, out))
    check("-s reopen: a new log", until(lambda: os.path.exists(s.path("logs/access.log")), 5))
    check("stops", s.stop() == 0)
    rc, out = s.run("-s", "stop")
    check("-s stop without a server: 1", rc == 1, (rc, out))


def pid_file():
    s = Server()
    s.conf()
    for name, text in ("stale", "999999\n"), ("of another process", "%d\n" % os.getpid()), ("junk", "x"):
        s.write("logs/sluice.pid", text)
        s.process = subprocess.Popen(s.args(), stdin=subprocess.DEVNULL,
                                     stdout=open(s.path("logs/stderr.txt"), "ab"),
                                     stderr=subprocess.STDOUT)
        s.pids.add(s.process.pid)
        check("pid file, %s: replaced" % name, until(lambda: s.pid() == s.process.pid), s.read("logs/sluice.pid"))
        check("pid file, %s: stops" % name, s.stop() == 0)
    victim = s.path("victim")
    s.write("victim", "precious\n")
    os.symlink(victim, s.path("logs/sluice.pid"))
    s.process = subprocess.Popen(s.args(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
    s.pids.add(s.process.pid)
    until(lambda: s.process.poll() is not None or accepts(s.port), 10)
    check("pid file, a link: its target is not written", s.read("victim") == "precious\n")
    if s.process.poll() is None:
        s.stop()
    if os.path.islink(s.path("logs/sluice.pid")):
        os.unlink(s.path("logs/sluice.pid"))
    s.must_start()
    rc, out = s.run()
    check("a second start on the same ports: exit 1", rc == 1, (rc, out[-300:]))
    check("the first one's pid file stays", s.pid() == s.process.pid)
    check("and it serves", fetch(s.port)[0] == 200)
    check("stops", s.stop() == 0)


def daemon():
    s = Server()
    s.conf(daemon="on")
    start = time.monotonic()
    with open(s.path("logs/stderr.txt"), "ab") as err:
        rc = subprocess.call(s.args(), stdin=subprocess.DEVNULL, stdout=err, stderr=err, timeout=60)
    check("daemon: the starter exits 0", rc == 0, (rc, s.read("logs/stderr.txt")[-300:]))
    pid = s.pid()
    s.pids.add(pid)
    check("daemon: the pid file is there when it returns", pid > 1 and alive(pid), pid)
    check("daemon: it serves when it returns (%.2f s)" % (time.monotonic() - start), accepts(s.port))
    if pid <= 1:
        return
    check("daemon: a session of its own", os.getsid(pid) != os.getsid(0))
    check("daemon: parent is not the starter", stat_of(pid)[1] != os.getpid())
    for fd in 0, 1, 2:
        to = os.readlink("/proc/%d/fd/%d" % (pid, fd))
        check("daemon: fd %d leads away" % fd, to == "/dev/null" or "logs/" in to, to)
    s.kill(signal.SIGHUP, pid)
    time.sleep(0.5)
    check("daemon: serves after HUP", until(lambda: accepts(s.port), 5))
    s.kill(signal.SIGQUIT, pid)
    check("daemon: stops", until(lambda: not alive(pid)))
    check("daemon: pid file gone", not os.path.exists(s.path("logs/sluice.pid")))
    s.conf("  server: {listen: '192.0.2.1:80'}\n", daemon="on")
    rc, out = s.run()
    check("daemon: a start that fails is exit 1 of the starter", rc == 1, (rc, out[-300:]))


def surroundings():
    """hostile.md 103: closed fds, ignored signals, empty environment, no current directory."""
    s = Server()
    s.conf()
    ways = [
        ("fds 0-2 closed", "exec %s <&- >&- 2>&-"),
        ("SIGCHLD and SIGPIPE ignored", "trap '' PIPE CHLD; exec %s"),
        ("empty environment", "exec env -i %s"),
        ("umask 0", "umask 0; exec %s"),
        ("cwd deleted", "mkdir gone; cd gone; rmdir ../gone; exec %s"),
        ("junk fds", "exec 7</etc/passwd 9</dev/null; exec %s"),
    ]
    for name, how in ways:
        command = how % " ".join(s.args())
        s.process = subprocess.Popen(["sh", "-c", command], cwd=s.dir, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        s.pids.add(s.process.pid)
        up = until(lambda: s.pid() == s.process.pid or s.process.poll() is not None)
        check("%s: starts and serves" % name, up and accepts(s.port), s.read("logs/error.log")[-300:])
        if name == "umask 0":
            modes = [f for f in os.listdir(s.path("logs"))
                     if os.stat(s.path("logs/" + f)).st_mode & 0o002 and f != "stderr.txt"]
            check("umask 0: nothing is writable for all", not modes, modes)
        if name == "SIGCHLD and SIGPIPE ignored" and s.process.poll() is None:
            victim = s.workers()[0]
            os.kill(victim, signal.SIGKILL)
            check("SIGCHLD ignored: a worker is still replaced",
                  until(lambda: len(s.workers()) == 2 and victim not in s.workers(), 10), s.workers())
        check("%s: stops" % name, s.stop() == 0)


if __name__ == "__main__":
    stops()
    by_command()
    pid_file()
    daemon()
    surroundings()
    finish()
