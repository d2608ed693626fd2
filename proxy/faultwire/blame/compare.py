"""Where two recorded runs of one agent were given different answers to the same request.

A step is one request with all its repeats. What was asked in one run only follows from a difference before
it, and is no cause of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from faultwire import wire
from faultwire.blame.parts import Part
from faultwire.errors import WireError
from faultwire.events import Response
from faultwire.replay.match import Index
from faultwire.wire.transcript.response import response_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.events import Delivery, Recorded, ResponseView
    from faultwire.replay.mask import Masks

SHOWN = 200
"""Characters of an answer that a part shows."""
Groups = dict[str, list["Recorded"]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Both runs by what they asked, and the parts in which they differ. `only_failed` and `only_calm` count
    exchanges that the other run did not ask for."""

    failed: Mapping[str, list[Recorded]]
    calm: Mapping[str, list[Recorded]]
    parts: tuple[Part, ...]
    only_failed: int
    only_calm: int

    def numbers(self, as_failed: frozenset[str]) -> tuple[frozenset[int], frozenset[int]]:
        """The exchanges of either run that answer where the parts with these keys are as in the failed
        run."""
        calm_keys = {part.key for part in self.parts} - as_failed
        of_failed = (
            one.number for key, found in self.failed.items() if key not in calm_keys for one in found
        )
        of_calm = (
            one.number
            for key, found in self.calm.items()
            if key in calm_keys or key not in self.failed
            for one in found
        )
        return frozenset(of_failed), frozenset(of_calm)

    def all_numbers(self) -> tuple[frozenset[int], frozenset[int]]:
        """The exchanges of either run."""
        runs = (self.failed, self.calm)
        ours, theirs = (frozenset(one.number for found in run.values() for one in found) for run in runs)
        return ours, theirs

    def left_out(self, as_failed: Iterable[int]) -> tuple[int, ...]:
        """The exchanges of a tape of both runs that do not answer where these parts are as in the failed run.

        There, those of the calm run follow those of the failed one, in their order (`tape.files.choose`)."""
        ours, theirs = self.all_numbers()
        keys = frozenset(self.parts[at].key for at in as_failed)
        of_failed, of_calm = self.numbers(keys)
        last = max(ours, default=0)
        moved = {number: last + at for at, number in enumerate(sorted(theirs), 1)}
        return tuple(sorted([*(ours - of_failed), *(moved[one] for one in theirs - of_calm)]))


def compare(failed: Iterable[Recorded], calm: Iterable[Recorded], masks: Masks) -> Compared:
    """Compare two runs; both are read whole."""
    ours, theirs = _groups(failed, masks), _groups(calm, masks)
    parts = [
        _part(key, found, theirs[key])
        for key, found in ours.items()
        if key in theirs and [_content(one) for one in found] != [_content(one) for one in theirs[key]]
    ]
    only = [
        sum(len(found) for key, found in a.items() if key not in b)
        for a, b in ((ours, theirs), (theirs, ours))
    ]
    return Compared(ours, theirs, tuple(sorted(parts, key=lambda one: one.exchange)), *only)


def _groups(exchanges: Iterable[Recorded], masks: Masks) -> Groups:
    groups: Groups = {}
    for entry in Index(exchanges, masks).entries:
        groups.setdefault(entry.blind, []).append(entry.recorded)
    return groups


def _part(key: str, failed: list[Recorded], calm: list[Recorded]) -> Part:
    first = failed[0]
    return Part(
        first.number, "answer", f"answer to {step_of(first)}", step_of(first), key=key,
        failed=shown(failed[-1]), calm=shown(calm[-1]),
    )  # fmt: skip


def step_of(exchange: Recorded) -> str:
    """What was asked, in a few words."""
    if exchange.tool:
        return f"tool {exchange.tool}"
    if exchange.kind == "llm":
        return f"model ({exchange.provider or exchange.protocol or exchange.request.host})"
    return f"{exchange.request.method} {exchange.request.host}{exchange.request.path.partition('?')[0]}"


def shown(exchange: Recorded) -> str:
    """What the agent got, in short."""
    got = exchange.delivered
    if got is None:
        return f"no answer ({exchange.ending})"
    view = _view(exchange, got)
    words = ""
    if view is not None and got.status < 400:
        calls = "; ".join(f"{call.name}({call.arguments})" for call in view.tool_calls)
        words = view.text or calls
    words = words or got.body.decode("utf-8", "replace")
    text = words if got.status < 300 else f"{got.status} {words}"
    ended = "" if exchange.ending == "complete" else f" ({exchange.ending})"
    return f"{text[:SHOWN]}{'…' if len(text) > SHOWN else ''}{ended}"


def _content(exchange: Recorded) -> object:
    """What an answer says, without what is new in every answer."""
    got = exchange.delivered
    if got is None:
        return exchange.ending
    view = _view(exchange, got)
    if view is not None and got.status < 400:
        calls = [(call.name, call.arguments) for call in view.tool_calls]
        return got.status, exchange.ending, view.text, calls, view.finish_reason, view.error, view.complete
    try:
        return got.status, exchange.ending, orjson.loads(got.body)
    except orjson.JSONDecodeError:
        return got.status, exchange.ending, got.body


def _view(exchange: Recorded, got: Delivery) -> ResponseView | None:
    protocol = wire.protocols().get(exchange.protocol or "")
    if protocol is None:
        return None
    try:
        return response_view(
            protocol, Response(got.status, got.reason, got.headers, got.body), exchange.request
        )
    except WireError:
        return None
