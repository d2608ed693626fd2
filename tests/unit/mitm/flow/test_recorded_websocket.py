"""What a WebSocket's ends say and get, as the tape is told."""

from __future__ import annotations

from typing import Any

from faultwire.dice import Dice
from faultwire.events import Action, Cut, Message, Request, Response, Send, Wait
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.recorded_websocket import RecordedWebSocket
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile

UPGRADE = Request("GET", "https", "socket.test", 443, "/ws", (("upgrade", "websocket"),))
SWITCH = Response(101, "Switching Protocols", (("upgrade", "websocket"),))


class Tape:
    """A recording whose clock ticks with every look at it."""

    def __init__(self) -> None:
        self.at = 0
        self.told: list[Message] = []

    def now(self) -> int:
        self.at += 1
        return self.at

    def message(self, message: Message) -> None:
        self.told.append(message)


def websocket(fault: str = "") -> tuple[RecordedWebSocket, Tape]:
    profile = inline(fault[:-1] + ", on: {path: '*'}}") if fault else Profile(name="calm")
    pipeline = ExchangePipeline(SessionContext("s", profile, Dice(1, "s"), SessionState()), UPGRADE)
    pipeline.request(b"")
    pipeline.head(SWITCH)
    tape: Any = Tape()
    return RecordedWebSocket(pipeline, tape), tape


def say(made: RecordedWebSocket, data: bytes, by: Any = "server") -> list[Action]:
    return list(made.message(made.received(by, data, text=True)))


def fates(tape: Tape) -> list[tuple[str, bytes, bool, bool]]:
    return [(m.by, m.data, m.sent_ns is not None, m.delivered_ns is not None) for m in tape.told]


def test_what_passes_is_said_and_delivered() -> None:
    made, tape = websocket()
    made.passed("client", b"a", text=False)
    assert tape.told == [Message("client", "binary", b"a", 1, 1)]


def test_what_is_delayed_has_both_instants() -> None:
    made, tape = websocket("slow_first_token: {ms: 5}")
    assert say(made, b"a") == [Wait(0.005), Send(b"a", "client", True)]
    assert tape.told == [Message("server", "text", b"a", 1, 2)]


def test_what_is_lost_was_said_and_what_is_doubled_was_said_once() -> None:
    made, tape = websocket("drop_event: {at: 1}")
    assert say(made, b"a") == []
    assert fates(tape) == [("server", b"a", True, False)]
    made, tape = websocket("duplicate_event: {at: 1}")
    say(made, b"a")
    assert fates(tape) == [("server", b"a", True, True), ("server", b"a", False, True)]


def test_what_was_changed_is_two_messages() -> None:
    made, tape = websocket("malformed_event: {at: 1}")
    say(made, b"abcd")
    assert fates(tape) == [("server", b"ab", False, True), ("server", b"abcd", True, False)]


def test_fragments_are_one_message() -> None:
    made, tape = websocket("split_events: {piece_bytes: 3}")
    assert len(say(made, b"abcdefgh")) == 3
    assert fates(tape) == [("server", b"abcdefgh", True, True)]


def test_what_is_on_its_way_at_the_end_was_not_delivered() -> None:
    made, tape = websocket("stall: {after_events: 0}")
    waiting = made.message(made.received("server", b"a", text=True))
    assert next(waiting) == Wait(None)
    made.received("server", b"b", text=True)
    made.close()
    made.close()
    assert fates(tape) == [("server", b"a", True, False), ("server", b"b", True, False)]


def test_what_a_cut_stopped_was_said() -> None:
    made, tape = websocket("cut_stream: {after_events: 0}")
    assert say(made, b"a") == [Cut(clean=False)]
    assert fates(tape) == [("server", b"a", True, False)]


def test_what_is_held_back_leaves_at_the_end() -> None:
    made, tape = websocket("reorder_events: {at: 1}")
    assert say(made, b"a") == []
    assert list(made.finish()) == [Send(b"a", "client", True)]
    assert fates(tape) == [("server", b"a", True, False), ("server", b"a", False, True)]


def test_a_close_is_reported_with_its_code() -> None:
    made, tape = websocket()
    made.ended("server", 1011, "ż", sent=False)
    assert tape.told == [Message("server", "close", "ż".encode(), None, 1, 1011)]


def test_without_a_tape_nothing_is_reported() -> None:
    made, _ = websocket()
    silent = RecordedWebSocket(made._passage, None)
    silent.passed("client", b"a", text=True)
    assert say(silent, b"a") == [Send(b"a", "client", True)]
    silent.ended("client", 1000, "")
    silent.close()
