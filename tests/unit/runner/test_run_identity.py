"""Which runs are one series."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwire.agents.settings import CommandSettings, PythonSettings
from faultwire.config.model import Config
from faultwire.contract.cells import Prompt, Scenario
from faultwire.profile.model import Profile
from faultwire.runner.cells import planned
from faultwire.runner.phases import CALM, Phase
from faultwire.runner.run_identity import identity

PROMPTS = (Prompt("a", "a"),)


def config(folder: Path, **changes: Any) -> Config:
    agent = CommandSettings(command=("python", "agent.py"))
    return replace(Config(folder / "f.yaml", folder, "c" * 64, agent, PROMPTS), **changes)


def phase(*scenarios: Scenario) -> Phase:
    every = (CALM, *scenarios)
    return Phase("contract", every, PROMPTS, (), planned(every, PROMPTS, phase="contract"))


def test_the_same_things_have_the_same_identity(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("print(1)")
    assert identity(config(tmp_path), [phase()]) == identity(config(tmp_path), [phase()])


def test_another_text_of_the_agent_is_another_agent(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("print(1)")
    before = identity(config(tmp_path), [phase()])
    (tmp_path / "agent.py").write_text("print(2)")
    after = identity(config(tmp_path), [phase()])
    assert after.differs(before.as_json()) == "agent"


def test_words_that_no_file_can_be_called_are_no_files(tmp_path: Path) -> None:
    words = ("python", "-c", "x = 1\n" * 500, "a" * 300, "b" * 255 + "/c", "nul\0", "")
    made = config(tmp_path, agent=CommandSettings(command=words))
    assert identity(made, [phase()]) == identity(made, [phase()])


def test_a_module_that_is_the_agent_counts(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    file = tmp_path / "shop" / "answers.py"
    file.write_text("1")
    made = config(tmp_path, agent=PythonSettings(endpoint="shop.answers:ask"))
    before = identity(made, [phase()])
    file.write_text("2")
    assert identity(made, [phase()]) != before


def test_the_module_is_what_stands_before_the_first_colon(tmp_path: Path) -> None:
    file = tmp_path / "answers.py"
    file.write_text("1")
    made = config(tmp_path, agent=CommandSettings(command=("serve", "answers:app:factory")))
    before = identity(made, [phase()])
    file.write_text("2")
    assert identity(made, [phase()]) != before


def test_other_settings_and_other_files_are_distinguished(tmp_path: Path) -> None:
    before = identity(config(tmp_path), [phase()]).as_json()
    slower = config(tmp_path, agent=CommandSettings(command=("python", "agent.py"), timeout=7))
    assert identity(slower, [phase()]).differs(before) == "agent"
    assert identity(config(tmp_path, digest="d" * 64), [phase()]).differs(before) == "configuration"
    cut = Scenario("cut", Profile(name="cut", digest="e" * 64))
    assert identity(config(tmp_path), [phase(cut)]).differs(before) == "profiles"
    other = Scenario("cut", Profile(name="cut", digest="f" * 64))
    was = identity(config(tmp_path), [phase(cut)]).as_json()
    assert identity(config(tmp_path), [phase(other)]).differs(was) == "profiles"


def test_each_of_several_files_counts(tmp_path: Path) -> None:
    made = config(tmp_path, agent=CommandSettings(command=("python", "one.py", "two.py")))
    for name in ("one.py", "two.py", "one.py"):
        before = identity(made, [phase()])
        (tmp_path / name).write_text(f"{name} {before.agent_digest}")
        assert identity(made, [phase()]).differs(before.as_json()) == "agent"


def test_a_word_without_a_colon_names_no_module(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    made = config(tmp_path, agent=CommandSettings(command=("python", "-m", "shop.answers")))
    before = identity(made, [phase()])
    (tmp_path / "shop" / "answers.py").write_text("1")
    assert identity(made, [phase()]) == before


def test_a_file_counts_up_to_a_size_and_one_that_cannot_be_read_as_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(text: str) -> str:
        (tmp_path / "agent.py").write_text(text)
        return identity(config(tmp_path), [phase()]).agent_digest

    monkeypatch.setattr("faultwire.runner.run_identity.MOST", 4)
    assert found("1234a") == found("1234b") != found("123")
    empty = found("")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert identity(config(tmp_path), [phase()]).agent_digest == empty


def test_the_order_of_the_names_in_a_setting_is_not_part_of_it(tmp_path: Path) -> None:
    first, second = {"A": "1", "B": "2"}, {"B": "2", "A": "1"}
    made = [config(tmp_path, agent=CommandSettings(command=("agent",), env=env)) for env in (first, second)]
    assert identity(made[0], [phase()]) == identity(made[1], [phase()])
