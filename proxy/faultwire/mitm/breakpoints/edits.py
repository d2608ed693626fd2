"""What somebody may change of a held exchange, and the change made. Pure."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire.errors import UsageError, WireError
from faultwire.events import Response, header
from faultwire.faults._arguments import properties
from faultwire.faults._settings import FRAMING, header_fields
from faultwire.faults._wire import error_answer, no_texts, protocol_of
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Exchange, Headers, Request, ToolCall, ToolResult
    from faultwire.mitm.breakpoints.veil import Veil
    from faultwire.mitm.settings import DecisionSettings

SHOWN = 400_000
"""Characters of a text that are shown; a longer one can be resumed, but not edited here."""
RETRY = "faultwire: the call was told to be repeated, by hand"


def request_shown(exchange: Exchange, veil: Veil, results: Sequence[ToolResult] | None) -> dict[str, Any]:
    """A request; with `results` only these tool results of it may be edited."""
    request = exchange.request
    shown: dict[str, Any] = {
        "method": request.method,
        "url": f"{request.scheme}://{request.host}{veil.path(request.path, request.host)}",
        "headers": veil.headers(request.headers),
    }
    body = veil.body(request.body or b"", request.headers)
    if body is not None and len(body) <= SHOWN:
        shown["body"] = body
    if results is not None:
        shown["results"] = [
            {"tool": one.name, "text": veil.text(one.text)} for one in results if len(one.text) <= SHOWN
        ]
        return shown
    texts = _texts(exchange)
    if texts and sum(len(one.text) for one in texts) <= SHOWN:
        shown["texts"] = [{"role": one.role, "new": one.new, "text": veil.text(one.text)} for one in texts]
    return shown


def _texts(exchange: Exchange) -> Sequence[Any]:
    protocol = protocol_of(exchange)
    if protocol is None or no_texts(exchange) is not None:
        return ()
    try:
        return protocol.edits.texts(exchange.request.body or b"")
    except WireError:
        return ()


def request_edited(
    exchange: Exchange, asked: DecisionSettings, veil: Veil, results: Sequence[ToolResult] | None
) -> tuple[bytes | None, str]:
    """The body to forward, and what was edited in words. Raises UsageError, WireError."""
    body = exchange.request.body or b""
    if asked.raw is not None:
        new = veil.restored(asked.raw, in_json=_is_json(exchange.request.headers)).encode()
        return (new, "its body") if new != body else (None, "")
    if not asked.texts:
        return None, ""
    protocol = protocol_of(exchange)
    if protocol is None:
        raise UsageError("found texts, but the request speaks no known protocol", code="control.edit")
    if results is not None:
        return _results_edited(body, asked.texts, veil, results, exchange)
    changed = {}
    for at, old in enumerate(_texts(exchange)):
        new_text = asked.texts.get(str(at))
        if new_text is not None and veil.restored(new_text) != old.text:
            changed[old.path] = veil.restored(new_text)
    return (protocol.edits.rewrite_texts(body, changed), _counted(len(changed))) if changed else (None, "")


def _results_edited(
    body: bytes, texts: dict[str, str], veil: Veil, results: Sequence[ToolResult], exchange: Exchange
) -> tuple[bytes | None, str]:
    protocol, edited = protocol_of(exchange), []
    assert protocol is not None
    for at, result in enumerate(results):
        text = texts.get(str(at))
        if text is not None and veil.restored(text) != result.text:
            rewrite = Rewrite(veil.restored(text), result.is_error, raw=True)
            body = protocol.replace_result(body, result, rewrite)
            edited.append(f"the result of `{result.name or result.call_id}`")
    return (body, ", ".join(edited)) if edited else (None, "")


def _counted(count: int) -> str:
    return "1 text" if count == 1 else f"{count} texts"


def _is_json(headers: Headers) -> bool:
    return "json" in (header(headers, "content-type") or "").lower()


# ---------------------------------------------------------------- answers


def answered(asked: DecisionSettings, veil: Veil) -> Response:
    """An answer by hand. Raises UsageError."""
    if asked.status is None or asked.raw is None:
        raise UsageError("found an answer without a status or a body, expected both", code="control.edit")
    headers = _given(asked.headers or (), veil)
    kind = header(headers, "content-type")
    body = veil.restored(asked.raw, in_json=kind is not None and "json" in kind)
    if kind is None:
        headers = (("content-type", "application/json"), *headers)
    return Response(asked.status, "", headers, body.encode())


def to_be_retried(exchange: Exchange) -> Response:
    """What has the client's SDK make the call again: the provider's own 503, and the field by which it tells
    SDKs to repeat a call."""
    answer = error_answer(exchange, 503, message=RETRY)
    return replace(answer, headers=(*answer.headers, ("x-should-retry", "true")))


def _given(headers: Headers, veil: Veil) -> Headers:
    """Header fields as they were typed; those that say how long a message is are ours. Raises UsageError."""
    fields = tuple((name, veil.restored(value)) for name, value in headers if name.lower() not in FRAMING)
    for name, value in fields:
        try:
            header_fields({name: value})
        except ValueError as error:
            raise UsageError(str(error), code="control.edit") from None
    return fields


def head_edited(response: Response, asked: DecisionSettings, veil: Veil) -> tuple[Response, str]:
    """A response's head with another status or other fields, and what was edited in words."""
    edited, words = response, []
    if asked.status is not None and asked.status != response.status:
        edited, words = replace(edited, status=asked.status, reason=""), ["its status"]
    if asked.headers is not None:
        kept = tuple(field for field in response.headers if field[0].lower() in FRAMING)
        headers = _given(asked.headers, veil)
        if headers != tuple(field for field in response.headers if field not in kept):
            edited = replace(edited, headers=(*headers, *kept))
            words.append("its header fields")
    return edited, " and ".join(words)


