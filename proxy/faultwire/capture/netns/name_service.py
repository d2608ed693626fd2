"""How the system looks names up: for the command, by asking our name server and nobody else.

A resolver that is reached over a Unix socket (systemd-resolved, nscd) is outside the namespace, and would ask
the world; search domains would turn `api.example.com` into another name that we have an address for, too.
Pure: texts in, texts out.
"""

from __future__ import annotations

import os

RESOLV_CONF = "# for one command, by faultwire\nnameserver 127.0.0.1\nsearch .\noptions ndots:1\n"
RESOLV_PATH, NSSWITCH_PATH = "/etc/resolv.conf", "/etc/nsswitch.conf"
KEPT = ("files", "myhostname", "dns")
"""Services of the `hosts` line that ask nobody outside (`nsswitch.conf(5)`)."""
SOCKETS = ("/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve")


def nsswitch(text: str) -> str:
    """The file with a `hosts` line that looks into files, and asks by DNS."""
    lines = []
    for line in text.splitlines():
        if line.partition("#")[0].partition(":")[0].strip() == "hosts":
            services = [word for word in line.partition("#")[0].partition(":")[2].split() if word in KEPT]
            line = f"hosts: {' '.join(services if 'dns' in services else [*services, 'dns'])}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def covered_sockets() -> list[str]:
    """The sockets of resolvers outside that are there."""
    return list(dict.fromkeys(os.path.realpath(path) for path in SOCKETS if os.path.exists(path)))
