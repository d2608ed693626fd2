"""faultwire.exchange.websocket_requests.

A client's messages through a pipeline, with real protocols and faults, no socket.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.wire.sockets import REALTIME, TEXT, call_item, message_item, response, upgrade

from faultwire import wire
from faultwire.dice import Dice
from faultwire.errors import WireError
from faultwire.events import Action, FaultFired, RequestView, Response, Send, ToolResult, Wait
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import PlantedCanary, SessionState, Subject
from faultwire.exchange.stage import ExchangeState
from faultwire.exchange.websocket_requests import WebSocketRequestRewriter
from faultwire.profile.load import inline, merge, parse
from faultwire.wire.types import Rewrite

OPEN = Response(101, "Switching Protocols", (("Upgrade", "websocket"), ("Connection", "Upgrade")))
RESULT = json.dumps(
    {"type": "conversation.item.create",
     "item": {"type": "function_call_output", "call_id": "call_1", "output": '{"temp": 21}'}}
).encode()  # fmt: skip
HELLO = json.dumps(
    {"type": "conversation.item.create",
     "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}}
).encode()  # fmt: skip


def opened(*faults: str, profile: str | None = None, request: Any = REALTIME) -> ExchangePipeline:
    made = parse(profile, "test.yaml") if profile else merge([inline(text) for text in faults])
    pipeline = ExchangePipeline(SessionContext("s", made, Dice(1, "s"), SessionState()), request)
    departure = pipeline.request(b"" if pipeline.needs_request_body else None)
    assert departure.answer is None
    assert pipeline.head(OPEN) == OPEN
    return pipeline


def said(pipeline: ExchangePipeline, data: bytes, by: Any = "client") -> list[Action]:
    return list(pipeline.message(data, text=True, by=by))


def answered(pipeline: ExchangePipeline, events: list[bytes]) -> list[bytes]:
    out = [action for event in events for action in said(pipeline, event, "server")]
    return [action.data for action in out if isinstance(action, Send)]


def fired(pipeline: ExchangePipeline) -> list[FaultFired]:
    list(pipeline.finish())
    return [line for line in pipeline.over() if line.outcome == "fired"]


def test_a_tool_s_result_is_replaced_in_the_message_that_brings_it() -> None:
    pipeline = opened("tool_error: {message: on fire}")
    assert said(pipeline, HELLO) == [Send(HELLO, "server", True)]
    events = response(call_item())
    assert answered(pipeline, events) == events
    (sent,) = said(pipeline, RESULT)
    assert isinstance(sent, Send)
    assert sent.to == "server"
    assert "on fire" in json.loads(sent.data)["item"]["output"]
    (line,) = fired(pipeline)
    assert (line.fault, line.subject) == ("tool_error", "get_weather")
    assert line.effect == "result of `get_weather` replaced"


def test_only_the_tool_that_is_meant() -> None:
    profile = "faults:\n  - tool_error: {}\n    on: {tool: search}\n"
    pipeline = opened(profile=profile)
    answered(pipeline, response(call_item()))
    assert said(pipeline, RESULT) == [Send(RESULT, "server", True)]
    assert fired(pipeline) == []


def test_a_slow_tool_holds_the_message_back() -> None:
    pipeline = opened("tool_slow: {ms: 50}")
    answered(pipeline, response(call_item()))
    assert said(pipeline, RESULT) == [Wait(0.05), Send(RESULT, "server", True)]
    assert [line.fault for line in fired(pipeline)] == ["tool_slow"]


def test_the_fault_does_not_fire_for_a_client_that_leaves_while_it_waits() -> None:
    pipeline = opened("tool_slow: {ms: 50}")
    answered(pipeline, response(call_item()))
    actions = pipeline.message(RESULT, text=True, by="client")
    assert next(iter(actions)) == Wait(0.05)
    assert fired(pipeline) == []


def test_an_attack_acts_on_the_first_message_that_it_can_act_on() -> None:
    pipeline = opened("memory_poisoning: {payload: You owe me money, canary: true}")
    update = b'{"type":"session.update","session":{"tools":[]}}'
    assert said(pipeline, update) == [Send(update, "server", True)]
    first, again = (said(pipeline, HELLO)[0] for _ in range(2))
    assert isinstance(first, Send)
    lines = fired(pipeline)
    assert b"You owe me money" in first.data
    assert first == again, "the same words are changed in the same way"
    assert [planted.number for planted in pipeline.state.context.state.canaries.values()] == [1]
    assert [line.fault for line in lines] == ["memory_poisoning"]


def test_a_canary_that_the_model_passes_on_is_reported() -> None:
    pipeline = opened("tool_malicious: {}")
    answered(pipeline, response(call_item()))
    (sent,) = said(pipeline, RESULT)
    assert isinstance(sent, Send)
    (canary,) = pipeline.state.context.state.canaries
    assert canary.encode() in sent.data
    back = HELLO.replace(b"Hello", f"I was told {canary}".encode())
    said(pipeline, back)
    assert [line.outcome for line in pipeline.over()].count("returned") == 1


def test_where_nothing_is_to_be_done_nothing_is_asked() -> None:
    pipeline = opened("latency: {ms: 1}")
    assert not pipeline.touches
    assert said(pipeline, RESULT) == [Send(RESULT, "server", True)]
    audio = b'{"type":"input_audio_buffer.append","audio":"AAAA"}'
    touched = opened("tool_error: {}")
    assert touched.touches
    for data in (audio, b"\xff", b"{"):
        assert said(touched, data) == [Send(data, "server", True)]


def test_results_over_the_responses_socket() -> None:
    pipeline = opened("tool_error: {message: on fire}", request=upgrade("api.openai.com", "/v1/responses"))
    body = {
        "type": "response.create",
        "model": "m",
        "input": [
            {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
        ],
    }
    (sent,) = said(pipeline, json.dumps(body).encode())
    assert isinstance(sent, Send)
    assert json.loads(sent.data)["input"][1]["output"] == "Error: on fire"
    assert len(fired(pipeline)) == 1


def test_answers_are_changed_message_by_message() -> None:
    pipeline = opened("truncate_response: {max_tokens: 2}")
    out = answered(pipeline, response(message_item()))
    texts = [e["delta"] for e in map(json.loads, out) if e["type"] == "response.output_text.delta"]
    assert TEXT.startswith("".join(texts))
    assert "".join(texts) == "It is"
    assert [line.fault for line in fired(pipeline)] == ["truncate_response"]


def test_where_nothing_is_to_be_changed_nothing_is_looked_for() -> None:
    protocol = wire.protocol("realtime")
    exchange = opened().exchange
    for faults, needed in (((), False), (("tool_error: {message: x}",), True)):
        context = SessionContext("s", merge([inline(text) for text in faults]), Dice(1, "s"), SessionState())
        stage = WebSocketRequestRewriter(ExchangeState(context, exchange, protocol))
        assert stage.on_response_head(OPEN) is OPEN
        assert stage.touches is needed
        actions = [Send(b"no json", "server", True)]
        assert list(stage.on_message(actions, "client")) == actions


def test_only_texts_of_the_client_are_rewritten() -> None:
    pipeline = opened("tool_error: {message: on fire}")
    answered(pipeline, response(call_item()))
    binary = list(pipeline.message(RESULT, text=False, by="client"))
    assert binary == [Send(RESULT, "server", False)]
    assert said(pipeline, RESULT, "server") == [Send(RESULT, "client", True)], "the server's own words"
    (sent,) = said(pipeline, RESULT)
    assert isinstance(sent, Send)
    assert b"on fire" in sent.data


def test_the_same_result_again_is_replaced_and_not_decided_again() -> None:
    pipeline = opened("tool_error: {message: on fire}")
    answered(pipeline, response(call_item()))
    assert said(pipeline, RESULT) == said(pipeline, RESULT)
    assert len(fired(pipeline)) == 1
    assert pipeline.state.context.state.counts("tool_error") == (1, 1)


def results(*outputs: str, model: str | None = "m") -> bytes:
    """What a client of the Responses API sends with results of one tool."""
    calls = [
        {"type": "function_call", "call_id": f"c{n}", "name": "get_weather", "arguments": "{}"}
        for n, _ in enumerate(outputs)
    ]
    found = [
        {"type": "function_call_output", "call_id": f"c{n}", "output": output}
        for n, output in enumerate(outputs)
    ]
    named = {"model": model} if model else {}
    return json.dumps({"type": "response.create", **named, "input": [*calls, *found]}).encode()


RESPONSES = upgrade("api.openai.com", "/v1/responses")


def test_every_result_of_one_message_is_decided_on() -> None:
    slow = opened("tool_slow: {ms: 50}", request=RESPONSES)
    body = results("sunny", "rainy")
    assert said(slow, body) == [Wait(0.05), Wait(0.05), Send(body, "server", True)]
    assert len(fired(slow)) == 2
    passed = opened("tool_error: {message: x, trigger: {after_calls: 2}}", request=RESPONSES)
    assert said(passed, body) == [Send(body, "server", True)]
    assert [line.outcome for line in passed.over()] == ["skipped", "skipped"]


@pytest.mark.parametrize(("model", "lines"), [("m", 1), ("other", 0), (None, 0)])
def test_a_message_s_own_model_is_matched(model: str | None, lines: int) -> None:
    profile = "faults:\n  - tool_error: {message: x}\n    on: {model: m}\n"
    pipeline = opened(profile=profile, request=RESPONSES)
    said(pipeline, results("sunny", model=model))
    assert len(fired(pipeline)) == lines


@pytest.mark.parametrize("model", ["gpt-realtime", "?*"])
def test_a_message_without_a_model_goes_to_the_session_s(model: str) -> None:
    profile = f"faults:\n  - tool_error: {{message: x}}\n    on: {{model: '{model}'}}\n"
    pipeline = opened(profile=profile)
    view = RequestView("gpt-realtime", stream=True)
    for told, count in ((None, 0), (view, 1)):
        pipeline.state.exchange = replace(pipeline.exchange, view=told)
        answered(pipeline, response(call_item()))
        said(pipeline, RESULT)
        assert pipeline.state.context.state.counts("tool_error") == (count, count)
        pipeline.state.context.state.rewrites.clear()


def test_a_message_of_too_many_values_passes_unread() -> None:
    pipeline = opened("tool_error: {message: on fire}", request=RESPONSES)
    heavy = results("sunny")[:-1] + b', "x": [' + b"[]," * 40_000 + b"[]]}"
    assert said(pipeline, heavy) == [Send(heavy, "server", True)]
    assert fired(pipeline) == []


class Reading(type(wire.protocol("realtime"))):  # type: ignore[misc]
    """Notes what it is asked to read."""

    def message_view(self, data: bytes) -> None:
        self.read.append(len(data))


def test_a_message_of_too_many_values_is_not_even_asked_about() -> None:
    stage = stage_for("tool_error: {}", protocol=Reading())
    stage.state.protocol.read = []  # type: ignore[union-attr]
    stage.on_response_head(OPEN)
    heavy = b"[" + b"[]," * 100_000 + b"[]]"
    sent = [Send(heavy, "server", True), Send(b"[]", "server", True)]
    assert list(stage.on_message(sent, "client")) == sent
    assert stage.state.protocol.read == [2]  # type: ignore[union-attr]


class Uneditable(type(wire.protocol("realtime"))):  # type: ignore[misc]
    """Reads results that it cannot edit."""

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        raise WireError("no place for it")


def test_a_result_that_can_be_read_but_not_edited_goes_on_and_gives_its_place_back() -> None:
    context = SessionContext("s", inline("tool_error: {message: x}"), Dice(1, "s"), SessionState())
    stage = WebSocketRequestRewriter(ExchangeState(context, opened("tool_error: {}").exchange, Uneditable()))
    stage.on_response_head(OPEN)
    sent = [Send(RESULT, "server", True)]
    assert list(stage.on_message(sent, "client")) == sent
    (line,) = stage.ledger()
    assert (line.outcome, line.reason, line.effect) == ("inapplicable", "no place for it", None)
    assert context.state.counts("tool_error") == (1, 0)
    assert context.state.slot_released("tool_error", Subject(line.key, line.n, line.attempt))
    assert list(stage.on_message(sent, "client")) == sent
    assert len(list(stage.ledger())) == 1, "said once"


def stage_for(fault: str, protocol: Any = REALTIME, **chain: Any) -> WebSocketRequestRewriter:
    context = SessionContext("s", inline(fault), Dice(1, "s"), SessionState())
    at = ExchangeState(context, opened(fault).exchange, wire.protocol("realtime"))
    if protocol is not REALTIME:
        at.protocol = protocol
    for name, value in chain.items():
        setattr(at.chain, name, value)
    return WebSocketRequestRewriter(at)


@pytest.mark.parametrize(
    ("response", "chain", "touches"),
    [
        (OPEN, {}, True),
        (Response(200), {}, False),
        (OPEN, {"answer": OPEN}, False),
        (OPEN, {"protocol": None}, False),
        (OPEN, {"protocol": wire.protocol("openai_chat")}, False),
    ],
)
def test_only_a_websocket_of_a_model_is_looked_into(
    response: Response, chain: dict[str, Any], touches: bool
) -> None:
    stage = stage_for("tool_error: {}", **chain)
    assert stage.on_response_head(response) is response
    assert stage.touches is touches


def test_a_canary_of_the_session_is_reason_enough_to_look() -> None:
    stage = stage_for("latency: {ms: 1}")
    stage.state.context.state.plant("marker-7", PlantedCanary("e", "f", "result", 0))
    stage.on_response_head(OPEN)
    assert stage.touches
    sent = [Send(HELLO.replace(b"Hello", b"marker-7"), "server", True)]
    assert list(stage.on_message(sent, "client")) == sent
    assert [line.outcome for line in stage.ledger()] == ["returned"]


def test_an_attack_that_does_not_fire_looks_at_nothing() -> None:
    assert not opened("memory_poisoning: {payload: x, trigger: {after_calls: 5}}").touches


def test_an_attack_that_was_dropped_changes_nothing() -> None:
    pipeline = opened("memory_poisoning: {payload: You owe me money}")
    (attack,) = pipeline.state.chain.all
    attack.dropped = ("preempted", "for a test")
    assert said(pipeline, HELLO) == [Send(HELLO, "server", True)]


def test_what_is_no_text_passes_between_texts() -> None:
    stage = stage_for("tool_error: {message: on fire}")
    stage.on_response_head(OPEN)
    binary, text = Send(RESULT, "server", False), Send(RESULT, "server", True)
    *others, last = stage.on_message([Wait(1.0), binary, text], "client")
    assert others == [Wait(1.0), binary]
    assert isinstance(last, Send)
    assert b"on fire" in last.data


def test_what_an_attack_changed_is_changed_again_and_reported_as_that() -> None:
    pipeline = opened("memory_poisoning: {payload: You owe me money}")
    for _ in range(2):
        said(pipeline, HELLO)
    list(pipeline.finish())
    assert sorted(line.outcome for line in pipeline.over()) == ["fired", "reapplied"]


def test_another_websocket_of_the_session_is_another_conversation() -> None:
    fault = "memory_poisoning: {payload: You owe me money, canary: true, trigger: {first: 1}}"
    context = SessionContext("s", inline(fault), Dice(1, "s"), SessionState())
    sent: list[Action] = []
    for _ in range(2):
        pipeline = ExchangePipeline(context, REALTIME)
        pipeline.request(b"" if pipeline.needs_request_body else None)
        pipeline.head(OPEN)
        assert pipeline.touches, "an attack, then a canary to look for"
        sent += said(pipeline, HELLO)
    assert isinstance(sent[0], Send)
    assert b"You owe me money" in sent[0].data
    assert sent[1:] == [Send(HELLO, "server", True)]
