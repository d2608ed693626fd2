import json
from types import MappingProxyType

import pytest

from faultwire.checks._registry import make
from faultwire.contract.cells import Cell, Invocation, Prompt, Scenario
from faultwire.contract.matrix import Matrix, judge
from faultwire.events import AgentResult, Delivery, FaultFired, History, Recorded, Request, Verdict
from faultwire.faults._api import Fault
from faultwire.profile.entry_model import Entry
from faultwire.profile.model import Profile
from faultwire.report.document import Subject, document

SSE = (("content-type", "text/event-stream"),)
JSON = (("content-type", "application/json"), ("x-request-id", "req_1"))


class Cut(Fault):
    name = "cut_stream"
    site = "stream"
    after_events: int = 2


CUT = Entry(id="cut_stream", fault=Cut())


def spoken(words):
    """A stream of the chat completions API."""
    return stream(words, shape=lambda word: {"choices": [{"index": 0, "delta": {"content": word}}]})


def stream(words, *, first=0, shape=lambda word: {"text": word}):
    events = [f"data: {json.dumps(shape(word))}\n\n".encode() for word in words]
    ends, position = [], 0
    for i, event in enumerate(events):
        position += len(event)
        ends.append((position, (first + 5 * i) * 1_000_000))
    return Delivery(200, "OK", SSE, b"".join(events), tuple(ends))


def fired(**changes):
    line = {
        "fault": "cut_stream",
        "id": "cut_stream",
        "site": "stream",
        "outcome": "fired",
        "reason": "call 1 matches",
        "key": "k",
        "n": 0,
        "attempt": 0,
        "effect": "cut after event 2",
        "settings": {"after_events": 2},
    }
    return FaultFired(**{**line, **changes})


def recorded(number, session, **changes):
    body = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "17 * 23?"}]}'
    said = Delivery(200, "OK", JSON, b'{"choices": []}')
    values = {
        "session": session,
        "number": number,
        "kind": "llm",
        "protocol": "openai_chat",
        "provider": "openai",
        "tool": None,
        "upstream": said,
        "delivered": said,
        "ending": "complete",
        "error": None,
        "attempt": 0,
        "request": Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, body),
        "started_ms": 1000 + 40 * number,
        "duration_ms": 30.0,
        "faults": (),
    }
    return Recorded(**{**values, **changes})


def play(
    answer_calm="17 times 23 is 391, and that is all.",
    answer_cut="17 times",
    prompt="What is 17 * 23?",
    redact=lambda text: text,
    about=MappingProxyType({}),
    before=None,
    trend=(),
    forwarded=MappingProxyType({}),
    decisions=(),
    **agent,
):
    """A report document of one calm and one broken invocation, judged by real checks."""
    calm = Scenario("calm", Profile(name="calm"))
    chaos = Scenario("stream_chaos", Profile(name="stream_chaos", entries=(CUT,)))
    asked = Prompt("p1", prompt)
    checks = (
        make("completes", {"severity": "critical"}),
        make("contains", {"id": "says_391", "value": "391", "severity": "high"}),
        make("no_retry_storm", {}),
    )
    said, got = spoken(["17", " times", " 23", " is", " 391", "."]), spoken(["17", " times"])
    whole = History(
        "calm/p1/r1",
        (recorded(1, "calm/p1/r1"), recorded(2, "calm/p1/r1", upstream=said, delivered=said)),
        AgentResult(answer_calm, 0, 0.61),
    )
    cut = History(
        "stream_chaos/p1/r1",
        (
            recorded(1, "stream_chaos/p1/r1"),
            recorded(
                2,
                "stream_chaos/p1/r1",
                upstream=said,
                delivered=got,
                ending="cut",
                duration_ms=60.0,
                faults=(
                    fired(),
                    fired(id="slow_tokens", fault="slow_tokens", outcome="skipped", effect=None),
                ),
            ),
        ),
        AgentResult(answer_cut, 0, 0.58, **agent),
    )
    played = ((Invocation(calm, asked), whole), (Invocation(chaos, asked), cut))
    named = {
        "id": "20261121T220000Z-00aa",
        "command": "demo",
        "agent": "python agent.py {prompt}",
        "seed": 42,
        "concurrency": 4,
        "started_at": "2026-11-21T22:00:00+00:00",
        "duration_s": 3.4,
        "ledger": "ab" * 32,
        "tapes": ("run.tape",),
    }
    subject = Subject(**{**named, **about})
    given = {
        "redact": redact,
        "before": before,
        "trend": trend,
        "forwarded": forwarded,
        "decisions": decisions,
    }
    return document(subject, (calm, chaos), (asked,), checks, judge(checks, played), played, **given)


def matrix(*rows):
    """A matrix of rows `scenario, prompt, repeat, invariant, verdict`; only `calm` has no faults."""
    cells = []
    for name, prompt, repeat, invariant, verdict in rows:
        profile = Profile(name=name, entries=() if name == "calm" else (CUT,))
        invocation = Invocation(Scenario(name, profile), Prompt(prompt, f"text of {prompt}"), repeat)
        cells.append(Cell(invariant, "high", invocation, Verdict(verdict, f"{invariant} says {verdict}")))
    return Matrix(tuple(cells))


@pytest.fixture
def make_document():
    return play


@pytest.fixture
def make_recorded():
    return recorded


@pytest.fixture
def make_stream():
    return stream


@pytest.fixture
def make_fired():
    return fired


@pytest.fixture
def make_matrix():
    return matrix
