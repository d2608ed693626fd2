"""Messages to the kernel: what `ip` sends, byte for byte where it matters; answers that are none."""

from __future__ import annotations

import socket
import struct

import pytest

from faultwire.capture.netns import rtnetlink


def test_a_link_is_set_up_and_nothing_else_about_it_changes() -> None:
    ((kind, body),) = rtnetlink.messages(rtnetlink.link_up(7))
    family, _, index, flags, mask = struct.unpack("=BxHiII", body)
    assert (kind, family, index, flags, mask) == (16, 0, 7, 1, 1)


@pytest.mark.parametrize(("family", "scope"), [(socket.AF_INET, 254), (socket.AF_INET6, 0)])
def test_every_address_is_local(family: int, scope: int) -> None:
    ((kind, body),) = rtnetlink.messages(rtnetlink.local_default(family, 1))
    values = struct.unpack("=BBBBBBBBI", body[:12])
    assert kind == 24
    assert values == (family, 0, 0, 0, 255, 3, scope, 2, 0)
    assert struct.unpack("=HHI", body[12:]) == (8, 4, 1)


def link(name: str) -> bytes:
    data = name.encode() + b"\0"
    attribute = struct.pack("=HH", 4 + len(data), 3) + data + b"\0" * (-len(data) % 4)
    return struct.pack("=BxHiII", 0, 0, 1, 0, 0) + struct.pack("=HHI", 8, 1, 5) + attribute


def message(kind: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 1, 0) + body


class Route:
    """What the kernel answers, one part after the other."""

    def __init__(self, *answers: bytes) -> None:
        self.answers, self.sent = list(answers), b""

    def send(self, data: bytes) -> None:
        self.sent += data

    def recv(self, _room: int) -> bytes:
        return self.answers.pop(0)


def test_all_interfaces_are_named() -> None:
    route = Route(message(16, link("lo")) + message(16, link("eth0")), message(3, b"\0" * 4))
    assert rtnetlink.links(route) == ("eth0", "lo")  # type: ignore[arg-type]


def test_a_refusal_has_the_reason_of_the_kernel() -> None:
    with pytest.raises(PermissionError):
        rtnetlink.ask(Route(message(2, struct.pack("=i", -1))), b"x")  # type: ignore[arg-type]
    rtnetlink.ask(Route(message(2, struct.pack("=i", 0))), b"x")  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [b"\x10", struct.pack("=IHHII", 8, 16, 0, 1, 0), message(16, b"")[:-2]])
def test_what_is_cut_short_is_no_answer(data: bytes) -> None:
    with pytest.raises(OSError, match="netlink"):
        list(rtnetlink.messages(data))
