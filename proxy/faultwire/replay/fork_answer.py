"""The answer that takes a recorded one's place at a fork: from a file, or the recorded one with edits.

An edit is `PATH=VALUE`. `$.…` names a place in the JSON body, in a stream `$[N].…` one in its Nth event
from 0. `text`, `finish`, `calls[N].name` and `calls[N].arguments` name parts of a model's answer, in every
protocol, streamed or not; `status` is the status. VALUE is JSON, else the text as it stands.
"""

from __future__ import annotations

import re  # noqa: TID251 - fixed patterns
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import orjson

from faultwire import wire
from faultwire.errors import UsageError, WireError
from faultwire.events import Response, header, with_header
from faultwire.replay.settings import GivenAnswer
from faultwire.wire import json_bytes
from faultwire.wire.editing import json_stream
from faultwire.wire.editing.api import Change, Finish
from faultwire.wire.framing import split as framing
from faultwire.wire.framing.content_coding import decoded
from faultwire.wire.transcript.response import response_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Delivery, Path, Recorded, ResponseView
    from faultwire.wire.protocol import Protocol

_STEP = re.compile(r"\.([^.\[\]=\s]+)|\[(0|[1-9][0-9]{0,8})\]")
_CALL = re.compile(r"calls\[(0|[1-9][0-9]{0,3})\]\.(name|arguments)\Z")
_STATUS_LINE = re.compile(rb"HTTP/[0-9.]+ ([1-5][0-9][0-9])(?: ([^\r\n]*))?\r?\n")
Streams = Callable[["Recorded", "ResponseView"], "tuple[bytes, ...] | None"]
"""Writes what an answer says as the events of a stream, in the recorded exchange's protocol; None where
nobody can."""

FRAMING = ("content-length", "transfer-encoding", "content-encoding")
FORMS = "`$.PATH`, `$[N].PATH` in a stream, `text`, `finish`, `calls[N].name|arguments` or `status`"


@dataclass(frozen=True, slots=True)
class Edit:
    """One `PATH=VALUE`: the path as it was written, and the value."""

    path: str
    value: Any


def edit(text: str) -> Edit:
    """Read one. Raises UsageError."""
    at = text.find("=")
    path, given = text[:at].strip(), text[at + 1 :]
    words = path in ("text", "finish", "status") or _CALL.match(path)
    if at < 1 or not (words or _steps(path)):
        raise _refused(text, f"expected `PATH=VALUE` with {FORMS}")
    try:
        value = json_bytes.load(given)
    except WireError:
        value = given
    return Edit(path, value)


def _steps(path: str) -> Path | None:
    """`$.a[0].b` as a path, None where it is none."""
    rest, out = path[1:], list[str | int]()
    if not path.startswith("$"):
        return None
    while rest:
        found = _STEP.match(rest)
        if found is None:
            return None
        name = found[1]
        out.append(int(found[2]) if name is None else int(name) if name.isdigit() else name)
        rest = rest[found.end() :]
    return tuple(out) or None


# ---------------------------------------------------------------- from a file


def from_file(recorded: Recorded, data: bytes, streams: Streams) -> GivenAnswer:
    """The answer that a file holds: an HTTP message from its status line on, or a body alone, which gets
    the recorded head. A whole JSON answer of the same protocol is sent as a stream where one was
    recorded; `streams` writes it. Raises UsageError."""
    line = _STATUS_LINE.match(data)
    if line is not None:
        return _message(line, data)
    delivery = _delivery(recorded)
    protocol = _protocol(recorded)
    if protocol is not None and _cutter(recorded, delivery) is not None and _is_json(data):
        kind = framing.content_type(delivery.headers)
        try:
            events = streams(recorded, protocol.response_view(200, data))
        except WireError as error:
            raise _refused("--response", f"the exchange was streamed as `{kind}`: {error.message}") from error
        if events is None:
            raise _refused("--response", f"the exchange was streamed as `{kind}`, expected such a stream")
        fine = delivery if delivery.status < 400 else replace(delivery, status=200, reason="")
        return _given(fine, b"".join(events), tuple(map(len, events)))
    headers = delivery.headers
    for name in FRAMING:
        headers = with_header(headers, name, None)
    return GivenAnswer(status=delivery.status, headers=headers, body=_b64(data))


