"""What of an agent's traffic can be generated: read from a run without any generated text."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire.checks._tools import uses
from faultwire.errors import WireError
from faultwire.fuzz.answers import is_stream, shapes
from faultwire.fuzz.case import Target
from faultwire.fuzz.grammar import Source
from faultwire.fuzz.messages import valid
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.events import History, Recorded
    from faultwire.wire.mcp.jsonrpc import Message

CALLS = 3
"""Calls of one tool, or requests of one method, that are targets."""
METHODS = ("tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get")
"""Methods of MCP whose answers are generated."""


class Surface(NamedTuple):
    """What can be generated, and the calls that cannot: they have no tool's name."""

    sources: tuple[Source, ...]
    unnamed: tuple[str, ...]


def surface(history: History, prompts: Sequence[str]) -> Surface:
    """The sources of a run: prompts, then results, messages and answers, in the order in which they came."""
    sources = [
        Source(Target("prompt", str(number)), {"given": text}) for number, text in enumerate(prompts, 1)
    ]
    sources += _results(history)
    sources += _messages(history)
    sources += _answers(history)
    unnamed = dict.fromkeys(
        f"{one.request.method} {one.request.host}{one.request.path.partition('?')[0]}"
        for one in history.exchanges
        if one.kind == "other" and one.protocol != "mcp"
    )
    return Surface(tuple(sources), tuple(unnamed))


def _results(history: History) -> Iterator[Source]:
    schemas, calls = _schemas(history), Counter[str]()
    own = [one for one in history.exchanges if one.kind == "tool" and one.tool and not one.attempt]
    texts = [(str(one.tool), _text(one)) for one in own]
    named = {name for name, _ in texts}
    texts += [(use.name, use.result) for use in uses(history) if use.name and use.name not in named]
    for name, text in texts:
        calls[name] += 1
        if text is not None and calls[name] <= CALLS:
            yield Source(Target("result", name, calls[name]), {"seen": text}, schemas.get(name))


def _messages(history: History) -> Iterator[Source]:
    calls = Counter[str]()
    for one in history.exchanges:
        asked = [each for each in mcp.asked(one.request) if each.is_request and each.method in METHODS]
        if one.protocol == "mcp" and len(asked) == 1:
            name = f"{asked[0].method} {asked[0].tool}" if asked[0].tool else str(asked[0].method)
            calls[name] += 1
            if calls[name] <= CALLS:
                seen = next((each.result for each in answers(one) if each.result is not None), None)
                yield Source(Target("message", name, calls[name]), valid(str(asked[0].method), seen))


def _answers(history: History) -> Iterator[Source]:
    """Answers of models that are a document or a stream of events; the first one in other shapes, too."""
    asked = [one for one in history.exchanges if one.kind == "llm"]
    for call, one in enumerate(asked[:CALLS], 1):
        if one.delivered is None or one.delivered.status != 200:
            continue
        try:
            text = one.delivered.body.decode()
        except UnicodeDecodeError:
            continue
        if text.lstrip()[:1] == "{" or is_stream(text):
            others = shapes(text) if call == 1 else {}
            yield Source(Target("answer", "model", call), {"seen": text, **others})


def answers(one: Recorded) -> tuple[Message, ...]:
    """The answers in what a server of MCP gave."""
    body = one.delivered.body if one.delivered is not None else b""
    try:
        found = mcp.messages(body) if body.lstrip()[:1] in (b"{", b"[") else _events(body)
    except WireError:
        return ()
    return tuple(each for each in found if each.is_answer)


def _events(body: bytes) -> tuple[Message, ...]:
    blocks = body.replace(b"\r\n", b"\n").split(b"\n\n")
    return tuple(each for block in blocks for each in mcp.event_messages(block + b"\n\n"))


def _text(one: Recorded) -> str | None:
    """What a tool gave, as its own site tells it; None where it failed or gave none."""
    if one.delivered is None or one.delivered.status >= 300:
        return None
    if one.protocol == "mcp":
        return next((each.text for each in answers(one) if not each.is_error), None)
    return one.delivered.body.decode("utf-8", "replace")


def _schemas(history: History) -> Mapping[str, Mapping[str, Any]]:
    """What tools of MCP say of their results, by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for one in history.exchanges:
        if one.protocol == "mcp" and any(each.method == "tools/list" for each in mcp.asked(one.request)):
            for answer in answers(one):
                tools: Any = (answer.result or {}).get("tools")
                for tool in tools if isinstance(tools, list) else ():
                    if isinstance(tool, dict) and isinstance(tool.get("outputSchema"), dict):
                        found[str(tool.get("name"))] = tool["outputSchema"]
    return found


def as_json(source: Source) -> dict[str, Any]:
    """A source, for a file."""
    return {"target": source.target._asdict(), "bases": dict(source.bases), "schema": source.schema}


def read(row: Mapping[str, Any]) -> Source:
    """A source from a file. Raises KeyError, TypeError."""
    return Source(Target(**row["target"]), dict(row["bases"]), json.loads(json.dumps(row["schema"])))
