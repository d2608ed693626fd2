"""Gemini over gRPC, and services that nobody here knows.

Covers faultwire.wire.google.gemini_grpc, faultwire.wire.grpc.unknown_service, faultwire.wire.grpc.protobuf,
faultwire.wire.grpc.protobuf_wire, faultwire.wire.google.gemini_proto and
faultwire.wire.framing.grpc_status. The messages were written by Google's own package
(google-ai-generativelanguage 0.6.15).
"""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace

import pytest

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.events import Request, Response, ResponseView, ToolCall, Usage
from faultwire.wire.editing.api import Change, Failure
from faultwire.wire.framing import grpc_status, split as framing
from faultwire.wire.google import gemini_proto
from faultwire.wire.grpc import errors as grpc_errors, protobuf
from faultwire.wire.grpc.protobuf import Field, Message
from faultwire.wire.protocol import Protocol
from faultwire.wire.types import Rewrite

HOST = "generativelanguage.googleapis.com"
SERVICE = "/google.ai.generativelanguage.v1beta.GenerativeService/"
REQUEST = base64.b64decode(
    "Cg9tb2RlbHMvZ2VtaW5pLXgSJAocEhpXZWF0aGVyIGluIFBhcmlzLCBhbmQgMisyPxIEdXNlchJDCh4iHAoHd2VhdGhlchIRCg8K"
    "BGNpdHkSBxoFUGFyaXMKGiIYCgRjYWxjEgwKCgoBZRIFGgMyKzIaAmMyEgVtb2RlbBKCAQpbKlkKB3dlYXRoZXISTgpMCgZyZXN1"
    "bHQSQipACisKBGRlZXASIzIhCgIgAQoCCAAKCREAAAAAAAD4PwoMKgoKCAoBYRIDGgFiChEKBHRlbXASCREAAAAAAAA2QAodKhsK"
    "BGNhbGMSDwoNCgZvdXRwdXQSAxoBNBoCYzISBHVzZXIaBBgHIAQiByBkLQAAAD8qJAoiCgd3ZWF0aGVyEgFkGhQIBjoKCgRjaXR5"
    "EgIIAUIEY2l0eSoCIgBCDQoLEglCZSBicmllZi4="
)
WHOLE = base64.b64decode(
    "CkoKQAoOEgxMZXQgbWUgbG9vay4KJyIlCgtnZXRfd2VhdGhlchIRCg8KBGNpdHkSBxoFUGFyaXMaA2ZjMRIFbW9kZWwQASoEGAcg"
    "ARoGCAkQDBgVIghnZW1pbmkteA=="
)
STREAM = tuple(
    base64.b64decode(packed)
    for packed in (
        "ChMKEQoIEgZMZXQgbWUSBW1vZGVsGgQICRgJIghnZW1pbmkteA==",
        "ChkKEQoIEgYgbG9vay4SBW1vZGVsKgQYByABGgQICRgJIghnZW1pbmkteA==",
        "CjQKMAonIiUKC2dldF93ZWF0aGVyEhEKDwoEY2l0eRIHGgVQYXJpcxoDZmMxEgVtb2RlbBABGgYICRAMGBUiCGdlbWluaS14",
    )
)
STATUS = "CAgSCGJ1c3kg4pyTGjYKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SCgoICAIQgMq17gE"
RATINGS = bytes.fromhex("2a0418072001")
"""A field of a candidate (`safetyRatings`) that the tables do not name."""
KIND = (("content-type", "application/grpc"), ("te", "trailers"))
HEAD = Response(200, "", (("content-type", "application/grpc"),))
CALL = (ToolCall("fc1", "get_weather", '{"city":"Paris"}'),)


def ask(method: str, message: bytes = REQUEST, *headers: tuple[str, str]) -> Request:
    return Request("POST", "https", HOST, 443, SERVICE + method, (*KIND, *headers), _core.grpc_write(message))


def gemini() -> Protocol:
    return wire.protocol("gemini_grpc")


def heard(*events: bytes) -> ResponseView:
    reader = gemini().reader()
    for event in events:
        reader.feed(event)
    return reader.view()


FRAMES = [_core.grpc_write(message) for message in STREAM]


