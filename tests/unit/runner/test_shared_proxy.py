from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from faultwire.errors import FaultwireError
from faultwire.mitm.engine.drain_settings import DrainSettings
from faultwire.mitm.engine.named_sessions import let_clients_name
from faultwire.mitm.engine.pool import EnginePool
from faultwire.mitm.sessions.sessions import Sessions
from faultwire.mitm.settings import ClientsSettings
from faultwire.runner.shared_proxy import SharedProxy


def run_of(*codes: int | None) -> Any:
    """A run of engines, of which each has a session."""
    engines: Any = [
        SimpleNamespace(exit_code=code, stats=lambda number=number: {"sessions": [f"s{number}"], "live": 2})
        for number, code in enumerate(codes)
    ]
    closed = lambda name: SimpleNamespace(name=name)  # noqa: E731
    return SimpleNamespace(engines=EnginePool(engines), close_session=closed)


def test_every_session_of_every_engine_is_closed() -> None:
    shared = SharedProxy(run_of(None, None), None)
    assert shared.live == 4
    assert [one.name for one in shared.close()] == ["s0", "s1"]
    assert shared.voids == []


def test_a_lost_engine_ends_the_run_with_its_reason() -> None:
    with pytest.raises(FaultwireError) as caught:
        SharedProxy(run_of(None, -9), None).close()
    assert caught.value.code == "engine.lost"


def test_clients_that_were_turned_away_are_counted() -> None:
    spreader: Any = SimpleNamespace(turned_away=2)
    assert SharedProxy(run_of(None), spreader).voids == [
        "2 connections of sessions whose engine was drained got a 503"
    ]


def test_a_session_has_the_seed_of_the_proxy_and_a_path_of_its_own() -> None:
    opened: list[Any] = []
    clients = ClientsSettings(user="s1", token="0" * 16, profile={"name": "calm"}, seed=7)
    settings: Any = SimpleNamespace(clients=clients, implicit=None, handed=None)

    def opening(about: Any, *names: str, path: str = "") -> Any:
        opened.append((about.name, about.seed, *names, path))
        return SimpleNamespace(closing=False)

    sessions = Sessions()
    assert let_clients_name(settings, sessions, opening, print) is None
    assert sessions.by_user(("s1.billing", "0" * 16)) is not None
    assert sessions.by_user(("s1.billing", "1" * 16)) is None
    assert opened == [("billing", 7, "s1.billing", "0" * 16, f"{'0' * 16}.billing")]


def test_a_drain_has_a_minute_unless_said_otherwise() -> None:
    assert DrainSettings().within_s == 60.0
