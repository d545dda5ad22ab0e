#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 600
"""A real site, Debian's python3-doc, from an installed server: mirrored by wget and compared byte
for byte, and read in a browser in which nothing fails to load; on each event back end, and where
a seccomp filter refuses io_uring."""

import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import browser  # noqa: E402
from sluice import *  # noqa: E402,F403

PAGES = [  # page, what must be in the document, what must be true in it
    ("index.html", "documentation", "true"),
    ("library/asyncio.html", "asyncio", "true"),
    ("whatsnew/3.11.html", "Summary", "true"),
    ("genindex-all.html", "zipimport", "true"),
    # a word that the change log does not have: the package lacks that page
    ("search.html?q=semicolon", "semicolon",
     "document.querySelectorAll('ul.search li').length > 5"),
    ("library/turtle.html", "turtle", "true"),
]


def find_site():
    for path in sorted(glob.glob("/usr/share/doc/python3*/html")):
        if os.path.exists(path + "/library/index.html"):
            return os.path.realpath(path)
    return None


def install(tmp):
    """Configures, builds and installs; the prefix."""
    prefix = os.path.join(tmp, "prefix")
    build = os.path.join(tmp, "build")
    with open(os.path.join(tmp, "log"), "w") as log:
        for command in (["./configure", "--builddir=" + build, "--prefix=" + prefix],
                        ["make", "-f", build + "/Makefile", "-j%d" % os.cpu_count()],
                        ["make", "-f", build + "/Makefile", "install"]):
            if subprocess.call(command, cwd=TOP, stdout=log, stderr=log, stdin=subprocess.DEVNULL) != 0:
                log.flush()
                print(open(os.path.join(tmp, "log")).read()[-3000:])
                return None
    return prefix


class Installed(Server):
    """The server of the prefix with the configuration there."""

    def __init__(self, prefix, launcher):
        super().__init__("")
        self.prefix, self.launcher = prefix, launcher
        self.bin = prefix + "/sbin/sluice"
        for d in "logs", "conf":
            shutil.rmtree(self.path(d))
            os.symlink(os.path.join(prefix, d), self.path(d))

    def args(self, *more):
        return self.launcher + [self.bin] + list(more)

    def clean(self):
        super().clean()
        for name in os.listdir(self.prefix + "/logs") if os.path.exists(self.prefix) else []:
            os.unlink(os.path.join(self.prefix, "logs", name))


def mirror(s, site, name):
    to = s.path("mirror")
    start = time.monotonic()
    rc = subprocess.call(["wget", "--mirror", "--no-verbose", "-e", "robots=off", "-nH", "-P", to,
                          "-o", s.path("wget.log"), "--tries=1", "--timeout=20",
                          "http://127.0.0.1:%d/" % s.port])
    files = [os.path.relpath(os.path.join(d, f), to) for d, _, names in os.walk(to) for f in names]
    different = []
    for f in files:
        source = os.path.join(site, f.split("?")[0])
        if not os.path.exists(source) or not filecmp.cmp(os.path.join(to, f), source, shallow=False):
            different.append(f)
    check("%s: wget mirrors the site (%d files, %.1f s)" % (name, len(files), time.monotonic() - start),
          len(files) > 500, s.read("wget.log")[-500:])
    check("%s: each file is the same" % name, not different, different[:5])
    # wget says 8 when a link of the pages leads nowhere; that must be so in the site itself.
    missing = re.findall(r'"GET /([^ ?"]*)[^"]*" (?:4|5)\d\d ', s.read("logs/access.log"))
    there = [m for m in missing if os.path.isfile(os.path.join(site, m))]
    check("%s: what exists was served" % name, not there and rc in (0, 8), (rc, there[:5]))
    shutil.rmtree(to)


def every_file(s, site, name):
    """Each file of the site, linked or not, on one kept connection, with its length and bytes."""
    c = Conn(s.port)
    wrong, n = [], 0
    for d, dirs, names in os.walk(site):
        dirs[:] = [x for x in dirs if not x.startswith(".")]
        for f in names:
            if f.startswith("."):
                continue
            path = os.path.join(d, f)
            n += 1
            status, fields, body = c.get("/" + os.path.relpath(path, site))
            with open(path, "rb") as source:
                if status != 200 or body != source.read():
                    wrong.append((path, status))
    c.close()
    check("%s: all %d files" % (name, n), not wrong and n > 500, wrong[:5])


