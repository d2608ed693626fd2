"""A statement as tables under headings: the verdict first, what was not tested before the digests. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.certificate import shape
    from faultwire.certificate.log_proof import Logged
    from faultwire.certificate.verify import Cosigned

    Section = tuple[str, Sequence[str], Sequence[Sequence[str]]]
    """A heading, the names of columns, and rows."""

WORDS = {"pass": "passed", "fail": "failed", "unknown": "unknown"}
WORTH = (
    "It states what this run of this agent showed under these faults. It is no promise for other inputs, "
    "other models, other faults or another day; the intervals say how far so many invocations carry.",
    "It holds what the issuer's machine wrote down. Whoever has the tapes can verify them, and compare the "
    "fault decisions with the ledger; verdicts are the reports' own.",
)
"""What a certificate is worth; a face ends with it."""


NO_WITNESS = "no witness was asked (--witness-key): that the log has one history is its issuer's word"


def log_rows(logged: Logged | None, cosigned: Sequence[Cosigned]) -> Iterator[tuple[str, str]]:
    """Where a certificate that holds is logged, and who has seen that log, as rows of a table."""
    if logged is None:
        yield "log", "in none"
        return
    size = counted(logged.tree.size, "entry", "entries")
    yield "log", f"entry {logged.index} of the log {logged.origin}, as it was with {size}"
    for one in cosigned:
        yield "cosigned", f"by {one.key} on {one.at}"
    if not cosigned:
        yield "cosigned", NO_WITNESS


def sections(
    made: shape.Statement, signed_by: str | None, log: Sequence[tuple[str, str]] = ()
) -> Iterator[Section]:
    """All that a face shows; `signed_by` is the trusted key whose signature held, if one did, and `log` what
    `log_rows` gives."""
    what = made.predicate
    run = what.run
    yield (
        "Verdict",
        ("what", "value"),
        (
            ("verdict", WORDS[what.verdict]),
            ("signed by", signed_by or "nobody who is trusted here: do not rely on it"),
            ("issued", what.issued_on),
            *log,
            ("agent", run.agent),
            (
                "run",
                f"{run.id}, `faultwire {run.command}`, {run.started_on} to {run.ended_on}, seed {run.seed}",
            ),
        ),
    )
    yield "Phases", ("phase", "verdict", "score", "judged", "cells", "without a failure"), list(_phases(what))
    yield "Not tested", ("what",), [(text,) for text in what.not_tested]
    yield (
        "Scenarios",
        ("phase", "scenario", "without a failure", "interval", "all of k pass", "faults that fired"),
        list(_scenarios(what)),
    )
    yield "Agent", ("what", "digest"), [_artefact(one) for one in made.subject]
    yield "Evidence", ("what", "digest"), list(_evidence(what.evidence))
    yield "Settings", ("what", "value"), _settings(what)


def _phases(what: shape.Predicate) -> Iterator[Sequence[str]]:
    for phase in what.phases:
        score = "none" if phase.score is None else f"{phase.score:.2f} ({phase.measure})"
        cells = phase.cells
        yield (
            phase.name,
            "; ".join((WORDS[phase.verdict], *phase.reasons)),
            score,
            f"{phase.coverage.judged} of {phase.coverage.asked} {phase.coverage.unit}",
            f"{cells.passed} passed, {cells.failed} failed, {cells.unknown} unknown",
            f"{phase.invocations.passed} of {phase.invocations.total}, {interval(phase.invocations)}",
        )


def _scenarios(what: shape.Predicate) -> Iterator[Sequence[str]]:
    for phase in what.phases:
        for one in phase.scenarios:
            unknown = f", {one.unknown} unknown" if one.unknown else ""
            yield (
                phase.name,
                one.name,
                f"{one.rate.passed} of {one.rate.total}{unknown}",
                interval(one.rate),
                _streak(one.all_pass),
                "; ".join(f"{f.fault} ×{f.fired}" for f in one.faults if f.fired) or "none",
            )


def _streak(streak: shape.AllPass | None) -> str:
    if streak is None or streak.at_least is None:
        return ""
    return f"k = {streak.k}: at least {streak.at_least:.0%}"


def interval(rate: shape.Rate) -> str:
    """In words; nothing was learned where nothing was judged."""
    if not rate.total or rate.low is None or rate.high is None:
        return "nothing judged"
    return f"{rate.confidence:.0%} interval {rate.low:.0%} to {rate.high:.0%} ({rate.method})"


def _artefact(one: shape.Artefact) -> Sequence[str]:
    kind = "sha256" if one.digest.sha256 else "gitCommit"
    return one.name, f"{kind} {one.digest.sha256 or one.digest.git_commit}"


def _evidence(evidence: shape.Evidence) -> Iterator[Sequence[str]]:
    yield "ledger of fault decisions", f"sha256 {evidence.ledger}"
    for file in evidence.reports:
        yield file.name, f"sha256 {file.sha256}"
    for tape in evidence.tapes:
        yield tape.name, f"sha256 {tape.sha256}"
        sealed = f"sealed by {tape.sealed_by}" if tape.sealed_by else "not sealed"
        about = f"{tape.exchanges} exchanges, {tape.events} events, {tape.grade or 'no grade'}, {sealed}"
        yield f"{tape.name}, log", f"root {tape.root}; {about}"


def _settings(what: shape.Predicate) -> list[Sequence[str]]:
    tool, run = what.tool, what.run
    return [
        (
            "tool",
            f"{tool.name} {tool.version}, Python {tool.python}, mitmproxy {tool.mitmproxy}, {tool.platform}",
        ),
        ("configuration", run.configuration),
        ("agent's settings and files", run.agent_settings),
        ("faults", run.profiles),
        ("formula of the score", run.score_formula),
    ]