def _message(line: re.Match[bytes], data: bytes) -> GivenAnswer:
    head, blank, body = _parted(data[line.end() :])
    headers = []
    for field in head.split(b"\n") if head else ():
        name, colon, value = field.rstrip(b"\r").partition(b":")
        if not colon or not name or name != name.strip() or not blank:
            raise _refused("--response", f"found the header line `{field.decode('latin-1')[:60]}`")
        if name.lower().decode("latin-1") not in FRAMING[:2]:
            headers.append((name.decode("latin-1"), value.strip().decode("latin-1")))
    reason = (line[2] or b"").decode("latin-1")
    return GivenAnswer(status=int(line[1]), reason=reason, headers=tuple(headers), body=_b64(body))


def _parted(rest: bytes) -> tuple[bytes, bool, bytes]:
    for blank in (b"\r\n\r\n", b"\n\n"):
        head, found, body = rest.partition(blank)
        if found:
            return head, True, body
    return rest.rstrip(b"\r\n"), True, b""


# ---------------------------------------------------------------- edits


def edited(recorded: Recorded, edits: Sequence[Edit]) -> GivenAnswer:
    """The recorded answer with these edits, in order. Raises UsageError for one that it has no place for."""
    given: GivenAnswer | None = None
    for one in edits:
        delivery = _delivery(recorded)
        try:
            given = _edited(recorded, delivery, one)
        except WireError as error:
            raise _refused(one.path, error.message) from error
        edited_delivery = replace(
            delivery,
            status=given.status,
            headers=given.headers,
            body=given.body,
            chunks=given.chunks,
        )
        recorded = replace(recorded, delivered=edited_delivery, upstream=edited_delivery)
    assert given is not None
    return given


def _edited(recorded: Recorded, delivery: Delivery, one: Edit) -> GivenAnswer:
    if one.path == "status":
        if not isinstance(one.value, int) or not 200 <= one.value <= 599:
            raise _refused(one.path, f"found `{one.value}`, expected a status from 200 to 599")
        return _given(replace(delivery, status=one.value, reason=""), delivery.body, _sizes(delivery))
    steps = _steps(one.path)
    if steps is None:
        protocol = _protocol(recorded)
        if protocol is None or not protocol.edits.can("answer"):
            raise _refused(one.path, "the exchange is not with a model whose answers can be edited")
        given = _changed(recorded, delivery, protocol, _as_asked(recorded, delivery, protocol, one))
        _expect_effect(recorded, protocol, given, one)
        return given
    plain, _ = decoded(delivery.body, delivery.headers)
    cutter = _cutter(recorded, delivery)
    if cutter is None:
        return _given(delivery, json_bytes.put(plain, steps, json_bytes.dump(one.value)))
    events = framing.cut(plain, cutter)
    if not isinstance(steps[0], int) or steps[0] >= len(events):
        raise _refused(one.path, f"the answer is a stream of {len(events)} events, expected `$[N].…`")
    events[steps[0]] = _in_event(events[steps[0]], steps[1:], one)
    return _given(delivery, b"".join(events), tuple(map(len, events)))


def _in_event(event: bytes, steps: Path, one: Edit) -> bytes:
    framed = json_stream.SSE_OR_ELEMENTS if json_stream.SSE.read(event) else json_stream.LINES
    found = framed.read(event)
    if found is None:
        raise _refused(one.path, "that event holds no JSON")
    return framed.swap(event, json_bytes.put(found[1], steps, json_bytes.dump(one.value)))


def _as_asked(recorded: Recorded, delivery: Delivery, protocol: Protocol, one: Edit) -> Change:
    if one.path == "finish":
        if one.value not in get_args(Finish):
            raise _refused(one.path, f"found `{one.value}`, expected one of {', '.join(get_args(Finish))}")
        return Change(finish=one.value)
    if one.path == "text":
        new = one.value if isinstance(one.value, str) else orjson.dumps(one.value).decode()
        return Change(text=lambda _: new)
    found = _CALL.match(one.path)
    assert found is not None
    at, member = int(found[1]), found[2]
    known = response_view(protocol, _response(delivery), recorded.request).tool_calls
    if at >= len(known):
        raise _refused(one.path, f"the answer calls {len(known)} tools")
    value = one.value if isinstance(one.value, str) else orjson.dumps(one.value).decode()
    wanted = replace(known[at], **{member: value})
    return Change(calls=lambda calls: tuple(wanted if n == at else call for n, call in enumerate(calls)))


