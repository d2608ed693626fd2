"""Did a run get worse than the project's baseline: by a test, or only by the noise of chance? Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.report.comparison import comparison_part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.service.settings import Rule


@dataclass(frozen=True, slots=True)
class Drop:
    """A pass rate that fell significantly: in a scenario of a phase, or in all of them (`scenario` None)."""

    phase: str
    scenario: str | None
    now: tuple[int, int]
    before: tuple[int, int]
    p_value: float

    @property
    def text(self) -> str:
        """For example `` contract, scenario `calm`: 12 of 30 passed, 29 of 30 before (p = 0.0001) ``."""
        which = "all scenarios" if self.scenario is None else f"scenario `{self.scenario}`"
        return (
            f"{self.phase}, {which}: {self.now[0]} of {self.now[1]} passed, {self.before[0]} of "
            f"{self.before[1]} before (p = {self.p_value:.2g})"
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """A run beside the baseline: what fell, and the parts by phase. `missing` are phases of one of them."""

    drops: tuple[Drop, ...]
    parts: Mapping[str, Mapping[str, Any]]
    missing: tuple[str, ...]


def compared(now: Mapping[str, Any], before: Mapping[str, Any]) -> Compared:
    """Compare the report documents of two runs, each by phase."""
    shared = sorted(now.keys() & before.keys())
    parts = {phase: comparison_part(now[phase], before[phase]) for phase in shared}
    drops = tuple(drop for phase, part in parts.items() for drop in _drops(phase, part))
    return Compared(drops, parts, tuple(sorted(now.keys() ^ before.keys())))


def _drops(phase: str, part: Mapping[str, Any]) -> list[Drop]:
    rows: list[tuple[str | None, Mapping[str, Any]]]
    rows = [(str(row["scenario"]), row) for row in part["scenarios"]]
    # The whole of a single scenario is that scenario, which is said once.
    if len(rows) != 1 or part["only_now"] or part["only_before"]:
        rows.insert(0, (None, part["overall"]))
    return [
        Drop(phase, name, _pair(row["now"]), _pair(row["before"]), float(row["p_value"]))
        for name, row in rows
        if row["verdict"] == "significant" and row["difference"] is not None and row["difference"] < 0
    ]


def _pair(counts: Mapping[str, int]) -> tuple[int, int]:
    return counts["passed"], counts["total"]


def promotes(rule: Rule | None, run: Mapping[str, Any], drops: tuple[Drop, ...]) -> str | None:
    """Why a rule makes this run the baseline; None where it does not."""
    if rule is None or drops or run.get("status") != "finished" or run.get("gate") != rule.gate:
        return None
    if rule.command is not None and run.get("command") != rule.command:
        return None
    score = run.get("score")
    if rule.score is not None and (score is None or float(score) < rule.score):
        return None
    words = [f"gate `{rule.gate}`"]
    words += [f"command `{rule.command}`"] if rule.command else []
    words += [f"a score of at least {rule.score:g}"] if rule.score is not None else []
    return f"the project's rule: {', '.join(words)}, and no significant drop"
