"""What an agent claims beside what the wire shows of the same session, and where the two differ.

Claims and observations of one kind are aligned in their order, by name. A difference is stated where both
sides say something of the same thing, or one of them is silent. A hash that fits in no way that is known is
no difference by itself: it counts as one only where another hash of the log fits in a way in which this one
does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from faultwire.checks._calls import calls
from faultwire.checks._tools import asked, uses
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import transcript_of
from faultwire.history import past
from faultwire.ingestion.claims import KINDS, Kind, forms
from faultwire.tape.redact.edit import MARK
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from faultwire.events import History
    from faultwire.ingestion.claims import Claim, Log

Verdict = Literal["same", "differs", "claimed only", "seen only", "not comparable"]
_T = TypeVar("_T", "Claim", "Seen")
MOST = 4_000
"""Claims, or observations, of one kind that are aligned by name; more are taken in their order."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that the wire shows; `exchange` is where."""

    kind: Kind
    exchange: int
    name: str | None
    value: Any = None
    finish: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison."""

    kind: Kind
    verdict: Verdict
    claim: Claim | None
    seen: Seen | None
    text: str


@dataclass(slots=True)
class Comparison:
    """All lines in the order of the log, and what was not compared."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def differences(self) -> list[Row]:
        """Where the two do not say the same."""
        return [row for row in self.rows if row.verdict not in ("same", "not comparable")]


def compare(log: Log, history: History) -> Comparison:
    """Lay a log beside the traffic of the session that it reports."""
    found = Comparison()
    observed = list(_observed(history))
    pairs = [pair for kind in KINDS for pair in _aligned(_of(kind, log.claims), _of(kind, observed))]
    known = _known_ways(pairs)
    found.rows = [_row(claim, one, known) for claim, one in pairs]
    found.rows.sort(key=lambda row: (row.claim.number if row.claim else 1 << 60, _exchange(row)))
    if log.lost:
        found.notes.append(f"its SDK says that {counted(log.lost, 'event')} of the log were lost")
    if history.bypassed:
        found.notes.append(f"calls may be missing from the tape, since traffic {past(history.bypassed)}")
    broken = sum(failed(exchange) for exchange in history.exchanges)
    if broken and not log.errors:
        found.notes.append(f"{counted(broken, 'exchange')} failed on the wire; the log reports no error")
    return found


def _of(kind: Kind, every: Iterable[_T]) -> list[_T]:
    return [one for one in every if one.kind == kind]


def _exchange(row: Row) -> int:
    return row.seen.exchange if row.seen else 0


# ---------------------------------------------------------------- the wire


def _observed(history: History) -> Iterator[Seen]:
    """A call that was tried again is one; its answer is that of the last attempt, if there is one."""
    for call in calls([one for one in history.exchanges if one.kind == "llm"]):
        first, last = call.tries[0], call.tries[-1]
        asked_for = transcript_of(history, first)
        if asked_for is None or asked_for.request is None:
            continue
        yield Seen("call", first.number, asked_for.request.model or None)
        transcript = transcript_of(history, last)
        if transcript is not None and transcript.answer is not None and not failed(last):
            answer = transcript.answer
            yield Seen("answer", last.number, answer.model or None, answer.text, answer.finish_reason)
    for number, wanted in asked(history):
        yield Seen("tool call", number, wanted.name, wanted.arguments)
    for use in uses(history):
        if not use.failed:
            yield Seen("tool result", use.number, use.name, use.result)


# ---------------------------------------------------------------- side by side


def _aligned(claims: list[Claim], seen: list[Seen]) -> Iterator[tuple[Claim | None, Seen | None]]:
    names = [claim.name for claim in claims]
    if None in names or max(len(claims), len(seen)) > MOST:
        yield from zip_longest(claims, seen)
        return
    theirs = [_matched(one.name, names) for one in seen]
    moves = SequenceMatcher(None, names, theirs, autojunk=False).get_opcodes()
    apart = sum(max(b - a, d - c) for move, a, b, c, d in moves if move != "equal")
    if sum(one != other for one, other in zip_longest(names, theirs)) <= apart:
        yield from zip_longest(claims, seen)
        return
    for _, a, b, c, d in moves:
        yield from zip_longest(claims[a:b], seen[c:d])


def _matched(name: str | None, names: Sequence[str | None]) -> str | None:
    """The log's own spelling of a model: it may leave out the date that the provider adds."""
    return next((one for one in names if _same_name(one, name)), name)


def _same_name(one: str | None, other: str | None) -> bool:
    if one is None or other is None or one == other:
        return True
    short, long = sorted((one.rpartition("/")[2], other.rpartition("/")[2]), key=len)
    return short == long or (long.startswith(f"{short}-") and long[len(short) + 1].isdigit())


def _known_ways(pairs: list[tuple[Claim | None, Seen | None]]) -> frozenset[str]:
    """The ways in which this log hashes, as far as one of its hashes shows it."""
    return frozenset(
        name.partition(" ")[0]
        for claim, one in pairs
        if claim is not None and one is not None and claim.digest is not None
        for name, digest in forms(one.value).items()
        if digest == claim.digest
    )


def _row(claim: Claim | None, one: Seen | None, known: frozenset[str]) -> Row:
    if claim is None:
        assert one is not None
        text = f"exchange {one.exchange} has a {_what(one)} that the log does not report"
        return Row(one.kind, "seen only", None, one, text)
    here = f"event {claim.number} claims a {_what(claim)}"
    if one is None:
        return Row(claim.kind, "claimed only", claim, None, f"{here} that the wire does not show")
    if not _same_name(claim.name, one.name):
        text = f"{here}; exchange {one.exchange} has a {_what(one)}"
        return Row(claim.kind, "differs", claim, one, text)
    if claim.finish is not None and one.finish is not None and claim.finish != one.finish:
        text = f"{here} that ended with `{safe(claim.finish)[:80]}`; exchange {one.exchange} ended with "
        return Row(claim.kind, "differs", claim, one, f"{text}`{safe(one.finish)[:80]}`")
    verdict = _content(claim, one, known)
    texts = {
        "same": f"{here}; exchange {one.exchange} shows it",
        "differs": f"{here} with another content than that of exchange {one.exchange}",
        "not comparable": f"{here}; its content cannot be compared with that of exchange {one.exchange}",
    }
    return Row(claim.kind, verdict, claim, one, texts[verdict])


def _content(claim: Claim, one: Seen, known: frozenset[str]) -> Literal["same", "differs", "not comparable"]:
    if claim.kind == "call":
        return "same"
    if one.value is None or MARK in str(one.value):  # a secret that is not on the tape
        return "not comparable"
    ours = forms(one.value)
    if claim.value is not None:
        return "same" if set(forms(claim.value).values()) & set(ours.values()) else "differs"
    if claim.digest is None:
        return "not comparable"
    if claim.digest in ours.values():
        return "same"
    return "differs" if known & {name.partition(" ")[0] for name in ours} else "not comparable"


def _what(one: Claim | Seen) -> str:
    """`call of the model `m``, `result of the tool `t``."""
    words = {"call": "model call", "answer": "model's answer"}
    named = "" if one.name is None else f" (`{safe(one.name)[:80]}`)"
    return f"{words.get(one.kind, one.kind)}{named}"
