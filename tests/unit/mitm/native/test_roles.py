"""What the parts of a native connection know of each other: faultwire.mitm.native.roles."""

from __future__ import annotations

from inspect import getmembers, isfunction
from typing import TYPE_CHECKING

import pytest

from faultwire.mitm.native import exchange, layer, roles, upstream

if TYPE_CHECKING:
    from .conftest import Rig  # noqa: TID252


@pytest.mark.parametrize(
    ("role", "part"),
    [
        (roles.Exchange, exchange.NativeExchange),
        (roles.ServerSide, upstream.Upstream),
        (roles.ClientSide, layer.NativeLayer),
    ],
)
def test_each_part_does_what_its_role_says(role: type, part: type) -> None:
    wanted = [name for name, _ in getmembers(role, isfunction) if not name.startswith("_")]
    assert wanted
    assert [name for name in wanted if not callable(getattr(part, name, None))] == []


def test_a_layer_has_what_its_parts_read(rig: Rig) -> None:
    assert [name for name in roles.ClientSide.__annotations__ if not hasattr(rig.layer, name)] == []
