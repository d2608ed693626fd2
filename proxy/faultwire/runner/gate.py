"""The verdict of a run, which every report, the list of runs and the exit code share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.runner.scored import Scored, Summary

PASS, FAIL, INTERRUPTED = 0, 1, 130
INCONCLUSIVE = "the run is inconclusive: {}"
HINT = "\n  hint: "
Word = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a run does not pass: something failed, or something that was asked is not known."""

    word: Literal["fail", "unknown"]
    text: str


@dataclass(frozen=True, slots=True)
class PhaseGate:
    """The verdict of one phase under the rule of the run."""

    word: Word
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict of a run and of its phases by name, the exit code, and the rule in words."""

    code: int
    word: Word
    reasons: tuple[str, ...] = ()
    phases: Mapping[str, PhaseGate] = field(default_factory=dict)
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """The pass criteria. Without `min_score` every verdict must pass. With it, 0 to 1, the score of every
    phase and the overall one must reach it, and no critical invariant may fail. `allow_unknown` forgives
    unknown cells, and critical invariants that were never judged. `floors` are the least scores of single
    scenarios, 0 to 1 by name, which must be reached under any rule."""

    min_score: float | None = None
    allow_unknown: bool = False
    floors: Mapping[str, float] = field(default_factory=dict)

    def words(self, *, decided: bool = False) -> str:
        """The rule as a reader of a report needs it. `decided`: runs were repeated until they decided."""
        if self.min_score is not None:
            text = f"every score must be at least {self.min_score * 100:.2f}, and no critical cell may fail"
        elif decided:
            text = "every pass rate must be decided as good, and no critical cell may fail"
        else:
            text = "every cell must pass"
        if self.floors:
            each = ", ".join(f"`{name}` {least * 100:.2f}" for name, least in self.floors.items())
            text += f"; scenarios must reach their floors: {each}"
        return f"{text}; unknown cells are allowed" if self.allow_unknown else text


def gate(summary: Summary, rule: Rule, void: str | None = None) -> Gate:
    """Judge a run by its phases. `void` says why it proves nothing, where it does not; its exit code is the
    caller's."""
    found = {phase.name: tuple(_phase(phase, rule)) for phase in summary.phases}
    phases = {
        phase.name: _ruled(found[phase.name], partial=phase.partial, void=void) for phase in summary.phases
    }
    reasons = [reason for each in found.values() for reason in each]
    score, least = summary.score, rule.min_score
    if least is not None and len(summary.phases) > 1 and score is not None and score < least:
        reasons.append(Reason("fail", f"the overall score {_below(score, least)}"))
    word, code = _word(reasons, partial=summary.partial or not summary.phases), FAIL if reasons else PASS
    texts = [one.text for one in reasons]
    if word == "unknown" and texts and void is None and not any(HINT in text for text in texts):
        texts[-1] += _help(summary, rule)
    if summary.partial:
        code, texts = INTERRUPTED, ["the run was interrupted; what had finished is in the report"]
    if void is not None:
        word = "unknown"
        texts.append(INCONCLUSIVE.format(void))
    decided = any(phase.decisions for phase in summary.phases)
    return Gate(code, word, tuple(texts), phases, rule.words(decided=decided))


def _help(summary: Summary, rule: Rule) -> str:
    """What may be done where nothing failed, and too much is unknown."""
    allowed = replace(rule, allow_unknown=True)
    if not [reason for phase in summary.phases for reason in _phase(phase, allowed)]:
        return f"{HINT}`--allow-unknown` accepts what was not judged"
    if rule.min_score is not None:
        why = "`--min-score` needs a score, which `--allow-unknown` does not give"
    else:
        why = "`--allow-unknown` accepts no run in which nothing was judged"
    return f"{HINT}{why}; the report says of each cell why it is unknown"


def _ruled(reasons: Sequence[Reason], *, partial: bool, void: str | None) -> PhaseGate:
    texts = tuple(one.text for one in reasons)
    if void is not None:
        return PhaseGate("unknown", (*texts, INCONCLUSIVE.format(void)))
    return PhaseGate(_word(reasons, partial=partial), texts)


def _word(reasons: Sequence[Reason], *, partial: bool) -> Word:
    """One failure decides; what was not played may fail."""
    words = {one.word for one in reasons}
    return "fail" if "fail" in words else "unknown" if words or partial else "pass"


def _phase(phase: Scored, rule: Rule) -> Iterator[Reason]:
    """The reasons why one phase does not pass."""
    needed = rule.min_score is not None or not rule.allow_unknown or not phase.judged
    if phase.score is None and needed:
        yield Reason("unknown", f"{phase.name}: no score, because {_missing(phase)}")
    if phase.critical_failed:
        yield Reason("fail", f"{phase.name}: {_count(phase.critical_failed, 'critical cell')} failed")
    if rule.min_score is None:
        yield from _verdicts(phase, rule)
    elif phase.score is not None and phase.score < rule.min_score:
        yield Reason("fail", f"{phase.name}: the score {_below(phase.score, rule.min_score)}")
    yield from _floors(phase, rule)
    if phase.unknown and not rule.allow_unknown:
        yield Reason("unknown", f"{phase.name}: {_count(phase.unknown, 'cell')} unknown")
    for one in () if rule.allow_unknown else phase.unjudged:
        yield Reason("unknown", f"{phase.name}: {one.why}\n  hint: {one.hint}")


def _missing(phase: Scored) -> str:
    if not phase.judged:
        return "nothing was judged"
    return f"only {phase.judged} of {phase.asked} {phase.unit} were judged"


def _verdicts(phase: Scored, rule: Rule) -> Iterator[Reason]:
    """Without a minimum: what the runs decided, where they were repeated until they did, else any
    failed cell. Rates that nobody decided excuse no failure: they are harmless only where the verdicts
    that are missing are unknown ones."""
    bad, undecided = phase.decisions.count("bad"), phase.decisions.count("exhausted")
    if bad:
        yield Reason("fail", f"{phase.name}: {_count(bad, 'pass rate')} decided as bad")
    if undecided and (phase.failed or not rule.allow_unknown):
        word: Literal["fail", "unknown"] = "fail" if phase.failed else "unknown"
        yield Reason(word, f"{phase.name}: {_count(undecided, 'pass rate')} undecided")
    if phase.failed and not phase.decisions:
        yield Reason("fail", f"{phase.name}: {_count(phase.failed, 'cell')} failed")


def _floors(phase: Scored, rule: Rule) -> Iterator[Reason]:
    for one in phase.scenarios:
        least = rule.floors.get(one.name)
        if least is None:
            continue
        where = f"{phase.name}: the scenario `{one.name}`"
        if one.value is None or 2 * one.judged <= one.asked:
            if not rule.allow_unknown:
                cells = "cell" if one.asked == 1 else "cells"
                text = f"has a floor, but only {one.judged} of its {one.asked} {cells} were judged"
                yield Reason("unknown", f"{where} {text}")
        elif one.value / 100 < least:
            yield Reason("fail", f"{where} has a score of {one.value:.2f}, below its floor {least * 100:.2f}")


def _below(score: float, least: float) -> str:
    """Both numbers, with digits enough to show that they differ."""
    digits = 2 if f"{score * 100:.2f}" != f"{least * 100:.2f}" else 6
    return f"{score * 100:.{digits}f} is below the minimum {least * 100:.{digits}f}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
