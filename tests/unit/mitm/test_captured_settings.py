"""What an engine is told of traffic that no client addressed to it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.mitm.captured_settings import NamespaceSettings, PacketSettings


def test_a_namespace_gives_all_its_descriptors() -> None:
    made = NamespaceSettings(session="exec", listeners=(3, 4), dns=(5,), refusals=(6,))
    assert made.descriptors == (3, 4, 5, 6)


def test_packets_come_by_a_tunnel_or_an_interface_and_by_nothing_else() -> None:
    with pytest.raises(ValidationError):
        PacketSettings(session="exec", kind="tap")
    with pytest.raises(ValidationError):
        PacketSettings(session="exec", kind="tun", other=1)
