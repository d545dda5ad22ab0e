#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The clients that people have: curl, wget and ab against a small site. Ranges, resuming, time
stamps, redirects, uploads that are refused, keep-alive of HTTP/1.0 and 1.1, an upgrade that is
not taken, many at a time; the bytes are compared."""

import filecmp
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from sluice import *  # noqa: E402,F403

LARGE = bytes((i * 31 + (i >> 8) * 7) & 255 for i in range(1 << 16)) * 48  # 3 MiB
PAGE = b"<!DOCTYPE html><title>t</title><a href=a.txt>a</a> <a href=d/>d</a> <a href='s%20p.txt'>s</a>\n"
FILES = {"index.html": PAGE, "a.txt": b"a\n", "s p.txt": b"blank\n", "d/index.html": PAGE[:30],
         "large.bin": LARGE, "empty.txt": b""}


class Site:
    def __init__(self):
        self.s = Server()
        for name, text in FILES.items():
            self.s.write("html/" + name, text)
        self.s.conf("  access_log: logs/access.log combined flush=100ms\n"
                    "  keepalive_requests: 100000\n"
                    "  server:\n"
                    "    listen: ['127.0.0.1:%d', 'unix:%s']\n"
                    "    root: html\n"
                    "    absolute_redirect: on\n" % (self.s.port, self.s.path("s.sock")))
        self.s.must_start()
        self.base = "http://127.0.0.1:%d/" % self.s.port
        self.out = self.s.path("out")
        os.mkdir(self.out)

    def run(self, *command):
        """(status, output, bytes) of a client that works in a directory of its own."""
        p = subprocess.run(command, cwd=self.out, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=60)
        return p.returncode, p.stderr.decode("utf-8", "replace"), p.stdout

    def curl(self, path, *options):
        return self.run("curl", "-sS", "--path-as-is", *options, self.base + path)

    def file(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()


def curl_plain(t):
    for path, want in (("", PAGE), ("a.txt", b"a\n"), ("s%20p.txt", b"blank\n"), ("large.bin", LARGE),
                       ("empty.txt", b"")):
        for version in "--http1.1", "--http1.0":
            rc, err, out = t.curl(path, version, "-f")
            check("curl %s /%s" % (version, path), rc == 0 and out == want, (rc, err, len(out)))
    rc, err, out = t.curl("large.bin", "-I")
    check("curl -I", rc == 0 and b"Content-Length: %d\r\n" % len(LARGE) in out and
          b"Accept-Ranges: bytes" in out, out)
    rc, err, out = t.curl("large.bin", "--limit-rate", "20M", "-o", "slow.bin")
    check("curl --limit-rate", rc == 0 and t.file("slow.bin") == LARGE, (rc, err))
    rc, err, out = t.run("curl", "-sS", "--unix-socket", t.s.path("s.sock"), "http://localhost/a.txt")
    check("curl --unix-socket", rc == 0 and out == b"a\n", (rc, err, out))
    rc, err, out = t.curl("large.bin", "--http2", "-o", "h2.bin", "-w", "%{http_version} %{http_code}")
    check("curl --http2: no upgrade, the whole file", rc == 0 and out == b"1.1 200" and
          t.file("h2.bin") == LARGE, (rc, err, out))
    rc, err, out = t.curl("d/index.html", "--compressed", "-f")
    check("curl --compressed", rc == 0 and out == PAGE[:30], (rc, err, out))


def curl_parts(t):
    for how, want in (("0-9", LARGE[:10]), ("-7", LARGE[-7:]), ("3000000-", LARGE[3000000:]),
                      ("65535-131073", LARGE[65535:131074])):
        rc, err, out = t.curl("large.bin", "-f", "-r", how)
        check("curl -r %s" % how, rc == 0 and out == want, (rc, err, len(out)))
    rc, err, out = t.curl("large.bin", "-r", "99999999-", "-o", os.devnull, "-w", "%{http_code}")
    check("curl -r behind the end", out == b"416", (rc, out))
    for have in 1, 100000, len(LARGE) - 1:
        with open(os.path.join(t.out, "part.bin"), "wb") as f:
            f.write(LARGE[:have])
        rc, err, out = t.curl("large.bin", "-f", "-C", "-", "-o", "part.bin")
        check("curl -C - of %d bytes" % have, rc == 0 and t.file("part.bin") == LARGE, (rc, err))
    rc, err, out = t.curl("a.txt", "-z", "part.bin", "-w", "%{http_code}")
    check("curl -z, a file that is newer: 304", out == b"304", (rc, err, out))
    rc, err, out = t.curl("a.txt", "-z", "1990-01-01", "-w", "%{http_code}")
    check("curl -z earlier: 200", out == b"a\n200", out)
    rc, err, out = t.curl("a.txt", "--etag-save", "tag")
    rc, err, out = t.curl("a.txt", "--etag-compare", "tag", "-w", "%{http_code}")
    check("curl --etag-compare: 304", out == b"304", (rc, err, out))


def curl_errors(t):
    rc, err, out = t.curl("d", "-w", "%{http_code} %{redirect_url}")
    check("a redirect", out.endswith(b"301 " + t.base.encode() + b"d/"), out)
    rc, err, out = t.curl("d", "-L")
    check("curl -L follows it", out == PAGE[:30], out)
    for path, code in (("none", b"404"), ("../../etc/passwd", b"400"), ("%2e%2e/etc/passwd", b"400"),
                       ("a.txt/", b"404"), ("%00", b"400")):
        rc, err, out = t.curl(path, "-o", os.devnull, "-w", "%{http_code}")
        check("curl /%s" % path, out == code, out)
    with open(os.path.join(t.out, "up.bin"), "wb") as f:
        f.write(bytes(4 << 20))
    for what, options in (("-T", ("-T", "up.bin")), ("-d", ("-d", "x=y")),
                          ("--data-binary", ("--data-binary", "@up.bin")),
                          ("chunked", ("-T", "up.bin", "-H", "Transfer-Encoding: chunked")),
                          ("without Expect", ("-T", "up.bin", "-H", "Expect:")),
                          ("-X DELETE", ("-X", "DELETE"))):
        rc, err, out = t.curl("a.txt", "-w", "%{http_code}", "-o", os.devnull, *options)
        check("curl %s: 405, read to its end" % what, out == b"405" and rc == 0, (rc, err, out))
    rc, err, out = t.curl("a.txt", "-w", "%{http_code}", "-X", "OPTIONS", "-D", "-")
    check("curl -X OPTIONS", b"Allow: GET, HEAD" in out and out.endswith(b"204"), out)


def curl_connections(t):
    """Kept connections are used again, also after errors; fifty at a time get the right bytes."""
    urls = [t.base + p for p in ("a.txt", "none", "d", "large.bin", "a.txt")]
    args = [x for u in urls for x in (u, "-o", os.devnull)]
    rc, err, out = t.run("curl", "-sS", "-w", "%{num_connects} ", *args)
    check("curl keeps the connection", out == b"1 0 0 0 0 ", (rc, err, out))
    rc, err, out = t.run("curl", "-sS", "-0", "-H", "Connection: keep-alive", "-w",
                         "%{num_connects} ", *args[:3] * 3)
    check("curl -0 with keep-alive", out == b"1 0 0 ", (rc, err, out))
    rc, err, out = t.run("curl", "-sS", "-Z", "--parallel-max", "50", "-o", "n#1.bin",
                         t.base + "large.bin?[1-50]")
    names = [n for n in os.listdir(t.out) if re.fullmatch(r"n\d+\.bin", n)]
    good = [n for n in names if t.file(n) == LARGE]
    check("curl -Z, fifty at a time", rc == 0 and len(good) == 50, (rc, err[:300], len(good)))
    for n in names:
        os.unlink(os.path.join(t.out, n))


def wget(t):
    rc, err, out = t.run("wget", "-q", t.base + "large.bin")
    check("wget", rc == 0 and t.file("large.bin") == LARGE, (rc, err))
    for have in 0, 1, 65536, len(LARGE) - 1, len(LARGE):
        with open(os.path.join(t.out, "large.bin"), "wb") as f:
            f.write(LARGE[:have])
        rc, err, out = t.run("wget", "-q", "-c", t.base + "large.bin")
        check("wget -c of %d bytes" % have, rc == 0 and t.file("large.bin") == LARGE, (rc, err))
    rc, err, out = t.run("wget", "-N", t.base + "a.txt")
    rc, err, out = t.run("wget", "-N", t.base + "a.txt")
    check("wget -N: not fetched again", rc == 0 and ("304" in err or "not retrieving" in err), err)
    t.s.write("html/a.txt", b"another\n")
    os.utime(t.s.path("html/a.txt"), (time.time() + 10, time.time() + 10))
    until(lambda: fetch(t.s.port, "/a.txt")[2] == b"another\n", 5)
    rc, err, out = t.run("wget", "-q", "-N", t.base + "a.txt")
    check("wget -N: fetched when it is newer", t.file("a.txt") == b"another\n", (rc, err))
    rc, err, out = t.run("wget", "--spider", "-S", t.base + "large.bin")
    check("wget --spider", rc == 0 and "Content-Length: %d" % len(LARGE) in err, err)
    rc, err, out = t.run("wget", "-q", "-r", "-nH", "-P", "copy", "-e", "robots=off", t.base)
    same = [n for n in ("index.html", "s p.txt", "d/index.html")
            if os.path.exists(t.out + "/copy/" + n) and
            filecmp.cmp(t.out + "/copy/" + n, t.s.path("html/" + n), shallow=False)]
    check("wget -r", rc == 0 and len(same) == 3, (rc, err, same))
    rc, err, out = t.run("wget", "-q", t.base + "none")
    check("wget of nothing: 8", rc == 8, rc)


def ab(t):
    for what, options, path, size in (("", (), "a.txt", 8), ("-k", ("-k",), "a.txt", 8),
                                      ("-k, large", ("-k",), "large.bin", len(LARGE)),
                                      ("-i", ("-k", "-i"), "large.bin", 0)):
        n = 40 if size > 1000 else 2000
        rc, err, out = t.run("ab", "-q", "-n", str(n), "-c", "20", *options, t.base + path)
        text = out.decode()
        found = dict(re.findall(r"^([A-Z][A-Za-z0-9 -]+):\s+(\d+)", text, re.M))
        check("ab %s: %d of %d bytes" % (what, n, size), rc == 0 and
              found.get("Complete requests") == str(n) and found.get("Failed requests") == "0" and
              "Non-2xx" not in text, (rc, err, text[-700:]))
        if size > 0:
            check("ab %s: all the bytes" % what, found.get("HTML transferred") == str(n * size),
                  found.get("HTML transferred"))
        if options:
            check("ab %s: connections are kept" % what,
                  int(found.get("Keep-Alive requests", 0)) == n, found)


if __name__ == "__main__":
    missing = [n for n in ("curl", "wget", "ab") if shutil.which(n) is None]
    if missing:
        print("needs " + ", ".join(missing))
        sys.exit(77)
    site = Site()
    for part in curl_plain, curl_parts, curl_errors, curl_connections, wget, ab:
        begun = time.monotonic()
        part(site)
        if os.environ.get("SLUICE_TEST_TIMES"):
            print("%s: %.1f s" % (part.__name__, time.monotonic() - begun))
    check("stops", site.s.stop() == 0)
    check("no alarm", not site.s.alarms(), "\n".join(site.s.alarms()[:9]))
    finish()
