"""The list of what a run plays: every scenario with every prompt, as often as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.contract.matrix import Invocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.contract.matrix import Prompt, Scenario


def planned(
    scenarios: Sequence[Scenario], prompts: Sequence[Prompt], *, repeat: int = 1
) -> tuple[Invocation, ...]:
    """Invocations in the order in which they are started.

    Their ids name sessions and depend on nothing else, so that the dice fall the same whatever
    runs beside them.
    """
    return tuple(
        Invocation(scenario, prompt, number)
        for scenario in scenarios
        for prompt in prompts
        for number in range(1, repeat + 1)
    )
