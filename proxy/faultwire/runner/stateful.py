"""Detects agents that keep state between cells, by asking the same prompt twice without faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.contract.cells import Invocation
from faultwire.runner.phases import CALM
from faultwire.runner.run import play

if TYPE_CHECKING:
    from faultwire.agents._api import Agent
    from faultwire.config.model import Config
    from faultwire.runner.run import Played, Stage


def remembers(agent: Agent, stage: Stage, config: Config) -> tuple[str, ...]:
    """A warning where an agent that is one process for all cells, and is not reset, answers the first
    prompt differently the second time; nothing for agents that start anew for each."""
    if not agent.network or agent.resets or not config.prompts:
        return ()
    plan = [Invocation(CALM, config.prompts[0], repeat, "memory") for repeat in (1, 2)]
    first, second = map(_answer, play(plan, agent, stage, seed=config.seed))
    if first is None or second is None or first == second:
        return ()
    return (
        f"asked `{config.prompts[0].id}` twice without any fault, the agent gave two different answers, and "
        "nothing makes it forget between cells: verdicts may depend on the order of cells; "
        "`reset_endpoint`, `reset_function` or `reset_command` in `agent` fixes this",
    )


def _answer(played: Played) -> str | None:
    agent = played.history.agent
    if played.history.voids or agent is None or agent.exit_code != 0:
        return None
    return agent.answer.strip()
