#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 170
"""Signals at bad moments: pairs of any two, during the start, while something drains; a chain of
upgrades; a new program that hangs or dies; a worker that loops. hostile.md 102, 106, 108, 109, 111,
113, 116, 117, 118, behaviours.md V1."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403


def conf(s, extra="", main="", workers=2, listen=None, daemon="off"):
    s.conf("  access_log: off\n  keepalive_requests: 100000000\n%s"
           "  server: {listen: [%s], root: html}\n" %
           (extra, listen or "'127.0.0.1:%d'" % s.port), main=main, workers=workers, daemon=daemon)


def answers(port):
    try:
        return fetch(port)[2] == b"probe\n"
    except OSError:
        return False


def oldbin(s):
    return s.pid("logs/sluice.pid.oldbin")


def end_all(s):
    """QUIT to every master there is; true when all processes have gone."""
    masters = [p for p in {s.pid(), oldbin(s), s.process.pid} if p and alive(p)]
    masters += [p for p in children(s.process.pid) if comm_of(p) == "sluice" and p not in masters]
    workers = [w for p in masters for w in children(p)]
    for p in masters:
        os.kill(p, signal.SIGQUIT)

    def gone():
        s.process.poll()
        return not any(map(alive, masters + workers))
    return until(gone, 20)


def pairs():
    """hostile.md 118: whatever two signals come together, afterwards it serves or it has ended."""
    names = "HUP", "USR1", "USR2", "WINCH", "QUIT", "CHLD"
    for first in names:
        for second in names:
            s = Server()
            conf(s, main="worker_shutdown_timeout: 2s\n", workers=1)
            if not check("%s %s: starts" % (first, second), s.start()):
                continue
            old = s.process.pid
            for sig in first, second:
                os.kill(old, getattr(signal, "SIG" + sig))
            both = {first, second}
            what = "%s %s" % (first, second)
            if "QUIT" in both:
                try:
                    rc = s.process.wait(10)
                except subprocess.TimeoutExpired:
                    rc = None
                check("%s: it ends" % what, rc == 0, rc)
                until(lambda: s.pid() in (0, old) or alive(s.pid()), 2)
            elif "USR2" in both:
                check("%s: a new master serves" % what, until(
                    lambda: s.pid() not in (0, old) and oldbin(s) == old and answers(s.port), 10),
                    (s.pid(), oldbin(s), s.read("logs/error.log")[-400:]))
            elif "WINCH" in both:
                # Retired or brought back; HUP makes it serve in any case.
                time.sleep(0.2)
                until(lambda: not s.workers(old) or answers(s.port), 5)
                if not s.workers(old):
                    os.kill(old, signal.SIGHUP)
                check("%s: serves after HUP" % what, until(lambda: answers(s.port), 5))
            else:
                check("%s: serves" % what, until(lambda: answers(s.port), 5))
            time.sleep(0.05)
            check("%s: everything can be ended" % what, end_all(s), s.read("logs/error.log")[-600:])
            s.clean()


def in_the_start():
    """hostile.md 117: each signal at each moment of a start: it serves or has ended, no remains."""
    for sig in signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR2, signal.SIGWINCH:
        for delay in 0.0, 0.02:
            begun = time.monotonic()
            s = Server()
            conf(s, workers=3)
            s.start(wait=False)
            until(lambda: s.read("logs/error.log") or s.process.poll() is not None, 5)
            time.sleep(delay)
            s.process.send_signal(sig)
            what = "%s after %d ms" % (signal.Signals(sig).name, delay * 1000)
            if sig in (signal.SIGTERM, signal.SIGQUIT):
                try:
                    rc = s.process.wait(10)
                except subprocess.TimeoutExpired:
                    rc = None
                check("%s: it ends" % what, rc in (0, 1), rc)
                check("%s: nothing is left" % what, not [
                    f for f in os.listdir(s.path("logs")) if f.startswith("sluice")], os.listdir(s.path("logs")))
            else:
                os.kill(s.process.pid, signal.SIGHUP)
                check("%s: it serves" % what, until(lambda: answers(s.port), 10),
                      s.read("logs/error.log")[-400:])
                time.sleep(0.3)
                check("%s: it can be ended" % what, end_all(s), s.read("logs/error.log")[-500:])
            if os.environ.get("SLUICE_TEST_TIMES"):
                print("%s: %.1f s" % (what, time.monotonic() - begun), flush=True)
            s.clean()


def chain():
    """hostile.md 116: ten upgrades, each from the last, started by relative paths as a daemon."""
    s = Server()
    shutil.copy(BIN, s.path("sluice"))
    sock = s.path("web.sock")
    conf(s, listen="'127.0.0.1:%d', 'unix:%s'" % (s.port, sock), daemon="on")
    p = subprocess.run(["./sluice", "-p", ".", "-c", "conf/sluice.yaml"], cwd=s.dir,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=30)
    if not check("chain: starts, and lets go of its output", p.returncode == 0, p.stdout[-300:]):
        return
    s.pids.add(s.pid())
    load = Load(s.port, keep=1, fresh=1)
    for turn in range(10):
        old = s.pid()
        s.kill(signal.SIGUSR2, old)
        if not check("chain: upgrade %d" % turn, until(
                lambda: s.pid() not in (0, old) and oldbin(s) == old and len(s.workers()) == 2, 15),
                s.read("logs/error.log")[-500:]):
            break
        s.pids.add(s.pid())
        s.kill(signal.SIGQUIT, old)
        check("chain: the old one goes", until(lambda: not alive(old), 15))
    total = load.stop()
    check("chain: nothing fails", not load.bad(), "%s %s" % (total, load.said))
    with socket.socket(socket.AF_UNIX) as c:
        c.settimeout(5)
        try:
            c.connect(sock)
            c.sendall(b"GET /probe.txt HTTP/1.0\r\n\r\n")
            check("V1: the Unix socket survives", c.recv(100).startswith(b"HTTP/1.1 200"))
        except OSError as e:
            check("V1: the Unix socket survives", False, e)
    rc, out = s.run("-s", "reload")
    check("chain: -s reload finds the last one", rc == 0, (rc, out))
    last = s.pid()
    s.kill(signal.SIGQUIT, last)
    check("chain: the last one stops", until(lambda: not alive(last), 15))
    check("chain: the Unix socket is gone", not os.path.exists(sock))


def hanging_program():
    """hostile.md 116: a new program that hangs; one that ends after the old workers were retired."""
    s = Server()
    shutil.copy(BIN, s.path("sluice"))
    s.bin = s.path("sluice")
    sock = s.path("web.sock")
    conf(s, listen="'127.0.0.1:%d', 'unix:%s'" % (s.port, sock))
    s.must_start()
    master = s.pid()
    os.rename(s.path("sluice"), s.path("good"))
    s.write("sluice", "#!/bin/sh\nexec sleep 100\n")
    os.chmod(s.path("sluice"), 0o755)
    s.kill(signal.SIGUSR2, master)
    until(lambda: oldbin(s) == master, 5)
    new = until(lambda: [p for p in children(master) if comm_of(p) == "sleep"], 5)
    check("hanging: one child more, the old one serves", until(lambda: answers(s.port), 5) and new, new)
    s.kill(signal.SIGUSR2, master)
    time.sleep(0.2)
    check("hanging: a second upgrade is refused", "goes on already" in s.read("logs/error.log"))
    for p in new:
        os.kill(p, signal.SIGKILL)
    check("hanging: killed, all as before", until(lambda: s.pid() == master and not oldbin(s), 5))
    os.rename(s.path("good"), s.path("sluice"))
    rc, out = s.run("-s", "reload")
    check("hanging: -s reload works again", rc == 0, (rc, out))
    s.kill(signal.SIGUSR2, master)
    until(lambda: s.pid() not in (0, master) and len(s.workers()) == 2)
    new = s.pid()
    s.pids.add(new)
    s.kill(signal.SIGUSR2, new)
    time.sleep(0.2)
    check("a new master does not upgrade while the old one lives", oldbin(s) == master and s.pid() == new)
    s.kill(signal.SIGWINCH, master)
    check("retired", until(lambda: not s.workers(master), 10))
    orphans = s.workers(new)
    os.kill(new, signal.SIGKILL)
    check("the new one is killed: the retired workers come back by themselves",
          until(lambda: len(s.workers(master)) == 2 and s.pid() == master, 10), s.read("logs/error.log")[-500:])
    check("they serve", until(lambda: answers(s.port), 5))
    check("the Unix socket is still there", os.path.exists(sock))
    check("workers without a master end", until(lambda: not any(map(alive, orphans)), 10))
    check("stops", s.stop() == 0)


def rollback_grown():
    """Two more workers in the new master, then back: what they had queued is not lost."""
    s = Server()
    conf(s, workers=1)
    s.must_start()
    old = s.pid()
    load = Load(s.port, keep=1, fresh=3)
    for _ in range(3):
        conf(s, workers=3)
        s.kill(signal.SIGUSR2, old)
        until(lambda: s.pid() not in (0, old) and len(s.workers()) == 3)
        new = s.pid()
        s.pids.add(new)
        time.sleep(0.2)
        s.kill(signal.SIGQUIT, new)
        check("rollback", until(lambda: not alive(new) and s.pid() == old, 10))
    total = load.stop()
    check("rollback of a larger one loses nothing", not load.bad(), "%s %s" % (total, load.said))
    check("stops", s.stop() == 0)


def moved_listeners():
    """hostile.md 113: the same port from one address to all and back, under load."""
    s = Server()
    conf(s)
    s.must_start()
    load = Load(s.port, keep=1, fresh=2)
    for i in range(6):
        conf(s, listen="'%d'" % s.port if i % 2 == 0 else None, workers=1 + i % 3)
        rc, out = s.run("-s", "reload")
        check("moved: %d" % i, rc == 0, (rc, out))
    total = load.stop()
    # The kernel cannot end a socket and give its queue away in one step.
    check("moved listeners lose next to nothing", sum(load.bad().values()) <= 3,
          "%s %s" % (total, load.said))
    check("stops", s.stop() == 0)


def crash_loop():
    """hostile.md 108: a worker that dies over and over is held back, the others go on; HUP cures."""
    s = Server()
    conf(s)
    s.must_start()
    end = time.monotonic() + 3
    kills = 0
    while time.monotonic() < end:
        for pid in s.workers():
            if comm_of(pid) == "sluice-worker" and b"worker process 0" in \
                    open("/proc/%d/cmdline" % pid, "rb").read():
                try:
                    os.kill(pid, signal.SIGKILL)
                    kills += 1
                except OSError:
                    pass
        time.sleep(0.005)
    check("a crash loop is slowed down", 2 <= kills <= 12, kills)
    check("and said", "times in a row" in s.read("logs/error.log"))
    check("the sibling serves for both", all(answers(s.port) for _ in range(20)))
    start = time.monotonic()
    rc, out = s.run("-s", "reload")
    check("a reload cures it at once", rc == 0 and time.monotonic() - start < 3 and
          len(s.workers()) >= 2, (rc, out, time.monotonic() - start))
    check("stops", s.stop() == 0)


def quit_in_backoff():
    """A worker that waits for its restart does not keep the server from ending."""
    for sig in signal.SIGQUIT, signal.SIGTERM:
        s = Server()
        conf(s, workers=1)
        s.must_start()
        for _ in range(6):
            for pid in s.workers():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.05)
        check("%s while a worker is held back" % sig.name, s.stop(sig) == 0)


def draining_logs():
    """USR1 reaches the workers of an older generation too: no renamed log stays open."""
    s = Server()
    s.write("html/big.bin", bytes(64 << 20))
    s.conf()
    s.must_start()
    slow = Conn(s.port)
    slow.send("/big.bin")
    time.sleep(0.2)
    old = s.workers()
    s.kill(signal.SIGHUP)
    until(lambda: len(set(s.workers()) - set(old)) == 2 and set(s.workers()) & set(old))
    draining = set(s.workers()) & set(old)
    check("a worker drains", draining)
    for name in "access", "error":
        os.rename(s.path("logs/%s.log" % name), s.path("logs/%s.old" % name))
    s.kill(signal.SIGUSR1)
    until(lambda: os.path.exists(s.path("logs/access.log")), 5)

    def holders():
        found = []
        for pid in s.workers() + [s.pid()]:
            try:
                for fd in os.listdir("/proc/%d/fd" % pid):
                    to = os.readlink("/proc/%d/fd/%s" % (pid, fd))
                    if to.endswith(".old"):
                        found.append((pid, to))
            except OSError:
                pass
        return found
    check("nobody holds the renamed logs", until(lambda: not holders(), 5), holders())
    check("the download is whole", len(slow.receive()[2]) == 64 << 20)
    slow.close()
    check("stops", s.stop() == 0)


if __name__ == "__main__":
    for part in (chain, hanging_program, rollback_grown, moved_listeners, crash_loop, quit_in_backoff,
                 draining_logs, in_the_start, pairs):
        begun = time.monotonic()
        part()
        if os.environ.get("SLUICE_TEST_TIMES"):
            print("%s: %.1f s" % (part.__name__, time.monotonic() - begun), flush=True)
    finish()
