"""The invariant that nothing is done twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire import _core, wire
from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._idempotency import key_of
from faultwire.checks._tools import uses
from faultwire.checks._transcripts import place

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Verdict

_Deed = tuple[str, str]
"""What was done: the tool or place, and a digest of with what."""
_Deeds = dict[_Deed, dict[str, int]]
"""Each with its executions, an exchange for each."""


class NoDuplicateSideEffect(Check):
    """What changes the world is done once, also after a failure that hid the first success.

    What it judges:
        Requests to tools that are not safe to repeat (POST and PATCH over HTTP), that reached the server,
        and that are equal in place and body; and, for the tools named in `tools`, their executions with
        equal arguments wherever they are seen. Requests that share an `Idempotency-Key`, or what PayPal,
        Square, AWS, Azure and Google call it in a header, the query or the body, count once.

    Why agents fail it:
        A timeout after the server had already paid, booked or sent; the retry does it again.

    What it cannot tell:
        Whether the server itself recognises the repetition. Tools that only read should be left out: name
        the others in `tools`. Whether a tool inside of the agent's process that reported an error had done
        something before is unknown.

    Example:
        invariants:
          - {type: no_duplicate_side_effect, tools: [refund, send_mail], severity: critical}
    """

    name = "no_duplicate_side_effect"
    evidence = "tools"
    tools: Annotated[
        tuple[str, ...], Field(description="tools with side effects; none: any that is POSTed to")
    ] = ()

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for the same deed twice."""
        deeds = self._on_the_wire(history)
        failures = self._inside(history, deeds)
        if not deeds:
            return unknown("no call with side effects was made")
        unclear = None
        for what, times in deeds.items():
            done, numbers = len(times) - failures[what], sorted(times.values())
            if done > 1:
                words = f"{quoted(what[0])} was done {done} times with the same arguments"
                return judged(False, words, done, numbers)
            if len(times) > 1 and unclear is None:
                unclear = (
                    f"{quoted(what[0])} was called {len(times)} times with the same arguments and reported "
                    "an error; whether it had done anything then was not seen"
                )
        if unclear is not None:
            return unknown(unclear)
        numbers = sorted(number for times in deeds.values() for number in times.values())
        words = "1 deed, done once" if len(deeds) == 1 else f"{len(deeds)} deeds, each done once"
        return judged(True, words, len(deeds), numbers)

    def _on_the_wire(self, history: History) -> _Deeds:
        """What was asked of tools with exchanges of their own."""
        deeds: _Deeds = {}
        for exchange in history.exchanges:
            if self._acts(exchange):
                request = exchange.request
                what = (
                    exchange.tool or place(exchange),
                    _digest(request.url.encode("utf-8", "replace"), request.body),
                )
                key = key_of(request) or f"#{exchange.number}"
                deeds.setdefault(what, {}).setdefault(key, exchange.number)
        return deeds

    def _inside(self, history: History, deeds: _Deeds) -> Counter[_Deed]:
        """Add what the named tools inside of the agent did; gives how often they reported an error."""
        wired = {name for name, _ in deeds}
        failures: Counter[_Deed] = Counter()
        for use in uses(history):
            if use.name in self.tools and use.name not in wired and use.seen != "its own exchange":
                what = (use.name, _same(use.arguments))
                times = deeds.setdefault(what, {})
                times[f"#{use.number}/{len(times)}"] = use.number
                failures[what] += use.failed and not _by_fault(history, use.number)
        return failures

    def _acts(self, exchange: Recorded) -> bool:
        if exchange.kind != "tool" or exchange.request.method not in ("POST", "PATCH"):
            return False
        upstream = exchange.upstream
        # refused by the server itself: nothing was done; refused by a fault: it was never asked
        reached = upstream is not None and upstream.status < 400 and not _is_refusal(exchange)
        return reached and (not self.tools or exchange.tool in self.tools)


def _is_refusal(exchange: Recorded) -> bool:
    """Did the tool answer its call with an error of its protocol (MCP: `isError`, or one of JSON-RPC)?"""
    sent = wire.transcript_of(replace(exchange, delivered=exchange.upstream)) if exchange.protocol else None
    return sent is not None and sent.answer is not None and sent.answer.error is not None


def _by_fault(history: History, number: int) -> bool:
    """Did a fault act on the results in this request?"""
    return any(
        line.outcome == "fired" and line.site == "result"
        for exchange in history.exchanges
        if exchange.number == number
        for line in exchange.faults
    )


def _digest(url: bytes, body: bytes | None) -> str:
    return _core.sha256_hex(url + b"\n" + _core.json_fingerprint(body or b"", ["id"]))


def _same(arguments: str) -> str:
    return _core.json_fingerprint(arguments.encode("utf-8", "replace"), []).hex()
