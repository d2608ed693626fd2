"""What a certificate states: an in-toto Statement v1 (github.com/in-toto/attestation), and its predicate.

Names in the JSON are camelCase, as in-toto's are. Rates are shares from 0 to 1, scores 0 to 100, instants
RFC 3339. A member that is not named here is refused: a reader of version 1 knows all that it says.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_serializer, model_validator
from pydantic.alias_generators import to_camel

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://github.com/faultwire/faultwire/resilience/v1"

# `$` is the end of the text here: pydantic matches with an engine that knows no lines.
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, Field(max_length=4000)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Word = Literal["pass", "fail", "unknown"]


class Part(BaseModel):
    """Closed, immutable, and strict about types."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True
    )


class Digest(Part):
    """Exactly one of both."""

    sha256: Sha256 | None = None
    git_commit: Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")] | None = None

    @model_serializer
    def _present(self) -> dict[str, str]:
        found = {"sha256": self.sha256, "gitCommit": self.git_commit}
        return {name: digest for name, digest in found.items() if digest is not None}

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.sha256 is None) == (self.git_commit is None):
            raise ValueError("expected one of `sha256` and `gitCommit`")
        return self


class Artefact(Part):
    """A file, or a commit, by what it is made of."""

    name: Text
    digest: Digest


class Tool(Part):
    """What judged."""

    name: Text
    version: Text
    python: Text
    mitmproxy: Text
    platform: Text


class Run(Part):
    """What was run. The digests are those of the run's settings, its agent's, and its faults'."""

    id: Text
    command: Text
    agent: Text
    seed: int
    started_on: Text
    ended_on: Text
    configuration: Sha256
    agent_settings: Sha256
    profiles: Sha256
    score_formula: Text


class Rate(Part):
    """`passed` of `total`, with an interval at `confidence`; none where nothing was judged."""

    passed: Count
    total: Count
    low: Share | None
    high: Share | None
    confidence: Share
    method: Text

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.passed > self.total:
            raise ValueError(f"found {self.passed} passed of {self.total}")
        if self.total and self.low is not None and self.high is not None:
            share = self.passed / self.total
            if not self.low - 1e-9 <= share <= self.high + 1e-9:
                raise ValueError(f"the interval does not hold {self.passed} of {self.total}")
        return self


class AllPass(Part):
    """pass^k: the chance that `k` invocations in a row pass, and what the run supports at least."""

    k: Count
    value: Share | None
    at_least: Share | None


class Fault(Part):
    """One entry of a profile: how often it fired, in how many invocations, and why not where it did not."""

    id: Text
    fault: Text
    fired: Count
    invocations: Count
    unfired: tuple[Text, ...]


class Scenario(Part):
    """A column of the run. `rate` is of invocations without a failed cell among those with a verdict."""

    name: Text
    profile: Text
    profile_digest: Annotated[str, Field(pattern=r"^(?:[0-9a-f]{64})?$")]
    rate: Rate
    all_pass: AllPass | None
    unknown: Count
    faults: tuple[Fault, ...]


class Cells(Part):
    """Verdicts by what they say."""

    passed: Count
    failed: Count
    unknown: Count


class Coverage(Part):
    """How much of what was asked has a verdict."""

    judged: Count
    asked: Count
    unit: Text

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.judged > self.asked:
            raise ValueError(f"found {self.judged} judged of {self.asked} asked")
        return self


class Phase(Part):
    """One judged part of the run."""

    name: Text
    verdict: Word
    rule: Text
    reasons: tuple[Text, ...]
    score: Annotated[float, Field(ge=0, le=100)] | None
    measure: Text
    coverage: Coverage
    cells: Cells
    invocations: Rate
    scenarios: tuple[Scenario, ...]


class File(Part):
    """A file by its digest."""

    name: Text
    sha256: Sha256


class Tape(File):
    """A tape, the head of its log (RFC 6962, in hex), who sealed it, and what it is worth as evidence."""

    root: Sha256
    events: Count
    exchanges: Count
    sealed_by: Text | None
    grade: Text | None


class Evidence(Part):
    """What the statement rests on. `ledger` is the digest of every fault decision."""

    ledger: Sha256
    reports: tuple[File, ...]
    tapes: tuple[Tape, ...]


class Predicate(Part):
    """What a run showed, and what it did not."""

    issued_on: Text
    tool: Tool
    run: Run
    verdict: Word
    phases: Annotated[tuple[Phase, ...], Field(min_length=1)]
    not_tested: tuple[Text, ...]
    evidence: Evidence
    log: Text | None
    """The verifier key of the log that this statement is in; its proof stands beside the signatures. None
    where it is in no log."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        words = {phase.verdict for phase in self.phases}
        if self.verdict == "pass" and words != {"pass"}:
            raise ValueError("found the verdict `pass` over a phase that did not pass")
        return self


class Statement(Part):
    """The whole payload."""

    type_: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")] = STATEMENT
    subject: Annotated[tuple[Artefact, ...], Field(min_length=1)]
    predicate_type: Literal["https://github.com/faultwire/faultwire/resilience/v1"] = PREDICATE
    predicate: Predicate


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the payload."""
    made = Statement.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
