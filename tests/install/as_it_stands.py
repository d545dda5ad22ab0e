# SPDX-License-Identifier: BSD-2-Clause
"""as_it_stands.py PREFIX: starts PREFIX/sbin/sluice with what `make install` put there.

It becomes a daemon on port 80, its workers are nobody, the welcome page is ours, an error page is
there, -s reload keeps it running and -s quit ends it and takes the pid file away.
"""
import os
import pwd
import subprocess
import sys
import time
import urllib.error
import urllib.request

prefix = sys.argv[1]
sluice = prefix + "/sbin/sluice"
pid_file = prefix + "/logs/sluice.pid"


def get(path):
    try:
        with urllib.request.urlopen("http://127.0.0.1" + path, timeout=10) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, answer.read()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(word) for word in f.read().split()]


def run(*args):
    done = subprocess.run([sluice, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 0, f"sluice {args}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def until(what, true, seconds=10):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def serve():
    with open(pid_file) as f:
        master = int(f.read())
    with open(prefix + "/html/index.html", "rb") as f:
        page = f.read()
    status, headers, body = get("/")
    assert status == 200 and body == page, (status, body[:200])
    assert headers["Content-Type"] == "text/html; charset=utf-8", headers["Content-Type"]
    assert get("/nothing-here")[0] == 404
    nobody = pwd.getpwnam("nobody").pw_uid
    workers = children(master)
    assert workers and all(os.stat(f"/proc/{pid}").st_uid == nobody for pid in workers), workers
    run("-s", "reload")
    assert int(open(pid_file).read()) == master and get("/")[0] == 200
    with open(prefix + "/logs/access.log") as f:
        f.read()
    run("-s", "quit")
    until("the pid file is still there", lambda: not os.path.exists(pid_file))
    until("the master is still there", lambda: not os.path.exists(f"/proc/{master}"))
    with open(prefix + "/logs/access.log") as f:
        assert '"GET /nothing-here HTTP/1.1" 404' in f.read()


run("-t")
run()
try:
    serve()
finally:
    if os.path.exists(pid_file):
        subprocess.run([sluice, "-s", "stop"], check=False)
        try:
            with open(prefix + "/logs/error.log") as f:
                print(f.read())
        except OSError:
            pass
