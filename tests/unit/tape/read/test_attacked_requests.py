"""faultwire.tape.read.attacked_requests: what the ledger's hash covers besides the ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from faultwire.events import Exchange, FaultFired, Message, Request, Response
from faultwire.tape.read.attacked_requests import is_attack
from faultwire.tape.read.fault_ledger import ledger_hash
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

LINE = FaultFired("memory_poisoning", "memory_poisoning", "request", "fired", "because", "k", 0, 0)
SECRET = "sk-proj-Zq3vT8mKx1Rw5Yb7Nc2Hd9Lf4Pj6Gs0Aa8Ee"
Add = tuple[Request, Request | None, tuple[FaultFired, ...]]
Tape = Callable[..., tuple[str, str]]


def chat(text: str) -> Request:
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    head = (("content-type", "application/json"),)
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", head, body)


@pytest.fixture
def hashes(tmp_path: Path) -> Tape:
    """A tape of these exchanges (request, as it went on, ledger): its hash, and that of its lines alone."""
    made = iter(range(100))

    def hashed(*exchanges: Add, key: bytes = b"k" * 32) -> tuple[str, str]:
        path = tmp_path / f"{next(made)}.tape"
        writer = TapeWriter.create(path, origin="p/t", settings={}, key=key)
        writer.open_session("s", profile="", profile_digest="", seed=1, agent="")
        for number, (request, sent, lines) in enumerate(exchanges, 1):
            recording = writer.record(Exchange("s", number, request, kind="llm", key="k"))
            recording.request(request)
            if sent is not None:
                recording.forwarded(sent)
            recording.upstream_head(Response(200))
            recording.end("complete", None, lines)
        writer.close_session("s")
        writer.close()
        with TapeReader.open(path) as reader:
            return reader.ledger_hash(), ledger_hash(reader.ledger())

    return hashed


def test_runs_that_delivered_something_else_have_other_hashes(hashes: Tape) -> None:
    runs = [
        hashes((chat("a"), chat("poison a"), (LINE,)), (chat("b"), None, ())),
        hashes((chat("b"), chat("poison b"), (LINE,)), (chat("a"), None, ())),
        hashes((chat("a"), chat("poison a"), (LINE,)), (chat("b"), chat("poison b"), ())),
    ]
    assert len({lines for _, lines in runs}) == 1, "the control: the lines do not tell them apart"
    assert len({whole for whole, _ in runs}) == 3


def test_the_order_in_which_it_was_delivered_does_not_count(hashes: Tape) -> None:
    one = (chat("a"), chat("poison a"), (LINE,))
    later = (chat("b"), chat("poison b"), (replace(LINE, outcome="reapplied"),))
    assert hashes(one, later) == hashes(later, one)


@pytest.mark.parametrize(
    "line",
    [
        replace(LINE, outcome="skipped"),
        replace(LINE, outcome="inapplicable"),
        replace(LINE, fault="tool_error", site="response"),
        replace(LINE, fault="status", site="response"),
    ],
)
def test_without_an_attack_the_hash_is_that_of_the_lines(line: FaultFired, hashes: Tape) -> None:
    assert not is_attack(line)
    whole, lines = hashes((chat("a"), chat("changed"), (line,)))
    assert whole == lines


def test_a_request_that_went_on_as_it_was_does_not_count(hashes: Tape) -> None:
    unpacked = replace(chat("a"), headers=(*chat("a").headers, ("accept-encoding", "identity")))
    whole, lines = hashes((chat("a"), unpacked, (LINE,)))
    assert whole == lines


@pytest.mark.parametrize("fault", ["indirect_injection", "tool_error", "tool_stale"])
def test_a_changed_tool_result_counts(fault: str) -> None:
    assert is_attack(replace(LINE, fault=fault, site="result"))


def test_the_key_of_the_project_does_not_count(hashes: Tape) -> None:
    said = f"my key is {SECRET}"
    one, other = (hashes((chat(said), chat(f"poison {said}"), (LINE,)), key=k * 32) for k in (b"k", b"j"))
    assert one == other
    assert one[0] != one[1]


def test_a_message_that_an_attack_changed_counts(tmp_path: Path) -> None:
    def run(path: Path, *messages: Message) -> str:
        writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
        writer.open_session("s", profile="", profile_digest="", seed=1, agent="")
        recording = writer.record(Exchange("s", 1, chat("a"), kind="llm", key="k"))
        recording.request(chat("a"))
        for message in messages:
            recording.message(message)
        recording.end("complete", None, (LINE,))
        writer.close_session("s")
        writer.close()
        with TapeReader.open(path) as reader:
            return reader.ledger_hash()

    said = Message("client", "text", b'{"say":"hi"}', 1, 2)
    poison = Message("client", "text", b'{"say":"poison"}', None, 2)
    calm = run(tmp_path / "a.tape", said)
    assert calm == run(tmp_path / "b.tape", said, replace(said, data=b'{"say":"more"}'))
    assert calm != run(tmp_path / "c.tape", said, poison)
