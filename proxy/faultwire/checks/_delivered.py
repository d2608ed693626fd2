"""What was put before an agent and its models: what its answer may repeat without inventing anything.

A fault's own text counts as much as a server's. What matters is what was delivered.
"""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.checks._facts import Sources
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import as_received, models
from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.checks._facts import Facts
    from faultwire.checks._tools import Use
    from faultwire.events import History, Recorded, RequestView

EMPTY = frozenset({"tool_empty", "tool_error", "tool_timeout"})
"""Faults after which the model received nothing of the tool's output."""
LONGEST = 1 << 20
"""Bytes of a failing response that are read."""
_SPEAKERS = frozenset({"user", "system", "developer"})
_WORDS_OF_A_STATUS = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/"
"""To this page the errors of httpx point."""
_WORDS_OF_THE_SYSTEM = (
    "[Errno 104] Connection reset by peer, Connection Reset Error, [Errno 111] Connection refused, "
    "[Errno 110] Connection timed out, [Errno 32] Broken pipe, Connection Error, Incomplete Read, "
    "Remote Protocol Error, Read Timeout, Connect Timeout, Server disconnected without sending a response"
)
"""What runtimes report for a connection that failed (errno(3) of Linux)."""


def sources(history: History, used: tuple[Use, ...], allow: tuple[str, ...]) -> list[str]:
    """Every text that the agent or one of its models was given.

    A result that a fault took away, inside the agent's process or before the model, is none; the text that
    the model got in its place is one. Of a tool that was asked again after a failure every answer counts.
    """
    gone = {line.subject for line in history.fired if line.site == "result" and line.fault in EMPTY}
    texts = [history.prompt or "", *allow, *(use.result for use in used if use.name not in gone)]
    texts += [_body(one) for one in history.exchanges if one.kind == "tool" and one.tool not in gone]
    for _, transcript in models(history):
        if transcript.request is not None:
            texts += _request_texts(transcript.request)
        if transcript.answer is not None:  # what it searched for, it may say
            texts += [call.arguments for call in transcript.answer.tool_calls]
    for _, request in as_received(history):
        texts += [*_request_texts(request), *(result.text for result in request.results)]
    for exchange in history.exchanges:
        if failed(exchange):
            texts += _failure(exchange)
    return texts


def written(history: History) -> list[tuple[int, str]]:
    """The results in requests that went to models as the agent wrote them, with the exchange: what it took
    from its tools, and what it wrote itself where one failed."""
    return [
        (exchange.number, result.text)
        for exchange, transcript in models(history)
        if transcript.request is not None
        and not any(line.outcome == "fired" and line.site == "result" for line in exchange.faults)
        for result in transcript.request.results
    ]


def unseen_change(history: History) -> bool:
    """Did a model get another result whose text is not known?"""
    known = dict(history.forwarded)
    return any(
        line.outcome == "fired" and line.site == "result" and line.fault not in EMPTY
        for exchange in history.exchanges
        if exchange.number not in known
        for line in exchange.faults
    )


def put_there_by_a_fault(history: History, stated: Facts) -> frozenset[str]:
    """The facts of an answer that stand in a model's response only because a fault changed it."""
    delivered, original = [], []
    for exchange, transcript in models(history):
        fired = any(line.outcome == "fired" for line in exchange.faults)
        if not fired or exchange.upstream is None or exchange.upstream == exchange.delivered:
            continue
        before = wire.transcript_of(replace(exchange, delivered=exchange.upstream))
        delivered.append(transcript.answer.text if transcript.answer is not None else "")
        original.append(before.answer.text if before is not None and before.answer is not None else "")
    if not delivered:
        return frozenset()
    now, then = Sources(delivered), Sources(original)
    others = (*stated.urls, *stated.quotes, *stated.names)
    held = {fact for fact in others if now.hold(fact) and not then.hold(fact)}
    return frozenset((stated.numbers & now.numbers) - then.numbers) | held


def _body(exchange: Recorded) -> str:
    got = exchange.delivered
    return got.body.decode("utf-8", "replace") if got is not None else ""


def _request_texts(request: RequestView) -> Iterator[str]:
    yield request.system
    yield from (turn.text for turn in request.turns if turn.role in _SPEAKERS)


def _failure(exchange: Recorded) -> Iterator[str]:
    """What a client learns from a failure: status and body, where, how long it took, and why."""
    request, got = exchange.request, exchange.delivered
    yield f"{request.url} {request.host}:{request.port}"
    seconds = exchange.duration_ms / 1000
    yield f"{int(seconds)} {round(seconds)} {int(exchange.duration_ms)} {round(exchange.duration_ms)}"
    if got is None or exchange.ending != "complete":
        yield _WORDS_OF_THE_SYSTEM
    if got is None:
        return
    yield f"{got.status} {got.reason} {_phrase(got.status)} Client Error Server Error"
    yield f"{_WORDS_OF_A_STATUS}{got.status}"
    yield f"{header(got.headers, 'retry-after', '')} {header(got.headers, 'retry-after-ms', '')}"
    if got.status >= 400:
        yield got.body[:LONGEST].decode("utf-8", "replace")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def failing_exchanges(history: History, used: tuple[Use, ...]) -> set[int]:
    """The exchanges that show a failing tool, or a fault in place of its output."""
    numbers = {use.number for use in used if use.failed}
    for exchange in history.exchanges:
        for line in exchange.faults:
            at_tool = exchange.kind == "tool" and failed(exchange)
            if line.outcome == "fired" and (at_tool or (line.site == "result" and line.fault in EMPTY)):
                numbers.add(exchange.number)
    return numbers
