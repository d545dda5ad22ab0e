#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 200
"""Directory listings in a browser (behaviours.md P1 to P4, demands.md D41): every link of a listing
full of nasty names leads to the file of that name, nothing comes from elsewhere, sort links sort,
light and dark differ, and nothing is wider than the screen. Pictures: $SLUICE_TEST_PICTURES, a
directory to keep them in."""

import base64
import os
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import browser  # noqa: E402
from sluice import *  # noqa: E402,F403

NAMES = [b"plain.txt", b"a b  c.txt", b"<script>alert(1)<script>.txt", b"a&amp;b&copy=1.txt", b"it's.txt",
         b'say"so".txt', b"a:b.txt", b"javascript:alert(1)", b"100%41.txt", b"q?x#y.txt", b"back\\slash.txt",
         b"new\nline.txt", b"esc\x1b[1m.txt", "\u00fcml\u00e4ut \U0001f600.txt".encode(), b"bad\xff\xfe.txt",
         "exe\u202etxt.txt".encode(), b"-rf", b"~tilde", b"l" * 251 + b".txt"]


def picture(b, name, scheme, width):
    """Opens nothing; the page as it is, as rows of RGB bytes: (width, height, pixel(x, y))."""
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    b.call("Emulation.setDeviceMetricsOverride", width=width, height=700, deviceScaleFactor=1, mobile=False)
    png = base64.b64decode(b.call("Page.captureScreenshot", format="png")["data"])
    keep = os.environ.get("SLUICE_TEST_PICTURES")
    if keep:
        with open(os.path.join(keep, "%s-%s-%d.png" % (name, scheme, width)), "wb") as f:
            f.write(png)
    return png


def corner(png):
    """Brightness, 0 to 255, of the first pixel of a PNG."""
    data, at = b"", 8
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + n]
        at += 12 + n
    return sum(zlib.decompress(data)[1:4]) // 3  # the first pixel has no neighbours to differ from


def rows(b):
    return b.value("[...document.querySelectorAll('tbody td:first-child>*')].map(x => x.textContent)")


def links(b):
    return b.value("[...document.querySelectorAll('tbody a')].map(x => x.href)")


def follow_each(b, s):
    """Clicks every file's link; what it leads to is that file."""
    url = "http://127.0.0.1:%d/pub/na%%20%%26mes/" % s.port
    text, loaded, failed = b.open(url)
    failed = [f for f in failed if "/favicon.ico" not in f]
    check("the listing loads alone", not failed and
          [u for u in loaded if "/favicon.ico" not in u] == [url], (failed, list(loaded)))
    check("no script, no frame, no image", b.value(
        "document.querySelectorAll('script,iframe,img,link,object').length") == 0)
    check("the title is escaped", b.value("document.title") == "Index of /pub/na &mes/", b.value("document.title"))
    hrefs = [h for h in links(b) if not h.endswith("/")]
    check("a link for each name", len(hrefs) == len(NAMES), len(hrefs))
    found = []
    for i in range(len(hrefs)):
        b.open(url)
        b.events = []
        b.call("Runtime.evaluate", expression="[...document.querySelectorAll('tbody a')]"
               ".filter(x => !x.href.endsWith('/'))[%d].click()" % i)
        until(lambda: b.value("document.readyState") == "complete" and b.value("location.href") != url, 10)
        found.append(b.value("document.body && document.body.textContent.trim()") or "")
    wanted = sorted(n.hex() for n in NAMES)
    check("each link leads to the file of its name", sorted(found) == wanted,
          [w for w in wanted if w not in found][:3])


def sorting(b, s):
    b.open("http://127.0.0.1:%d/pub/" % s.port)
    by_name = rows(b)
    check("by name, directories first", by_name == ["../", "na &mes/", "zz/", "big", "mid", "small"], by_name)
    b.call("Runtime.evaluate", expression="document.querySelector('th.s a').click()")
    until(lambda: "C=S" in (b.value("location.search") or "") and b.value("document.readyState") == "complete", 10)
    by_size = rows(b)
    check("by size after a click", by_size[-3:] == ["small", "mid", "big"], by_size)
    check("the order is said to readers", b.value(
        "document.querySelector('th.s').getAttribute('aria-sort')") == "ascending")
    check("links that sort are nofollow", b.value(
        "[...document.querySelectorAll('th a')].every(x => x.rel == 'nofollow')"))
    check("the way up", links(b)[0] == "http://127.0.0.1:%d/" % s.port, links(b)[:1])
    b.open("http://127.0.0.1:%d/pub/na%%20%%26mes/" % s.port)
    crumbs = b.value("[...document.querySelectorAll('h1 a')].map(x => x.href)")
    check("parts of the path are links", crumbs == ["http://127.0.0.1:%d%s" % (s.port, p) for p in ("/", "/pub/")],
          crumbs)


def looks(b, s):
    b.open("http://127.0.0.1:%d/pub/na%%20%%26mes/" % s.port)
    light, dark = picture(b, "names", "light", 1100), picture(b, "names", "dark", 1100)
    check("light is light, dark is dark", corner(light) > 220 and corner(dark) < 60, (corner(light), corner(dark)))
    for width in 1100, 700, 360:
        picture(b, "names", "light", width)
        wide = b.value("document.documentElement.scrollWidth")
        check("%d pixels are wide enough" % width, wide <= width, wide)
    picture(b, "names", "dark", 360)


def main():
    if browser.program() is None:
        print("needs chromium")
        sys.exit(77)
    s = Server()
    for n in NAMES:
        path = os.path.join(s.path("html").encode(), b"pub/na &mes", n)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(n.hex().encode())
    for name, size in ("small", 1), ("mid", 5000), ("big", 3000000):
        s.write("html/pub/" + name, "x" * size)
    os.mkdir(s.path("html/pub/zz"))
    s.conf("  default_type: text/plain\n"
           "  server: {listen: '127.0.0.1:%d', root: html, autoindex: on, autoindex_exact_size: off}\n" % s.port)
    s.must_start()
    b = browser.Browser()
    try:
        follow_each(b, s)
        sorting(b, s)
        looks(b, s)
    finally:
        b.close()
    check("stops", s.stop() == 0)
    check("no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))
    finish()


if __name__ == "__main__":
    main()
