"""Spans of calls as they end: one for each logical call, its attempts and faults as events."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.schemas import Schemas
from tests.unit.workbench.conftest import CUT, Deck, asked

from faultwire.tape.export.spans import SCHEMA, spans
from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.live_spans import RETRY_S, Calls, LiveSpans, call_span


@pytest.fixture
def tape(deck: Deck) -> Path:
    deck.exchange()
    deck.exchange(asked("again"), b'{"error":{"message":"busy"}}', status=503, key="k1", faults=(CUT,))
    deck.exchange(asked("again"), attempt=1, key="k1")
    return deck.close()


@pytest.fixture
def exchanges(tape: Path):
    with TapeReader.open(tape) as reader:
        return reader.info().origin, [replace(one) for one in reader.exchanges("s")]


def test_a_call_that_is_tried_again_is_one_span_with_both_attempts(exchanges) -> None:
    origin, (one, first, second) = exchanges
    calls = Calls(origin)
    (alone,) = calls.take(one, 0)
    assert alone.attributes["faultwire.attempts"] == 1
    assert calls.take(first, 1) == []
    (span,) = calls.take(second, 2)
    assert [name for name, _ in span.events] == ["faultwire.attempt", "faultwire.fault", "faultwire.attempt"]
    assert [about.get("http.response.status_code") for _, about in span.events] == [503, None, 200]
    assert span.attributes["faultwire.attempts"] == 2
    assert span.error is None
    assert span.start_ns == first.started_ms * 1_000_000
    assert span.instants[-1] == second.started_ms * 1_000_000
    assert calls.due(1e9) == []


def test_a_call_that_failed_and_is_not_tried_again_is_sent_as_an_error(exchanges) -> None:
    origin, (_, first, _) = exchanges
    calls = Calls(origin)
    calls.take(first, 1)
    assert calls.due(1 + RETRY_S - 0.1) == []
    (span,) = calls.due(1 + RETRY_S)
    assert span.error == "503"


def test_ids_are_those_that_an_export_of_the_tape_has(exchanges, tape: Path) -> None:
    origin, (one, *_) = exchanges
    exported = {span.id: span for span in spans(tape)}
    span = call_span(origin, [one])
    assert exported[span.id].trace == span.trace
    assert span.parent in exported


def test_names_are_those_of_the_conventions_that_are_named(exchanges) -> None:
    origin, (one, *_) = exchanges
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI")}
    used = {name for name in call_span(origin, [one]).attributes if name.startswith("gen_ai.")}
    assert used
    assert used <= known
    assert SCHEMA in {one.value for one in Schemas}


def test_no_text_of_a_conversation_is_in_a_span(exchanges) -> None:
    origin, recorded = exchanges
    words = [
        text
        for span in (call_span(origin, [one]) for one in recorded)
        for text in re.findall(r"'([^']*)'", str((span.name, span.attributes, span.events)))
    ]
    assert "gpt-4o-mini" in words
    for text in ("again", "391"):
        assert not [word for word in words if text in word]


def test_an_endpoint_that_is_not_there_is_counted_and_holds_nothing_up(exchanges, tape: Path) -> None:
    counted: dict[str, int] = {}

    def told(count: int, outcome: str) -> None:
        counted[outcome] = counted.get(outcome, 0) + count

    live = LiveSpans(tape, "http://127.0.0.1:9", told)
    live._export.close()
    sent: list[int] = []

    class Refuses:
        def __call__(self, batch) -> bool:
            sent.append(len(batch))
            return False

        def close(self) -> None:
            pass

    live._export = Refuses()
    live.start()
    for one in exchanges[1]:
        live.take(one, {})
    live.close()
    assert counted == {"refused": 3}  # two calls, and their session
    assert sent == [3]
