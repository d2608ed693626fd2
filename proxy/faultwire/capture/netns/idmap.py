"""Which users a new user namespace knows (`user_namespaces(7)`): everybody under the same number as outside.

Root may map all users that it has itself; anybody else only itself. As the numbers are the same, a program
is who it was, and files belong to whom they did.
"""

from __future__ import annotations

import os
from pathlib import Path


def identity(own: str) -> str:
    """The whole of a namespace's own map (`/proc/self/uid_map`) for a namespace below it."""
    firsts = [line.split() for line in own.splitlines() if len(line.split()) == 3]
    return "".join(f"{inside} {inside} {count}\n" for inside, _, count in firsts)


def single(number: int) -> str:
    """A map with one user, or one group."""
    return f"{number} {number} 1\n"


def write(pid: int) -> None:
    """Write the maps of a process that has unshared its user namespace. Raises OSError."""
    proc = Path("/proc")
    if os.geteuid() == 0:
        for name in ("uid_map", "gid_map"):
            (proc / str(pid) / name).write_text(identity((proc / "self" / name).read_text()))
        return
    (proc / str(pid) / "uid_map").write_text(single(os.geteuid()))
    # Nobody may leave a group that shuts him out of something (CVE-2014-8989).
    (proc / str(pid) / "setgroups").write_text("deny")
    (proc / str(pid) / "gid_map").write_text(single(os.getegid()))
