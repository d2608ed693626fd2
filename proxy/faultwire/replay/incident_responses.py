"""What the tools of a recorded session answered, at whichever site each was seen, as tool responses."""

from __future__ import annotations

import json
import re  # noqa: TID251 - a fixed pattern
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Exchange, Response, header
from faultwire.exchange import result_decisions
from faultwire.replay.incident_profile import MCP
from faultwire.replay.reader import forwarded
from faultwire.wire.framing import split as framing
from faultwire.wire.framing.content_coding import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.events import Delivery, Headers, Recorded, ToolCall, ToolResult
    from faultwire.profile.model import ToolSite
    from faultwire.tape.read.reader import TapeReader

_DELAYED = re.compile(r"(?:delayed by|after) ([0-9]+(?:\.[0-9]+)?) ms")
"""How the ledger tells that a result came late."""
_KEPT_HEADERS = ("retry-after", "location", "etag", "link", "x-should-retry")
"""Header fields of a tool's answer that clients act on; those of rate limits are kept as well."""
LONGER = 2
"""Times the patience of an agent that did not wait for its tool: how long the tool takes from then on."""
MOST_BYTES = 32 * 1024 * 1024
SHORT = 4_000
"""Characters of JSON that are written as values, where that says the same."""


@dataclass(slots=True)
class Taken:
    """The tool responses of a session in the order of its calls, and what they cannot say."""

    responses: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def taken(tape: TapeReader, session: str, tools: Mapping[str, ToolSite] | None = None) -> Taken:
    """What the tools of one session answered, as the agent and its model got it.

    `tools` says where tools are called that the tape does not know as such. Raises TapeError.
    """
    exchanges = [_named(exchange, tools or {}) for exchange in forwarded(tape, tape.exchanges(session))]
    own = {exchange.tool for exchange in exchanges if exchange.kind == "tool" and exchange.tool is not None}
    made = Taken()
    results = _Results(own)
    for exchange in exchanges:
        if exchange.kind == "tool" and exchange.tool is not None:
            _at_own_site(exchange, made)
        elif exchange.kind == "llm":
            made.responses += results.of(exchange)
    return made


def _named(exchange: Recorded, tools: Mapping[str, ToolSite]) -> Recorded:
    """The exchange as a tool's, where its address or its message says so: a session without faults was not
    looked into."""
    if exchange.tool is not None or exchange.kind not in ("tool", "other"):
        return exchange
    found = wire.understand(exchange.request, tools)
    if found.tool is None:
        return exchange
    protocol = found.protocol.name if found.protocol is not None else None
    return replace(exchange, kind="tool", tool=found.tool, protocol=protocol)


def _at_own_site(exchange: Recorded, made: Taken) -> None:
    found: dict[str, Any] = {"tool": exchange.tool}
    delivered = exchange.delivered
    ours = exchange.ending == "upstream_aborted" and exchange.upstream is None
    whole = exchange.ending in ("complete", "open", "refused") or ours
    if delivered is None or not whole:
        waited = exchange.ending == "client_aborted" and delivered is None
        late = exchange.duration_ms * (LONGER if waited else 1)
        how = (
            f"the agent left after {exchange.duration_ms:.0f} ms, so it takes twice as long now"
            if waited
            else f"its response ended early ({exchange.ending}), so it is replayed as an error"
        )
        made.notes.append(f"exchange {exchange.number}: `{exchange.tool}`: {how}")
        made.responses.append(found | {"status": 0} | _late(late))
        return
    as_exchange = _exchange(exchange, delivered)
    site = wire.tool_site(as_exchange)
    if site is None or site.name == "http":
        found |= _http_answer(exchange, delivered, made)
        made.responses.append(found | _late(exchange.duration_ms))
        return
    results: list[tuple[str, bool]] = []
    body = _plain(delivered)
    stream = framing.is_stream(delivered.headers)
    for piece in framing.events(body, delivered.headers) if stream else [body]:
        site.rewritten(piece, lambda text, failed: results.append((text, failed)))
    if not results:
        how = "its MCP response is not a result, so it is replayed as an error"
        made.notes.append(f"exchange {exchange.number}: `{exchange.tool}`: {how}")
    text, failed = results[0] if results else (body.decode("utf-8", "replace"), True)
    made.responses.append(
        found | _value(text) | ({"status": 0} if failed else {}) | _late(exchange.duration_ms)
    )


