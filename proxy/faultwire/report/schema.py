"""The shape of `report.json`, as models: what a reader may rely on, and what one that is read back must be.

`schema()` is made from them, and so is the validation of `report.load`. The version changes with the shape.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from faultwire.report._exchange_shape import (
    Count,
    Exchange,
    Lineage,
    Part,
    Severity,
    Share,
    Topology,
    Verdict,
)
from faultwire.report._numbers_shape import Comparison, Mutations, Statistics, Trend

PROBLEMS = 20
"""How many problems are reported at once."""


class Generator(Part):
    """Who made the report."""

    name: str
    version: str


class Run(Part):
    """What was run, and how. `partial`: it was interrupted, and only what was finished is here."""

    id: str
    command: str
    agent: str
    seed: int
    concurrency: int
    started_at: str
    duration_s: float
    ledger: str
    tapes: list[str]
    notes: list[str]
    phase: str
    config: str | None
    planned: Count | None
    warnings: list[str]
    partial: bool


class Counts(Part):
    """Cells by verdict."""

    passed: Annotated[Count, Field(alias="pass")]
    failed: Annotated[Count, Field(alias="fail")]
    unknown: Count


class Clean(Part):
    """Invocations without a failed cell, among those with a verdict."""

    passed: Count
    total: Count
    low: Share
    high: Share
    confidence: Share
    rate: Share | None
    method: str


class Unjudged(Part):
    """A critical invariant without a verdict in the whole run; `cells` are its unknown ones."""

    invariant: str
    severity: Severity
    when: str
    why: str
    hint: str
    cells: Count


class Coverage(Part):
    """How much of what was asked has a verdict, in cells or in invocations."""

    judged: Count
    asked: Count
    unit: Literal["cells", "invocations"]


class ScenarioScore(Part):
    """The score of one scenario, null where none of its cells was judged, and its floor, if it has one."""

    name: str
    value: Annotated[float, Field(ge=0, le=100)] | None
    judged: Count
    asked: Count
    floor: Annotated[float, Field(ge=0, le=100)] | None


class Score(Part):
    """The score: `value` is half the mean over the scenarios and half the worst one, null where no more than
    half of the cells were judged; `weights` are what a failed cell takes from its invocation, in thirds. What
    counts of a phase is the `number`, by its `measure`: the same but for mutations, chaos and replays. `gate`
    is the verdict of the run by its `rule`, `reasons` why it is no pass."""

    value: Annotated[float, Field(ge=0, le=100)] | None
    number: Annotated[float, Field(ge=0, le=100)] | None
    measure: str
    gate: Verdict
    rule: str = ""
    reasons: Annotated[list[str], Field(default_factory=list)]
    coverage: Coverage | None = None
    scenarios: Annotated[list[ScenarioScore], Field(default_factory=list)]
    cells: Counts
    critical_failed: Count
    weights: dict[Severity, int]
    clean_invocations: Clean
    unjudged: Annotated[list[Unjudged], Field(default_factory=list)]


class Evidence(Part):
    """Where a mistake was seen."""

    invocation: str
    exchanges: list[int]
    words: str


class Suggestion(Part):
    """Recommended fixes, and the exchanges that say so."""

    id: str
    action: str
    invocations: Count
    evidence: list[Evidence]


class Came(Part):
    """How often a fault fired, in how many invocations, and, where it never did, the reasons: those of its
    decisions, or that no exchange matched it."""

    fired: Count
    invocations: Count
    unfired: list[str]


class Entry(Part):
    """One fault of a scenario's profile, and what came of it (reports of 0.1.0 do not say it)."""

    id: str
    fault: str
    site: str
    settings: dict[str, Any]
    on: dict[str, Any]
    trigger: dict[str, Any]
    outcome: Came | None = None


class Scenario(Part):
    """A column of the matrix."""

    name: str
    profile: str
    description: str
    digest: str
    entries: list[Entry]


class Prompt(Part):
    """What was asked; of a mutant, the type of mutation and the prompt it was made from."""

    id: str
    text: str
    turns: list[str]
    origin: str | None
    golden: str | None


class Invariant(Part):
    """A row of the matrix."""

    id: str
    type: str
    severity: Severity
    when: str
    negate: bool
    description: str
    settings: dict[str, Any]


class Cell(Part):
    """One invariant judged on one invocation; `exchanges` are those that prove it."""

    invariant: str
    severity: Severity
    scenario: str
    invocation: str
    verdict: Verdict
    explanation: str
    exchanges: list[int]


class Invocation(Part):
    """One start of the agent, and everything that it exchanged."""

    id: str
    scenario: str
    prompt: str
    repeat: int
    answer: str | None
    stderr: str | None
    voids: list[str]
    notes: list[str]
    exit_code: int | None
    timed_out: bool | None
    duration_s: float | None
    exchanges: list[Exchange]
    exchanges_not_shown: Count
    lineage: Lineage | None = None
    topology: Topology | None = None


class Explained(Part):
    """What `ci --explain` found of a failure, and of the cells that failed in the same way (`invocations`, so
    many `also` besides its own). `page` and `data` are files beside the report, null where nothing could be
    searched: then `conclusion` says why."""

    phase: str
    invariant: str
    severity: Severity
    scenario: str
    invocation: str
    invocations: list[str]
    also: Count
    runs: Count
    conclusion: str
    blamed: list[str]
    page: Annotated[str, Field(pattern=r"^blame-\d{1,6}\.html$")] | None
    data: Annotated[str, Field(pattern=r"^blame-\d{1,6}\.json$")] | None


class Report(Part):
    """A report of faultwire."""

    schema_: Annotated[Literal["faultwire-report"], Field(alias="schema")]
    version: Literal["1"]
    generator: Generator
    run: Run
    score: Score
    statistics: Statistics
    suggestions: list[Suggestion]
    scenarios: list[Scenario]
    prompts: list[Prompt]
    invariants: list[Invariant]
    cells: list[Cell]
    invocations: list[Invocation]
    mutations: Mutations | None
    comparison: Comparison | None
    trend: Trend | None
    explained: list[Explained] | None = None


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of `report.json`."""
    made = Report.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "faultwire report"}


def problems(document: dict[str, Any]) -> list[str]:
    """What in a document is not as the schema says; empty where it is valid."""
    try:
        text = json.dumps(document, allow_nan=False)
    except ValueError as error:
        return [f"{error}"]
    return problems_of(text)


def problems_of(text: str | bytes) -> list[str]:
    """The same of JSON text."""
    try:
        Report.model_validate_json(text)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return [f"{'.'.join(map(str, one['loc'])) or '$'}: {one['msg']}" for one in found[:PROBLEMS]]
    return []
