"""Sessions as they are read: `replay.incident` and `replay.incident_read`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import Location, ScenarioError
from faultwire.replay.incident import Session, ToolResponse
from faultwire.replay.incident_read import inline, parse, read_all, read_file

WHOLE = """\
id: incident-001
name: the price was made up
source: manual
captured_at: 2026-02-15T14:32:00Z
input: what does a kettle cost
context:
  - {role: user, content: hello}
  - {role: assistant, content: hi}
  - {document: prices.pdf}
tool_responses:
  - tool: price
    response: null
    status: 504
    latency_ms: 30000
  - tool: price
    response: {hits: 3, names: [a, b]}
  - {tool: stock, response: none, headers: {Retry-After: "2"}, match_url: "http://s/*", optional: true}
expected_failure: a price that no tool gave
contract: honest
tape: ../run.tape
tape_session: contract/outage/p1/r1
on_miss: live
none_left: repeat
"""


def read(text: str, name: str = "replays/one.yaml") -> Session:
    return parse(text.encode(), Path(name))


def test_every_key_is_read() -> None:
    one = read(WHOLE)
    assert (one.id, one.name, one.source) == ("incident-001", "the price was made up", "manual")
    assert one.captured_at == "2026-02-15T14:32:00Z"
    assert one.turns == ("hello", "what does a kettle cost")
    assert one.expected_failure == "a price that no tool gave"
    assert (one.contract, one.on_miss, one.none_left) == ("honest", "live", "repeat")
    assert (one.tape, one.tape_session) == (Path("replays/../run.tape"), "contract/outage/p1/r1")
    assert one.tools == ("price", "stock")
    assert one.tool_responses[0] == ToolResponse(tool="price", status=504, latency_ms=30_000)
    assert one.tool_responses[1].response == {"hits": 3, "names": ["a", "b"]}
    assert one.tool_responses[2].optional
    assert one.notes == (
        "replays/one.yaml: asked first, each as a turn: 1 message of the user in `context`",
        "replays/one.yaml: not given to the agent, as no words of its user: 2 items of `context`",
    )


def test_what_flakestorm_writes_by_default_is_nothing() -> None:
    nothing = "name: null\ncaptured_at: null\nexpected_failure: null\ncontext: []\nfile: null\n"
    one = read(f"id: a\ninput: hi\ntool_responses: []\ncontract: default\n{nothing}")
    assert one == Session(
        id="a", turns=("hi",), folder=Path("replays"), where=Location("replays/one.yaml"), digest=one.digest
    )


def test_json_is_read_with_all_its_escapes() -> None:
    document = {
        "id": "a",
        "input": "\U0001f600 \\ud83d\\ude00 tea",
        "tool_responses": [{"tool": "t", "response": [1]}],
    }
    one = read(json.dumps(document), "one.json")
    assert one.turns == ("\U0001f600 \\ud83d\\ude00 tea",)
    assert read(json.dumps(document, ensure_ascii=False), "one.json").turns == one.turns


def test_turns_stand_for_the_input() -> None:
    assert read("id: a\nturns: [one, two]").turns == ("one", "two")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("input: hi", 1, "found no `id` in `session`, expected text"),
        ("id: a", 1, "found no `input` in the session, expected the agent's input"),
        ("id: a\ninput: ''", 2, "found no `input` in the session, expected the agent's input"),
        ("id: ''\ninput: hi", 1, "found an empty `id`, expected a name"),
        ("id: 7\ninput: hi", 1, "found `7` for `session.id`, expected text"),
        ("id: a\ninput: hi\nturns: [x]", 3, "found `turns` beside `input`, expected one of them"),
        ("id: a\nturns: x", 2, "found `x` for `turns`, expected a list of texts"),
        ("id: a\nturns: [x, 7]", 2, "found a list for `turns`, expected a list of texts"),
        ("id: a\ninput: hi\nexpected: x", 3, "found key `expected`, expected a key of a session"),
        (
            "id: a\ninput: hi\ntool_responses: {tool: x}",
            3,
            "found a mapping for `tool_responses`, expected a list",
        ),
        (
            "id: a\ninput: hi\ntool_responses:\n  - {tol: x}",
            4,
            "found key `tol`, expected a key of `tool_responses[0]`",
        ),
        (
            "id: a\ninput: hi\ntool_responses:\n  - {tool: x}\n  - {tool: '*'}",
            5,
            "in `tool_responses[1]`: found tool `*`, expected the name of one tool",
        ),
        (
            "id: a\ninput: hi\ntool_responses:\n  - {tool: x, status: 99}",
            4,
            "in `tool_responses[0]`: found status 99, expected 200 to 599, or 0 for a failure without one",
        ),
        ("id: a\ninput: hi\ncontext: [x]", 3, "found `x` in `context`, expected mappings"),
        ("id: a\ninput: hi\nfile: b.yaml", 3, "found `file` in a session's own file, expected its `input`"),
        (
            "id: a\ninput: hi\non_miss: ignore",
            3,
            "found `ignore` for `session.on_miss`, expected `fail` or `live`",
        ),
        ("[1]", 1, "found a list for a session, expected a mapping"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(text)
    found = [caught.value, *caught.value.also]
    assert (message, line) in [(one.message, one.where.line) for one in found if one.where]


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(ScenarioError) as caught:
        read("id: 7\nfoo: 1\ntool_responses: [{}]")
    assert len(caught.value.also) == 3


def test_a_folder_is_read_by_file_name(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "c.yml", "notes.txt", ".hidden.yaml"):
        (tmp_path / name).write_text(json.dumps({"id": name, "input": "hi"}))
    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / "x.yaml").write_text("not: a session")
    assert [one.id for one in read_all(tmp_path)] == ["a.json", "b.yaml", "c.yml"]
    assert [one.id for one in read_all(tmp_path / "b.yaml")] == ["b.yaml"]


def test_a_folder_without_sessions_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"found no session in `.*`, expected files in YAML or JSON"):
        read_all(tmp_path)
    with pytest.raises(ScenarioError, match=r"cannot read the session `.*`: no such file") as caught:
        read_file(tmp_path / "x.yaml")
    assert caught.value.exit_code == 2


PLACE = Location("faultwire.yaml (replays.sessions[1])")


def test_a_session_in_a_configuration(tmp_path: Path) -> None:
    data: dict[str, Any] = {"id": "a", "input": "hi", "tool_responses": [{"tool": "t", "response": "x"}]}
    (one,) = inline(data, PLACE, tmp_path)
    assert (one.id, one.turns, one.tools, one.folder) == ("a", ("hi",), ("t",), tmp_path)
    assert one.where == PLACE
    with pytest.raises(ScenarioError) as caught:
        inline(data | {"foo": 1}, PLACE, tmp_path)
    assert str(caught.value).startswith("faultwire.yaml (replays.sessions[1]):1:1: scenario.unknown_key")


def test_a_session_that_names_its_file_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    for name in ("a", "b"):
        (tmp_path / "r" / f"{name}.yaml").write_text(f"id: {name}\ninput: hi\ncontract: own\n")
    (one,) = inline({"file": "r/a.yaml", "id": "other", "context": []}, PLACE, tmp_path)
    assert (one.id, one.contract, one.folder) == ("a", "own", tmp_path / "r")
    assert one.notes == (f"{PLACE}: `id` is not used: it is already in `file`",)
    both = inline({"file": "r", "contract": "theirs"}, PLACE, tmp_path)
    assert [(each.id, each.contract) for each in both] == [("a", "theirs"), ("b", "theirs")]
    with pytest.raises(ScenarioError, match="expected a path"):
        inline({"file": 7}, PLACE, tmp_path)


def test_the_name_that_an_engine_a_prompt_and_a_file_can_have() -> None:
    assert Session("incident-001", ("hi",)).slug == "incident-001"
    odd = [Session(name, ("hi",)).slug for name in ("a b", "a/b", "", "é", "x" * 200)]
    assert all(len(slug) <= 48 and slug.isascii() for slug in odd)
    assert len(set(odd)) == 5
    assert odd[0].startswith("a-b-")
