"""A worker plays exactly the cells that are meant, or none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.agents.settings import CommandSettings
from faultwire.campaign.cell import CellTask
from faultwire.campaign.worker import MISMATCH, Request, answer, check, result_of, surroundings
from faultwire.config.model import Config, ContractSettings
from faultwire.contract.cells import Prompt, Scenario
from faultwire.errors import UsageError
from faultwire.events import AgentResult, History
from faultwire.profile.load import parse
from faultwire.runner.cells import planned
from faultwire.runner.phases import CALM
from faultwire.runner.run import Played

PROMPT = Prompt("p1", "?")
PROFILE = {"name": "calm", "description": "", "tools": {}, "agents": {}, "entries": []}
CELL = CellTask("contract", "calm", PROFILE, "p1", ("?",), ("?",), None, 1, 7)


def config(code: int = 503, command: str = "a") -> Config:
    down = Scenario("down", parse(f"name: down\nfaults: [{{status: {{code: {code}}}}}]", "a.yaml"))
    agent = CommandSettings(command=(command, "{prompt}"))
    return Config(
        Path("f.yaml"), Path(), "d" * 64, agent, (PROMPT,), contract=ContractSettings("c", (), (down,))
    )


HERE = surroundings(config())
REQUEST = Request(HERE, {CELL.id(HERE): CELL}, 4, 2, bytes(32))


def test_a_request_comes_back_from_the_wire_as_it_was() -> None:
    again = Request.parse(REQUEST.as_json())
    assert (again.expected, again.concurrency, again.retries, again.public) == (HERE, 4, 2, bytes(32))
    assert list(again.cells) == list(REQUEST.cells)
    check(again, HERE)


@pytest.mark.parametrize(
    ("other", "word"), [(config(code=500), "the profiles"), (config(command="b"), "the agent")]
)
def test_a_machine_with_another_agent_or_profile_is_refused(other: Config, word: str) -> None:
    with pytest.raises(UsageError, match=word) as raised:
        check(REQUEST, surroundings(other))
    assert raised.value.code == MISMATCH


def test_where_the_project_lies_makes_no_difference(tmp_path: Path) -> None:
    def at(folder: str, cwd: str) -> Config:
        agent = CommandSettings(command=("a", "{prompt}"), cwd=str(tmp_path / folder / cwd))
        return replace(config(), agent=agent, folder=tmp_path / folder)

    assert surroundings(at("here", "sub")) == surroundings(at("there", "sub"))
    assert surroundings(at("here", "sub")) != surroundings(at("here", "other"))


def test_one_with_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match="this worker has faultwire `0"):
        check(REQUEST, replace(HERE, version="0.0"))


def test_a_cell_that_is_not_what_its_id_says_is_refused() -> None:
    bent = replace(REQUEST, cells={CELL.id(HERE): replace(CELL, seed=8)})
    with pytest.raises(UsageError, match="the content of another") as raised:
        check(bent, HERE)
    assert raised.value.code == MISMATCH


def test_without_cells_it_is_only_asked_whether_they_would_be_refused(tmp_path: Path) -> None:
    assert answer(replace(REQUEST, cells={}), config(), tmp_path) == ({"checked": True}, b"")
    with pytest.raises(UsageError):
        answer(replace(REQUEST, cells={}), config(code=500), tmp_path)
    assert list(tmp_path.iterdir()) == []  # nothing was started


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"expected": {}}', REQUEST.as_json()[:-2]])
def test_what_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        Request.parse(text)
    assert raised.value.code == "campaign.request"


def test_a_result_is_plain_values() -> None:
    (invocation,) = planned((CALM,), (PROMPT,))
    history = History("s~2", (), agent=AgentResult("Paris", 0, 1.0), voids=("v",), remarks=("r",))
    found = json.loads(json.dumps(result_of(Played(invocation, history))))
    assert (found["session"], found["agent"]["answer"], found["voids"]) == ("s~2", "Paris", ["v"])
    assert found["cost_usd"] == 0
    assert result_of(Played(invocation, History("s", ())))["agent"] is None
