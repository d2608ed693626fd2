"""The shape of `load.json`, as models: what a reader may rely on."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A part of the document; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Latency(Part):
    """Seconds of one invocation, the start of its process included."""

    p50: float
    p95: float
    p99: float


class Budget(Part):
    """The error budget: `burn` is the rate of failures over what is allowed."""

    failed: int
    judged: int
    allowed: float
    burn: float | None
    overspent: bool
    pass_rate: float | None
    low: float | None
    high: float | None


class Level(Part):
    """One level of concurrency; `whole` is False where a bound ended it."""

    level: int
    planned: int
    runs: int
    whole: bool
    throughput_per_s: float | None
    latency_s: Latency | None
    timeouts: int
    unknown: int
    budget: Budget


class Knee(Part):
    """Where more concurrency stops to bring more throughput; `reason` says why none is seen."""

    at: float | None
    low: float | None
    high: float | None
    slope: float | None
    capacity: float | None
    reason: str
    method: str


class Failure(Part):
    """One invocation that failed beside others."""

    session: str
    level: int
    reason: str
    beside: list[str]


class Suspect(Part):
    """A cell that passes alone and fails beside others; pairs are passes and runs."""

    cell: int
    alone: tuple[int, int]
    beside: tuple[int, int]
    again: tuple[int, int]
    holds: bool
    reference: str
    failures: list[Failure]


class Races(Part):
    """Verdicts that differ only under concurrency."""

    found: bool
    p_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    suspects: list[Suspect]


class Pressed(Part):
    """All cells alone under a limit, compared with the same cells without one."""

    pressure: str
    runs: int
    passed: int
    p_value: float | None
    verdict: Literal["worse", "not significant", "not judged"]
    p50: float | None


class Load(Part):
    """The document."""

    format: Literal["faultwire.load/1"]
    seed: int
    command: list[str]
    cells: int
    target: float
    ended: Literal["levels", "runs", "time"]
    runs: int
    failing: str
    tape: str
    levels: list[Level]
    knee: Knee
    races: Races
    pressures: list[Pressed]


def schema() -> dict[str, Any]:
    """The JSON Schema of a `load.json`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Load.model_json_schema()}
