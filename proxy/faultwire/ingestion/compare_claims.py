"""What an agent claims beside what the wire shows of the same session, and where the two differ.

A difference is stated where both sides say something of the same thing, or one of them is silent. A hash that
fits in no way that is known is no difference by itself: it counts as one only where another hash of the log,
of the same tool or of another answer, fits in a way in which this one does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from faultwire.checks._traffic import failed
from faultwire.history import past
from faultwire.ingestion.observed import observed
from faultwire.ingestion.pairing import Pairs, same_name
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from faultwire.events import History
    from faultwire.ingestion.claims import Claim, Kind, Log
    from faultwire.ingestion.observed import Seen

Verdict = Literal["same", "differs", "claimed only", "seen only", "not comparable"]
_ENDS = (
    frozenset(("stop", "end_turn", "stop_sequence", "completed", "complete", "eos")),
    frozenset(("length", "max_tokens", "max_output_tokens", "model_length")),
    frozenset(("tool_calls", "tool_use", "tool_call", "function_call", "completed")),
    frozenset(("content_filter", "refusal", "safety", "content_filtered")),
)
"""What providers, and SDKs over them, call the same reason for an answer's end."""
_WORDS: dict[str, str] = {"call": "model call", "answer": "model's answer"}
CUT = 64
"""Characters from which on the beginning of a content may be what an SDK kept of it."""
MOST_EVENTS = 10
"""Events that one sentence names."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison."""

    kind: Kind
    verdict: Verdict
    claim: Claim | None
    seen: Seen | None
    text: str


class _Fit(NamedTuple):
    """How each claim (by its identity) fits its partner, and of which kinds and tools some are known to."""

    ways: dict[int, str | None]
    known: set[tuple[str, str | None]]


@dataclass(slots=True)
class Comparison:
    """All lines in the order of the log, and what was not compared."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def differences(self) -> list[Row]:
        """Where the two do not say the same."""
        return [row for row in self.rows if row.verdict not in ("same", "not comparable")]

    @property
    def unclear(self) -> list[Row]:
        """Where it cannot be known whether they do."""
        return [row for row in self.rows if row.verdict == "not comparable"]


def compare(log: Log, history: History) -> Comparison:
    """Lay a log beside the traffic of the session that it reports."""
    found = Comparison()
    pairs = Pairs(log.claims, observed(history))
    ways = {id(claim): way for claim, way in pairs.ways()}
    known = {_which(claim) for claim, way in pairs.ways() if way is not None and claim.value is None}
    silent = 0
    for claim, one in pairs:
        if claim is None and one is not None and one.no_event:
            silent += one.kind == "call"
        else:
            found.rows.append(_row(claim, one, pairs, _Fit(ways, known)))
    found.rows.sort(key=lambda row: (row.claim.number if row.claim else 1 << 60, _exchange(row)))
    if log.lost:
        found.notes.append(f"its SDK says that {counted(log.lost, 'event')} of the log were lost")
    if history.bypassed:
        found.notes.append(f"calls may be missing from the tape, since traffic {past(history.bypassed)}")
    if silent:
        found.notes.append(
            f"{counted(silent, 'exchange')} for embeddings, of which the format of logs knows no event"
        )
    broken = sum(failed(exchange) for exchange in history.exchanges)
    if broken and not log.errors:
        found.notes.append(f"{counted(broken, 'exchange')} failed on the wire; the log reports no error")
    return found


def _exchange(row: Row) -> int:
    return row.seen.exchange if row.seen else 0


def _which(claim: Claim) -> tuple[str, str | None]:
    return claim.kind, None if claim.kind == "answer" else claim.name


def _row(claim: Claim | None, one: Seen | None, pairs: Pairs, fit: _Fit) -> Row:
    if claim is None:
        assert one is not None
        text = f"exchange {one.exchange} has a {_what(one)} that the log does not report"
        return Row(one.kind, "seen only", None, one, text)
    if one is None:
        return Row(
            claim.kind, "claimed only", claim, None, _missing(claim, pairs.rivals(claim, MOST_EVENTS + 1))
        )
    apart = _apart(claim, one)
    if apart is not None:
        return Row(claim.kind, "differs", claim, one, apart)
    here = f"event {claim.number} claims a {_what(claim)}"
    verdict, text = _content(claim, one, fit)
    return Row(claim.kind, verdict, claim, one, f"{here}{text.format(one.exchange)}")


def _missing(claim: Claim, rivals: list[int]) -> str:
    """Which of several it is, is known only where the contents of the others are on the wire."""
    if len(rivals) < 2:
        return f"event {claim.number} claims a {_what(claim)} that the wire does not show"
    named = ", ".join(map(str, rivals[:MOST_EVENTS])) + (", …" if len(rivals) > MOST_EVENTS else "")
    return f"one of the events {named} claims a {_what(claim)} that the wire does not show"


def _apart(claim: Claim, one: Seen) -> str | None:
    """Where a claim says something else than the wire, beside the content."""
    here, there = f"event {claim.number} claims a {_what(claim)}", one.exchange
    if not same_name(claim.name, one.name):
        return f"{here}; exchange {there} has a {_what(one)}"
    if claim.finish is not None and one.finish is not None and not _same_end(claim.finish, one.finish):
        ended = f"ended with `{safe(claim.finish)[:80]}`"
        return f"{here} that {ended}; exchange {there} ended with `{safe(one.finish)[:80]}`"
    if one.usage is None:
        return None
    use, (into, out) = one.usage, claim.tokens
    cached = use.cache_read_tokens + use.cache_write_tokens
    if into is not None and into not in (use.input_tokens, use.input_tokens - cached):
        return f"{here} for {counted(into, 'token')} of input; exchange {there} counts {use.input_tokens}"
    if out is not None and out not in (use.output_tokens, use.output_tokens - use.reasoning_tokens):
        return f"{here} of {counted(out, 'token')}; exchange {there} counts {use.output_tokens}"
    return None


def _same_end(one: str, other: str) -> bool:
    """Words that are in no list may mean anything."""
    a, b = one.lower(), other.lower()
    groups = [[group for group in _ENDS if word in group] for word in (a, b)]
    return a == b or not all(groups) or any(group in groups[1] for group in groups[0])


def _content(claim: Claim, one: Seen, fit: _Fit) -> tuple[Verdict, str]:
    if claim.kind == "call" or fit.ways.get(id(claim)) is not None:
        return "same", "; exchange {} shows it"
    if one.hidden or (claim.value is None and claim.digest is None):
        return "not comparable", "; its content cannot be compared with that of exchange {}"
    if claim.value is None and _which(claim) not in fit.known:
        return "not comparable", "; its hash fits the content of exchange {} in no way that is known"
    if claim.value is not None and _begins(claim.value, one.value):
        return "not comparable", "; exchange {} has this content, and more"
    return "differs", " with another content than that of exchange {}"


def _begins(value: object, whole: object) -> bool:
    """May a content be what an SDK kept of a longer one?"""
    text = str(value).rstrip(".…")
    return len(text) >= CUT and str(whole).startswith(text)


def _what(one: Claim | Seen) -> str:
    """`model call (`m`)`, `tool result (`t`)`."""
    named = "" if one.name is None else f" (`{safe(one.name)[:80]}`)"
    return f"{_WORDS.get(one.kind, one.kind)}{named}"
