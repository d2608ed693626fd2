"""What invocations of one run know of each other: the calm runs, and what happened at least once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.events import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from faultwire.contract.cells import Cell, Invocation
    from faultwire.events import History


def prepared(played: Iterable[tuple[Invocation, History]]) -> list[tuple[Invocation, History]]:
    """The histories with their prompt, and with the answer that the agent gave to the same prompt in a
    scenario without faults: of the same repeat, else of the first that ended well. The calm answer of a
    void or failed invocation is none; and a calm invocation is held against another repeat, if there is
    one, and not against itself. A mutant is held against the calm answer to the prompt it was made from.
    Histories of scenarios with faults also get the calm ones themselves, of all repeats that ended well."""
    pairs = list(played)
    calm: dict[str, dict[int, str]] = {}
    runs: dict[str, list[History]] = {}
    for invocation, history in pairs:
        calm_one = not invocation.scenario.profile.entries and not invocation.prompt.golden
        if calm_one and (answer := _answer(history)) is not None:
            calm.setdefault(invocation.prompt.id, {}).setdefault(invocation.repeat, answer)
            runs.setdefault(invocation.prompt.id, []).append(history)
    return [
        (
            invocation,
            replace(
                history,
                prompt=invocation.prompt.text if history.prompt is None else history.prompt,
                baseline=_baseline(invocation, calm) if history.baseline is None else history.baseline,
                calm=history.calm or _calm(invocation, runs),
            ),
        )
        for invocation, history in pairs
    ]


def settled(cells: Sequence[Cell], over_all: frozenset[str]) -> Iterator[Cell]:
    """The cells, with those of invariants that must hold at least once settled by the first pass."""
    proof = {cell.invariant: cell for cell in reversed(cells) if cell.verdict.verdict == "pass"}
    for cell in cells:
        first = proof.get(cell.invariant) if cell.invariant in over_all else None
        if first is None or cell.verdict.verdict != "fail":
            yield cell
        else:
            words = f"it holds in `{first.invocation.id}`; here: {cell.verdict.explanation}"
            yield replace(cell, verdict=Verdict("pass", words, cell.verdict.value))


def _answer(history: History) -> str | None:
    agent = history.agent
    if history.voids or agent is None or agent.timed_out or agent.exit_code != 0:
        return None
    return agent.answer if agent.answer.strip() else None


def _calm(invocation: Invocation, runs: dict[str, list[History]]) -> tuple[History, ...]:
    if not invocation.scenario.profile.entries:
        return ()
    return tuple(runs.get(invocation.prompt.golden or invocation.prompt.id, ()))


def _baseline(invocation: Invocation, calm: dict[str, dict[int, str]]) -> str | None:
    known = calm.get(invocation.prompt.golden or invocation.prompt.id, {})
    if not invocation.prompt.golden and not invocation.scenario.profile.entries:
        known = {repeat: answer for repeat, answer in known.items() if repeat != invocation.repeat}
    return known.get(invocation.repeat, next(iter(known.values()), None))
