"""What a tunnel or an interface is refused for, and whose an address is. (With packets: `tests/e2e`.)"""

from __future__ import annotations

from typing import Any, cast

import pytest

from faultwire.errors import UsageError
from faultwire.mitm.captured_settings import PacketSettings
from faultwire.mitm.engine.packets import PacketServer, plain_address


class Acceptor:
    """Nothing comes to it here."""


def server(**settings: Any) -> PacketServer:
    return PacketServer(PacketSettings(session="exec", **settings), cast("Any", []), cast("Any", Acceptor()))


def test_an_address_is_the_name_for_which_it_stands() -> None:
    made = server(kind="tun", device="fw0")
    made._names.addresses("api.example")
    assert made.host("198.18.0.1") == "api.example"
    assert made.host("203.0.113.7") == "203.0.113.7"
    assert made.host("fe80::1%eth0") == "fe80::1"
    assert plain_address("2001:DB8::1") == "2001:db8::1"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"kind": "wireguard", "listen": ("127.0.0.1", 51820), "private_key": "x"}, "engine.port"),
        ({"kind": "tun", "device": "a/b"}, "engine.tun"),
    ],
)
def test_what_cannot_be_had_is_named_without_a_trace_of_the_stack(settings: Any, code: str) -> None:
    import asyncio

    with pytest.raises(UsageError) as raised:
        asyncio.run(server(**settings).start())
    assert raised.value.code == code
    assert "\n" not in raised.value.message
    assert "x" not in raised.value.message.split()
    assert raised.value.hint


def test_it_is_named_in_the_summary_as_what_it_is() -> None:
    assert PacketSettings(session="s", kind="wireguard").name == "the WireGuard tunnel"
    assert PacketSettings(session="s", kind="tun", device="fw0").name == "the interface `fw0`"
    assert "secret" not in repr(PacketSettings(session="s", kind="wireguard", private_key="secret"))
