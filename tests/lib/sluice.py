# SPDX-License-Identifier: BSD-2-Clause
"""What the scripts of tests/reload and tests/site share: a server in a directory of its own, a
load of exact clients, and counting of checks. The program is $SLUICE_BIN (default build/sluice),
the back end $SLUICE_BACKEND as in tests/lib/server.h."""

import atexit
import grp
import multiprocessing
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("SLUICE_BIN", os.path.join(TOP, "build/sluice")))
BACKEND = os.environ.get("SLUICE_BACKEND", "")
EVENTS = {
    "io_uring": "use: io_uring, sqpoll: off",
    "sqpoll": "use: io_uring, sqpoll: on, sqpoll_idle: 50ms",
    "epoll": "use: epoll",
}
NOBODY = "nobody " + ("nogroup" if any(g.gr_name == "nogroup" for g in grp.getgrall()) else "nobody")
SANITIZED = b"__asan_init" in open(BIN, "rb").read() if os.path.exists(BIN) else False
PATIENCE = 60 if SANITIZED else 20

passed = failed = 0


def check(name, good, detail=""):
    """Counts one check; says what is wrong."""
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("not ok: %s%s" % (name, ": " + str(detail) if detail != "" else ""), flush=True)
    return bool(good)


def finish():
    print("%d passed, %d failed" % (passed, failed), flush=True)
    sys.exit(1 if failed else 0)


def until(condition, seconds=PATIENCE):
    """Waits until condition() is true; its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.02)


_next = 10000 + (os.getpid() * 41 + time.monotonic_ns() // 1000000) % 20000


def free_port():
    """A port nobody listens on, below the range of outgoing connections."""
    global _next
    while True:
        _next = 10000 + (_next + 1 - 10000) % 22000
        with socket.socket() as s:
            try:
                s.bind(("0.0.0.0", _next))
            except OSError:
                continue
            return _next


def stat_of(pid):
    """(state, parent) of a process, or None."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            rest = f.read().rsplit(")", 1)[1].split()
        return rest[0], int(rest[1])
    except (OSError, IndexError, ValueError):
        return None


def alive(pid):
    s = stat_of(pid)
    return s is not None and s[0] != "Z"