def _http_answer(exchange: Recorded, delivered: Delivery, made: Taken) -> dict[str, Any]:
    body = _plain(delivered)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        why = "its body is not text, so it is not replayed exactly"
        made.notes.append(f"exchange {exchange.number}: `{exchange.tool}`: {why}")
    headers = _kept_headers(delivered.headers, text)
    status = delivered.status if 200 <= delivered.status <= 599 else 0
    return (_value(text) if text else {}) | {"status": status} | ({"headers": headers} if headers else {})


def _kept_headers(headers: Headers, text: str) -> dict[str, str]:
    kept = {
        name.lower(): value
        for name, value in headers
        if name.lower() in _KEPT_HEADERS or "ratelimit" in name.lower().replace("-", "")
    }
    kind = header(headers, "content-type")
    usual = "application/json" if text.lstrip()[:1] in ("{", "[") else "text/plain; charset=utf-8"
    if kind is not None and text and kind.replace(" ", "").lower() != usual.replace(" ", ""):
        kept["content-type"] = kind
    return kept


class _Results:
    """Results inside requests to models, each once, of tools that have no site of their own."""

    def __init__(self, own: set[str]) -> None:
        self._own = own
        self._known: set[str] = set()
        self._calls: dict[str, ToolCall] = {}

    def of(self, exchange: Recorded) -> Iterator[dict[str, Any]]:
        """Those that this request is the first to bring."""
        transcript = wire.transcript_of(exchange)
        if transcript is None:
            return
        results = [
            self._with_name(one)
            for one in (transcript.request.results if transcript.request is not None else ())
        ]
        for key, result in result_decisions.keyed_results(results):
            if key in self._known:
                continue
            self._known.add(key)
            if result.name and not self._is_own(result.name):
                failed = {"status": 0} if result.is_error else {}
                yield {"tool": result.name} | _value(result.text) | failed | _late(_held(exchange, result))
        if transcript.answer is not None:
            self._calls.update({call.id: call for call in transcript.answer.tool_calls if call.id})

    def _with_name(self, result: ToolResult) -> ToolResult:
        call = None if result.name else self._calls.get(result.call_id)
        return replace(result, name=call.name, arguments=call.arguments) if call else result

    def _is_own(self, name: str) -> bool:
        bare = name.removeprefix(MCP).partition("__")[2] if name.startswith(MCP) else ""
        return name in self._own or (bool(bare) and bare in self._own)


def _held(exchange: Recorded, result: ToolResult) -> float:
    """How long a fault held this result back; how long the tool itself took is not on the wire."""
    lines = [line for line in exchange.faults if line.site == "result" and line.outcome == "fired"]
    mine = (_DELAYED.search(line.effect or "") for line in lines if line.subject == result.name)
    return next((float(found[1]) for found in mine if found is not None), 0.0)


def _exchange(exchange: Recorded, delivered: Delivery) -> Exchange:
    head = Response(delivered.status, delivered.reason, delivered.headers)
    return Exchange(
        session=exchange.session,
        number=exchange.number,
        request=exchange.request,
        kind=exchange.kind,
        protocol=exchange.protocol,
        tool=exchange.tool,
        response=head,
    )


def _plain(delivered: Delivery) -> bytes:
    try:
        return decoded(delivered.body, delivered.headers, max_bytes=MOST_BYTES)[0]
    except WireError:
        return delivered.body


def _value(text: str) -> dict[str, Any]:
    """A text, or the JSON value that is written the same way."""
    if len(text) <= SHORT and text[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return {"response": text}
        if json.dumps(value, ensure_ascii=False) == text and _depth(value) <= 8:
            return {"response": value}
    return {"response": text}


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def _late(latency_ms: float) -> dict[str, Any]:
    rounded = round(latency_ms)
    return {"latency_ms": rounded} if rounded else {}
