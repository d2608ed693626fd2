"""The matrix of a contract: invariant × scenario × prompt × repeat.

Pure. Whoever ran the agent hands in one history per invocation; all invariants of a scenario are
judged on the same invocation. A scenario whose faults never fired proves nothing, so its cells are
unknown, whatever the checks say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from faultwire.contract.cells import Cell, Invariant, Invocation, Prompt, Scenario
from faultwire.contract.run_level import prepared, settled
from faultwire.contract.score import Score, rate, resilience
from faultwire.contract.silence import why_silent
from faultwire.errors import ConfigError
from faultwire.events import Verdict
from faultwire.faults._api import ResultFault
from faultwire.replay.incident_outcome import not_reproduced

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.events import FaultFired, History, Recorded
    from faultwire.profile.entry_model import Entry
    from faultwire.profile.model import Profile

Side = Literal["tool", "llm", "other"]
"""Which traffic a fault is about, as the `when` of an invariant names it."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A critical invariant that got no verdict in a whole run: `why`, and how to fix it in `hint`. `cells`
    are its unknown ones; with 0 of them nothing that was played was anything that it is about."""

    invariant: str
    severity: str
    when: str
    why: str
    hint: str
    cells: int = 0


@dataclass(frozen=True, slots=True)
class Matrix:
    """All cells of a run, invocations in their planned order. With an `unjudged` invariant it is no pass."""

    cells: tuple[Cell, ...]
    unjudged: tuple[Unjudged, ...] = ()

    def of(self, scenario: str, invariant: str) -> tuple[Cell, ...]:
        """The cells in one square of the table."""
        return tuple(
            c for c in self.cells if c.invocation.scenario.name == scenario and c.invariant == invariant
        )

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Columns, in order of appearance."""
        return tuple(dict.fromkeys(c.invocation.scenario.name for c in self.cells))

    @property
    def invariants(self) -> tuple[str, ...]:
        """Rows, in order of appearance."""
        return tuple(dict.fromkeys(c.invariant for c in self.cells))

    def score(self) -> Score:
        """The score over all cells, and how many judged invocations had no failure."""
        counts = {"pass": 0, "fail": 0, "unknown": 0}
        judged: dict[str, bool] = {}
        for cell in self.cells:
            verdict, where = cell.verdict.verdict, cell.invocation.id
            counts[verdict] += 1
            if verdict != "unknown":
                judged[where] = judged.get(where, True) and verdict == "pass"
        value, scenarios = resilience(
            (c.invocation.scenario.name, c.invocation.id, c.severity, c.verdict.verdict) for c in self.cells
        )
        return Score(
            value=value,
            passed=counts["pass"],
            failed=counts["fail"],
            unknown=counts["unknown"],
            critical_failed=sum(c.severity == "critical" and c.verdict.verdict == "fail" for c in self.cells),
            clean=rate(sum(judged.values()), len(judged)),
            unjudged=len(self.unjudged),
            scenarios=scenarios,
        )


def judge(invariants: Sequence[Invariant], played: Iterable[tuple[Invocation, History]]) -> Matrix:
    """Judge every invariant that applies on every invocation."""
    cells: list[Cell] = []
    over_all: set[str] = set()
    for invocation, history in prepared(played):
        shared = () if invocation.prompt.probe else invariants
        for invariant in (*shared, *invocation.prompt.invariants):
            if not fits(invariant, invocation.scenario):
                continue
            verdict = _trusted(invariant, invocation.scenario.profile, history)
            cells.append(Cell(invariant.label, invariant.severity, invocation, verdict))
            if getattr(invariant, "over_all", False):
                over_all.add(invariant.label)
    return Matrix(tuple(settled(cells, frozenset(over_all))))


def distinct(
    scenarios: Sequence[Scenario], prompts: Sequence[Prompt], invariants: Sequence[Invariant]
) -> None:
    """Refuse a contract that is empty or names two things alike. Raises ConfigError."""
    for what, names in (
        ("scenario", [s.name for s in scenarios]),
        ("prompt", [p.id for p in prompts]),
    ):
        if not names:
            raise ConfigError(f"found no {what} in the contract, expected at least one", code="config.empty")
        _once(what, names)
    for prompt in prompts:
        labels = [i.label for i in (*(() if prompt.probe else invariants), *prompt.invariants)]
        if not labels:
            raise ConfigError(
                f"found no invariant for the prompt `{prompt.id}`, expected at least one", code="config.empty"
            )
        _once("invariant", labels)


