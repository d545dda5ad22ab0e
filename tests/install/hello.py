# SPDX-License-Identifier: BSD-2-Clause
"""hello.py SLUICE FOLDER: a sluice with the example module of HACKING.md answers by it."""
import os
import socket
import subprocess
import sys
import time
import urllib.request

sluice, folder = sys.argv[1:]
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
with open(f"{folder}/hello.yaml", "w", encoding="ascii") as f:
    f.write(f"""
daemon: off
worker_processes: 1
pid: {folder}/hello.pid
error_log: stderr
http:
  access_log: off
  server:
    listen: 127.0.0.1:{port}
    location:
      /: {{hello: world}}
""")
server = subprocess.Popen([sluice, "-p", folder, "-c", f"{folder}/hello.yaml"], stdin=subprocess.DEVNULL)
try:
    for _ in range(200):
        if os.path.exists(f"{folder}/hello.pid") or server.poll() is not None:
            break
        time.sleep(0.05)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
        body = answer.read()
    assert body == b"hello, world\n", body
    build = subprocess.run([sluice, "-V"], capture_output=True, text=True, check=True).stdout
    assert " hello" in next(line for line in build.splitlines() if line.startswith("modules:")), build
finally:
    server.terminate()
    status = server.wait(20)
assert status == 0, status
