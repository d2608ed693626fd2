"""A search on its way to a worker: as it was asked for, and only where the worker has the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.test_explored import TWO, traffic

from faultwire.cli._explored_search import Judged, Searched, from_plain, plain
from faultwire.errors import UsageError

JUDGED = Judged(None, "contains: Paris", None, 60.0)


def searched(tmp_path: Path, **more: Any) -> Searched:
    (tmp_path / "agent.py").write_text("print('Paris')")
    script = tmp_path / "script.yaml"
    script.write_text("turns: []")
    asked = replace(traffic(*TWO), script=script, client_cert=(("a.example", Path("me.pem")),), **more)
    return Searched(("python", str(tmp_path / "agent.py")), asked, JUDGED)


def test_a_search_comes_back_as_it_was_asked_for(tmp_path: Path) -> None:
    search = searched(tmp_path, mask=("$.a", "$.b"))
    assert Searched.from_json(json.loads(json.dumps(search.as_json()))) == search


@pytest.mark.parametrize(
    "value", [None, 1, 0.5, "path", True, (), ("a", ("b", Path("c"))), {"path": Path("p")}]
)
def test_every_option_comes_back(value: object) -> None:
    assert from_plain(json.loads(json.dumps(plain(value)))) == value


@pytest.mark.parametrize("bent", [{}, {"command": [], "traffic": {"none": 1}, "judged": {}}, {"command": 1}])
def test_what_is_no_search_is_refused(bent: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as raised:
        Searched.from_json(bent)
    assert raised.value.code == "campaign.request"


def test_without_a_fault_there_is_no_search(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found no fault"):
        replace(searched(tmp_path), traffic=traffic()).profile()


def test_another_agent_script_option_or_fault_is_a_difference_and_nothing_else(tmp_path: Path) -> None:
    def here(search: Searched) -> Any:
        profile = search.profile()
        return search.surroundings(profile, search.traffic.launch("explore", profile=profile))

    search = searched(tmp_path)
    first = here(search)
    assert first.differs(here(searched(tmp_path))) is None
    other_fault = replace(search, traffic=replace(search.traffic, fault=TWO[:1]))
    assert here(other_fault).profiles != first.profiles
    assert "the configuration" in first.differs(here(replace(search, judged=replace(JUDGED, timeout=9.0))))
    (tmp_path / "script.yaml").write_text("turns: [{answer: no}]")
    assert "the configuration" in first.differs(here(search))
    (tmp_path / "script.yaml").write_text("turns: []")
    (tmp_path / "agent.py").write_text("print('Rome')")
    assert "the agent" in first.differs(here(search))