@pytest.mark.parametrize(("method", "streams"), [("GenerateContent", False), ("StreamGenerateContent", True)])
def test_a_call_is_recognised_and_read(method: str, streams: bool) -> None:
    request = ask(method)
    found = wire.classify(request)
    assert (found.kind, found.protocol and found.protocol.name, found.provider) == (
        "llm",
        "gemini_grpc",
        "google",
    )
    head = Request(request.method, request.scheme, request.host, 443, request.path, request.headers)
    assert wire.classify(head).protocol is found.protocol, "the head alone decides"
    view = gemini().view(request)
    assert (view.model, view.stream, view.system, view.tools) == (
        "gemini-x",
        streams,
        "Be brief.",
        ("weather", "googleSearch"),
    )
    first, second = view.results
    assert (first.name, first.new) == ("weather", True)
    assert json.loads(first.text) == {"temp": 22, "deep": [True, None, 1.5, {"a": "b"}]}
    assert json.loads(first.arguments) == {"city": "Paris"}
    assert (second.name, second.text, second.call_id) == ("calc", "4", "c2")
    assert (gemini().splitter(request, HEAD) is not None) is streams


def test_attempts_are_counted_by_the_library_or_not_at_all() -> None:
    assert gemini().attempt(ask("GenerateContent")) is None
    retried = ask("GenerateContent", REQUEST, ("grpc-previous-rpc-attempts", "2"))
    assert gemini().attempt(retried) == 2


@pytest.mark.parametrize("path", ["CountTokens", "EmbedContent/x", "ListModels"])
def test_other_methods_are_plain_grpc(path: str) -> None:
    found = wire.classify(ask(path))
    name = found.protocol.name if found.protocol else None
    assert (found.kind, name) == ("other", "grpc" if "/" not in path else None)


def test_what_is_embedded_is_read() -> None:
    table = gemini_proto.EMBED["EmbedContent"][0]
    body = {"model": "models/e", "content": {"parts": [{"text": "rivers"}]}}
    view = gemini().view(ask("EmbedContent", protobuf.write(body, table)))
    assert (view.model, [turn.text for turn in view.turns], view.stream) == ("e", ["rivers"], False)


def test_a_whole_answer_and_its_stream_say_the_same() -> None:
    whole = gemini().response_view(200, _core.grpc_write(WHOLE))
    assert whole == ResponseView("gemini-x", "Let me look.", "STOP", CALL, Usage(9, 12), None, True)
    assert heard(*FRAMES) == whole
    assert heard(*FRAMES[:-1]).complete is False
    assert [gemini().is_terminal(frame) for frame in FRAMES] == [False, False, True]
    cutter = gemini().splitter(ask("StreamGenerateContent"), HEAD)
    assert framing.cut(b"".join(FRAMES), cutter) == FRAMES


def test_a_packed_message_is_read_and_a_changed_one_is_written_plain() -> None:
    packed = _core.grpc_write(gzip.compress(WHOLE), compressed=True)
    assert gemini().response_view(200, packed).text == "Let me look."
    assert gemini().truncate(packed, 200) == packed
    assert gemini().truncate(packed, 2)[0] == 0
    with pytest.raises(WireError, match="gzip"):
        gemini().response_view(200, _core.grpc_write(b"junk", compressed=True))
    bomb = _core.grpc_write(gzip.compress(bytes(64 << 20)), compressed=True)
    with pytest.raises(WireError, match="too long"):
        gemini().response_view(200, bomb)


def test_an_answer_without_a_message_is_an_error() -> None:
    view = gemini().response_view(200, b"")
    assert (view.error, view.complete) == ("the call ended without a message", False)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("rewrite", [Rewrite("on fire ✓", is_error=True), Rewrite("23")])
def test_a_result_is_replaced_and_every_other_byte_kept(which: int, rewrite: Rewrite) -> None:
    body = _core.grpc_write(REQUEST)
    result = gemini().request_view(body).results[which]
    new = gemini().replace_result(body, result, rewrite)
    again = gemini().request_view(new)
    assert again.results[which].text in (rewrite.text, '{"result":"23"}')
    assert again.results[which].is_error is rewrite.is_error
    assert again.results[1 - which] == gemini().request_view(body).results[1 - which]
    assert b"\x1a\x04\x18\x07\x20\x04" in new, "what the tables do not name is still there"
    start = REQUEST.index(b"weather\x12N")
    assert new[5 : 5 + 60] == REQUEST[:60]
    assert new.endswith(REQUEST[REQUEST.index(b"\x1a\x04\x18\x07") :])
    assert start > 60


def test_texts_are_read_and_rewritten() -> None:
    body = _core.grpc_write(REQUEST)
    places = gemini().edits.texts(body)
    told = {place.role: place for place in places}
    assert told["system"].text == "Be brief."
    new = gemini().edits.rewrite_texts(body, {told["system"].path: "Be rude."})
    assert gemini().request_view(new).system == "Be rude."
    assert gemini().request_view(new).turns == gemini().request_view(body).turns


