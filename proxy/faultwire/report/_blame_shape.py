"""The shape of `blame.json`, as models; `faultwire schema blame` prints it."""

from __future__ import annotations

from typing import Any, Literal

from faultwire.report._exchange_shape import Count, Part as Shape

VERSION = "1"
Verdict = Literal["cause", "needed", "enough", "none", "open", "untestable"]
Ended = Literal["found", "budget", "interrupted", "not_reproduced", "no_difference", "undecidable"]


class Interval(Shape):
    """A difference of failure rates with its 95 % interval."""

    value: float
    low: float
    high: float


class Runs(Shape):
    """Runs of one intervention."""

    failed: Count
    passed: Count
    undecided: Count


class Run(Shape):
    """What was examined, and how."""

    tape: str
    session: str
    calm: str | None
    command: str
    oracle: str
    seed: int
    error: float


class Step(Shape):
    """One exchange of the failed run. `parts` are those of the document that stand in it."""

    exchange: Count
    name: str
    status: Count | None
    faults: list[str]
    parts: list[Count]


class Judged(Shape):
    """What the runs say of one intervention."""

    verdict: Verdict
    words: str
    blame: Interval
    necessity: Interval
    sufficiency: Interval
    without: Runs
    alone: Runs


class Piece(Judged):
    """One place in a blamed answer, or several whose effects no run tells apart; `failed` and `calm` are what
    either run has at the first of them."""

    kind: Literal["field", "event", "line", "header", "ending"]
    names: list[str]
    failed: str
    calm: str


class Inside(Shape):
    """A blamed answer, taken apart: it differs in `places`, of which `pieces` are blamed; `note` says why
    there is no more."""

    places: Count
    note: str | None
    pieces: list[Piece]


class BlamedPart(Judged):
    """One place in which the failed run differs from the calm one, and what the runs say of it."""

    exchange: Count
    kind: Literal["fault", "answer"]
    label: str
    settings: str
    failed: str
    calm: str
    shapley: Interval | None
    inside: Inside | None


class Pair(Shape):
    """Two parts that act together; a positive interaction: both are needed."""

    first: Count
    second: Count
    interaction: Interval


class Baselines(Shape):
    """The exchange that each simple rule names, and the share of parts that a guess would hit."""

    first_step: Count | None
    last_step: Count | None
    first_fault: Count | None
    random: float


class CurvePoint(Shape):
    """Runs that are as the failed one up to exchange `exchange` and calm after it (0: calm from the
    start)."""

    exchange: Count
    failed: Count
    runs: Count
    low: float
    high: float


class Change(Shape):
    """The exchange at which the failure became inevitable, and those that hold 95 % of the probability. Its
    point is number `step`, from 0: two parts of one exchange have two points."""

    step: Count
    exchange: Count
    low: Count
    high: Count
    probability: float


class Curve(Shape):
    """The failure rate over the step at which a run is forked."""

    points: list[CurvePoint]
    change: Change | None


class Repeats(Shape):
    """Runs that came out, byte for byte, as an earlier one with the same parts. `exact`: all that were made
    again did, and enough of them, so that other runs were made once."""

    equal: Count
    exact: bool


class Document(Shape):
    """The whole document."""

    schema_version: Literal["1"]
    run: Run
    ended: Ended
    runs: Count
    seconds: float
    cost_usd: float
    unpriced: Count = 0
    """Answers of models whose cost is not known, and not in `cost_usd`."""
    runs_left: Count
    undecided: dict[str, Count]
    whole: Runs
    calm: Runs
    steps: list[Step]
    parts: list[BlamedPart]
    blamed: list[Count]
    pairs: list[Pair]
    explained: Interval | None
    baselines: Baselines
    curve: Curve | None
    needs: str | None
    repeats: Repeats


def schema() -> dict[str, Any]:
    """The JSON Schema."""
    made = Document.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "faultwire blame"}
