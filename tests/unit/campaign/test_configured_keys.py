"""Values that the configuration calls keys are known, whatever they look like."""

from __future__ import annotations

from pathlib import Path

from faultwire.agents.settings import AgentSettings, CommandSettings, HttpSettings, Start
from faultwire.campaign.configured_keys import known_keys
from faultwire.config.model import Config, ModelSettings


def config(agent: AgentSettings, model: ModelSettings | None = None) -> Config:
    return Config(Path("f"), Path(), "", agent, (), model=model)


def test_values_of_key_like_names_are_known_and_others_are_not() -> None:
    env = {"API_KEY": "hunter2-hunter2", "DB_PASSWORD": "hunter2-hunter2-longer", "MODE": "careful-and-slow"}
    found = known_keys(config(CommandSettings(command=("a", "{prompt}"), env=env)))
    assert found == ("hunter2-hunter2-longer", "hunter2-hunter2")


def test_schemes_are_no_part_of_a_key_and_short_ones_are_left() -> None:
    agent = HttpSettings(
        endpoint="http://x", headers={"Authorization": "Bearer swordfish-1", "X-Api-Key": "abc"},
        start=Start(command=("s",), ready_url="http://x", env={"TOKEN": "open-sesame"}),
    )  # fmt: skip
    model = ModelSettings(provider="openai", api_key="model-key-1")
    assert set(known_keys(config(agent, model))) == {"swordfish-1", "open-sesame", "model-key-1"}
