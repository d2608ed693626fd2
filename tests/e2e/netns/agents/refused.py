"""Connects again and again and writes down what came of it, one line each: `refused.py FILE HOST`.

With `leave` it goes on in a process of its own that nobody ends, for some seconds.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time

FOR_S = 60.0


def attempts(file: str, host: str) -> None:
    ends = time.monotonic() + FOR_S
    with open(file, "a", buffering=1) as log:
        while time.monotonic() < ends:
            try:
                with socket.create_connection((host, 443), 3) as one:
                    one.sendall(b"\x16")
                    log.write("connected\n")
            except OSError as error:
                log.write(f"{type(error).__name__}\n")
            time.sleep(0.01)


if __name__ == "__main__":
    if sys.argv[3:] == ["leave"]:
        if os.fork():
            time.sleep(FOR_S)
            sys.exit(0)
        os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # there is a moment between that and the end
    attempts(sys.argv[1], sys.argv[2])
