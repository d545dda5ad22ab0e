#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 170
"""Starts that fail, and starts in poor surroundings: exit 1 with the reason said once, nothing
half-started, in the foreground and as a daemon; or it serves. hostile.md 89, 94-97, 100, 103, 104,
119, 133 and "-t agrees with the start" (config.md 4)."""

import ctypes
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403

ROOT = os.geteuid() == 0


def refuse(numbers, errno):
    """For preexec_fn: system calls that fail from now on, by a seccomp filter."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = [(0x20, 0, 0, 0)]                                  # load the number
    for n in numbers:
        code += [(0x15, 0, 1, n), (0x06, 0, 0, 0x00050000 | errno)]
    code.append((0x06, 0, 0, 0x7fff0000))                     # allow
    text = b"".join(struct.pack("HBBI", *c) for c in code)
    keep = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(keep))
    prog = ctypes.create_string_buffer(program, len(program))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, prog, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


IO_URING = 425, 426, 427


def site(s, events=None, main="", daemon="off", listen=None, extra=""):
    if events is not None:
        main += "events: {%s}\n" % events
    s.conf("  access_log: off\n%s  server: {listen: '%s', root: html}\n" %
           (extra, listen or "127.0.0.1:%d" % s.port), main=main, daemon=daemon)


def run(s, *options, preexec=None, command=None, seconds=40):
    """(exit status, standard error) of a start that is expected to end."""
    p = subprocess.Popen((command or []) + s.args(*options), stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=s.dir,
                         preexec_fn=preexec)
    try:
        out, err = p.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        p.kill()
        return None, "still running or its output held open"
    return p.returncode, (out + err).decode("utf-8", "replace")


def left(s):
    """Processes that a start left behind."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/environ" % name, "rb") as f:
                    if b"SLUICE_CASE=" + s.dir.encode() + b"\0" in f.read():
                        found.append(int(name))
            except OSError:
                pass
    return found


def listening(port):
    with socket.socket() as c:
        c.settimeout(1)
        return c.connect_ex(("127.0.0.1", port)) == 0


def fails(name, prepare, words, test_says=True, preexec=None, command=None, modes=("off", "on")):
    """A start that must fail: words are what its message must hold."""
    s = Server()
    os.environ["SLUICE_CASE"] = s.dir
    for daemon in modes:
        what = "%s, daemon %s" % (name, daemon)
        prepare(s, daemon)
        before = sorted(os.listdir(s.path("logs")))
        if test_says is not None:
            rc, err = run(s, "-q", "-t", preexec=preexec, command=command)
            check("%s: -t says %d" % (what, test_says), rc == int(test_says), (rc, err[-300:]))
            check("%s: -t makes nothing" % what, sorted(os.listdir(s.path("logs"))) == before,
                  os.listdir(s.path("logs")))
        rc, err = run(s, preexec=preexec, command=command)
        check("%s: exit 1" % what, rc == 1, (rc, err[-300:]))
        check("%s: the reason" % what, all(w in err for w in words), err[-400:])
        check("%s: said once" % what, err.count("sluice: ") <= 1 and
              (len(err.strip().splitlines()) == 1 or ".yaml:" in err), err[-400:])
        check("%s: no pid file, no control socket" % what,
              not [f for f in os.listdir(s.path("logs")) if f.startswith("sluice.")],
              os.listdir(s.path("logs")))
        check("%s: no process is left" % what, until(lambda: not left(s), 3), left(s))
    os.environ.pop("SLUICE_CASE")
    return s


def failures():
    def plain(**more):
        return lambda s, daemon: site(s, daemon=daemon, **more)

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        port = other.getsockname()[1]
        fails("port in use", plain(listen="127.0.0.1:%d" % port),
              ["bind() to 127.0.0.1:%d failed (98: Address already in use)" % port], test_says=0)
    fails("address of another host", plain(listen="192.0.2.1:8099"),
          ["192.0.2.1:8099", "99: Cannot assign"])
    fails("log directory missing", plain(main="error_log: /nowhere/at/all/error.log\n"),
          ["/nowhere/at/all/error.log", "2: No such file"])
    fails("pid directory cannot be made", plain(main="pid: conf/sluice.yaml/x.pid\n"),
          ["conf/sluice.yaml", "17: File exists"])
    if ROOT:
        fails("unknown user", plain(main="user: nobody_at_all\n"),
              ["sluice.yaml:6:7: user: there is no user \"nobody_at_all\""])
    with socket.socket(socket.AF_UNIX) as other:
        s = Server()
        path = s.path("taken.sock")
        other.bind(path)
        other.listen(1)
        fails("Unix socket in use", plain(listen="unix:" + path), [path, "98:"], test_says=0)
        check("Unix socket in use: it stays", os.path.exists(path))
    s = Server()
    s.write("taken", "precious")
    fails("a file where the Unix socket should be", plain(listen="unix:" + s.path("taken")),
          [s.path("taken"), "98:"], test_says=None, modes=("off",))
    check("the file stays", s.read("taken") == "precious")


