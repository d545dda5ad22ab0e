#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 150
"""A bad network: hostile.md 76 and 77. In a network of its own whose loopback loses one packet in
twenty (of one in five a connection takes minutes), the right bytes still come; then all clients
vanish at once, without a word, and the server is rid of them when its time-outs say so, and serves
the next ones."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/lib"))

# Classic BPF for tc, "code jt jf k" each; the result is the fate of the packet, 2 is to drop it.
LOSE_SOME = "5,32 0 0 4294963256,148 0 0 100,53 0 1 5,6 0 0 0,6 0 0 2"
LOSE_ALL = "1,6 0 0 2"


def tc(*args):
    return subprocess.call(["tc"] + list(args), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def lossy(code):
    """Loses packets of the loopback from now on; None: no more."""
    tc("qdisc", "del", "dev", "lo", "clsact")
    return code is None or (tc("qdisc", "add", "dev", "lo", "clsact") and
                            tc("filter", "add", "dev", "lo", "ingress", "bpf", "da", "bytecode", code))


def alone():
    """Runs this again in a network of its own, once."""
    if os.environ.get("SLUICE_TEST_ALONE") or os.geteuid() != 0 or not shutil.which("tc"):
        return
    os.environ["SLUICE_TEST_ALONE"] = "1"
    os.execv(sys.executable, [sys.executable, os.path.join(TOP, "tests/install/alone.py"),
                              os.path.abspath(__file__)])


def main():
    from sluice import Conn, Server, check, children, fetch, finish, until

    first = time.monotonic()

    def said(what):
        if os.environ.get("SLUICE_TEST_TIMES"):
            print("%s: %.1f s" % (what, time.monotonic() - first))

    large = bytes((i * 7 + (i >> 8) * 13) & 255 for i in range(150000))
    s = Server()
    s.write("html/large.bin", large)
    s.write("html/huge.bin", bytes(64 << 20))
    s.conf("  access_log: off\n"
           "  client_header_timeout: 1s\n"
           "  client_body_timeout: 1s\n"
           "  keepalive_timeout: 1s\n"
           "  send_timeout: 1s\n"
           "  lingering_timeout: 1s\n"
           "  server:\n"
           "    - {listen: '127.0.0.1:%d', root: html}\n"
           "    - {listen: '127.0.0.1:%d', root: html, send_timeout: 30s, keepalive_timeout: 30s,"
           " client_header_timeout: 30s}\n" % (s.port, s.port2), workers=1)
    s.must_start()
    worker = s.workers()[0]

    def sockets():
        n = 0
        for fd in os.listdir("/proc/%d/fd" % worker):
            try:
                n += os.readlink("/proc/%d/fd/%s" % (worker, fd)).startswith("socket:")
            except OSError:
                pass
        return n

    fetch(s.port)
    said("start")
    until(lambda: False, 0.2)
    base = sockets()

    # h77: one packet in twenty is lost, acknowledgements among them. (Lost handshakes would only
    # show how patient the kernel is.)
    wrong = []

    def client(i, c):
        try:
            for path, want in ("/probe.txt", b"probe\n"), ("/large.bin", large), ("/probe.txt", b"probe\n"):
                status, _, body = c.get(path)
                if status != 200 or body != want:
                    wrong.append((i, path, status, len(body)))
            c.close()
        except (OSError, EOFError) as e:
            wrong.append((i, repr(e)))

    clients = [threading.Thread(target=client, args=(i, Conn(s.port2, 60))) for i in range(6)]
    lossy(LOSE_SOME)
    for t in clients:
        t.start()
    for t in clients:
        t.join()
    lossy(None)
    said("h77")
    check("h77 one packet in twenty is lost: right bytes", not wrong, wrong[:5])

    # h76: clients in every state, and then not a packet more from or to any of them.
    gone = []
    for i in range(60):
        c = Conn(s.port)
        gone.append(c)
        if i % 4 == 0:
            c.get("/probe.txt")                          # idle
        elif i % 4 == 1:
            c.s.sendall(b"GET /probe.txt HTTP/1.1\r\nHo")  # half a head
        elif i % 4 == 2:
            c.send("/huge.bin")                          # an answer that is not read
        else:
            c.s.sendall(b"POST /probe.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nabc")
    until(lambda: sockets() >= base + 30, 1)
    lossy(LOSE_ALL)
    begun = time.monotonic()
    free = until(lambda: sockets() <= base, 12)
    check("h76 all clients vanish: their sockets are free", free, (sockets(), base))
    check("h76 within the time-outs", time.monotonic() - begun < 8, time.monotonic() - begun)
    lossy(None)
    said("h76")
    check("h76 the next is served", fetch(s.port)[2] == b"probe\n")
    for c in gone:
        c.close()
    check("the same worker", s.workers() == [worker], s.workers())
    check("stops", s.stop() == 0)
    check("no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))
    finish()


if __name__ == "__main__":
    alone()
    if not os.environ.get("SLUICE_TEST_ALONE") or not lossy(LOSE_SOME):
        print("needs root, tc, and a kernel with cls_bpf")
        sys.exit(77)
    lossy(None)
    main()
