"""What faults do to the frames of a client's connection: `faultwire.mitm.compat.http2_faults`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h2.events
import pytest
from mitmproxy.proxy import commands, events

from faultwire.mitm.compat import http2_faults
from faultwire.profile.inline import inline

_SPEC = importlib.util.spec_from_file_location("http2_play", Path(__file__).with_name("test_http2.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_PLAY: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_PLAY)
stage = _PLAY.stage
REFUSED = 7


def play(fault: str) -> Any:
    """A client, our layer and a server; the client's frames that say GOAWAY or RST_STREAM are kept."""
    made = _PLAY.Play(profile=inline(fault))
    made.said = []
    receive = made.client.receive

    def kept(data: bytes) -> None:
        at = 0
        while at < len(data):
            size, kind = int.from_bytes(data[at : at + 3], "big"), data[at + 3]
            stream = int.from_bytes(data[at + 5 : at + 9], "big")
            body = data[at + 9 : at + 9 + size]
            if kind == 7:
                last, code = (int.from_bytes(body[part : part + 4], "big") for part in (0, 4))
                made.said.append(("goaway", last, code))
            elif kind == 3:
                made.said.append(("reset", stream, int.from_bytes(body, "big")))
            at += 9 + size
        if not any(what == "goaway" for what, _, _ in made.said):  # h2 takes nothing more after one
            receive(data)

    made.client.receive = kept
    return made


def test_a_refused_call_is_beyond_the_last_stream_and_the_connection_ends() -> None:
    made = play("goaway: {on: {path: '/1'}}")
    made.ask()
    assert made.said == [("goaway", 0, 0)]
    assert made.client.closed
    assert (made.servers, made.gateway.live, made.session.voids) == ([], 0, [])


def test_calls_under_way_are_answered_and_later_ones_are_refused() -> None:
    made = play("goaway: {code: ENHANCE_YOUR_CALM, on: {path: '/3'}}")
    first, _met, late = made.ask(), made.ask(), made.ask()
    assert made.said == [("goaway", 1, 11), ("reset", late, REFUSED)]
    assert not made.client.closed
    made.answer(first, b"all")
    assert made.client.closed
    assert (made.session.exchanges, made.session.voids) == (2, []), "what was refused is no exchange"


def test_a_call_that_is_answered_is_below_the_last_stream() -> None:
    made = play("goaway: {answered: true, on: {path: '/1'}}")
    stream = made.ask()
    assert made.said == [("goaway", stream, 0)]
    assert not made.client.closed
    made.answer(stream, b"all")
    assert made.client.closed


@pytest.mark.parametrize(("code", "number"), [("REFUSED_STREAM", 7), ("CANCEL", 8), ("INTERNAL_ERROR", 2)])
def test_a_stream_is_reset_with_its_code_and_no_other_is(code: str, number: int) -> None:
    made = play(f"rst_stream: {{code: {code}, on: {{path: '/3'}}}}")
    first, met = made.ask(), made.ask()
    assert made.said == [("reset", met, number)]
    made.answer(first, b"all")
    assert made.client.bodies[first] == b"all"
    assert not made.client.closed


class Layer:
    """Who decided that bodies stand still, for two seconds."""

    def __init__(self, seconds: float | None = 2.0) -> None:
        self.seconds, self.stood = seconds, 0

    def stall_s(self) -> float | None:
        return self.seconds

    def body_stalled(self) -> None:
        self.stood += 1


def faults(layer: Layer) -> tuple[http2_faults.StreamFaults, Any]:
    """The faults of a connection, and its frames as far as they are asked for."""
    opened: list[int] = []
    withheld: dict[int, int] = {}

    def read_on(stream: int) -> None:
        opened.append(withheld.pop(stream, 0))

    settings = SimpleNamespace(initial_window_size=2**31 - 1, acknowledge=lambda: None)
    frames = SimpleNamespace(
        local_settings=settings, withheld=withheld, opened=opened, read_on=read_on,
        withhold=lambda stream: withheld.setdefault(stream, 0),
    )  # fmt: skip
    server: Any = SimpleNamespace(h2_conn=frames, is_closed=lambda stream: False)
    return http2_faults.StreamFaults(server, layer), frames


def asked(stream: int) -> h2.events.RequestReceived:
    event = h2.events.RequestReceived()
    event.stream_id, event.stream_ended = stream, None
    return event


def came(stream: int, size: int) -> h2.events.DataReceived:
    event = h2.events.DataReceived()
    event.stream_id, event.flow_controlled_length, event.stream_ended = stream, size, None
    return event


def ended(kind: type[Any], stream: int) -> Any:
    event = kind()
    event.stream_id = stream
    return event


def test_a_full_window_is_opened_after_its_time() -> None:
    layer = Layer()
    made, frames = faults(layer)
    assert frames.local_settings.initial_window_size == http2_faults.FULL
    assert made.watch(asked(1)) is None
    assert made.watch(came(1, 65_534)) is None
    frames.withheld[1] = 65_534
    wakes = made.watch(came(1, 1))
    assert isinstance(wakes, commands.RequestWakeup)
    assert wakes.delay == 2.0
    assert (layer.stood, frames.opened) == (0, [])
    frames.withheld[1] = http2_faults.FULL
    assert made.takes(events.Wakeup(wakes))
    assert (layer.stood, frames.opened) == (1, [http2_faults.FULL])


@pytest.mark.parametrize(
    ("how", "stood"), [(h2.events.StreamEnded, 0), (h2.events.StreamReset, 1), ("closed", 1)]
)
def test_it_stood_still_only_where_more_was_to_come(how: Any, stood: int) -> None:
    layer = Layer()
    made, _ = faults(layer)
    made.watch(asked(1))
    assert made.watch(came(1, http2_faults.FULL)) is not None
    if how == "closed":
        assert not made.takes(events.ConnectionClosed(None))  # type: ignore[arg-type]
    else:
        made.watch(ended(how, 1))
    assert layer.stood == stood


def test_without_the_fault_every_window_is_as_wide_as_ever() -> None:
    made, frames = faults(Layer(None))
    assert made.watch(asked(1)) is None
    assert made.watch(came(1, http2_faults.FULL)) is None
    assert (frames.local_settings.initial_window_size, frames.withheld) == (2**31 - 1, {})