def _once(what: str, names: list[str]) -> None:
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise ConfigError(
            f"found the {what} `{twice}` twice, expected every {what} once",
            code="config.duplicate_id",
            hint="give one of them another `id`" if what == "invariant" else "rename one of them",
        )


# ---------------------------------------------------------------- which scenarios an invariant is about


def fits(invariant: Invariant, scenario: Scenario) -> bool:
    """Is the invariant about this scenario, by its `when` and by the `scenarios` that it names, if any?"""
    named = not invariant.scenarios or scenario.name in invariant.scenarios
    return named and applies(invariant.when, scenario.profile)


def applies(when: str, profile: Profile) -> bool:
    """Could an invariant with this `when` be judged in a scenario with this profile?"""
    sides = {side for entry in profile.entries for side in aims(entry)}
    match when:
        case "tool_faults_active":
            return "tool" in sides
        case "llm_faults_active":
            return "llm" in sides
        case "any_chaos_active":
            return bool(profile.entries)
        case "no_chaos":
            return not profile.entries
        case _:
            return True


def aims(entry: Entry) -> frozenset[Side]:
    """The traffic that an entry can reach, from its settings alone."""
    on = entry.on
    if isinstance(entry.fault, ResultFault) or on.tool is not None or on.kind == "tool":
        return frozenset({"tool"})
    if on.kind == "llm" or on.provider is not None or on.model is not None or on.stream is not None:
        return frozenset({"llm"})
    if on.kind is not None:
        return frozenset({"other"})
    return frozenset({"tool", "llm", "other"})


def _hit(exchange: Recorded, fault: FaultFired) -> Side:
    """The traffic that a fault did reach."""
    if fault.site == "result" or exchange.kind == "tool":
        return "tool"
    return "llm" if exchange.kind == "llm" else "other"


# ---------------------------------------------------------------- trigger verification


def _trusted(invariant: Invariant, profile: Profile, history: History) -> Verdict:
    """The check's verdict, or unknown where the session is void or the scenario did not happen."""
    if history.voids:
        return Verdict("unknown", f"inconclusive: {'; '.join(history.voids)}")
    missing = lacking(invariant.when, profile, history)
    if missing is None:
        return invariant.verdict(history)
    verdict = invariant.verdict(history)
    text = f"{missing}; without it the verdict is {verdict.verdict}: {verdict.explanation}"
    return replace(verdict, verdict="unknown", explanation=text)


def lacking(when: str, profile: Profile, history: History) -> str | None:
    """Why the scenario did not happen in this session as the `when` of an invariant wants it, or None."""
    return not_reproduced(profile, history) or _untriggered(when, profile, history)


def _untriggered(when: str, profile: Profile, history: History) -> str | None:
    """Why the scenario did not happen in this session, or None where it did (or none was wanted)."""
    if not profile.entries or when == "no_chaos":
        return None
    sides = {_hit(e, f) for e in history.exchanges for f in e.faults if f.outcome == "fired"}
    if when == "tool_faults_active" and "tool" not in sides:
        return f"no tool fault of `{profile.name}` fired ({_why(history)})"
    if when == "llm_faults_active" and "llm" not in sides:
        return f"no model fault of `{profile.name}` fired ({_why(history)})"
    return None if sides else f"no fault of `{profile.name}` fired ({_why(history)})"


_DECIDED = ("rolled ", "call ")
"""How the ledger begins where the dice or a count decided, as at an exchange that the entry is for."""


def _why(history: History) -> str:
    if not history.exchanges:
        return why_silent(history.agent)
    lines = [f for e in history.exchanges for f in e.faults if f.outcome != "fired"]
    if not lines:
        count = len(history.exchanges)
        return f"none of {count} exchange{'s' * (count != 1)} matched"
    # One that was not to act on this kind of call at all says least.
    near = [one for one in lines if one.outcome != "skipped" or one.reason.startswith(_DECIDED)]
    last = (near or lines)[-1]
    return f"`{last.id}` {last.outcome.replace('_', ' ')}: {last.reason}"