@pytest.mark.parametrize("budget", [1, 3])
def test_a_cut_stream_agrees_with_the_cut_answer(budget: int) -> None:
    editor = gemini().truncator(budget)
    out = [frame for event in FRAMES for frame in editor.feed(event)]
    assert editor.changed
    streamed = heard(*out, *editor.finish())
    whole = gemini().response_view(200, gemini().truncate(_core.grpc_write(WHOLE), budget))
    assert streamed == whole
    assert (whole.finish_reason, whole.tool_calls, whole.usage) == ("MAX_TOKENS", (), Usage(9, budget))
    assert "Let me look.".startswith(whole.text)


def test_a_cut_message_keeps_what_the_tables_do_not_name() -> None:
    assert RATINGS in STREAM[1]
    editor = gemini().truncator(3)
    out = [frame for event in FRAMES[:2] for frame in editor.feed(event)]
    assert heard(*out).text == "Let me look"
    assert RATINGS in out[1]
    untouched = gemini().truncator(200)
    assert [f for event in FRAMES for f in untouched.feed(event)] == FRAMES
    assert not untouched.changed


@pytest.mark.parametrize("junk", [b"", b"\x00\x00\x00\x00\x09abc", b"<html>", _core.grpc_write(b"\xff\xff")])
def test_nonsense_is_passed_over_and_passed_on(junk: bytes) -> None:
    assert heard(junk, *FRAMES).text == "Let me look."
    editor = gemini().truncator(1)
    assert list(editor.feed(junk)) == [junk]
    assert not gemini().is_terminal(junk)
    with pytest.raises(WireError):
        gemini().request_view(junk)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, 3),
        (401, 16),
        (403, 7),
        (404, 5),
        (408, 4),
        (429, 8),
        (499, 1),
        (500, 13),
        (503, 14),
        (504, 4),
        (529, 14),
    ],
)
def test_an_error_is_nothing_but_trailers(status: int, code: int) -> None:
    for name in ("gemini_grpc", "grpc"):
        answer = wire.protocol(name).error(status, message="50% of ✓\n", retry_after_s=2.5)
        assert (answer.status, answer.body) == (200, b"")
        assert grpc_status.status_of(answer.headers) == (code, "50% of ✓\n")
        assert dict(answer.headers)["grpc-message"] == "50%25 of %E2%9C%93%0A"
        assert dict(answer.headers)["content-type"] == "application/grpc"
        assert grpc_errors.retry_delay_s(answer.headers) == 2.5
        usual = wire.protocol(name).error(status)
        assert (grpc_status.status_of(usual.headers) or (0, ""))[1]


def test_the_edge_answers_with_a_page() -> None:
    answer = gemini().error(502, message="<gone>")
    assert (answer.status, dict(answer.headers)["content-type"]) == (502, "text/html; charset=UTF-8")


def test_failures_are_google_s() -> None:
    codes: dict[Failure, int] = {"overloaded": 14, "quota_exceeded": 8, "context_length": 3}
    for what, code in codes.items():
        told = gemini().edits.failure(what)
        assert told is not None
        assert (grpc_status.status_of(told.headers) or (0,))[0] == code
    assert gemini().edits.failure("content_filter") is None
    assert gemini().edits.error_event("overloaded", None) == b"", "the stream just ends"
    for broken, code in (("overloaded", 14), ("server_error", 13)):
        told_last = gemini().edits.error_trailers(broken, None)  # type: ignore[arg-type]
        assert (grpc_status.status_of(told_last) or (0,))[0] == code


def test_details_are_read_as_google_writes_them() -> None:
    assert grpc_errors.retry_delay_s((("grpc-status-details-bin", STATUS),)) == 2.5
    assert grpc_errors.retry_delay_s(()) is None
    assert grpc_status.status_of((("grpc-status", "x"),)) is None


# ---------------------------------------------------------------- services that are not known


def test_another_service_is_recognised_by_its_name_alone() -> None:
    request = Request(
        "POST", "https", "t.example", 443, "/shop.v1.Orders/Place", KIND, _core.grpc_write(b"\x08\x01")
    )
    found = wire.classify(request)
    assert (found.kind, found.protocol and found.protocol.name, found.provider) == (
        "other",
        "grpc",
        "shop.v1.Orders",
    )
    protocol = wire.protocol("grpc")
    assert protocol.splitter(request, HEAD) is not None
    assert protocol.splitter(request, Response(502, "", (("content-type", "text/html"),))) is None
    with pytest.raises(WireError, match="not known here"):
        protocol.request_view(request.body or b"")
    assert protocol.response_view(200, b"x").error is None
    assert protocol.response_view(200, b"").error
    reader = protocol.reader()
    assert reader.view().complete is False
    reader.feed(b"x")
    assert reader.view().complete
    assert (protocol.truncate(b"x", 1), list(protocol.truncator(1).feed(b"x"))) == (b"x", [b"x"])


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("application/grpc-web", "/a.B/C"),
        ("application/json", "/a.B/C"),
        ("application/grpc", "/a"),
        ("", "/a/b"),
    ],
)
def test_what_is_no_grpc(kind: str, path: str) -> None:
    request = Request("POST", "https", "t.example", 443, path, (("content-type", kind),))
    assert wire.classify(request).protocol is None


