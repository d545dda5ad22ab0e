# SPDX-License-Identifier: BSD-2-Clause
"""alone.py SCRIPT ARG...: runs a Python script in a network of its own, with the loopback up."""
import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1

libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(CLONE_NEWNET) != 0:
    sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
os.execv(sys.executable, [sys.executable] + sys.argv[1:])