# ---------------------------------------------------------------- calls


def calls_shown(calls: Sequence[ToolCall], request: Request, veil: Veil) -> list[dict[str, Any]]:
    """Tool calls with what the request declares of their arguments."""
    return [
        {
            "name": call.name,
            "arguments": veil.text(call.arguments),
            "properties": properties(request.body, call.name),
        }
        for call in calls
    ]


def calls_edited(
    calls: Sequence[ToolCall], asked: DecisionSettings, veil: Veil
) -> tuple[tuple[ToolCall, ...], str]:
    """The calls with other arguments or names, and what was edited in words. Raises UsageError."""
    new, words = list(calls), []
    for one in asked.calls:
        if one.at >= len(new):
            raise UsageError(
                f"found call {one.at}, expected one of {len(new)}, counted from 0", code="control.edit"
            )
        old = new[one.at]
        arguments = old.arguments if one.arguments is None else veil.restored(one.arguments, in_json=True)
        changed = replace(old, name=one.name or old.name, arguments=_with(arguments, one.members))
        if changed != old:
            new[one.at] = changed
            words.append(_difference(old, changed))
    return tuple(new), ", ".join(words)


def _with(arguments: str, members: dict[str, Any]) -> str:
    if not members:
        return arguments
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise UsageError(
            "found arguments that are no JSON object, expected one to set a member of",
            code="control.edit",
            hint="give all of them as text",
        )
    return json.dumps({**given, **members}, ensure_ascii=False)


def _difference(old: ToolCall, new: ToolCall) -> str:
    """Which arguments differ, by name: values may be secret."""
    if old.name != new.name:
        return f"the call of `{old.name}`, now of `{new.name}`"
    try:
        was, now = json.loads(old.arguments or "{}"), json.loads(new.arguments or "{}")
    except (ValueError, RecursionError):
        was = now = None
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return f"the arguments of `{old.name}`"
    names = [name for name in {**was, **now} if was.get(name, was) != now.get(name, now)]
    return f"{', '.join(f'`{name}`' for name in names) or 'the arguments'} of `{old.name}`"


# ---------------------------------------------------------------- events


def event_text(exchange: Exchange, event: bytes) -> str | None:
    """What one event of a model's stream says; None where it says nothing, or in no one string."""
    protocol = protocol_of(exchange)
    if protocol is None or exchange.kind != "llm":
        return None
    reader = protocol.reader()
    reader.feed(event)
    text = reader.view().text
    return text if text and event.count(json.dumps(text, ensure_ascii=False).encode()) == 1 else None


def event_with_text(event: bytes, old: str, new: str) -> bytes:
    """The event saying something else."""
    was, now = (json.dumps(text, ensure_ascii=False).encode() for text in (old, new))
    return event.replace(was, now)


def whole_event(raw: str, event: bytes) -> bytes:
    """An event as it was typed, with the end that the one in whose place it stands has."""
    end = event[len(event.rstrip(b"\r\n")) :]
    return raw.encode().rstrip(b"\r\n") + end
