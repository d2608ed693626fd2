"""A long-lived agent that answers the same question differently is warned about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwire.agents.settings import HttpSettings
from faultwire.config.model import Config
from faultwire.contract.cells import Prompt
from faultwire.runner.stateful import remembers

CONFIG = Config(Path("f"), Path(), "", HttpSettings(endpoint="http://localhost:1"), (Prompt("p1", "hello"),))


def test_two_different_answers_are_a_warning(room: Any) -> None:
    world = room(lambda _asked, count: f"call {count}", network=True)
    (said,) = remembers(world, world, CONFIG)
    assert "`p1` twice" in said
    assert "`reset_endpoint`" in said
    assert [asked.session for asked in world.asked] == ["memory/calm/p1/r1", "memory/calm/p1/r2"]


def test_equal_answers_give_no_warning(room: Any) -> None:
    world = room(lambda _asked, _: "hi\n", network=True)
    assert remembers(world, world, CONFIG) == ()


@pytest.mark.parametrize("kind", [{"network": False}, {"network": True, "resets": True}])
def test_agents_without_state_are_not_tested(room: Any, kind: dict[str, bool]) -> None:
    world = room(lambda _asked, count: f"call {count}", **kind)
    assert remembers(world, world, CONFIG) == ()
    assert world.asked == []


def test_without_a_prompt_there_is_nothing_to_ask(room: Any) -> None:
    world = room(lambda _asked, count: f"call {count}", network=True)
    assert remembers(world, world, replace(CONFIG, prompts=())) == ()
