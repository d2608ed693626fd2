"""Changes of answers of OpenAI Responses, Gemini, Ollama, Cohere and Bedrock, whole and streamed:
_retold, _holding, _pieces, _responses_changer, _gemini_changer, _ollama_changer, _cohere_edits and
_bedrock_changer of faultwire.wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.exchange.test_pipeline import context
from tests.unit.wire.answers import (
    ANSWERS,
    CHECKS,
    GEMINI_PIECES,
    ITEMS,
    RESPONSE,
    check_responses,
    responses_stream,
)
from tests.unit.wire.shapes import pack, post

from faultwire import wire
from faultwire.events import Response, ResponseView, Send, ToolCall
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.wire.editing import blocks
from faultwire.wire.editing.api import Change, Finish
from faultwire.wire.framing import split as framing, sse

NAMES = tuple(ANSWERS)
TEXT = "Let me look. 21 C"
STOPS: dict[str, dict[Finish, str]] = {
    "openai_responses": {
        "stop": "completed",
        "length": "max_output_tokens",
        "content_filter": "content_filter",
    },
    "gemini": {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"},
    "ollama": {"stop": "stop", "length": "length"},
    "cohere": {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"},
    "bedrock": {"stop": "end_turn", "length": "max_tokens", "content_filter": "content_filtered"},
}


def whole(name: str, change: Change, body: bytes | None = None) -> tuple[ResponseView, bytes]:
    protocol = wire.protocol(name)
    changed = protocol.edits.change(ANSWERS[name].whole if body is None else body, change)
    return protocol.response_view(200, changed), changed


def streamed(
    name: str, change: Change, stream: tuple[bytes, ...] | None = None
) -> tuple[ResponseView, list[bytes], bool]:
    editor = wire.protocol(name).edits.stream_editor(change)
    assert editor is not None
    given = ANSWERS[name].stream if stream is None else stream
    out = [told for event in given for told in editor.feed(event)]
    out += editor.finish()
    return read(name, out), out, editor.changed


def read(name: str, stream: list[bytes] | tuple[bytes, ...]) -> ResponseView:
    reader = wire.protocol(name).reader()
    for event in stream:
        reader.feed(event)
    return reader.view()


def both(name: str, change: Change) -> list[ResponseView]:
    """What the two ways say; the stream is one that a client takes."""
    view, out, _ = streamed(name, change)
    CHECKS[name](out)
    return [whole(name, change)[0], view]


def said(calls: tuple[ToolCall, ...]) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in calls]


CALLS = [("weather", {"city": "Paris"}), ("calc", {"e": "2+2"})]


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_say_the_same_in_both_ways(name: str) -> None:
    CHECKS[name](list(ANSWERS[name].stream))
    for view in both(name, Change()):
        assert view.text.startswith(TEXT)
        assert said(view.tool_calls) == CALLS
        assert (view.complete, view.error) == (True, None)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "change", [Change(), Change(text=str, calls=tuple), Change(finish="stop", finish_was="length")]
)
def test_a_change_that_changes_nothing_keeps_every_byte(name: str, change: Change) -> None:
    assert whole(name, change)[1] == ANSWERS[name].whole
    _, out, changed = streamed(name, change)
    assert out == list(ANSWERS[name].stream)
    assert not changed


@pytest.mark.parametrize("name", NAMES)
def test_text_is_replaced_and_nothing_else(name: str) -> None:
    change = Change(text=lambda _: "It is 99 C in Rome.")
    before = read(name, ANSWERS[name].stream)
    for view in both(name, change):
        assert view.text == "It is 99 C in Rome."
        assert said(view.tool_calls) == CALLS
        assert (view.finish_reason, view.usage) == (before.finish_reason, before.usage)
    told = json.loads(whole(name, change)[1])
    assert _thoughts(told) == _thoughts(json.loads(ANSWERS[name].whole))
    assert b"hm" in b"".join(streamed(name, change)[1]) or name == "openai_responses"


def _thoughts(document: Any) -> list[Any]:
    """What no change of text or calls may touch, wherever it stands."""
    found = []
    if isinstance(document, dict):
        keys = ("thought", "thinking", "reasoningContent", "encrypted_content", "thoughtSignature")
        keys += (
            "citations",
            "tool_plan",
            "temperature",
            "avgLogprobs",
            "latencyMs",
            "phase",
            "total_duration",
        )
        found += [(key, value) for key, value in document.items() if key in keys]
        for value in document.values():
            found += _thoughts(value)
    elif isinstance(document, list):
        for value in document:
            found += _thoughts(value)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_one_word_changes_one_word(name: str) -> None:
    """Every other byte of a whole answer stays."""
    document = json.loads(ANSWERS[name].whole)
    single = json.dumps(document).replace(
        ', "annotations": [], "logprobs": []}, {"type": "output_text", "text": " or so."', ""
    )
    body = single.replace('}, {"text": " 21 C"', "").encode()
    new = whole(name, Change(text=lambda text: text.replace("look", "peek")), body)[1]
    assert new == body.replace(b"me look", b"me peek")


@pytest.mark.parametrize("name", NAMES)
def test_text_may_go(name: str) -> None:
    for view in both(name, Change(text=lambda _: "")):
        assert view.text == ""
        assert said(view.tool_calls) == CALLS


@pytest.mark.parametrize("name", NAMES)
def test_text_may_come(name: str) -> None:
    silence = Change(text=lambda _: "")
    body, stream = whole(name, silence)[1], tuple(streamed(name, silence)[1])
    change = Change(text=lambda text: text + "new")
    assert whole(name, change, body)[0].text == "new"
    view, out, changed = streamed(name, change, stream)
    CHECKS[name](out)
    assert (view.text, changed) == ("new", True)
    assert said(view.tool_calls) == CALLS


@pytest.mark.parametrize("name", NAMES)
def test_a_long_text_becomes_short_and_a_short_one_long(name: str) -> None:
    for text in ("x", "word " * 500, 'q"\\\n\u00e9\U0001f600'):
        for view in both(name, Change(text=lambda _, text=text: text)):  # type: ignore[misc]
            assert view.text == text


def renamed(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    return (replace(calls[0], name="other"), *calls[1:])


def reargued(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    return tuple(replace(call, arguments='{"x": 1}') for call in calls)


def doubled(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    return (*calls, replace(calls[0], id=calls[0].id + "d1"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (renamed, [("other", {"city": "Paris"}), CALLS[1]]),
        (reargued, [("weather", {"x": 1}), ("calc", {"x": 1})]),
        (doubled, [*CALLS, CALLS[0]]),
        (lambda calls: calls[1:], CALLS[1:]),
        (lambda calls: calls[:1], CALLS[:1]),
        (lambda _: (), []),
    ],
)
def test_calls_are_changed_added_and_dropped(
    name: str, function: Callable[[tuple[ToolCall, ...]], tuple[ToolCall, ...]], expected: list[Any]
) -> None:
    before = read(name, ANSWERS[name].stream)
    for view in both(name, Change(calls=function)):
        assert said(view.tool_calls) == expected
        assert view.text.startswith(TEXT)
        assert (view.finish_reason, view.usage) == (before.finish_reason, before.usage)
    ids = [call.id for call in streamed(name, Change(calls=function))[0].tool_calls if call.id]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", NAMES)
def test_an_untouched_call_keeps_its_bytes(name: str) -> None:
    change = Change(calls=lambda calls: calls[:1])
    thoughts = _thoughts(json.loads(whole(name, change)[1]))
    assert thoughts == _thoughts(json.loads(ANSWERS[name].whole))


@pytest.mark.parametrize("name", NAMES)
def test_arguments_may_be_no_json(name: str) -> None:
    broken = Change(calls=lambda calls: tuple(replace(call, arguments='{"city": "Par') for call in calls))
    for view in both(name, broken):
        found = {call.arguments for call in view.tool_calls}
        assert found <= {'{"city": "Par', json.dumps('{"city": "Par')}


@pytest.mark.parametrize("name", NAMES)
def test_no_call_is_made_where_none_was(name: str) -> None:
    silent = Change(calls=lambda _: ())
    body, stream = whole(name, silent)[1], tuple(streamed(name, silent)[1])
    made = Change(calls=lambda calls: (*calls, ToolCall("c", "n", "{}")))
    assert whole(name, made, body)[1] == body
    assert streamed(name, made, stream)[1:] == (list(stream), False)


@pytest.mark.parametrize(("name", "finish"), [(name, finish) for name in NAMES for finish in STOPS[name]])
def test_the_finish_reason_is_the_protocols_word(name: str, finish: Finish) -> None:
    for view in both(name, Change(finish=finish)):
        assert view.finish_reason == STOPS[name][finish]
        assert said(view.tool_calls) == CALLS


@pytest.mark.parametrize("name", NAMES)
def test_usage_goes(name: str) -> None:
    for view in both(name, Change(drop_usage=True)):
        assert view.usage is None
        assert view.text.startswith(TEXT)
    assert streamed(name, Change(drop_usage=True))[2]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_may_be_empty(name: str) -> None:
    for view in both(name, Change(text=lambda _: "", calls=lambda _: (), finish="stop")):
        assert (view.text, view.tool_calls, view.complete) == ("", (), True)


@pytest.mark.parametrize("name", NAMES)
def test_a_refusal_takes_the_place_of_everything(name: str) -> None:
    change = Change(lambda _: "I can not.", lambda _: (), "refusal", refuse=True)
    for view in both(name, change):
        assert (view.text, view.tool_calls) == ("I can not.", ())
    if name == "openai_responses":
        _, body = whole(name, change)
        assert {"type": "refusal", "refusal": "I can not."} in json.loads(body)["output"][1]["content"]
        kinds = [sse.fields(event).name for event in streamed(name, change)[1]]  # type: ignore[union-attr]
        assert "response.refusal.done" in kinds
        assert not any("output_text" in kind for kind in kinds)


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_that_breaks_off_is_left_as_it_came(name: str) -> None:
    stream = ANSWERS[name].stream
    for count in range(len(stream)):
        _, out, _ = streamed(name, Change(text=lambda _: "x", calls=lambda _: ()), stream[:count])
        stopped = any(
            wire.protocol(name).is_terminal(event) or b"messageStop" in event for event in stream[:count]
        )
        assert stopped or out == list(stream[:count])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [b": ping\n\n", b"data: {oops\n\n", b"\n", b"\0\0\0\x10"])
def test_what_cannot_be_read_passes(name: str, junk: bytes) -> None:
    editor = wire.protocol(name).edits.stream_editor(Change(text=str.upper))
    assert editor is not None
    assert list(editor.feed(junk)) == [junk]
    assert not editor.changed


FAULTS = {
    "drift": "drift: {type: verbosity_shift}",
    "wrong_values": "wrong_values: {}",
    "refusal": "refusal: {}",
    "declared refusal": "refusal: {declared: true}",
    "garbage": "garbage: {}",
    "empty_response": "empty_response: {}",
    "wrong_finish_reason": "wrong_finish_reason: {reason: length}",
    "missing_usage": "missing_usage: {}",
    "unknown_tool_call": "unknown_tool_call: {}",
    "malformed_tool_arguments": "malformed_tool_arguments: {}",
    "wrong_tool_arguments": "wrong_tool_arguments: {}",
    "duplicate_tool_call": "duplicate_tool_call: {}",
    "dropped_tool_call": "dropped_tool_call: {}",
}


def passing(
    name: str, fault: str, *, streams: bool, size: int
) -> tuple[bytes, list[str], Response, ExchangePipeline]:
    answer = ANSWERS[name]
    ask = {**answer.ask, "stream": streams} if name != "gemini" else answer.ask
    request = post("https://gateway.test" + (answer.stream_path if streams else answer.path), ask)
    pipeline = ExchangePipeline(context(fault), replace(request, body=None))
    assert pipeline.request(request.body or b"").answer is None
    assert pipeline.exchange.protocol == name
    kind = answer.stream_type if streams else "application/json"
    head = pipeline.head(Response(200, "OK", (("content-type", kind),)))
    body = b"".join(answer.stream) if streams else answer.whole
    chunks = [body[at : at + size] for at in range(0, len(body), size)] if streams else [body]
    actions = [action for chunk in chunks for action in pipeline.feed(chunk)]
    actions += list(pipeline.finish())
    data = b"".join(action.data for action in actions if isinstance(action, Send))
    return data, [line.outcome for line in pipeline.ledger()], head, pipeline


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("streams", [False, True])
def test_every_fault_on_answers_acts(name: str, fault: str, streams: bool) -> None:
    data, outcomes, head, _ = passing(name, FAULTS[fault], streams=streams, size=100_000)
    assert outcomes == ["fired"]
    assert data != (b"".join(ANSWERS[name].stream) if streams else ANSWERS[name].whole)
    if streams:
        CHECKS[name](framing.events(data, head.headers))
        for size in (1, 97):
            assert passing(name, FAULTS[fault], streams=True, size=size)[0] == data
    else:
        json.loads(data)


# ---------------------------------------------------------------- one by one


def test_gaps_in_the_numbers_are_closed() -> None:
    _, out, _ = streamed("openai_responses", Change(text=lambda _: ""))
    check_responses(out)
    first = next(sse.fields(event) for event in out if b"fc_1" in event)
    assert first is not None
    assert json.loads(first.data)["output_index"] == 1, "the message before it is gone"


def test_copies_of_a_responses_call_have_items_of_their_own() -> None:
    view, out, _ = streamed("openai_responses", Change(calls=doubled))
    assert [call.id for call in view.tool_calls] == ["call_a1", "call_b2", "call_a1d1"]
    closing = json.loads(sse.fields(out[-1]).data)["response"]["output"]  # type: ignore[union-attr]
    assert len({item["id"] for item in closing}) == len(ITEMS) + 1


def test_an_incomplete_response_is_completed() -> None:
    cut = {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    told = json.loads(whole("openai_responses", Change(finish="stop", finish_was="length"), pack(cut))[1])
    assert (told["status"], told["incomplete_details"]) == ("completed", None)
    kept = Change(finish="stop", finish_was="content_filter")
    assert whole("openai_responses", kept, pack(cut))[1] == pack(cut)
    failed = pack({**RESPONSE, "status": "failed"})
    assert whole("openai_responses", Change(finish="length"), failed)[1] == failed


def test_a_message_before_the_first_change_keeps_its_bytes() -> None:
    _, out, _ = streamed("openai_responses", Change(calls=renamed))
    given = list(ANSWERS["openai_responses"].stream)
    first = next(at for at, event in enumerate(given) if b"fc_1" in event)
    assert out[:first] == given[:first]


def test_a_response_that_only_calls_is_refused_in_a_message() -> None:
    stream = responses_stream(ITEMS[2:3])
    change = Change(lambda _: "No.", lambda _: (), "refusal", refuse=True)
    view, out, _ = streamed("openai_responses", change, stream)
    check_responses(out)
    assert (view.text, view.tool_calls) == ("No.", ())


def test_a_signature_of_thoughts_outlives_its_text() -> None:
    _, out, _ = streamed("gemini", Change(text=lambda _: ""))
    assert b"t==" in b"".join(out)
    assert json.loads(sse.fields(out[-1]).data)["candidates"][0]["finishReason"] == "STOP"  # type: ignore[union-attr]


def test_an_array_of_gemini_s_answers_is_changed_as_its_stream_is() -> None:
    body = pack(GEMINI_PIECES)
    view, changed = whole("gemini", Change(text=str.upper, calls=renamed), body)
    assert view.text == (TEXT).upper()
    assert [call.name for call in view.tool_calls] == ["other", "calc"]
    assert len(json.loads(changed)) == len(GEMINI_PIECES)
    assert whole("gemini", Change(text=str), body)[1] == body


def test_a_blocked_prompt_of_gemini_s_stays() -> None:
    body = pack({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}})
    assert whole("gemini", Change(text=lambda _: "x", finish="stop"), body)[1] == body


def test_ollama_s_generate_is_changed_too() -> None:
    lines = [{"model": "m", "response": piece, "done": False} for piece in ("Hel", "lo")]
    stream = tuple(
        pack(line) + b"\n" for line in [*lines, {"response": "", "done": True, "done_reason": "stop"}]
    )
    view, _, changed = streamed("ollama", Change(text=str.upper, finish="length"), stream)
    assert (view.text, view.finish_reason, changed) == ("HELLO", "length", True)
    body = pack({"response": "Hello", "done": True, "done_reason": "stop", "context": [1, 2]})
    assert whole("ollama", Change(text=str.upper), body)[1] == body.replace(b"Hello", b"HELLO")


def test_arguments_that_are_text_stay_text() -> None:
    call = {"id": "c", "function": {"name": "n", "arguments": '{"a":1}'}}
    body = pack({"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": True})
    told = json.loads(whole("ollama", Change(calls=doubled), body)[1])["message"]["tool_calls"]
    assert [(one["id"], one["function"]["arguments"]) for one in told] == [
        ("c", '{"a":1}'),
        ("cd1", '{"a":1}'),
    ]


def test_a_converse_call_without_arguments_gets_some() -> None:
    stream = tuple(event for event in ANSWERS["bedrock"].stream if b'"input"' not in event)
    view, out, _ = streamed("bedrock", Change(calls=reargued), stream)
    CHECKS["bedrock"](out)
    assert said(view.tool_calls) == [("weather", {"x": 1}), ("calc", {"x": 1})]


def test_a_cohere_text_that_comes_with_its_start() -> None:
    first = {
        "type": "content-start",
        "index": 0,
        "delta": {"message": {"content": {"type": "text", "text": "Hi"}}},
    }
    rest = (
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    )
    stream = tuple(sse.write(pack(one), one["type"]) for one in (first, *rest))  # type: ignore[arg-type]
    view, out, _ = streamed("cohere", Change(text=lambda text: text + "!"), stream)
    CHECKS["cohere"](out)
    assert (view.text, len(out)) == ("Hi!", 3)


def test_calls_are_shared_among_the_pieces_that_held_them() -> None:
    one, two, more = (ToolCall(name, name, "{}") for name in ("a", "b", "c"))
    new = blocks.New(calls=(two, more))
    assert blocks.shared(new, [[one], [], [two]]) == [(), (), (two, more)]
    assert blocks.shared(blocks.New(), [[one], []]) == [None, None]
    assert blocks.value_of('{"a": 1}') == b'{"a": 1}'
    assert blocks.value_of('{"a": ') == b'"{\\"a\\": "'


@pytest.mark.parametrize("streams", [False, True])
def test_gemini_withholds_a_call_that_does_not_parse(streams: bool) -> None:
    data, _, head, _ = passing("gemini", "malformed_tool_arguments: {}", streams=streams, size=100_000)
    documents = framing.events(data, head.headers) if streams else [data]
    candidates = [json.loads(one[one.index(b"{") :])["candidates"][0] for one in documents]
    assert "functionCall" not in data.decode()
    assert candidates[-1]["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert candidates[-1]["finishMessage"].startswith("Malformed function call: ")
    usual, _, _, _ = passing("gemini", "missing_usage: {}", streams=streams, size=100_000)
    assert b"functionCall" in usual
    assert b"MALFORMED" not in usual
