"""The driver of one exchange: faultwire.mitm.flow.driver. What its parts do is in test_stream."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mitmproxy.proxy import events
from mitmproxy.proxy.layers.http import _events

from faultwire.mitm import compat
from faultwire.mitm.flow.driver import ExchangeDriver
from faultwire.mitm.flow.stream_state import RequestPhase


def driver(**state: Any) -> ExchangeDriver:
    gateway = SimpleNamespace(replays=None, failed=lambda *found: noted.append(found))
    made: Any = SimpleNamespace(gateway=gateway, begun=False, pause=None, recorded=None, **state)
    nothing: Any = tuple
    return ExchangeDriver(made, finish=nothing, killed=nothing, upgrade=nothing)


noted: list[tuple[object, ...]] = []


def test_every_event_of_an_exchange_has_a_handler() -> None:
    wanted = {
        kind
        for name, kind in vars(_events).items()
        if isinstance(kind, type) and name.startswith(("Request", "Response"))
    }
    ours = {compat.Unanswered, compat.Unprocessed}
    assert set(driver().handlers) == wanted | ours | {events.Wakeup}


def test_a_failure_of_ours_is_noted_and_ends_what_the_client_gets() -> None:
    flow = SimpleNamespace(client_conn="client")
    made = driver(head_sent=True, request=RequestPhase.DONE, flow=flow)
    hung: list[str] = []
    writer: Any = SimpleNamespace(hang_up=lambda ending, error: hung.append(ending) or ())
    made.writer = writer

    def fails(event: object) -> Any:
        raise RuntimeError("told to")

    made.handlers[events.Wakeup] = fails
    noted.clear()
    assert list(made.handle(events.Wakeup(None))) == []  # type: ignore[arg-type]

    def halfway() -> Any:
        yield "first"
        raise RuntimeError("told to")

    assert list(made.guarded(halfway())) == ["first"]
    assert hung == ["refused", "refused"]
    assert [found[3] for found in noted] == [None, None], "a client that has its head is sent nothing else"