def refused_rings():
    """hostile.md 96: by name an error, said once though two workers meet it; auto takes epoll."""
    for name, errno in ("EPERM", 1), ("ENOSYS", 38), ("ENOMEM", 12):
        how = lambda e=errno: refuse(IO_URING, e)  # noqa: E731
        fails("use: io_uring, %s" % name,
              lambda s, daemon: site(s, "use: io_uring, sqpoll: off", daemon=daemon),
              ["cannot start: io_uring", name], test_says=0, preexec=how,
              modes=("off", "on") if errno == 1 else ("off",))
    fails("use: auto, ENOMEM", lambda s, daemon: site(s, "use: auto", daemon=daemon),
          ["RLIMIT_MEMLOCK"], test_says=0, preexec=lambda: refuse(IO_URING, 12), modes=("off",))
    s = Server()
    site(s, "use: auto")
    serves(s, "use: auto, EPERM", preexec=lambda: refuse(IO_URING, 1))
    check("use: auto, EPERM: the log says epoll and why", "uses epoll" in s.read("logs/error.log")
          and "not permitted" in s.read("logs/error.log"), s.read("logs/error.log")[-500:])


def sanitized():
    return "--with-asan" in subprocess.run([BIN, "-V"], stdin=subprocess.DEVNULL, text=True,
                                           capture_output=True).stdout


def serves(s, name, preexec=None, command=None, port=None, log=True, check_while=None, stop=0):
    """A start that must succeed: it serves, one worker at least, and stops cleanly."""
    with open(s.path("logs/stderr.txt"), "ab") as err:
        s.process = subprocess.Popen((command or []) + s.args(), stdin=subprocess.DEVNULL, stdout=err,
                                     stderr=err, preexec_fn=preexec, cwd=s.dir)
    s.pids.add(s.process.pid)
    up = until(lambda: s.pid() != 0 or s.process.poll() is not None)
    try:
        ok = up and s.process.poll() is None and fetch(port or s.port)[2] == b"probe\n"
    except OSError as e:
        ok = e
    check("%s: serves" % name, ok is True,
          (ok, s.read("logs/stderr.txt")[-300:], s.read("logs/error.log")[-300:] if log else ""))
    if ok is True and check_while is not None:
        check_while()
    check("%s: stops" % name, s.stop() == stop)
    return ok is True


def limits():
    """hostile.md 89, 97: few descriptors, no locked memory. As a user who cannot raise them."""
    def low(what, n):
        resource.setrlimit(what, (n, n))

    weak = ["setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource"]
    if not ROOT or not shutil.which("setpriv"):
        weak = []
    s = Server()
    site(s)
    if serves(s, "64 descriptors", preexec=lambda: low(resource.RLIMIT_NOFILE, 64), command=weak):
        log = s.read("logs/error.log")
        check("64 descriptors: warned once, with what to do", log.count("open files") == (
            1 if weak or not ROOT else 0) and (log.count("LimitNOFILE") == log.count("open files")),
            log[-300:])
    # Who may not raise the hard limit raises the soft one, and nobody needs to hear of it.
    s = Server()
    site(s, events="worker_connections: 100",
         extra="  open_file_cache: max=100\n")
    if serves(s, "soft limit below the need", command=weak, check_while=lambda: check(
            "the soft limit is raised", all(soft_files(pid) >= 456 for pid in s.workers())),
            preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 1024))):
        check("no warning", "open files" not in s.read("logs/error.log"),
              s.read("logs/error.log")[-300:])
    s = Server()
    site(s)
    rc, err = run(s, preexec=lambda: low(resource.RLIMIT_NOFILE, 8), seconds=20)
    check("8 descriptors: exit 1 with a reason", rc == 1 and "24: Too many open files" in err,
          (rc, err[-300:]))
    s = Server()
    site(s, "use: io_uring, sqpoll: off")
    if weak and not in_use_by_nobody():
        serves(s, "1 MiB of locked memory", preexec=lambda: low(resource.RLIMIT_MEMLOCK, 1 << 20),
               command=weak)


