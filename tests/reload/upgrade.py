#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""USR2: a new program takes over under load; the way back by HUP; programs that do not start.
behaviours.md V1, hostile.md 116, 117."""

import os
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403


def begin(backend=None):
    s = Server(backend)
    shutil.copy(BIN, s.path("sluice")) # may be replaced
    s.bin = s.path("sluice")
    s.conf()
    s.must_start()
    return s


def usr2(s):
    """USR2; (old master, new master) once the new one has its pid file and workers."""
    old = s.pid()
    s.kill(signal.SIGUSR2, old)
    ok = until(lambda: s.pid("logs/sluice.pid.oldbin") == old and s.pid() not in (0, old) and
               len(s.workers(s.pid())) >= 2)
    if not check("USR2: a new master, the old pid file as .oldbin", ok,
                 (old, s.pid(), s.pid("logs/sluice.pid.oldbin"), s.read("logs/error.log")[-600:])):
        finish()
    s.pids.add(s.pid())
    return old, s.pid()


def take_over(backend):
    s = begin(backend)
    tool = wrk(s.port, 8)
    load = Load(s.port)
    time.sleep(0.3)
    for turn in range(3):
        old, new = usr2(s)
        check("both answer", alive(old) and alive(new))
        s.kill(signal.SIGWINCH, old)
        check("WINCH: the old workers retire", until(lambda: not s.workers(old), 15), s.workers(old))
        check("the new ones answer", fetch(s.port)[2] == b"probe\n")
        s.kill(signal.SIGQUIT, old)
        check("QUIT: the old master goes", until(lambda: not reap(s, old), 15))
        check("the .oldbin file goes", until(lambda: not os.path.exists(s.path("logs/sluice.pid.oldbin")), 5))
        check("the pid file stays the new one's", s.pid() == new)
    total = load.stop()
    check("nothing fails in three upgrades", not load.bad(), "%s %s" % (total, load.said))
    if tool:
        n, wrong = wrk_result(tool)
        check("wrk sees no failure in %d requests" % n, n > 0 and not wrong, wrong)
    end(s)


def reap(s, pid):
    """Whether the process lives; the first master is our child."""
    s.process.poll()
    return alive(pid)


def end(s, quiet=True):
    pid = s.pid()
    s.kill(signal.SIGQUIT, pid)
    check("the last master stops", until(lambda: not reap(s, pid), 15))
    check("the pid file is gone", until(lambda: not os.path.exists(s.path("logs/sluice.pid")), 3))
    if quiet:
        check("no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))


def way_back():
    s = begin()
    load = Load(s.port)
    old, new = usr2(s)
    s.kill(signal.SIGWINCH, old)
    check("WINCH: the old workers retire", until(lambda: not s.workers(old), 15), s.workers(old))
    s.write("conf/keep", s.read("conf/sluice.yaml"))
    s.write("conf/sluice.yaml", "not: right\n") # HUP to the old master must not read it
    s.kill(signal.SIGHUP, old)
    check("HUP: the old workers come back", until(lambda: len(s.workers(old)) == 2, 15), s.workers(old))
    s.write("conf/sluice.yaml", s.read("conf/keep"))
    s.kill(signal.SIGQUIT, new)
    check("QUIT: the new master goes", until(lambda: not alive(new), 15))
    check("the pid file is the old one's again", until(lambda: s.pid() == old, 5),
          (s.pid(), os.listdir(s.path("logs"))))
    check("the old one answers", fetch(s.port)[2] == b"probe\n")
    time.sleep(0.3)
    total = load.stop()
    check("nothing fails on the way back", not load.bad(), "%s %s" % (total, load.said))
    old, new = usr2(s) # and it can be done again
    s.kill(signal.SIGQUIT, old)
    check("then forward", until(lambda: not reap(s, old), 15))
    end(s)


def bad_programs():
    """hostile.md 116: the old one keeps serving, its pid file comes back."""
    s = begin()
    master, workers = s.pid(), s.workers()
    load = Load(s.port, keep=1, fresh=1)
    kinds = [("missing", None, 0), ("not executable", b"#!/bin/sh\nexit 0\n", 0o644),
             ("not a program", b"\1\2\3\4", 0o755), ("ends at once", b"#!/bin/sh\nexit 1\n", 0o755),
             ("crashes", b"#!/bin/sh\nkill -SEGV $$\n", 0o755)]
    for name, text, mode in kinds:
        os.rename(s.path("sluice"), s.path("sluice.good"))
        if text is not None:
            s.write("sluice", text)
            os.chmod(s.path("sluice"), mode)
        s.kill(signal.SIGUSR2, master)
        time.sleep(0.5)
        check("%s: old master and workers" % name, alive(master) and s.workers(master) == workers,
              s.workers(master))
        check("%s: pid file as before" % name,
              until(lambda: s.pid() == master and not os.path.exists(s.path("logs/sluice.pid.oldbin")), 8),
              os.listdir(s.path("logs")))
        if text is not None:
            os.unlink(s.path("sluice"))
        os.rename(s.path("sluice.good"), s.path("sluice"))
    keep = s.read("conf/sluice.yaml")
    s.write("conf/sluice.yaml", "not: right\n")
    s.kill(signal.SIGUSR2, master)
    time.sleep(0.5)
    check("bad configuration: pid file as before",
          until(lambda: s.pid() == master and not os.path.exists(s.path("logs/sluice.pid.oldbin")), 8),
          os.listdir(s.path("logs")))
    s.write("conf/sluice.yaml", keep)
    check("same workers after all", s.workers(master) == workers)
    total = load.stop()
    check("nothing failed meanwhile", not load.bad(), "%s %s" % (total, load.said))
    old, new = usr2(s)
    s.kill(signal.SIGQUIT, old)
    check("a good one after the bad ones", until(lambda: not reap(s, old), 15))
    end(s, quiet=False)


def by_command():
    s = begin()
    old = s.pid()
    rc, out = s.run("-s", "upgrade")
    check("-s upgrade: 0", rc == 0, (rc, out))
    check("-s upgrade: a new master", until(lambda: s.pid() not in (0, old) and
                                            len(s.workers(s.pid())) == 2), os.listdir(s.path("logs")))
    s.pids.add(s.pid())
    s.kill(signal.SIGQUIT, old)
    check("the old one goes", until(lambda: not reap(s, old), 15))
    end(s)


if __name__ == "__main__":
    take_over("io_uring")
    take_over("epoll")
    way_back()
    bad_programs()
    by_command()
    finish()
