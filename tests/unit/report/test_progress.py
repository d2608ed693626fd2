import io
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.events import AgentResult, Delivery, History
from faultwire.profile.model import Profile
from faultwire.report.progress import Progress, progress
from faultwire.wire.transcript.prices import builtin

USAGE = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500}


class Clock:
    """A clock that goes on as it is told."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def one(make_recorded, make_fired):
    """An invocation of an agent that asked a model once, under a fault that fired."""
    invocation = Invocation(Scenario("chaos", Profile(name="chaos")), Prompt("p1", "?"))
    message = {"index": 0, "message": {"role": "assistant", "content": "391"}, "finish_reason": "stop"}
    told = {"object": "chat.completion", "model": "gpt-4o-mini", "choices": [message], "usage": USAGE}
    said = Delivery(200, "OK", (("content-type", "application/json"),), json.dumps(told).encode())
    exchange = make_recorded(1, "s", upstream=said, delivered=said, faults=(make_fired(),))

    def make(**changes):
        return invocation, History("s", (exchange,), AgentResult("391", 0, 1.0), **changes)

    return make


def test_a_count_of_tokens_that_is_not_whole_is_a_least_one(one, clock):
    shown = Progress(2, None, clock)
    invocation, history = one()
    shown.played(invocation, history)
    assert "1.5k tokens" in shown.words()
    (exchange,) = history.exchanges
    told = json.loads(exchange.upstream.body)
    del told["usage"]
    said = replace(exchange.upstream, body=json.dumps(told).encode())
    silent = replace(exchange, upstream=said, delivered=said)
    shown.played(invocation, replace(history, exchanges=(silent,)))
    assert "at least 1.5k tokens" in shown.words()


def test_a_failed_call_leaves_a_count_whole(one, clock):
    shown = Progress(2, None, clock)
    invocation, history = one()
    (exchange,) = history.exchanges
    said = Delivery(503, "", (("content-type", "application/json"),), b'{"error": {}}')
    refused = replace(exchange, number=2, upstream=said, delivered=said)
    shown.played(invocation, replace(history, exchanges=(exchange, refused)))
    assert "1.5k tokens" in shown.words()


def test_it_counts_what_is_done_fired_spent_and_judged(one, clock, make_matrix):
    shown = Progress(4, None, clock)
    clock.now += 10
    shown.played(*one())
    shown.played(*one(voids=("the engine ended",)))
    shown.judged(make_matrix(("calm", "p1", 1, "a", "pass"), ("calm", "p1", 1, "b", "fail")).cells)
    assert shown.words() == (
        "2 of 4 invocations",
        "cells so far 1 pass, 1 fail, 0 unknown",
        "2 faults fired",
        "1 inconclusive",
        "3.0k tokens",
        f"$0.0009 (prices of {builtin().as_of})",
        "about 10 s left",
    )


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ("0", "$0.0000"),
        ("0.000015", "under $0.0001"),
        ("0.0001", "$0.0001"),
        ("0.99", "$0.9900"),
        ("1234.5", "$1,234.50"),
    ],
)
def test_a_cost_is_not_shown_as_nothing(clock, cost, words):
    shown = Progress(1, None, clock)
    shown.cost, shown.price_days = Decimal(cost), {"2026-11-23"}
    assert f"{words} (prices of 2026-11-23)" in shown.words()


def test_unknown_figures_are_left_out(clock):
    assert Progress(4, None, clock).words() == ("0 of 4 invocations", "0 faults fired")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.1, "1 s"), (50, "50 s"), (200, "3 min 20 s"), (2000, "33 min"), (7500, "2 h 05 min")],
)
def test_how_long_the_rest_takes(one, clock, seconds, words):
    shown = Progress(4, None, clock)
    clock.now += seconds
    shown.played(*one())
    assert shown.left_s() is None  # one is no measure
    shown.played(*one())
    assert shown.words()[-1] == f"about {words} left"
    shown.played(*one())
    shown.played(*one())
    assert shown.left_s() is None


def test_more_to_do_takes_longer(one, clock):
    shown = Progress(3, None, clock)
    clock.now += 10
    shown.played(*one())
    shown.played(*one())
    assert shown.left_s() == 5
    shown.more(2)
    assert (shown.total, shown.left_s()) == (5, 15)


def test_plain_lines_are_few(one, clock):
    stream = io.StringIO()
    with progress(200, stream, live=False, now=clock) as shown:
        for _ in range(200):
            shown.played(*one())
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("  20 of 200 invocations · 20 faults fired")
    assert lines[-1].startswith("  200 of 200 invocations · 200 faults fired")


def test_a_slow_run_prints_progress(one, clock):
    stream = io.StringIO()
    with progress(5, stream, live=False, now=clock) as shown:
        for _ in range(4):
            clock.now += 6
            shown.played(*one())
    assert [line.split(" inv")[0] for line in stream.getvalue().splitlines()] == ["  2 of 5", "  4 of 5"]


def test_a_stream_without_unicode_gets_none(one, clock):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    with progress(1, stream, live=False, now=clock) as shown:
        shown.played(*one())
    assert raw.getvalue().startswith(b"  1 of 1 invocation - 1 fault fired")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_on_a_terminal_it_is_drawn_and_taken_away(one, clock, encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    with progress(2, stream, live=True, now=clock) as shown:
        shown.played(*one())
        shown.played(*one())
    stream.flush()
    drawn = raw.getvalue().decode(encoding)
    assert "2 of 2 invocations" in drawn
    assert "2 faults fired" in drawn
    assert drawn.endswith("\x1b[2K") or "\x1b[1A" in drawn  # what was drawn last is erased
    assert "\x1b[?25h" in drawn  # and the cursor is back


def test_a_cost_that_is_not_known_is_said_to_be(clock):
    shown = Progress(1, None, clock)
    assert "cost unknown" not in shown.words()
    shown.unpriced = 2
    assert "cost unknown" in shown.words()
    shown.price_days, shown.cost = {"2026-11-23"}, Decimal(1)
    assert "$1.00 + 2 unknown (prices of 2026-11-23)" in shown.words()
