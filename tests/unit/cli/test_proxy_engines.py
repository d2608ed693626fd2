from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from faultwire.cli._proxy_engines import LostEngines, count_of
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.engine.pool import EnginePool


def test_as_many_as_asked_for() -> None:
    assert [count_of(one, {}) for one in (1, 2, 64)] == [1, 2, 64]
    assert count_of("auto", {}) >= 1


@pytest.mark.parametrize("option", ["replay", "ui", "redirected", "control_sessions"])
def test_what_needs_one_engine_is_refused_beside_several(option: str) -> None:
    assert count_of(1, {option: True}) == 1
    with pytest.raises(UsageError) as caught:
        count_of(2, {option: True})
    assert caught.value.code == "usage.engines"
    assert f"--{option.replace('_', '-')}" in caught.value.message


def test_a_tunnel_belongs_to_one_engine() -> None:
    with pytest.raises(UsageError, match="--capture tun or wireguard"):
        count_of(2, {"packets": object()})


def run_of(*codes: int | None) -> Any:
    engines: Any = [SimpleNamespace(exit_code=code, stats=dict) for code in codes]
    return SimpleNamespace(engines=EnginePool(engines), engine=engines[0])


def test_each_lost_engine_is_said_once() -> None:
    lost = LostEngines(run_of(None, -9, None))
    (line,) = lost.look()
    assert line.startswith("WARNING: engine 2 of 3 ended with code `-9`: ")
    assert lost.look() == []
    assert LostEngines(run_of(None, None)).look() == []


def test_a_proxy_without_an_engine_ends() -> None:
    with pytest.raises(FaultwireError) as caught:
        LostEngines(run_of(-9, 1)).look()
    assert caught.value.code == "engine.lost"
