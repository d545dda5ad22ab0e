#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 120
"""A browser plays from a server: sound that Python writes and, where ffmpeg is installed, a film
that it makes. Seeking to places all over the file asks for ranges of it, each is answered as one,
and playing goes on there; what is heard at the place is what the file has there."""

import math
import os
import re
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import browser  # noqa: E402
from sluice import *  # noqa: E402,F403

SECONDS = 600
RATE = 22050
PLACES = 590, 5, 300, 455, 0.5

PAGE = """<!DOCTYPE html><meta charset=utf-8><title>media</title>
<%(tag)s id=m src="%(src)s" preload=metadata muted></%(tag)s>
<script>
const m = document.getElementById("m");
let state = "loading", log = [];
for (const name of ["loadedmetadata", "seeked", "error", "ended"])
    m.addEventListener(name, () => { log.push(name + "@" + m.currentTime.toFixed(1)); state = name; });
function seek(to) { state = "seeking"; m.currentTime = to; }
/* The loudest note of the second that begins at `at`, cut from the file by a range of its own. */
async function note(at, rate) {
    const from = 44 + Math.floor(at) * rate * 2;
    const r = await fetch(m.src, {headers: {Range: "bytes=" + from + "-" + (from + rate * 2 - 1)}});
    const s = new Int16Array(await r.arrayBuffer());
    let crossings = 0;
    for (let i = 1; i < s.length; i++)
        crossings += s[i - 1] < 0 && s[i] >= 0;
    return r.status + " " + r.headers.get("Content-Range").split("/")[0] + " " + crossings;
}
</script>
"""


def tone_of(second):
    """Of twenty notes, so that no second sounds like its neighbours."""
    return 200 + second * 7 % 20 * 20


def write_sound(path):
    with open(path, "wb") as f:
        n = SECONDS * RATE * 2
        f.write(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + n, b"WAVE", b"fmt ", 16, 1, 1, RATE,
                            RATE * 2, 2, 16, b"data", n))
        made = {}
        for second in range(SECONDS):
            hz = tone_of(second)
            if hz not in made:
                made[hz] = struct.pack("<%dh" % RATE, *(
                    int(9000 * math.sin(2 * math.pi * hz * i / RATE + 0.1)) for i in range(RATE)))
            f.write(made[hz])


def write_film(path):
    return subprocess.call(["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i",
                            "testsrc=size=320x240:rate=10:duration=%d" % SECONDS, "-c:v", "libvpx",
                            "-b:v", "300k", "-deadline", "realtime", "-cpu-used", "16", path],
                           stdin=subprocess.DEVNULL) == 0


def wait(b, script, seconds=20):
    return until(lambda: b.true(script), seconds)


def play(s, b, tag, src):
    s.write("html/page.html", PAGE % {"tag": tag, "src": src})
    size = os.path.getsize(s.path("html/" + src))
    b.call("Network.setCacheDisabled", cacheDisabled=True)
    b.call("Page.navigate", url="http://127.0.0.1:%d/page.html?%s" % (s.port, src))
    wait(b, "typeof state == 'string' && location.search == '?%s'" % src)
    if not check("%s: known" % src, wait(b, "state == 'loadedmetadata'"), b.value("state")):
        return
    check("%s: as long as it is" % src, abs((b.value("m.duration") or 0) - SECONDS) < 2,
          b.value("m.duration"))
    for place in PLACES:
        b.value("seek(%s)" % place)
        there = wait(b, "state == 'seeked' && m.readyState >= 2")
        check("%s: at %s s" % (src, place), there and
              abs(b.value("m.currentTime") - place) < 1.5, b.value("[state, m.currentTime]+' '+log"))
        b.value("m.play().catch(e => log.push(String(e))), 0")
        before = b.value("m.currentTime")
        check("%s: it plays on from %s s" % (src, place), wait(b, "m.currentTime > %s" % (before + 0.2)),
              b.value("log+''"))
        b.value("m.pause()")
    check("%s: no error" % src, b.value("m.error") is None, b.value("log+''"))
    return size


def asked(s, src):
    """[(status, first byte asked for)] of the log."""
    found = re.findall(r'^/%s (\d+) "bytes=(\d+)-' % re.escape(src), s.read("logs/access.log"), re.M)
    return [(int(a), int(b)) for a, b in found]


def one(s, b, tag, src):
    size = play(s, b, tag, src)
    if size is None:
        return
    ranges = until(lambda: len(asked(s, src)) > 3 and asked(s, src), 5) or []
    check("%s: ranges were asked for" % src, len(ranges) > 3, ranges)
    check("%s: each was answered with 206" % src, all(st == 206 for st, _ in ranges), ranges)
    check("%s: from all over the file" % src, any(at > size * 0.9 for _, at in ranges) and
          any(size * 0.3 < at < size * 0.7 for _, at in ranges), (size, ranges))


def notes(s, b):
    for second in 0, 1, 299, 598, 599:
        b.value("heard = '', note(%d, %d).then(x => heard = x, e => heard = 'failed ' + e)" % (second, RATE))
        wait(b, "heard != ''")
        at = 44 + second * RATE * 2
        want = "206 bytes %d-%d" % (at, at + RATE * 2 - 1)
        heard = b.value("heard") or ""
        count = int(heard.split()[-1]) if heard.split()[-1:] and heard.split()[-1].isdigit() else -9
        check("the note of second %d" % second, heard.startswith(want) and
              abs(count - tone_of(second)) <= 1, (heard, want, tone_of(second)))


def main():
    begun = time.monotonic()

    def so_far(what):
        if os.environ.get("SLUICE_TEST_TIMES"):
            print("%s: %.1f s" % (what, time.monotonic() - begun))
    if not browser.program():
        print("needs chromium")
        sys.exit(77)
    s = Server()
    write_sound(s.path("html/tone.wav"))
    film = shutil.which("ffmpeg") is not None and write_film(s.path("html/film.webm"))
    s.conf("  log_format: {ranges: '$uri $status \"$http_range\"'}\n"
           "  access_log: logs/access.log ranges flush=100ms\n"
           "  server: {listen: '127.0.0.1:%d', root: html}\n" % s.port)
    s.must_start()
    so_far("the media")
    b = browser.Browser()
    so_far("the browser")
    try:
        one(s, b, "audio", "tone.wav")
        so_far("playing")
        notes(s, b)
        so_far("notes")
        if film:
            one(s, b, "video", "film.webm")
    finally:
        b.close()
    check("stops", s.stop() == 0)
    check("no alarm", not s.alarms(), "\n".join(s.alarms()[:9]))
    finish()


if __name__ == "__main__":
    main()
