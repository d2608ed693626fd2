"""What of an engine's settings its gateway keeps to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwire.mitm.engine.configured_gateway import gateway_of
from faultwire.mitm.flow.recorded_exchange import RecordedExchange
from faultwire.mitm.settings import EngineSettings


def made(tmp_path: Path, **more: Any) -> Any:
    return gateway_of(EngineSettings(run_dir=tmp_path, ca_dir=tmp_path / "ca", **more), None, None, 8080)


def test_limits_and_places_are_those_of_the_settings(tmp_path: Path) -> None:
    gateway = made(
        tmp_path, first_byte_s=3, idle_body_s=4, idle_request_s=5, handshake_s=6, per_source=7,
        max_exchanges=8, head_timeout_s=9,
    )  # fmt: skip
    assert gateway.response_limits == (3, 4)
    assert (gateway.idle_request_s, gateway.handshake_s, gateway.sources.limit) == (5, 6, 7)
    assert (gateway._max, gateway.head_timeout_s) == (8, 9)
    assert (gateway.guard.listeners, gateway.guard.family) == ({8080}, 4)
    assert gateway.guard.shims == tmp_path / "shims"


def test_the_guard_knows_the_version_of_ip_in_which_it_listens(tmp_path: Path) -> None:
    assert made(tmp_path, listen="[::1]:0").guard.family == 6


@pytest.mark.parametrize(
    ("listen", "auth", "guarded"),
    [("127.0.0.1:0", True, set()), ("0.0.0.0:0", True, {8080}), ("0.0.0.0:0", False, set())],
)
def test_a_token_is_needed_where_others_can_connect(
    tmp_path: Path, listen: str, auth: bool, guarded: set[int]
) -> None:
    gateway = made(tmp_path, listen=listen, auth=auth)
    assert gateway.access.guarded == guarded
    assert gateway.access.check is auth


def test_exchanges_are_plain_until_somebody_controls(tmp_path: Path) -> None:
    assert made(tmp_path).new_exchange is RecordedExchange
