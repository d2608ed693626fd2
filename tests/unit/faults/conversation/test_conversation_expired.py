from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import FaultFired, Request, Response
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import parse

JSON = (("content-type", "application/json"),)
Answer = tuple[Response | None, FaultFired | None]
Send = Callable[..., Answer]
GEMINI = ("generativelanguage.googleapis.com", "/v1beta/models/m:generateContent")
ASKED = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@pytest.fixture
def session() -> Callable[..., Send]:
    """Sends requests to one session at instants of its clock: what the fault answers, and its line."""

    def make(settings: dict[str, Any] | None = None, **more: Any) -> Send:
        entry = {"conversation_expired": settings, "on": {"kind": "llm"}, **more}
        profile = parse(json.dumps({"faults": [entry]}), "p.yaml")
        clock = [0.0]
        context = SessionContext("s", profile, Dice(1, "s"), SessionState(), lambda: clock[0], 0.0)

        def send(at_s: float, *where: str, **document: Any) -> Answer:
            clock[0] = at_s
            host, path = where or ("api.openai.com", "/v1/responses")
            beside = {"model": "m", "input": "hi"} if not where else {}
            pipeline = ExchangePipeline(context, Request("POST", "https", host, 443, path, JSON))
            answer = pipeline.request(json.dumps({**beside, **document}).encode()).answer
            lines = pipeline.over()
            return answer, lines[0] if lines else None

        return send

    return make


def error(answer: Response | None) -> dict[str, Any]:
    assert answer is not None
    return json.loads(answer.body or b"")["error"]


def test_an_earlier_answer_is_not_found_as_openai_says_it(session):
    answer, line = session()(0, previous_response_id="resp_1")
    assert answer.status == 400
    assert error(answer) == {
        "message": "Previous response with id 'resp_1' not found.", "type": "invalid_request_error",
        "param": "previous_response_id", "code": "previous_response_not_found",
    }  # fmt: skip
    assert dict(answer.headers)["content-length"] == str(len(answer.body))
    assert line.effect == "`previous_response_id` expired"


@pytest.mark.parametrize("value", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_is_not_found(session, value):
    answer, _ = session()(0, conversation=value)
    assert answer.status == 404
    assert error(answer)["message"] == "Conversation with id 'conv_1' not found."
    assert error(answer)["code"] is None


def test_a_cache_of_gemini_is_not_found(session):
    answer, _ = session()(0, *GEMINI, cachedContent="cachedContents/1", **ASKED)
    assert answer.status == 403
    assert error(answer) == {
        "code": 403, "status": "PERMISSION_DENIED",
        "message": "CachedContent not found (or permission denied)",
    }  # fmt: skip


def test_a_request_that_names_nothing_passes(session):
    for request in ((0,), (0, *GEMINI)):
        answer, line = session()(*request, **(ASKED if len(request) > 1 else {}))
        assert answer is None
        assert line.reason == "the request names nothing that the provider keeps"


def test_what_has_expired_stays_so_and_another_name_lives(session):
    send = session(trigger={"max_times": 1})
    assert send(0, previous_response_id="resp_1")[0] is not None
    answer, line = send(1, previous_response_id="resp_1", input="again")
    assert answer is not None
    assert line.effect == "`previous_response_id` had expired before"
    answer, line = send(2, previous_response_id="resp_2", input="anew")
    assert (answer, line.outcome) == (None, "skipped")


def test_only_after_the_pause(session):
    send = session({"idle_s": 5})
    assert send(0)[0] is None
    assert send(4.9, previous_response_id="resp_1")[0] is None, "the control: not long enough"
    answer, line = send(9.9, previous_response_id="resp_1")
    assert answer is not None
    assert line.effect == "`previous_response_id` expired 5.0 s after the last call"
    assert send(10, previous_response_id="resp_1")[0] is not None, "gone is gone"
    assert send(11, previous_response_id="resp_2")[0] is None


def test_the_first_call_of_a_session_has_no_pause_before_it(session):
    assert session({"idle_s": 5})(60, previous_response_id="resp_1")[0] is None


def test_calls_on_which_it_does_not_fire_end_a_pause_too(session):
    send = session({"idle_s": 5}, trigger={"after_calls": 2})
    assert [send(at, previous_response_id="resp_1")[0] for at in (0, 4, 8)] == [None] * 3
    assert send(20, previous_response_id="resp_1")[0] is not None
