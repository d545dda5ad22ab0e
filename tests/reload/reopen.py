#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 120
"""USR1 while logging at full rate: no line is lost, doubled or torn. behaviours.md V1, V4,
hostile.md 93, 115 and the log rows of 2c."""

import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403

LINE = re.compile(r'^127\.0\.0\.1 - - \[[^]]+\] "GET /probe\.txt HTTP/1\.1" 200 6 "-" "-"$')


def rotate(backend):
    s = Server(backend)
    s.conf()
    s.must_start()
    load = Load(s.port, keep=2, fresh=1)
    names = []
    for i in range(30):
        time.sleep(0.05 if i % 3 else 0.15)
        name = "logs/access.%d" % i
        os.rename(s.path("logs/access.log"), s.path(name))
        names.append(name)
        s.kill(signal.SIGUSR1)
        if not until(lambda: os.path.exists(s.path("logs/access.log")), 5):
            check("%s: a new log after USR1" % backend, False)
            finish()
    total = load.stop()
    check("%s: nothing fails" % backend, not load.bad(), load.said)
    workers = s.workers()
    check("%s: stops" % backend, s.stop() == 0)
    text = "".join(s.read(n) for n in names) + s.read("logs/access.log")
    lines = text.split("\n")
    check("%s: the last line is whole" % backend, lines.pop() == "")
    torn = [l for l in lines if not LINE.match(l)]
    check("%s: no line is torn" % backend, not torn, torn[:3])
    # A client that was stopped between answer and count makes one line more than it counted.
    check("%s: one line per request" % backend, 0 <= len(lines) - total["good"] <= 3 + total["raced"],
          (len(lines), total))
    check("%s: same workers" % backend, len(workers) == 2)
    check("%s: no alarm" % backend, not s.alarms(), "\n".join(s.alarms()[:9]))


def link():
    """A log replaced by a link in a directory that others can write: not followed."""
    s = Server()
    os.chmod(s.path("logs"), 0o777)
    s.conf()
    s.must_start()
    fetch(s.port)
    s.write("victim", "precious\n")
    os.chmod(s.path("victim"), 0o644)
    before = os.stat(s.path("victim"))
    os.rename(s.path("logs/access.log"), s.path("logs/old"))
    os.symlink(s.path("victim"), s.path("logs/access.log"))
    s.kill(signal.SIGUSR1)
    time.sleep(0.5)
    fetch(s.port)
    time.sleep(1.5)
    after = os.stat(s.path("victim"))
    check("link: its target is not written", s.read("victim") == "precious\n")
    check("link: nor given away", (before.st_uid, before.st_mode) == (after.st_uid, after.st_mode))
    check("link: still serves", fetch(s.port)[0] == 200)
    check("stops", s.stop() == 0)


def directory_gone():
    """The log directory is renamed away and comes back: serving goes on, logging resumes."""
    s = Server()
    s.conf("  access_log: logs2/access.log combined flush=50ms\n"
           "  server: {listen: '127.0.0.1:%d', root: html}\n" % s.port)
    os.mkdir(s.path("logs2"))
    s.must_start()
    os.rename(s.path("logs2"), s.path("logs3"))
    s.kill(signal.SIGUSR1)
    time.sleep(0.3)
    check("no directory: still serves", fetch(s.port)[0] == 200)
    os.mkdir(s.path("logs2"))
    s.kill(signal.SIGUSR1)
    time.sleep(0.3)
    fetch(s.port)
    check("directory back: logging resumes",
          until(lambda: "/probe.txt" in s.read("logs2/access.log"), 5))
    check("stops", s.stop() == 0)


if __name__ == "__main__":
    rotate("io_uring")
    rotate("epoll")
    link()
    directory_gone()
    finish()
