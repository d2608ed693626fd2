"""A network of its own: an address that is none of this machine's loopback, and servers at it.

Started in a fresh network namespace, in which nothing leads anywhere else. Prints `ready`, and lasts as long
as its standard input is open.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAR = "203.0.113.5"
"""Of a block that is kept for documentation (RFC 5737)."""
SLOW_S = 1.0


class Slow(BaseHTTPRequestHandler):
    """A place that takes its time to answer, as models do."""

    def do_GET(self) -> None:
        threading.Event().wait(SLOW_S)
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def main() -> None:
    for command in ("link set lo up", f"address add {FAR}/32 dev lo"):
        subprocess.run(["ip", *command.split()], check=True)
    for port in (80, 443):
        server = ThreadingHTTPServer((FAR, port), Slow)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