def soft_files(pid):
    with open("/proc/%d/limits" % pid) as f:
        return [int(line.split()[3]) for line in f if line.startswith("Max open files")][0]


def in_use_by_nobody():
    """Rings of other servers count against the same user's limit."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and comm_of(int(name)) == "sluice-worker":
                return True
        except OSError:
            pass
    return False


def surroundings():
    s = Server()
    s.conf("  server: {listen: ['127.0.0.1:%d', 'unix:%s'], root: html}\n" %
           (s.port, s.path("run/s.sock")), main="master_process: off\n")
    os.mkdir(s.path("run"))
    for how in signal.SIGQUIT, signal.SIGTERM, signal.SIGKILL:
        s.must_start()
        check("master_process off: serves", fetch(s.port)[2] == b"probe\n")
        if ROOT:
            check("and is not root", os.stat("/proc/%d" % s.pid()).st_uid == 65534)
        s.process.send_signal(how)
        s.process.wait(PATIENCE)
        check("%s: no pid file stays" % how.name, until(lambda: not s.pid(), 5))
        check("%s: no Unix socket" % how.name,
              how == signal.SIGKILL or not os.listdir(s.path("run")), os.listdir(s.path("run")))
    if ROOT:
        # Everything below belongs to somebody who is not root.
        s = Server()
        site(s, main="worker_processes: 1\n")
        for path, dirs, files in os.walk(s.dir):
            for f in [path] + [os.path.join(path, f) for f in files]:
                os.chown(f, 65534, 65534)
        serves(s, "not root", command=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        s = Server()
        site(s)
        # Sanitizers need /proc themselves: the search for leaks at the end, and their options.
        stop = 1 if sanitized() else 0
        serves(s, "no /proc", command=["unshare", "-m", "sh", "-c",
                                       "mount -t tmpfs none /proc && exec \"$@\"", "sh"], stop=stop)
        s = Server()
        site(s, main="user: '54321'\n")
        serves(s, "a user without an entry")
    s = Server()
    site(s, main="worker_processes: 8\nworker_cpu_affinity: 0\n")
    serves(s, "hostile.md 100: 8 workers on one CPU", command=["taskset", "-c", "0"])
    s = Server()
    s.write("logs/sluice.sock", "")
    os.unlink(s.path("logs/sluice.sock"))
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(s.path("logs/sluice.sock"))
    site(s)
    s.must_start()
    st = os.stat(s.path("logs/sluice.sock"))
    check("a stale control socket is replaced, 0600", st.st_mode & 0o777 == 0o600, oct(st.st_mode))
    rc, out = s.run("-s", "reload")
    check("and works", rc == 0, (rc, out))
    check("stops", s.stop() == 0)
    check("no control socket is left", not os.path.exists(s.path("logs/sluice.sock")))
    s = Server()
    s.write("logs/sluice.sock", "precious")
    site(s)
    s.must_start()
    rc, out = s.run("-s", "reload")
    check("another's file is left alone, -s reload does not claim success",
          rc == 1 and s.read("logs/sluice.sock") == "precious", (rc, out))
    check("and it is said", "no control socket" in s.read("logs/error.log"))
    check("stops", s.stop() == 0)


def control():
    """The control directive: elsewhere than beside the pid file, and moved by a reload."""
    s = Server()
    os.mkdir(s.path("run"))
    site(s, main="control: run/a.sock\n")
    s.must_start()
    check("control: there", os.listdir(s.path("run")) == ["a.sock"], os.listdir(s.path("run")))
    check("control: and not beside the pid file", not os.path.exists(s.path("logs/sluice.sock")))
    rc, out = s.run("-s", "reload")
    check("control: -s reload finds it", rc == 0 and "serves" in out, (rc, out))
    good = s.read("conf/sluice.yaml")
    s.write("conf/sluice.yaml", good + "nonsense: 1\n")
    rc, out = s.run("-s", "reload")
    check("control: also when the file is bad", rc == 1 and "nonsense" in out and
          until(lambda: "reload failed" in s.read("logs/error.log"), 5), (rc, out))
    site(s, main="control: run/b.sock\n")
    s.kill(signal.SIGHUP)
    check("control: moved by a reload", until(lambda: os.listdir(s.path("run")) == ["b.sock"], 10),
          os.listdir(s.path("run")))
    rc, out = s.run("-s", "reload")
    check("control: -s reload at the new place", rc == 0, (rc, out))
    check("stops", s.stop() == 0)
    check("control: nothing is left", not os.listdir(s.path("run")), os.listdir(s.path("run")))
    s = Server()
    site(s, main="control: no/such/x.sock\n")
    rc, out = run(s, "-q", "-t")
    check("control: -t says that it cannot be made, which stops no start", rc == 0 and
          "no/such/x.sock" in out, (rc, out))
    serves(s, "control: cannot be made")


def low_ports():
    """-t by somebody who may not take a port below 1024 says so, as the start would."""
    if not ROOT or not shutil.which("setpriv"):
        return
    weak = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start") as f:
        if int(f.read()) < 1024:
            return
    s = Server()
    site(s, listen="127.0.0.1:79")
    for path, _, files in os.walk(s.dir):
        for f in [path] + [os.path.join(path, f) for f in files]:
            os.chown(f, 65534, 65534)
    rc, out = run(s, "-q", "-t", command=weak)
    check("a low port: -t says no", rc == 1 and "127.0.0.1:79 would fail (13: " in out, (rc, out))
    rc, out = run(s, command=weak)
    check("a low port: so does the start", rc == 1 and "127.0.0.1:79 failed (13: " in out, (rc, out))
    rc, out = run(s, "-q", "-t")
    check("a low port: -t by root is content", rc == 0, (rc, out))


def dump():
    """What -T prints is a configuration that gives the same again (blocks may change places)."""
    s = Server()
    site(s)
    rc, first = run(s, "-T")
    s.write("conf/again.yaml", first)
    p = subprocess.run([s.bin, "-p", s.dir, "-c", s.path("conf/again.yaml"), "-T"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    second = p.stdout.decode()
    check("-T twice", rc == 0 and p.returncode == 0 and sorted(second.splitlines()) == sorted(first.splitlines()), (rc, p.returncode, [
        (a, b) for a, b in zip(first.splitlines(), second.splitlines()) if a != b][:3]))


def no_config():
    """What -s does when the file is bad, so bad that it does not even say where the pid file is."""
    s = Server()
    site(s, main="pid: logs/other.pid\n")
    with open(s.path("logs/stderr.txt"), "ab") as err:
        s.process = subprocess.Popen(s.args(), stdin=subprocess.DEVNULL, stdout=err, stderr=err)
    s.pids.add(s.process.pid)
    until(lambda: s.pid("logs/other.pid") or s.process.poll() is not None)
    good = s.read("conf/sluice.yaml")
    workers = children(s.process.pid)
    for name, text in (("unknown key", good + "nonsense: 1\n"), ("open quote", "pid: \"logs\n"),
                       ("nothing", ""), ("no map", "- a\n")):
        s.write("conf/sluice.yaml", text)
        rc, out = s.run("-s", "reload")
        check("-s reload, %s: 1 with the place" % name, rc == 1 and "sluice.yaml:" in out, (rc, out[-300:]))
    check("same workers", children(s.process.pid) == workers)
    s.write("conf/sluice.yaml", good + "nonsense: 1\n")
    rc, out = s.run("-s", "stop")
    check("-s stop with a bad file", rc == 0, (rc, out[-300:]))
    try:
        rc = s.process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        rc = None
    check("it stops", rc == 0, rc)


def moved_pid():
    """A reload that moves the pid file: -s finds the server at once, nothing is left at the old place."""
    s = Server()
    site(s)
    s.must_start()
    pid = s.pid()
    site(s, main="pid: logs/moved/new.pid\n")
    s.kill(signal.SIGHUP, pid)
    check("the pid file moves", until(lambda: s.pid("logs/moved/new.pid") == pid, 10))
    check("the old one goes, with the control socket", until(lambda: not [
        f for f in os.listdir(s.path("logs")) if f.startswith("sluice.")], 5), os.listdir(s.path("logs")))
    rc, out = s.run("-s", "reload")
    check("-s reload at the new place", rc == 0, (rc, out))
    site(s, main="pid: conf/sluice.yaml/x.pid\n")
    s.kill(signal.SIGHUP, pid)
    check("a place that cannot be: reload refused", until(
        lambda: "reload failed" in s.read("logs/error.log"), 5))
    check("the pid file stays", s.pid("logs/moved/new.pid") == pid)
    check("stops", s.stop() == 0)
    check("no pid file is left", not os.listdir(s.path("logs/moved")), os.listdir(s.path("logs/moved")))


if __name__ == "__main__":
    for part in failures, refused_rings, limits, surroundings, control, low_ports, dump, no_config, moved_pid:
        begun = time.monotonic()
        part()
        if os.environ.get("SLUICE_TEST_TIMES"):
            print("%s: %.1f s" % (part.__name__, time.monotonic() - begun))
    finish()
