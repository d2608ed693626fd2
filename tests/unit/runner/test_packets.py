"""What the engine, the command and the user are told of a tunnel or an interface."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import psutil
import pytest

from faultwire.capture.wireguard import keys_in, public
from faultwire.runner.packets import (
    PacketOptions,
    endpoints,
    engine_settings,
    instructions,
    packet_environment,
)

TUNNEL = PacketOptions("exec", "wireguard", listen=("127.0.0.1", 51820), relays=("localhost:22",))
INTERFACE = PacketOptions("exec", "tun", device="fw0")


def test_the_engine_gets_our_private_key_and_the_device_s_public_one(tmp_path: Path) -> None:
    made = engine_settings(TUNNEL, tmp_path)
    keys = keys_in(tmp_path)
    assert (made.private_key, made.peer_key) == (keys.ours, public(keys.device))
    assert made.listen == ("127.0.0.1", 51820)
    assert made.relays == ("localhost:22", "127.0.0.1:22", "::1:22")
    assert "Endpoint = 127.0.0.1:51820\n" in (tmp_path / "wireguard.conf").read_text()


def test_an_interface_needs_no_keys(tmp_path: Path) -> None:
    made = engine_settings(INTERFACE, tmp_path)
    assert (made.device, made.private_key) == ("fw0", "")
    assert not list(tmp_path.iterdir())


def test_a_tunnel_that_listens_everywhere_is_reached_at_an_address_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = psutil.net_if_addrs()
    found = endpoints("0.0.0.0", 51820)
    own = {one.address.partition("%")[0] for given in real.values() for one in given}
    for place in found:
        host = place.rpartition(":")[0].strip("[]")
        assert host in own or host == "127.0.0.1"
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: {"lo": real.get("lo", [])})
    assert endpoints("0.0.0.0", 5) == ["127.0.0.1:5"], "no other is there"
    assert endpoints("2001:db8::7", 5) == ["[2001:db8::7]:5"]
    assert all(ipaddress.ip_address(one.rpartition(":")[0].strip("[]")) for one in found)


def test_the_command_and_the_user_learn_where_it_is(tmp_path: Path) -> None:
    given = packet_environment(TUNNEL, tmp_path)
    assert given == {"FAULTWIRE_WIREGUARD_CONF": str(tmp_path / "wireguard.conf")}
    assert packet_environment(INTERFACE, tmp_path) == {"FAULTWIRE_TUN": "fw0"}
    (line,) = instructions(TUNNEL, tmp_path / "authority.pem")
    assert str(tmp_path / "wireguard.conf") in line
    assert str(tmp_path / "authority.pem") in line
    first, second = instructions(INTERFACE, tmp_path / "authority.pem")
    assert "ip route add default dev fw0 table 7301" in first
    assert "unreachable default" in first, "so that nothing gets out once the interface is gone"
    assert str(tmp_path / "authority.pem") in second
