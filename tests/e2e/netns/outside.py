"""The network outside of a command's namespace: an address that stands for every server, and who came there.

Started in fresh network and mount namespaces. `FAR` is the only address that leads anywhere. Each line on
standard input is answered by one of JSON: how many SYN packets for `FAR` were seen on the interface, and the
names (SNI) in the TLS that was begun there. Ends with its standard input.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading

FAR = "203.0.113.5"
"""Of a block that is kept for documentation (RFC 5737)."""
HELD_S = 0.6
"""Seconds for which a connection is held, so that one who looks now and then sees it."""

SEEN: dict[str, int] = {}
SYNS = [0]


def sni(hello: bytes) -> str:
    """The name in a ClientHello (RFC 8446 §4.1.2, RFC 6066 §3); empty where there is none."""
    at = 5 + 4 + 2 + 32
    at += 1 + hello[at]
    at += 2 + int.from_bytes(hello[at : at + 2])
    at += 1 + hello[at]
    end = at + 2 + int.from_bytes(hello[at : at + 2])
    at += 2
    while at + 4 <= end:
        kind, size = int.from_bytes(hello[at : at + 2]), int.from_bytes(hello[at + 2 : at + 4])
        if kind == 0:
            return hello[at + 9 : at + 4 + size].decode("ascii")
        at += 4 + size
    return ""


def held(one: socket.socket) -> None:
    with one:
        one.settimeout(5)
        try:
            hello = one.recv(16384)
        except OSError:
            return
        if hello[:1] == b"\x16":
            name = sni(hello)
            SEEN[name] = SEEN.get(name, 0) + 1
        threading.Event().wait(HELD_S)


def serve(server: socket.socket) -> None:
    while True:
        one, _ = server.accept()
        threading.Thread(target=held, args=(one,), daemon=True).start()


def count(packets: socket.socket) -> None:
    far = socket.inet_aton(FAR)
    while True:
        packet = packets.recv(128)
        head = (packet[0] & 0xF) * 4
        if packet[9] == 6 and packet[16:20] == far and packet[head + 13] & 0x12 == 0x02:
            SYNS[0] += 1


def let_others_read(installed: str) -> None:
    """A Python in somebody's home can be run by that one alone: here it can by all."""
    home = os.path.expanduser("~")
    if not os.path.realpath(installed).startswith(home + "/") or os.stat(home).st_mode & 0o005 == 0o005:
        return
    aside = "/mnt"
    run("mount", "--bind", home, aside)
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", home)
    for name in (".pyenv", ".cache", ".cargo", ".rustup"):
        if os.path.isdir(f"{aside}/{name}"):
            os.mkdir(f"{home}/{name}")
            run("mount", "--bind", f"{aside}/{name}", f"{home}/{name}")
    run("umount", aside)


def run(*command: str) -> None:
    subprocess.run(command, check=True)


def main() -> None:
    run("mount", "--make-rprivate", "/")
    run("ip", "link", "set", "lo", "up")
    run("ip", "address", "add", f"{FAR}/32", "dev", "lo")
    let_others_read(sys.base_prefix)
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    packets.bind(("lo", 0x0800))
    threading.Thread(target=count, args=(packets,), daemon=True).start()
    for port in (80, 443):
        server = socket.create_server((FAR, port), backlog=64)
        threading.Thread(target=serve, args=(server,), daemon=True).start()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(json.dumps({"syns": SYNS[0], "names": SEEN}), flush=True)


if __name__ == "__main__":
    main()
