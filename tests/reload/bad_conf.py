#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 200
"""A bad configuration changes nothing: on HUP, with -s reload, with -t, and at the start.
hostile.md 95, 112, 128, 129, 133; behaviours.md V2."""

import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403

BAD = [
    ("unknown key", "  rooot: html\n"),
    ("wrong type", "  keepalive_requests: many\n"),
    ("bad size", "  client_max_body_size: 10kk\n"),
    ("duplicate key", "  index: a\n  index: b\n"),
    ("tab", "\tindex: a\n"),
    ("open quote", "  index: \"a\n"),
    ("unknown variable", "  add_header: X $nothing\n"),
    ("missing include", "  include: none.yaml\n"),
    ("include of itself", "  include: sluice.yaml\n"),
    ("bad expression", "  server: {location: {'~ (': {root: a}}}\n"),
    ("bad port", "  server: {listen: '127.0.0.1:99999'}\n"),
    ("bad address", "  server: {listen: '300.0.0.1:80'}\n"),
    ("address not here", "  server: {listen: '192.0.2.1:8099'}\n"),
    ("log in a missing directory", "  access_log: /nowhere/at/all/access.log\n"),
    ("not built in", "  proxy_pass: http://a\n"),
    ("two documents", "  index: a\n---\n  index: b\n"),
    ("bad UTF-8", b"  index: \xff\n"),
    ("NUL", b"  index: a\0b\n"),
    ("alias to nothing", "  index: *nothing\n"),
    ("no http value", ""),
]


def whole(s, extra):
    s.conf("  add_header: X-Generation 1\n  server: {listen: '127.0.0.1:%d', root: html}\n" % s.port)
    text = s.read("conf/sluice.yaml").encode()
    if extra is not None:
        more = extra if isinstance(extra, bytes) else extra.encode()
        if b"  server:" in more:
            text = text[:text.index(b"  server:")]
        s.write("conf/sluice.yaml", text + more if more else b"http:\n")


def on_hup():
    s = Server()
    whole(s, None)
    s.must_start()
    master, workers = s.pid(), s.workers()
    load = Load(s.port, keep=1, fresh=1)
    for name, extra in BAD:
        whole(s, extra)
        before = len(s.read("logs/error.log"))
        s.kill(signal.SIGHUP)
        said = until(lambda: "conf" in s.read("logs/error.log")[before:] or
                     "[err" in s.read("logs/error.log")[before:] or
                     "[emerg" in s.read("logs/error.log")[before:], 5)
        check("HUP, %s: reported" % name, said, s.read("logs/error.log")[before:][-300:])
        time.sleep(0.1)
        check("HUP, %s: same workers" % name, s.workers() == workers and s.pid() == master)
    for name, extra in BAD[:6]:
        whole(s, extra)
        rc, out = s.run("-s", "reload")
        check("-s reload, %s: 1 with the report" % name, rc == 1 and "sluice.yaml:" in out, (rc, out[-300:]))
        rc, out = s.run("-t")
        check("-t, %s: 1 with the report" % name, rc == 1 and "sluice.yaml:" in out, (rc, out[-300:]))
    check("same workers after all", s.workers() == workers)
    whole(s, None)
    rc, out = s.run("-s", "reload")
    check("-s reload, good: 0", rc == 0, (rc, out))
    check("-s reload, good: in force when it returns", set(s.workers()) - set(workers), s.workers())
    check("new workers", until(lambda: not set(workers) & set(s.workers())))
    os.unlink(s.path("conf/sluice.yaml"))
    workers = s.workers()
    s.kill(signal.SIGHUP)
    time.sleep(0.3)
    check("HUP without a file: same workers", s.workers() == workers)
    total = load.stop()
    check("nothing failed meanwhile", not load.bad(), "%s %s" % (total, load.said))
    whole(s, None)
    check("stops", s.stop() == 0)


def port_taken():
    """hostile.md 95: exit 1, the address and the reason in one line, nothing half-started."""
    s = Server()
    with socket.socket() as other:
        other.bind(("127.0.0.1", s.port))
        other.listen(1)
        s.conf()
        rc, out = s.run()
        text = out + s.read("logs/error.log")
        check("port in use: exit 1", rc == 1, rc)
        check("port in use: says which and why",
              str(s.port) in text and "in use" in text, text[-300:])
        check("port in use: no pid file", not os.path.exists(s.path("logs/sluice.pid")))
    s.must_start()
    workers = s.workers()
    with socket.socket() as other:
        other.bind(("127.0.0.1", s.port2))
        other.listen(1)
        s.conf("  server:\n    - {listen: '127.0.0.1:%d', root: html}\n"
               "    - {listen: '127.0.0.1:%d', root: html}\n" % (s.port, s.port2))
        s.kill(signal.SIGHUP)
        check("port in use on HUP: reported",
              until(lambda: "in use" in s.read("logs/error.log")[-1000:], 10))
        check("port in use on HUP: same workers", s.workers() == workers)
        check("port in use on HUP: still serves", fetch(s.port)[2] == b"probe\n")
    check("stops", s.stop() == 0)


def no_side_effects():
    """hostile.md 133: -t makes no log, no pid file, binds nothing, and agrees with the start."""
    s = Server()
    s.conf("  access_log: logs/never.log\n  server: {listen: '127.0.0.1:%d', root: html}\n" % s.port)
    with socket.socket() as other:
        other.bind(("127.0.0.1", s.port))
        other.listen(1)
        before = sorted(os.listdir(s.path("logs")))
        rc, out = s.run("-t")
        check("-t: 0 though the port is in use", rc == 0, (rc, out[-300:]))
        check("-t: no file was made", sorted(os.listdir(s.path("logs"))) == before,
              os.listdir(s.path("logs")))
        rc, out = s.run("-q", "-t")
        check("-q -t: silent", rc == 0 and out == "", (rc, out))
        rc, out = s.run("-T")
        check("-T: the configuration", rc == 0 and "listen" in out, (rc, out[-300:]))
    s.must_start()
    pid = s.pid()
    for option in "-t", "-T", "-v", "-V", "-h":
        rc, out = s.run(option)
        check("%s beside a running server: 0" % option, rc == 0 and out != "", (rc, out[-200:]))
    check("the running server is untouched", s.pid() == pid and fetch(s.port)[0] == 200)
    rc, out = s.run("-x")
    check("unknown option: exit 2", rc == 2, (rc, out[-200:]))
    rc, out = s.run("-s", "dance")
    check("unknown signal: exit 2", rc == 2, (rc, out[-200:]))
    check("stops", s.stop() == 0)
    rc, out = s.run("-s", "reload")
    check("-s reload without a server: 1", rc == 1, (rc, out[-200:]))
    rc, out = s.run("-g", "worker_processes: 3", "-T")
    check("-g wins", rc == 0 and "worker_processes: 3" in out, (rc, out[:300]))


if __name__ == "__main__":
    on_hup()
    port_taken()
    no_side_effects()
    finish()
