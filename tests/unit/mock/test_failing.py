"""faultwire.mock.failing and faultwire.mock.matching: scripts of failures, for every provider."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.mock.conversations import ask, chat, heard, messages
from tests.unit.mock.test_gemini_grpc import call, contents

from faultwire.errors import ScenarioError
from faultwire.mock._api import Answer, Break
from faultwire.mock.answering import Answerer
from faultwire.mock.failing import Failing, FailureSpec
from faultwire.mock.matching import Match
from faultwire.mock.script import parse
from faultwire.wire.framing import grpc_status


def failing(text: str) -> Answerer:
    script = parse(text, "s.yaml")
    return Answerer(script, failing=Failing(script.failures))


ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", chat("hi")),
    "responses": ("/v1/responses", {"model": "m", "input": "hi"}),
    "completions": ("/v1/completions", {"model": "m", "prompt": "hi"}),
    "anthropic": ("/v1/messages", messages("hi")),
    "gemini": ("/v1beta/models/m:generateContent", contents("hi")),
    "interactions": ("/v1beta/interactions", {"model": "m", "input": "hi"}),
    "ollama": ("/api/chat", {**chat("hi"), "stream": False}),
    "cohere": ("/v2/chat", chat("hi")),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_first_calls_fail_and_the_next_ones_do_not(name: str) -> None:
    answerer = failing("failures: [{first: 2, error: {status: 503, message: busy}}]")
    path, body = ASKED[name]
    answers = [ask(path, body, answerer, x_goog_api_key="k") for _ in range(4)]
    assert [answer.status for answer in answers] == [503, 503, 200, 200]
    assert b"busy" in answers[0].body
    assert answers[2] == answers[3]


def test_over_grpc_a_failure_is_a_status() -> None:
    answerer = failing("failures: [{calls: [2], error: {status: 429, retry_after_s: 3}}]")
    asked, _ = call(contents("hi"))
    told = [grpc_status.status_of((*a.headers, *a.trailers)) for a in (answerer(asked), answerer(asked))]
    assert [status and status[0] for status in told] == [0, 8]
    stream, _ = call(contents("hi"), "StreamGenerateContent")
    broken = failing("failures: [{breaks: {after_events: 1, how: error}}]")(stream)
    assert broken.events is not None
    assert b"".join(broken.events[1:]) == b""
    assert (grpc_status.status_of(broken.trailers) or (0,))[0] == 13


@pytest.mark.parametrize(
    ("how", "hits"),
    [({"first": 2}, [1, 2]), ({"every": 3}, [3, 6]), ({"calls": (2, 5)}, [2, 5]), ({}, [1, 2, 3, 4, 5, 6])],
)
def test_calls_are_counted(how: dict[str, Any], hits: list[int]) -> None:
    spec = FailureSpec.model_validate({**how, "breaks": {}})
    failures = Failing([spec])
    assert [n for n in range(1, 7) if failures.next(heard("hi")) is spec] == hits


def test_only_what_matches_counts_and_the_first_that_hits_wins() -> None:
    one = FailureSpec.model_validate(
        {"match": {"last_user": "*rain*"}, "calls": [2], "error": {"status": 500}}
    )
    two = FailureSpec.model_validate({"every": 2, "breaks": {"how": "hang"}})
    failures = Failing([one, two])
    found = [failures.next(heard(text)) for text in ("rain", "sun", "more rain", "sun")]
    assert found == [None, two, one, two]


def test_a_whole_answer_breaks_before_its_first_byte() -> None:
    answerer = failing("failures: [{breaks: {after_events: 3, how: reset}}]")
    answer = ask("/v1/chat/completions", chat("hi"), answerer)
    assert answer.breaks == Break(3, "reset")
    told = failing("failures: [{breaks: {how: error}}]")
    assert ask("/v1/chat/completions", chat("hi"), told).status == 500
    assert Answer(200, ()).breaks is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("failures: [{first: 1}]", "expected one"),
        ("failures: [{error: {status: 500}, breaks: {}}]", "expected one"),
        ("failures: [{first: 1, every: 2, breaks: {}}]", "at most one"),
        ("failures: [{error: {status: 200}}]", "400"),
        ("failures: [{breaks: {how: explode}}]", "cut"),
        ("jitter: 2\nturns: []", "1"),
        ("{}", "turns"),
    ],
)
def test_mistakes_are_reported(text: str, told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse(text, "s.yaml")
    said = " ".join(str(error) for error in (caught.value, *caught.value.also))
    assert told in said, said


def test_a_match_without_keys_fits_everything() -> None:
    assert Match().fits(heard("hi"))
    assert not Match(model="gpt-*").fits(heard("hi"))
    assert not Match(last_tool="*").fits(heard("hi"))