def _changed(recorded: Recorded, delivery: Delivery, protocol: Protocol, change: Change) -> GivenAnswer:
    plain, _ = decoded(delivery.body, delivery.headers)
    cutter = _cutter(recorded, delivery)
    if cutter is None:
        return _given(delivery, protocol.edits.change(plain, change))
    editor = protocol.edits.stream_editor(change)
    if editor is None:
        raise _refused("--set", f"streams of `{protocol.name}` cannot be changed by words")
    events = [new for event in framing.cut(plain, cutter) for new in editor.feed(event)]
    events += editor.finish()
    return _given(delivery, b"".join(events), tuple(map(len, events)))


def _expect_effect(recorded: Recorded, protocol: Protocol, given: GivenAnswer, one: Edit) -> None:
    """Raises UsageError where the answer has no place for the words, as an error has none."""
    view = response_view(
        protocol, Response(given.status, given.reason, given.headers, given.body), recorded.request
    )
    lost = {"text": one.value != "" and not view.text, "finish": view.finish_reason is None}
    if lost.get(one.path):
        failed = given.status >= 400
        what = f"has the status {given.status}" if failed else f"has no place for a new `{one.path}`"
        hint = "expected an answer that has one; `--response FILE` replaces an answer whole"
        raise _refused(one.path, f"the answer {what}, {hint}")


# ---------------------------------------------------------------- small parts


def _given(delivery: Delivery, body: bytes, sizes: tuple[int, ...] = ()) -> GivenAnswer:
    """An answer with another body, unpacked; its events come one by one, when the recorded chunks came."""
    headers = (
        delivery.headers if body is delivery.body else with_header(delivery.headers, "content-encoding", None)
    )
    if header(headers, "content-length") is not None:
        headers = with_header(headers, "content-length", str(len(body)))
    instants = [at for _, at in delivery.chunks] or [0]
    chunks, end = list[tuple[int, int]](), 0
    for n, size in enumerate(sizes):
        end += size
        chunks.append((end, instants[min(n, len(instants) - 1)]))
    return GivenAnswer(
        status=delivery.status,
        reason=delivery.reason,
        headers=headers,
        body=_b64(body),
        chunks=tuple(chunks),
        trailers=delivery.trailers,
    )


def _sizes(delivery: Delivery) -> tuple[int, ...]:
    """The sizes of the recorded chunks."""
    ends = [end for end, _ in delivery.chunks]
    return tuple(end - start for start, end in zip([0, *ends], ends, strict=False))


def _delivery(recorded: Recorded) -> Delivery:
    delivery = recorded.delivered or recorded.upstream
    if delivery is None or recorded.messages:
        what = "is a WebSocket" if recorded.messages else "has no response on the tape"
        raise _refused("the fork", f"exchange {recorded.number} {what}, expected one with a response")
    return delivery


def _response(delivery: Delivery) -> Response:
    return Response(delivery.status, delivery.reason, delivery.headers, delivery.body)


def _cutter(recorded: Recorded, delivery: Delivery) -> framing.Splitter | None:
    return framing.splitter_of(_response(delivery), _protocol(recorded), recorded.request)


def _protocol(recorded: Recorded) -> Protocol | None:
    return wire.protocols().get(recorded.protocol or "")


def _is_json(data: bytes) -> bool:
    try:
        return isinstance(orjson.loads(data), dict)
    except orjson.JSONDecodeError:
        return False


def _b64(data: bytes) -> bytes:
    """As the settings take it: they travel as JSON."""
    return b64encode(data)


def _refused(what: str, why: str) -> UsageError:
    return UsageError(f"found `{what[:80]}`: {why}", code="fork.answer")
