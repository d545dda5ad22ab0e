#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 170
"""Each kind of operation fails once with each error it can have, comes short, or comes twice, in a
build with --with-debug (SLUICE_FAULT, src/event/fault.h): hostile.md 51 and 92. Whoever asks gets
the right bytes, an error, or an end, never wrong bytes; then all is as before: the same worker, the
same descriptors, exact answers, no report of a sanitizer, and a clean end."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403

# Per kind, what is to happen at which completion of it; the numbers leave room between.
KINDS = {
    "accept": "EMFILE ENFILE ENOMEM ENOBUFS ECONNABORTED",
    "recv": "ECONNRESET ETIMEDOUT ENOMEM EIO dup ENOTCONN",
    "send": "ECONNRESET EPIPE ENOMEM ENOBUFS short:1 short:100 dup ETIMEDOUT",
    "sendv": "ECONNRESET EPIPE ENOMEM short:1 short:200 dup",
    "send_file": "EIO ECONNRESET EPIPE ENOMEM ENOBUFS",
    "read": "EIO ENOMEM ESTALE short:1 short:1000 dup EINTR",
    "open": "EIO ENOMEM EMFILE ENFILE ESTALE EACCES ELOOP dup ENOENT",
    "write": "ENOSPC EIO EPIPE EAGAIN short:5 dup EDQUOT",
    "poll": "ENOMEM dup",
}
FILES = 60          # small ones, of different sizes
BIG = 3000000       # more than is held in memory, or sent at a time
GRACE = 6 if SANITIZED else 3


def content(i, size):
    return bytes((k * 7 + i * 13 + (k >> 8)) & 255 for k in range(size))


def small(i):
    return content(i, 20 + i * 211)


SMALL = [small(i) for i in range(FILES)]
LARGE = content(99, BIG)


def site(backend):
    s = Server(backend)
    for i in range(FILES):
        s.write("html/f%d.bin" % i, SMALL[i])
    s.write("html/big.bin", LARGE)
    s.conf("  access_log: logs/access.log combined buffer=1k flush=50ms\n"
           "  server:\n"
           "    listen: 127.0.0.1:%d\n"
           "    root: html\n"
           "    location: {/fixed: {return: 200 fixed}}\n" % s.port, workers=1)
    return s


def cold(s):
    """What was written leaves the page cache, where the file system lets it."""
    for name in os.listdir(s.path("html")):
        fd = os.open(s.path("html/" + name), os.O_RDONLY)
        os.fdatasync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def ask(port, path, want, pipeline=1):
    """'good', the status of an error, 'cut' or 'none'; wrong bytes are a failure of the test."""
    try:
        c = Conn(port, 15)
    except OSError as e:
        return "connect: %s" % e
    try:
        data = b""
        try:
            for _ in range(pipeline):
                c.send(path)
        except ConnectionError:
            pass
        while True:
            try:
                more = c.s.recv(1 << 18)
            except ConnectionError:
                break
            except OSError as e:
                return "no end: %s after %d bytes" % (e, len(data))
            if not more:
                break
            data += more
            head, found, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"\r\nContent-Length: (\d+)", head) if found else None
            if length and pipeline == 1 and len(body) >= int(length.group(1)):
                break
            if pipeline > 1 and data.count(b"HTTP/1.1 ") >= pipeline and data.endswith(want):
                break
    finally:
        c.close()
    if not data:
        return "none"
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return "cut"
    status = int(head[9:12])
    if status != 200:
        return status
    body = body[:int(re.search(rb"\r\nContent-Length: (\d+)", head).group(1))]
    if want[:len(body)] != body:
        return "wrong bytes"
    return "good" if len(body) == len(want) else "cut"


def descriptors(pid):
    n = 0
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            n += os.readlink("/proc/%d/fd/%s" % (pid, fd)).startswith(("socket:", "anon_inode:"))
        except OSError:
            pass
    return n


def alarms(s, expected):
    """Lines that must not be there, without what the faults themselves bring about."""
    lines = s.read("logs/error.log").splitlines() + s.read("logs/stderr.txt").splitlines()
    words = r"\[(alert|emerg|crit)\]|Sanitizer|runtime error:|CHECK"
    return [n for n in lines if re.search(words, n) and not re.search(expected, n)]


def traffic(s, rounds):
    seen = {}
    for i in range(rounds):
        for path, want in (("/f%d.bin" % (i % FILES), SMALL[i % FILES]), ("/probe.txt", b"probe\n"),
                           ("/fixed", b"fixed")) + ((("/big.bin", LARGE),) if i % 3 == 0 else ()):
            what = ask(s.port, path, want)
            seen[what] = seen.get(what, 0) + 1
        what = ask(s.port, "/probe.txt", b"probe\n", pipeline=4)
        seen[what] = seen.get(what, 0) + 1
    return seen


def start(s, spec):
    os.environ["SLUICE_FAULT"] = spec
    try:
        s.must_start()
    finally:
        del os.environ["SLUICE_FAULT"]


def once(backend, kind):
    name = "%s, %s" % (backend, kind)
    s = site(backend)
    cold(s)
    gap, at = (1, 1) if kind in ("sendv", "send_file", "write", "poll") else (2, 2)
    rules = []
    for what in KINDS[kind].split():
        rules.append("%s:%d:%s" % (kind, at, what))
        at += gap
    start(s, ",".join(rules))
    worker = s.workers()
    seen = traffic(s, 14)
    if os.environ.get("SLUICE_TEST_TIMES"):
        print(name, seen)
    bad = {k: n for k, n in seen.items() if not (k in ("good", "cut", "none") or isinstance(k, int))}
    check("%s: right bytes, an error or an end" % name, not bad, seen)
    check("%s: most is good" % name, seen.get("good", 0) >= sum(seen.values()) // 2, seen)
    check("%s: errors are of the server" % name,
          all(k in (403, 404, 500, 503) for k in seen if isinstance(k, int)), seen)
    # Behind the faults, and behind what was remembered of them.
    for _ in range(3):
        s.write("html/new.bin", b"new")
        until(lambda: ask(s.port, "/new.bin", b"new") == "good", GRACE)
        os.unlink(s.path("html/new.bin"))
    after = [ask(s.port, "/probe.txt", b"probe\n") for _ in range(20)]
    check("%s: then all is good" % name, after == ["good"] * 20, after)
    base = descriptors(worker[0]) if worker else 0
    more = traffic(s, 6)
    check("%s: no descriptor is lost by more of it" % name,
          until(lambda: descriptors(worker[0]) <= base, GRACE), (base, descriptors(worker[0]), more))
    check("%s: the same worker" % name, s.workers() == worker, (worker, s.workers()))
    check("%s: a clean end" % name, s.stop() == 0)
    wrong = alarms(s, r"accept\(\) on .* failed|\[crit\].*(open|read|write)|\[alert\].*(write|log)")
    check("%s: no alarm" % name, not wrong, "\n".join(wrong[:9]))


def disk_gone(backend):
    """hostile.md 51: a disk that gives errors for ever. 500 where no head is out, an end where one
    is; what needs no disk is served all the time."""
    s = site(backend)
    cold(s)
    start(s, "read:1+:EIO,send_file:1+:EIO")
    small_ones = [ask(s.port, "/f%d.bin" % i, SMALL[i]) for i in range(10)]
    check("%s, a dead disk: 500" % backend, set(small_ones) <= {500, "cut", "none"} and
          500 in small_ones, small_ones)
    large = [ask(s.port, "/big.bin", LARGE) for _ in range(3)]
    check("%s, a dead disk: the large one ends" % backend, set(large) <= {500, "cut", "none"}, large)
    fixed = [ask(s.port, "/fixed", b"fixed") for _ in range(10)]
    check("%s, a dead disk: the rest is served" % backend, fixed == ["good"] * 10, fixed)
    check("%s, a dead disk: it is said" % backend, "(5: " in s.read("logs/error.log"),
          s.read("logs/error.log")[-400:])
    check("%s, a dead disk: a clean end" % backend, s.stop() == 0)


def log_gone(backend):
    """hostile.md 93 by the ring: an access log that cannot be written stops nobody."""
    s = site(backend)
    start(s, "write:1+:ENOSPC")
    seen = traffic(s, 8)
    check("%s, a full disk for logs: served" % backend, set(seen) == {"good"}, seen)
    check("%s, a full disk for logs: a clean end" % backend, s.stop() == 0)


if __name__ == "__main__":
    if "--with-debug" not in subprocess.run([BIN, "-V"], stdout=subprocess.PIPE).stdout.decode():
        print("faults are injected in builds with --with-debug only")
        sys.exit(77)
    for backend in "io_uring", "epoll":
        for kind in KINDS:
            begun = time.monotonic()
            once(backend, kind)
            if os.environ.get("SLUICE_TEST_TIMES"):
                print("%s %s: %.1f s" % (backend, kind, time.monotonic() - begun))
        disk_gone(backend)
        log_gone(backend)
    finish()
