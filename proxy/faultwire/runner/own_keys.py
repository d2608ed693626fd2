"""The variables that a configuration gives an agent, where the run gives it placeholders for keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.capture.keys import without_empty

if TYPE_CHECKING:
    from faultwire.agents.settings import AgentSettings


def own_keys(agent: AgentSettings, *, keyless: bool) -> AgentSettings:
    """The settings of an agent; in a `keyless` run without empty keys of providers."""
    from faultwire.agents.settings import HttpSettings, OpenAISettings

    if not keyless:
        return agent
    if isinstance(agent, HttpSettings | OpenAISettings):
        start = agent.start
        if start is None:
            return agent
        return agent.model_copy(update={"start": start.model_copy(update={"env": without_empty(start.env)})})
    return agent.model_copy(update={"env": without_empty(agent.env)})