def read_pages(s, name):
    b = browser.Browser()
    try:
        for page, text, ready in PAGES:
            document, loaded, failed = b.open("http://127.0.0.1:%d/%s" % (s.port, page), ready)
            failed = [f for f in failed if "/favicon.ico" not in f]
            check("%s: the browser shows %s (%d resources)" % (name, page, len(loaded)),
                  not failed and text in (document or "") and len(loaded) > 2, failed[:5])
    finally:
        b.close()


def fds(pid):
    found = []
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            found.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
        except OSError:
            pass
    return found


def threads(pid):
    """{name: allowed CPUs} of the threads."""
    found = {}
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, tid)) as f:
            text = f.read()
        found[re.search(r"^Name:\s*(.*)$", text, re.M).group(1)] = \
            re.search(r"^Cpus_allowed_list:\s*(.*)$", text, re.M).group(1)
    return found


def back_end(s, name):
    uring = [any("io_uring" in f for f in fds(w)) for w in s.workers()]
    wanted = name in ("io_uring", "sqpoll")
    check("%s: %s" % (name, "a ring in each worker" if wanted else "no ring"),
          uring and all(u == wanted for u in uring), [fds(w) for w in s.workers()][:1])
    if name == "seccomp":
        check("seccomp: the log says why it is epoll, once",
              s.read("logs/error.log").count("epoll") >= 1, s.read("logs/error.log")[:500])
    if name != "sqpoll":
        check("%s: two workers" % name, len(s.workers()) == 2, s.workers())
        return
    for w in s.workers():
        t = threads(w)
        own = [cpus for n, cpus in t.items() if not n.startswith("iou-")]
        sq = [cpus for n, cpus in t.items() if n.startswith("iou-sqp")]
        check("sqpoll: an iou-sqp thread", len(sq) == 1, t)
        if len(os.sched_getaffinity(0)) > 1:
            check("sqpoll: pinned to another CPU than its worker",
                  sq and own and re.fullmatch(r"\d+", sq[0]) and sq[0] not in own, t)
    if len(os.sched_getaffinity(0)) == 2:
        check("sqpoll: one worker on two CPUs", len(s.workers()) == 1, s.workers())


def one(name, events, workers, prefix, launcher, site, html):
    s = Installed(prefix, launcher)
    s.conf("  access_log: logs/access.log combined flush=100ms\n"
           "  keepalive_requests: 100000\n"
           "  server: {listen: '127.0.0.1:%d', root: %s}\n" % (s.port, html),
           main="events: {%s}\n" % events, workers=workers)
    if not check("%s: starts" % name, s.start()):
        return
    back_end(s, name)
    mirror(s, site, name)
    every_file(s, site, name)
    read_pages(s, name)
    check("%s: stops" % name, s.stop() == 0)
    check("%s: no alarm" % name, not s.alarms(), "\n".join(s.alarms()[:9]))
    s.clean()


def main():
    site = find_site()
    missing = [n for n, there in (("python3-doc", site), ("wget", shutil.which("wget")),
                                  ("chromium", browser.program())) if not there]
    if missing or os.geteuid() != 0:
        print("needs root and: %s" % ", ".join(missing))
        sys.exit(77)
    tmp = tempfile.mkdtemp(prefix="sluice-site.", dir="/var/tmp")
    os.chmod(tmp, 0o755)
    try:
        html = os.path.join(tmp, "html")  # links to other packages become files
        subprocess.call(["cp", "-RL", site, html], stderr=subprocess.DEVNULL)
        launcher = os.path.join(tmp, "no_uring")
        source = os.path.join(TOP, "tests/lib/no_uring.c")
        if not check("the launcher builds", subprocess.call(["gcc", "-O1", "-o", launcher, source]) == 0):
            finish()
        prefix = install(tmp)
        if check("configure, make, make install", prefix):
            for name, events, workers, start in (
                    ("io_uring", "use: io_uring, sqpoll: off", 2, []),
                    ("sqpoll", "use: io_uring, sqpoll: on, sqpoll_idle: 200ms", "auto", []),
                    ("epoll", "use: epoll", 2, []),
                    ("seccomp", "use: auto", 2, [launcher])):
                one(name, events, workers, prefix, start, html, html)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    finish()


if __name__ == "__main__":
    main()
