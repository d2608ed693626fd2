from __future__ import annotations

import json
import re

from tests.unit.lineage.conftest import Wire
from tests.unit.lineage.test_topology import PLANNER, WRITER, a2a
from tests.unit.report.conftest import play

from faultwire.events import History
from faultwire.profile.load import parse
from faultwire.profile.model import Profile
from faultwire.report import html
from faultwire.report._exchange_shape import Topology
from faultwire.report.topology import EXCHANGES, drawing, expected_edges, topology_part, words

PROFILE = Profile(name="p", agents={"planner": PLANNER, "writer": WRITER})


def history(*agents: str | None) -> History:
    wire = Wire()
    for agent in agents:
        a2a(wire, "/writer", agent)
    return History("s", tuple(wire.exchanges))


def part(*agents: str | None, redact=str):
    found = topology_part(history(*agents), PROFILE, redact)
    assert found is not None
    return found


def test_a_report_has_it_where_agents_call_one_another_and_only_there() -> None:
    made = part("planner/1", None)
    Topology.model_validate(json.loads(json.dumps(made)))
    assert made["unknown_senders"] == 1
    lone = Wire()
    lone.ask([{"role": "user", "content": "hi"}], {"role": "assistant", "content": "x"})
    assert topology_part(History("s", tuple(lone.exchanges)), PROFILE, str) is None
    assert topology_part(history(*[None] * (EXCHANGES + 1)), PROFILE, str) is None


def test_names_are_redacted() -> None:
    made = part("planner/1", redact=lambda text: text.replace("writer", "[secret]"))
    assert "writer" not in json.dumps(made)


def test_words_of_an_edge() -> None:
    marked, unmarked = part("planner/1", "planner/1", None)["edges"]
    assert words(marked) == "planner -> writer by a2a: 2 calls"
    assert words(unmarked) == "(unknown) -> writer by a2a: 1 call"
    broken = marked | {"failed": 1, "faults": {"agent_down#1": 1}}
    assert words(broken) == "planner -> writer by a2a: 2 calls, 1 failed; faults fired: agent_down#1 (1)"


def test_callers_stand_left_of_those_that_they_call() -> None:
    drawn = drawing(part("planner/1", None))
    left = {box["label"]: box["x"] for box in drawn["boxes"]}
    assert left["planner"] == left["(unknown)"] < left["writer"]
    assert len(drawn["arrows"]) == 2
    assert all(box["x"] + box["width"] <= drawn["width"] for box in drawn["boxes"])


def test_circles_and_calls_of_oneself_have_a_place() -> None:
    end = {"kind": "agent", "name": "a"}, {"kind": "agent", "name": "b"}, {"kind": "agent", "name": "c"}
    base = part("planner/1")["edges"][0]
    pairs = [(0, 1), (1, 0), (2, 2)]
    drawn = drawing({"edges": [base | {"sender": end[a], "receiver": end[b]} for a, b in pairs]})
    assert sorted(box["label"] for box in drawn["boxes"]) == ["a", "b", "c"]
    assert len({arrow["path"] for arrow in drawn["arrows"]}) == 3


def test_edges_with_globs_are_not_expected() -> None:
    profile = parse(
        "faults:\n- agent_down:\n  on: {edge: ['a->b', 'a->*']}\n- agent_down:\n  on: {agent: x}\n", "p"
    )
    assert expected_edges(profile) == [("a", "b")]


def test_the_page_draws_it_without_script_and_escapes_names() -> None:
    agents = {"planner": PLANNER, "<script>alert(1)</script>": WRITER.model_copy(update={"caller": None})}
    made = play()
    made["invocations"][0]["topology"] = topology_part(
        history("planner/1"), Profile(name="p", agents=agents), str
    )
    page = html.render(made)
    assert '<svg class="topology"' in page
    assert "<script" not in page
    assert re.search(r"who called whom", page)
    made["invocations"][0]["topology"] = None
    assert '<svg class="topology"' not in html.render(made)
