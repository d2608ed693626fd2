"""The result of a search as a document: what `blame.json` holds, and the page and the terminal show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultwire.blame.compare import step_of
from faultwire.blame.findings import WORDS, explained, findings, pairs, ranked, shapley
from faultwire.blame.inevitability import band, change_point
from faultwire.blame.inside import ONLY
from faultwire.blame.parts import baselines
from faultwire.report._blame_shape import VERSION, Document
from faultwire.trials.execute import NOT_ON_TAPE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.blame.findings import Finding
    from faultwire.blame.parts import Part
    from faultwire.blame.rates import Counts, Estimate
    from faultwire.blame.session import Blaming
    from faultwire.events import Recorded

MOST_STEPS = 2_000
"""Exchanges of a run that a document lists."""


@dataclass(frozen=True, slots=True)
class About:
    """What was examined, for readers."""

    tape: str
    session: str
    calm: str | None
    command: str
    oracle: str
    seed: int
    error: float


def document(
    search: Blaming, about: About, exchanges: Sequence[Recorded], clean: Callable[[str], str]
) -> dict[str, Any]:
    """The document, in the shape of `faultwire schema blame`; `clean` takes secrets out of texts."""
    design, series, parts = search.design, search.series, search.parts
    found = findings(design)
    values = shapley(design)
    simple = baselines(list(parts), len(exchanges))
    made = {
        "schema_version": VERSION,
        "run": asdict(about),
        "ended": search.ended,
        "runs": series.runs,
        "seconds": round(series.seconds, 3),
        "cost_usd": round(series.cost_usd, 6),
        "unpriced": series.unpriced,
        "runs_left": search.runs_left(),
        "undecided": dict(series.undecided),
        "whole": _runs(design.of(design.whole)),
        "calm": _runs(design.of(design.calm)),
        "steps": [_step(one, parts) for one in exchanges[:MOST_STEPS]],
        "parts": [
            {**_part(part, one, values.get(one.part), clean), "inside": inside(search, one.part, clean)}
            for part, one in zip(parts, found, strict=True)
        ],
        "blamed": [one.part for one in ranked(found)],
        "pairs": [
            {"first": one.first, "second": one.second, "interaction": _interval(one.interaction)}
            for one in pairs(design)
        ],
        "explained": _interval(known) if (known := explained(design)) else None,
        "baselines": {
            **{name.replace(" ", "_"): number for name, number in simple.items()},
            "random": 1 / len(parts),
        },
        "curve": _curve(search) if design.curve else None,
        "needs": needs(search),
        "repeats": {"equal": design.repeats.equal, "exact": design.repeats.exact},
    }
    return Document.model_validate(made).model_dump(mode="json")


def needs(search: Blaming) -> str | None:
    """What could answer where the tape cannot; None where nothing is missing."""
    reasons = search.series.undecided
    return "--mock or --live" if any(reason.startswith(NOT_ON_TAPE) for reason in reasons) else None


def _step(exchange: Recorded, parts: Sequence[Part]) -> dict[str, Any]:
    got = exchange.delivered
    return {
        "exchange": exchange.number,
        "name": step_of(exchange),
        "status": None if got is None else got.status,
        "faults": [line.effect or line.id for line in exchange.faults if line.outcome == "fired"],
        "parts": [at for at, part in enumerate(parts) if part.exchange == exchange.number],
    }


def _part(part: Part, found: Finding, value: Estimate | None, clean: Callable[[str], str]) -> dict[str, Any]:
    return {
        "exchange": part.exchange,
        "kind": part.kind,
        "label": clean(part.label),
        "settings": clean(part.settings),
        "failed": clean(part.failed),
        "calm": clean(part.calm),
        "shapley": _interval(value) if value else None,
        **_judged(found),
    }


def _judged(found: Finding) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "words": WORDS[found.verdict],
        "blame": _interval(found.blame),
        "necessity": _interval(found.necessity),
        "sufficiency": _interval(found.sufficiency),
        "without": _runs(found.without),
        "alone": _runs(found.alone),
    }


def inside(search: Blaming, at: int, clean: Callable[[str], str]) -> dict[str, Any] | None:
    """What is to blame in the answer of a blamed part; None for others, and where nobody asked."""
    if at in search.whole:
        return {"places": 0, "note": clean(search.whole[at]), "pieces": []}
    made = search.inside.get(at)
    if made is None:
        return None
    pieces = made.pieces.pieces
    found = [
        {
            "kind": pieces[one.group[0]].kind,
            "names": [clean(pieces[piece].name) for piece in one.group],
            "failed": clean(pieces[one.group[0]].failed),
            "calm": clean(pieces[one.group[0]].calm),
            **_judged(one.finding),
        }
        for one in made.found
    ]
    note = made.note if made.ended else "the search in it has not ended"
    if made.note == ONLY:
        note = f"{pieces[0].name}: {ONLY}"
    return {"places": len(pieces), "note": clean(note) or None, "pieces": found}


def _curve(search: Blaming) -> dict[str, Any]:
    design = search.design
    counts = [design.of(one) for one in design.prefixes()]
    # A run that is forked after t parts is as the failed one up to the exchange of its last part.
    numbers = [0, *(part.exchange for part in search.parts)]
    change = change_point(counts)
    return {
        "points": [
            {
                "exchange": numbers[one.step],
                "failed": one.failed,
                "runs": one.runs,
                "low": one.low,
                "high": one.high,
            }
            for one in band(counts)
        ],
        "change": change
        and {
            "step": change.step,
            "exchange": numbers[change.step],
            "low": numbers[change.low],
            "high": numbers[change.high],
            "probability": change.probability,
        },
    }


def _interval(one: Estimate) -> dict[str, float]:
    return {name: round(value, 4) for name, value in asdict(one).items()}


def _runs(counts: Counts) -> dict[str, int]:
    return asdict(counts)
