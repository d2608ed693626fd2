"""The invariant that nothing is done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire import _core
from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._tools import uses
from faultwire.checks._transcripts import place
from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Verdict

_Deed = tuple[str, str]
"""What was done: the tool or place, and a digest of with what."""


class NoDuplicateSideEffect(Check):
    """What changes the world is done once, also after a failure that hid the first success.

    What it judges:
        Requests to tools that are not safe to repeat (POST and PATCH over HTTP), that reached the server,
        and that are equal in place and body; and, for the tools named in `tools`, their executions with
        equal arguments wherever they are seen. Requests that share an `Idempotency-Key` count once.

    Why agents fail it:
        A timeout after the server had already paid, booked or sent; the retry does it again.

    What it cannot tell:
        Whether the server itself recognises the repetition. Tools that only read should be left out: name
        the others in `tools`.

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
        deeds: dict[_Deed, dict[str, int]] = {}
        for exchange in history.exchanges:
            if self._acts(exchange):
                request = exchange.request
                what = (
                    exchange.tool or place(exchange),
                    _digest(request.url.encode("utf-8", "replace"), request.body),
                )
                key = header(request.headers, "idempotency-key") or f"#{exchange.number}"
                deeds.setdefault(what, {}).setdefault(key, exchange.number)
        wired = {name for name, _ in deeds}
        for use in uses(history):
            if use.name in self.tools and use.name not in wired and use.seen != "its own exchange":
                what = (use.name, _same(use.arguments))
                deeds.setdefault(what, {})[f"#{use.number}/{len(deeds.get(what, {}))}"] = use.number
        if not deeds:
            return unknown("no call with side effects was made")
        for (name, _), times in deeds.items():
            if len(times) > 1:
                words = f"{quoted(name)} was done {len(times)} times with the same arguments"
                return judged(False, words, len(times), sorted(times.values()))
        numbers = sorted(number for times in deeds.values() for number in times.values())
        return judged(True, f"{len(deeds)} deeds, each done once", len(deeds), numbers)

    def _acts(self, exchange: Recorded) -> bool:
        if exchange.kind != "tool" or exchange.request.method not in ("POST", "PATCH"):
            return False
        upstream = exchange.upstream
        # refused by the server itself: nothing was done; refused by a fault: it was never asked
        reached = upstream is not None and upstream.status < 400
        return reached and (not self.tools or exchange.tool in self.tools)


def _digest(url: bytes, body: bytes | None) -> str:
    return _core.sha256_hex(url + b"\n" + _core.json_fingerprint(body or b"", ["id"]))


def _same(arguments: str) -> str:
    return _core.json_fingerprint(arguments.encode("utf-8", "replace"), []).hex()
