# SPDX-License-Identifier: BSD-2-Clause
"""Chromium without a window, driven over the DevTools protocol by a pair of pipes: opens a page,
waits until it is quiet, and tells what was loaded and what failed."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--disable-extensions", "--disable-audio-output",
         "--autoplay-policy=no-user-gesture-required", "--remote-debugging-pipe"]


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="sluice-browser.")
        to_read, self.w = os.pipe()
        self.r, to_write = os.pipe()

        def plumb():  # the protocol wants fds 3 and 4
            os.setsid()
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)
            for fd in (3, 4):
                os.set_inheritable(fd, True)

        env = dict(os.environ, HOME=self.home)
        self.process = subprocess.Popen([program()] + FLAGS + ["--user-data-dir=" + self.home + "/data"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=plumb,
                                        env=env)
        os.close(to_read)
        os.close(to_write)
        self.buf = b""
        self.serial = 0
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Network", "Page", "Runtime", "Log":
            self.call(domain + ".enable")

    def message(self, seconds):
        """The next message, or None."""
        end = time.monotonic() + seconds
        while b"\0" not in self.buf:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.r], [], [], left)[0]:
                return None
            more = os.read(self.r, 1 << 20)
            if not more:
                raise EOFError("the browser has gone")
            self.buf += more
        text, self.buf = self.buf.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.serial += 1
        request = {"id": self.serial, "method": method, "params": params}
        if not method.startswith("Target."):
            request["sessionId"] = self.session
        os.write(self.w, json.dumps(request).encode() + b"\0")
        while True:
            m = self.message(60)
            if m is None:
                raise TimeoutError(method)
            if m.get("id") == self.serial:
                if "error" in m:
                    raise RuntimeError("%s: %s" % (method, m["error"]))
                return m["result"]
            self.events.append(m)

    def open(self, url, ready="true", seconds=60):
        """(document text, {url: status}, [what failed]); waits for load, quiet and `ready` (script)."""
        self.events = []
        self.call("Network.setCacheDisabled", cacheDisabled=True)
        self.call("Page.navigate", url=url)
        loaded, failed, urls, open_ones = {}, [], {}, set()
        end, quiet_since, fired = time.monotonic() + seconds, time.monotonic(), False
        while time.monotonic() < end:
            m = self.events.pop(0) if self.events else self.message(0.3)
            if m is None:
                if fired and not open_ones and time.monotonic() - quiet_since > 0.3 and self.true(ready):
                    break
                continue
            p, name = m.get("params", {}), m.get("method", "")
            if name == "Network.requestWillBeSent":
                urls[p["requestId"]] = p["request"]["url"]
                open_ones.add(p["requestId"])
                if "redirectResponse" in p:
                    loaded[p["redirectResponse"]["url"]] = p["redirectResponse"]["status"]
            elif name == "Network.responseReceived":
                loaded[p["response"]["url"]] = p["response"]["status"]
            elif name == "Network.loadingFinished":
                open_ones.discard(p["requestId"])
            elif name == "Network.loadingFailed":
                open_ones.discard(p["requestId"])
                failed.append("%s: %s" % (urls.get(p["requestId"], "?"), p["errorText"]))
            elif name == "Page.loadEventFired":
                fired = True
            elif name == "Runtime.exceptionThrown":
                failed.append("script: %s" % p["exceptionDetails"].get("text"))
            if name.startswith("Network.") or name.startswith("Page."):
                quiet_since = time.monotonic()
        else:
            failed.append("not loaded within %d s (open: %s)" % (seconds, [urls[i] for i in open_ones]))
        failed += ["%s: %d" % (u, s) for u, s in loaded.items() if s >= 400]
        text = self.value("document.documentElement.outerHTML")
        return text, loaded, failed

    def value(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def true(self, script):
        return self.value("!!(%s)" % script)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        self.process.wait()
        for fd in self.r, self.w:
            os.close(fd)
        for _ in range(20):
            shutil.rmtree(self.home, ignore_errors=True)
            if not os.path.exists(self.home):
                break
            time.sleep(0.1)
