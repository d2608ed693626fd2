"""The list of what a run plays: every scenario with every prompt, as often as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.contract.cells import Invocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.contract.cells import Prompt, Scenario


def planned(
    scenarios: Sequence[Scenario],
    prompts: Sequence[Prompt],
    *,
    repeat: int = 1,
    first: int = 1,
    phase: str = "",
) -> tuple[Invocation, ...]:
    """Invocations in the order in which they are started, repeats numbered from `first`.

    Their ids name sessions and depend on nothing else, so that the dice fall the same whatever
    runs beside them.
    """
    return tuple(
        Invocation(scenario, prompt, number, phase)
        for scenario in scenarios
        for prompt in prompts
        for number in range(first, first + repeat)
    )
