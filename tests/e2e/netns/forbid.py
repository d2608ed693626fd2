"""Runs a program in which a system call fails: `forbid.py unshare|ipv6 CMD…` (seccomp, x86-64).

`unshare` fails as in a container whose policy forbids it (EPERM), IPv6 sockets as in a kernel without it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
import sys

UNSHARE, SOCKET = 272, 41
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


def instructions(what: str) -> list[tuple[int, int, int, int]]:
    number, code = (UNSHARE, errno.EPERM) if what == "unshare" else (SOCKET, errno.EAFNOSUPPORT)
    load, equal, give = 0x20, 0x15, 0x06
    if what == "unshare":
        return [(load, 0, 0, 0), (equal, 0, 1, number), (give, 0, 0, ERRNO | code), (give, 0, 0, ALLOW)]
    return [
        (load, 0, 0, 0),
        (equal, 0, 3, number),
        (load, 0, 0, 16),  # the first argument: the address family
        (equal, 0, 1, socket.AF_INET6),
        (give, 0, 0, ERRNO | code),
        (give, 0, 0, ALLOW),
    ]


def main() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    program = instructions(sys.argv[1])
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in program))
    whole = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, FILTER, whole, 0, 0) != 0:
        sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