# ---------------------------------------------------------------- protobuf


def test_a_message_is_written_as_google_writes_it() -> None:
    told = protobuf.read(WHOLE, gemini_proto.RESPONSE)
    assert told["candidates"][0]["finishReason"] == "STOP"
    again = protobuf.write(told, gemini_proto.RESPONSE)
    assert protobuf.read(again, gemini_proto.RESPONSE) == told
    request = protobuf.read(REQUEST, gemini_proto.REQUEST)
    assert request["tools"][0]["functionDeclarations"][0]["parameters"] == {
        "type": "OBJECT",
        "properties": {"city": {"type": "STRING"}},
        "required": ["city"],
    }
    assert request["generationConfig"] == {"maxOutputTokens": 100, "temperature": 0.5}
    assert protobuf.read(protobuf.write(request, gemini_proto.REQUEST), gemini_proto.REQUEST) == request


def test_a_patch_without_a_difference_changes_no_byte() -> None:
    for data, table in ((REQUEST, gemini_proto.REQUEST), (WHOLE, gemini_proto.RESPONSE)):
        assert protobuf.patch(data, table, protobuf.read(data, table)) == data


def test_packed_numbers_and_members_that_are_gone_or_new() -> None:
    table = Message(values=Field(1, "float", repeated=True), n=Field(2, "int"), text=Field(3, "string"))
    packed = b"\x0a\x08\x00\x00\x00\x3f\x00\x00\x80\x3f\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x22\x01?"
    told = protobuf.read(packed, table)
    assert told == {"values": [0.5, 1.0], "n": -1}
    new = protobuf.patch(packed, table, {"values": [0.5, 1.0], "text": "x"})
    assert protobuf.read(new, table) == {"values": [0.5, 1.0], "text": "x"}
    assert b"\x22\x01?" in new


@pytest.mark.parametrize(
    "data",
    [b"\x0a", b"\x0a\x05ab", b"\xff" * 11, b"\x0b", b"\x0d\x00", b"\x00\x01", b"\x09\x00\x00"],
)
def test_what_is_no_message_raises(data: bytes) -> None:
    with pytest.raises(WireError):
        protobuf.read(data, gemini_proto.REQUEST)


def test_depth_is_bounded() -> None:
    value = b"\x08\x00"
    for _ in range(3000):
        value = (
            b"\x32"
            + _varint(len(value) + 1 + len(_varint(len(value))))
            + b"\x0a"
            + _varint(len(value))
            + value
        )
    entry = b"\x0a\x01a\x12" + _varint(len(value)) + value
    struct = b"\x0a" + _varint(len(entry)) + entry
    table = Message(args=Field(1, "struct"))
    with pytest.raises(WireError, match="nested deeper"):
        protobuf.read(b"\x0a" + _varint(len(struct)) + struct, table)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def test_answers_are_changed_as_the_json_form_s_are() -> None:
    change = Change(text=str.upper, calls=lambda calls: tuple(replace(c, name="other") for c in calls))
    editor = gemini().edits.stream_editor(change)
    assert editor is not None
    out = [frame for event in FRAMES for frame in editor.feed(event)]
    streamed, before = heard(*out, *editor.finish()), heard(*FRAMES)
    assert editor.changed
    assert streamed.text == before.text.upper()
    assert [call.name for call in streamed.tool_calls] == ["other"] * len(before.tool_calls)
    assert (streamed.usage, streamed.finish_reason) == (before.usage, before.finish_reason)
    assert b"".join(out).count(RATINGS) == b"".join(FRAMES).count(RATINGS)
    whole = gemini().response_view(200, gemini().edits.change(_core.grpc_write(WHOLE), change))
    assert (whole.text, [call.name for call in whole.tool_calls]) == (
        streamed.text,
        [call.name for call in streamed.tool_calls],
    )


def test_a_change_that_changes_nothing_keeps_every_frame() -> None:
    for change in (Change(), Change(text=str, calls=tuple)):
        editor = gemini().edits.stream_editor(change)
        assert editor is not None
        out = [frame for event in FRAMES for frame in editor.feed(event)]
        assert [*out, *editor.finish()] == FRAMES
        assert not editor.changed