def children(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            s = stat_of(int(name))
            if s is not None and s[1] == pid and s[0] != "Z":
                found.append(int(name))
    return sorted(found)


def comm_of(pid):
    try:
        with open("/proc/%d/comm" % pid) as f:
            return f.read().strip()
    except OSError:
        return ""


class Server:
    """A directory with conf/, logs/, html/ and the program run in it."""

    def __init__(self, backend=None, bin=BIN):
        self.dir = tempfile.mkdtemp(prefix="sluice-test.", dir="/var/tmp")
        os.chmod(self.dir, 0o755)
        for d in "conf", "logs", "html":
            os.mkdir(os.path.join(self.dir, d))
        self.bin = bin
        self.backend = BACKEND if backend is None else backend
        self.port = free_port()
        self.port2 = free_port()
        self.process = None
        self.pids = set()
        self.write("html/probe.txt", "probe\n")
        atexit.register(self.clean)

    def path(self, rel):
        return os.path.join(self.dir, rel)

    def write(self, rel, text):
        os.makedirs(os.path.dirname(self.path(rel)), exist_ok=True)
        with open(self.path(rel), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def read(self, rel):
        try:
            with open(self.path(rel), "rb") as f:
                return f.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def conf(self, http=None, main="", workers=2, daemon="off"):
        """Writes the configuration; `http` are the lines below "http:"."""
        text = ""
        for key, value in (("user", NOBODY), ("worker_processes", workers), ("daemon", daemon),
                           ("pid", "logs/sluice.pid"), ("error_log", "logs/error.log info")):
            if not re.search("^%s:" % key, main, re.M):
                text += "%s: %s\n" % (key, value)
        if not re.search("^events:", main, re.M):
            text += "events: {%s}\n" % EVENTS.get(self.backend, "use: auto")
        if http is None:
            http = ("  access_log: logs/access.log combined flush=100ms\n"
                    "  keepalive_requests: 100000000\n"
                    "  server: {listen: '127.0.0.1:%d', root: html}\n" % self.port)
        self.write("conf/sluice.yaml", text + main + "http:\n" + http)

    def args(self, *more):
        return [self.bin, "-p", self.dir, "-c", self.path("conf/sluice.yaml")] + list(more)

    def start(self, wait=True):
        """Starts it in the foreground; true when the pid file is there."""
        try:
            os.unlink(self.path("logs/sluice.pid"))
        except OSError:
            pass
        with open(self.path("logs/stderr.txt"), "ab") as err:
            self.process = subprocess.Popen(self.args(), stdin=subprocess.DEVNULL, stdout=err,
                                            stderr=err)
        self.pids.add(self.process.pid)
        if not wait:
            return True
        up = until(lambda: self.pid() == self.process.pid or self.process.poll() is not None)
        if not up or self.process.poll() is not None:
            print("the server did not start\n" + self.read("logs/stderr.txt")[-2000:] +
                  self.read("logs/error.log")[-2000:], flush=True)
            return False
        return True

    def must_start(self):
        if not check("starts", self.start()):
            finish()

    def pid(self, rel="logs/sluice.pid"):
        text = self.read(rel)
        return int(text) if text.strip().isdigit() else 0

    def run(self, *options, timeout=60):
        """(exit status, output) of the program run with options."""
        p = subprocess.run(self.args(*options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=timeout, cwd=self.dir)
        return p.returncode, p.stdout.decode("utf-8", "replace")

    def workers(self, master=None):
        """Its workers: not a new master, which is a child of the old one."""
        return [pid for pid in children(master or self.pid()) if comm_of(pid) == "sluice-worker"]

    def kill(self, sig, pid=None):
        os.kill(pid or self.pid(), sig)

    def reload(self):
        """HUP, and waits until the workers are others; their pids."""
        old = set(self.workers())
        self.kill(signal.SIGHUP)
        until(lambda: self.workers() and not old & set(self.workers()))
        return self.workers()

    def stop(self, sig=signal.SIGQUIT):
        """The exit status, or None if it does not end."""
        self.process.send_signal(sig)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return None

    def alarms(self):
        """Lines of the logs that must not be there, the first with what came before it."""
        words = r"\[(alert|emerg|crit)\]|Sanitizer|runtime error:|CHECK"
        found = []
        for rel in "logs/error.log", "logs/stderr.txt":
            lines = self.read(rel).splitlines()
            for i, line in enumerate(lines):
                if re.search(words, line):
                    found += lines[max(0, i - 6):i + 1] if not found else [line]
        return found

    def clean(self):
        masters = {p for p in self.pids | {self.pid(), self.pid("logs/sluice.pid.oldbin")} if p > 1}
        for pid in masters:
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as f:
                    mine = self.dir.encode() in f.read()
            except OSError:
                mine = False
            if not mine and pid != (self.process.pid if self.process else 0):
                continue
            for child in children(pid) + [pid]:
                try:
                    os.kill(child, signal.SIGKILL)
                except OSError:
                    pass
        if self.process:
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                pass
        if not os.environ.get("SLUICE_TEST_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)


class Conn:
    """One connection; get() returns (status, fields, body) or raises."""

    def __init__(self, port, timeout=15):
        self.s = socket.create_connection(("127.0.0.1", port), timeout)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buf = b""

    def send(self, path="/probe.txt", fields="", method="GET"):
        self.s.sendall(("%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (method, path, fields)).encode())

    def receive(self):
        while b"\r\n\r\n" not in self.buf:
            more = self.s.recv(65536)
            if not more:
                raise EOFError("%d bytes of a head" % len(self.buf))
            self.buf += more
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        length = int(fields.get("content-length", 0))
        body = bytearray(self.buf[:length])
        self.buf = self.buf[length:]
        while len(body) < length:
            more = self.s.recv(min(1 << 20, length - len(body)))
            if not more:
                raise ConnectionError("%d of %d body bytes" % (len(body), length))
            body += more
        return int(lines[0].split()[1]), fields, bytes(body)

    def get(self, path="/probe.txt", fields="", method="GET"):
        self.send(path, fields, method)
        return self.receive()

    def close(self):
        self.s.close()


def fetch(port, path="/probe.txt", fields="Connection: close\r\n"):
    c = Conn(port)
    try:
        return c.get(path, fields)
    finally:
        c.close()


def _loader(port, path, body, keep, stop, out):
    """One client, as fast as it can. Counts what fails: [good, refused, reset, cut, wrong, raced]."""
    count = dict(good=0, refused=0, reset=0, cut=0, wrong=0, raced=0)
    said = []
    while not stop.is_set():
        try:
            c = Conn(port)
        except OSError as e:
            count["refused"] += 1
            said.append("connect: %s" % e)
            time.sleep(0.01)
            continue
        fresh = True
        while not stop.is_set():
            try:
                status, fields, got = c.get(path, "" if keep else "Connection: close\r\n")
            except EOFError as e:
                # The server may end an idle connection just when the next request sets out.
                if fresh or str(e) != "0 bytes of a head":
                    count["cut"] += 1
                    said.append("cut: %s" % e)
                else:
                    count["raced"] += 1
                break
            except OSError as e:
                count["reset"] += 1
                said.append("%s connection: %s" % ("fresh" if fresh else "kept", e))
                break
            if status != 200 or got != body:
                count["wrong"] += 1
                said.append("%d, %d bytes" % (status, len(got)))
            else:
                count["good"] += 1
            fresh = False
            if not keep or fields.get("connection", "").lower() == "close":
                break
        c.close()
    out.put((count, said[:3]))


class Load:
    """Clients that ask without pause until stop(): kept and fresh connections."""

    def __init__(self, port, path="/probe.txt", body=b"probe\n", keep=2, fresh=2):
        self.event = multiprocessing.Event()
        self.out = multiprocessing.Queue()
        self.clients = [multiprocessing.Process(target=_loader, daemon=True,
                                                args=(port, path, body, i < keep, self.event, self.out))
                        for i in range(keep + fresh)]
        for p in self.clients:
            p.start()

    def stop(self):
        self.event.set()
        total, said = {}, []
        for _ in self.clients:
            count, lines = self.out.get(timeout=60)
            said += lines
            for k, n in count.items():
                total[k] = total.get(k, 0) + n
        for p in self.clients:
            p.join()
        self.total, self.said = total, said
        return total

    def bad(self):
        return {k: n for k, n in self.total.items() if n and k not in ("good", "raced")}


def wrk(port, seconds, connections=32, path="/probe.txt"):
    """Starts wrk, or None where it is not installed."""
    if shutil.which("wrk") is None:
        return None
    return subprocess.Popen(["wrk", "-t1", "-c%d" % connections, "-d%ds" % seconds, "--timeout", "10s",
                             "http://127.0.0.1:%d%s" % (port, path)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def wrk_result(process):
    """(requests, lines about failures)."""
    text = process.communicate()[0].decode()
    n = re.search(r"(\d+) requests in", text)
    wrong = [line.strip() for line in text.splitlines() if "Socket errors" in line or "Non-2xx" in line]
    return int(n.group(1)) if n else 0, wrong
