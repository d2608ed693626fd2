"""faultwire.mock.pace, and that the server keeps to it, on a clock that only goes on when all wait."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from tests.unit.mock.conversations import ask, chat
from tests.unit.mock.test_server import EVENTS, GET, Wire

from faultwire.mock._api import Answer
from faultwire.mock.answering import Answerer
from faultwire.mock.pace import Pace
from faultwire.mock.script import parse
from faultwire.mock.server import MockServer, _Connection


class VirtualLoop(asyncio.SelectorEventLoop):
    """Waiting takes no time: its clock jumps to the next instant for which something is planned."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        waiting = self._selector.select  # type: ignore[attr-defined]

        def select(timeout: float | None = None) -> Any:
            self._now += timeout or 0.0
            return waiting(0)

        self._selector.select = select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._now


def virtually(work: Coroutine[Any, Any, Any]) -> Any:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


class Timed(Wire):
    """A transport that notes when it is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.at: list[float] = []

    def write(self, data: Any) -> None:
        super().write(data)
        self.at.append(round(asyncio.get_running_loop().time() * 1000, 3))


def test_without_jitter_all_pauses_are_alike() -> None:
    assert Pace(200, 10).pauses("c", 4) == (200, 10, 10, 10)
    assert Pace(0, 10, tokens_per_s=50).pauses("c", 3) == (0, 20, 20)
    assert Pace().pauses("c", 0) == ()
    assert (Pace(1, 2).varies, Pace(tokens_per_s=5).varies, Pace(jitter=0.1).varies) == (False, True, True)


def test_jitter_stays_within_its_share_and_is_the_same_for_the_same_question() -> None:
    pace = Pace(500, tokens_per_s=100, jitter=0.3, seed=7)
    first, *rest = pace.pauses("a question", 400)
    assert 350 <= first <= 650
    assert all(7 <= pause <= 13 for pause in rest)
    assert max(rest) - min(rest) > 5, "they do differ"
    assert 9.5 < sum(rest) / len(rest) < 10.5, "and are as long as wanted on average"
    assert pace.pauses("a question", 400) == (first, *rest)
    assert pace.pauses("another one", 400) != (first, *rest)
    assert Pace(500, tokens_per_s=100, jitter=0.3, seed=8).pauses("a question", 400) != (first, *rest)
    assert pace.pauses("a question", 3) == (first, *rest[:2]), "a pause does not depend on those after it"


def test_the_server_keeps_to_the_pauses() -> None:
    async def work() -> list[float]:
        answer = Answer(200, (), b"", EVENTS, pauses=(300, 20, 5.5))
        connection, wire = _Connection(MockServer(lambda _: answer), "http"), Timed()
        connection.connection_made(wire)
        connection.data_received(GET % 1)
        await asyncio.sleep(3600)
        return wire.at

    assert virtually(work()) == [0, 300, 320, 325.5, 325.5]


@pytest.mark.parametrize("how", ["cut", "reset", "hang", "error"])
def test_a_stream_breaks_where_its_script_says(how: str) -> None:
    script = parse(f"failures: [{{breaks: {{after_events: 2, how: {how}}}}}]", "s.yaml")
    from faultwire.mock.failing import Failing

    answerer = Answerer(script, failing=Failing(script.failures))
    answer = ask("/v1/chat/completions", chat("hello there", stream=True), answerer)
    assert answer.events is not None
    if how == "error":
        assert len(answer.events) == 3
        assert b'"error"' in answer.events[2]
        assert answer.breaks is None
        return
    assert answer.breaks is not None

    async def work() -> tuple[int, bool]:
        connection, wire = _Connection(MockServer(lambda _: answer), "http"), Timed()
        connection.connection_made(wire)
        connection.data_received(GET % 1)
        await asyncio.sleep(3600)
        connection.connection_lost(None)
        return len(wire.writes), wire.closed

    assert virtually(work()) == (3, how != "hang")


def test_the_script_goes_before_what_the_server_was_started_with() -> None:
    started = Pace(0, 0, tokens_per_s=1000, jitter=0.0)
    asked = chat("hello there", stream=True)
    answer = ask("/v1/chat/completions", asked, Answerer(None, 7, 0, pace=started))
    assert (answer.pause_ms(0), answer.pause_ms(1)) == (7, 1)
    script = parse("{turns: [{reply: {text: a b c}}], tokens_per_s: 10, first_event_delay_ms: 5}", "s.yaml")
    answer = ask("/v1/chat/completions", asked, Answerer(script, 7, 0, pace=started))
    assert (answer.pause_ms(0), answer.pause_ms(1)) == (5, 100)
    script = parse("{turns: [{reply: {text: a b c, chunk_delay_ms: 3}}], tokens_per_s: 10}", "s.yaml")
    answer = ask("/v1/chat/completions", asked, Answerer(script, 0, 0, pace=started))
    assert answer.pause_ms(1) == 3
