"""An agent that calls one URL through the proxy, and holds connections of its own meanwhile.

`past.py URL [tcp:HOST:PORT | udp:HOST:PORT]...`; a UDP socket says nothing, it is only connected.
"""

from __future__ import annotations

import socket
import sys
import urllib.request

held = []
for wanted in sys.argv[2:]:
    kind, host, port = wanted.split(":")
    sock = socket.socket(type=socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    sock.connect((host, int(port)))
    held.append(sock)
with urllib.request.urlopen(sys.argv[1]) as answer:
    print(answer.read().decode())
