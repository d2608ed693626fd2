"""Makes a statement from what a run left: its `run.json`, the reports of its phases, and its tapes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.certificate import shape
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GATES = ("pass", "fail", "unknown")
PHASES = {
    "mutation": "changed prompts",
    "chaos": "golden prompts under chaos",
    "contract": "the contract",
    "replay": "incident sessions",
}
LONGEST = 400
UNFIRED = 5
"""Reasons for which an entry did not fire that are named."""


def statement(
    about: Mapping[str, Any],
    reports: Sequence[Mapping[str, Any]],
    evidence: shape.Evidence,
    tool: shape.Tool,
    issued_on: str,
    log: str | None = None,
) -> shape.Statement:
    """What is certified. `about` is the run's `run.json`, `reports` the documents of its phases, `log` the
    key of the log that it will be in.

    Raises UsageError (`certificate.run`) for a run that is not over, judged nothing, or is from a version
    that did not write down what its agent is made of.
    """
    _finished(about, reports)
    phases = tuple(map(_phase, reports))
    return shape.Statement(
        subject=_subject(about),
        predicate=shape.Predicate(
            issued_on=issued_on,
            tool=tool,
            run=_run(about, reports[0]["run"]),
            verdict=about["gate"],
            phases=phases,
            not_tested=tuple(_not_tested(reports, phases)),
            evidence=evidence,
            log=log,
        ),
    )


def _finished(about: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]) -> None:
    if about.get("status") != "finished":
        raise _refused(f"found a run that is `{about.get('status')}`, expected a finished one")
    if not reports or about.get("gate") not in GATES or not any(r["cells"] for r in reports):
        raise _refused("found a run that judged nothing, expected one of `contract run`, `run` or `ci`")
    if not isinstance(about.get("artefacts"), dict):
        raise _refused("found a run that does not say what its agent was made of; run it again")


def _refused(message: str) -> UsageError:
    return UsageError(message, code="certificate.run")


def _subject(about: Mapping[str, Any]) -> tuple[shape.Artefact, ...]:
    """The agent: its settings, its files, and the commit that was checked out."""
    made = [shape.Artefact(name="agent", digest=shape.Digest(sha256=about["agent_digest"]))]
    made += [
        shape.Artefact(name=_clipped(name), digest=shape.Digest(sha256=digest))
        for name, digest in about["artefacts"].items()
    ]
    if about.get("commit"):
        made.append(shape.Artefact(name="commit", digest=shape.Digest(git_commit=about["commit"])))
    return tuple(made)


def _run(about: Mapping[str, Any], run: Mapping[str, Any]) -> shape.Run:
    return shape.Run(
        id=about["id"],
        command=about["command"],
        agent=_clipped(run["agent"]),
        seed=about["seed"],
        started_on=about["started_at"],
        ended_on=about["ended_at"],
        configuration=about["config_digest"],
        agent_settings=about["agent_digest"],
        profiles=about["profiles_digest"],
        score_formula=about["score_formula"],
    )


def _phase(report: Mapping[str, Any]) -> shape.Phase:
    score, statistics = report["score"], report["statistics"]
    rates = {row["scenario"]: row for row in statistics["scenarios"]}
    cells = score["cells"]
    return shape.Phase(
        name=report["run"]["phase"] or report["run"]["command"],
        verdict=score["gate"],
        rule=_clipped(score["rule"]),
        reasons=tuple(map(_clipped, score["reasons"])),
        score=_float(score["number"]),
        measure=score["measure"],
        coverage=shape.Coverage(**score["coverage"]),
        cells=shape.Cells(passed=cells["pass"], failed=cells["fail"], unknown=cells["unknown"]),
        invocations=_rate(score["clean_invocations"], statistics),
        scenarios=tuple(
            _scenario(each, rates[each["name"]], statistics)
            for each in report["scenarios"]
            if each["name"] in rates
        ),
    )


def _scenario(
    each: Mapping[str, Any], row: Mapping[str, Any], statistics: Mapping[str, Any]
) -> shape.Scenario:
    streak = row["pass_k"]
    return shape.Scenario(
        name=_clipped(each["name"]),
        profile=_clipped(each["profile"]),
        profile_digest=each["digest"],
        rate=_rate(row, statistics),
        all_pass=None
        if streak is None
        else shape.AllPass(k=streak["k"], value=_float(streak["value"]), at_least=_float(streak["at_least"])),
        unknown=row["unknown"],
        faults=tuple(
            shape.Fault(
                id=_clipped(entry["id"]),
                fault=entry["fault"],
                fired=entry["outcome"]["fired"],
                invocations=entry["outcome"]["invocations"],
                unfired=tuple(map(_clipped, entry["outcome"]["unfired"][:UNFIRED])),
            )
            for entry in each["entries"]
        ),
    )


def _rate(row: Mapping[str, Any], statistics: Mapping[str, Any]) -> shape.Rate:
    return shape.Rate(
        passed=row["passed"],
        total=row["total"],
        low=_float(row["low"]),
        high=_float(row["high"]),
        confidence=float(row.get("confidence", statistics["confidence"])),
        method=row.get("method", statistics["method"]),
    )


def _not_tested(reports: Sequence[Mapping[str, Any]], phases: Sequence[shape.Phase]) -> Iterable[str]:
    """What a reader could take for tested: phases without a run, cells without a verdict, and entries that
    never fired."""
    there = {phase.name for phase in phases}
    for name, what in PHASES.items():
        if name not in there:
            yield f"{what}: no such phase was run"
    for phase, report in zip(phases, reports, strict=True):
        if report["run"]["partial"]:
            yield f"{phase.name}: not every planned invocation was played"
        if phase.cells.unknown:
            total = phase.cells.passed + phase.cells.failed + phase.cells.unknown
            yield f"{phase.name}: {phase.cells.unknown} of {total} cells have no verdict"
        for one in report["score"]["unjudged"]:
            what = f"{one['severity']} invariant {one['invariant']} was never judged: {one['why']}"
            yield _clipped(f"{phase.name}: the {what}")
        for scenario in phase.scenarios:
            for fault in scenario.faults:
                if not fault.fired:
                    why = f": {fault.unfired[0]}" if fault.unfired else ""
                    yield _clipped(f"{phase.name}, {scenario.name}: entry {fault.id} never fired{why}")


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _clipped(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
