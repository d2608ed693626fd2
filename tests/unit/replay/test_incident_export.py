"""From a tape to sessions: `incident_taken`, `incident_export` and `incident_write`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from faultwire.errors import ScenarioError, UsageError
from faultwire.profile.model import ToolSite
from faultwire.profile.yaml import read
from faultwire.replay.incident_export import Wish, from_report, from_reports, from_tape, relative
from faultwire.replay.incident_read import parse
from faultwire.replay.incident_responses import Taken, taken
from faultwire.replay.incident_write import text_of, write, write_session
from faultwire.replay.reader import index, tape_settings
from faultwire.replay.settings import ReplaySettings
from faultwire.tape.read.reader import TapeReader

Incident = Any
"""The tape of the fixture, see `conftest.py`."""


def of(incident: Incident, **tools: str) -> Taken:
    with TapeReader.open(incident.close()) as reader:
        made = taken(reader, incident.session, {name: ToolSite(url=url) for name, url in tools.items()})
    for one in made.responses:
        one.pop("latency_ms", None)
    return made


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_all_three_sites_in_the_order_of_the_calls(tape: Incident) -> None:
    tape.chat()
    tape.http(
        b'{"price": 3}', headers=(("content-type", "application/json"), ("retry-after", "2"), ("date", "x"))
    )
    tape.mcp({"result": {"content": [{"type": "text", "text": "4 left"}]}})
    tape.chat("found")
    tape.http(b"gone", status=404, headers=(("content-type", "text/html"), ("x-ratelimit-remaining", "0")))
    tape.mcp({"result": {"content": [{"type": "text", "text": "no such"}], "isError": True}}, streams=True)
    tape.chat("found", "nothing")
    assert of(tape).responses == [
        {"tool": "price", "response": {"price": 3}, "status": 200, "headers": {"retry-after": "2"}},
        {"tool": "stock", "response": "4 left"},
        {"tool": "lookup", "response": "found"},
        {
            "tool": "price",
            "response": "gone",
            "status": 404,
            "headers": {"content-type": "text/html", "x-ratelimit-remaining": "0"},
        },
        {"tool": "stock", "response": "no such", "status": 0},
        {"tool": "lookup", "response": "nothing"},
    ]


def test_what_the_model_read_and_not_what_the_tool_said(tape: Incident) -> None:
    tape.chat("real", sent=("poisoned",), effect="result of `lookup` delayed by 250 ms and replaced")
    tape.chat("real", "more", sent=("poisoned", "more"))
    with TapeReader.open(tape.close()) as reader:
        made = taken(reader, tape.session)
    assert made.responses == [
        {"tool": "lookup", "response": "poisoned", "latency_ms": 250},
        {"tool": "lookup", "response": "more"},
    ]


def test_a_tool_with_a_site_of_its_own_is_not_taken_twice(tape: Incident) -> None:
    tape.http(b"1", tool="lookup")
    tape.chat("1")
    assert [one["tool"] for one in of(tape).responses] == ["lookup"]


def test_a_session_that_nobody_looked_into(tape: Incident) -> None:
    """Without faults nobody asks what an exchange is: the tape does not name its tool."""
    tape.mcp({"result": {"content": [{"type": "text", "text": "4 left"}]}}, tool=None)
    tape.http(b"[1]", tool="price")
    made = of(tape, price="http://shop.test/price")
    assert made.responses == [
        {"tool": "stock", "response": "4 left"},
        {"tool": "price", "response": "[1]", "status": 200} | {"response": [1]},
    ]


def test_what_cannot_be_said_again_is_noted(tape: Incident) -> None:
    tape.http(None, ending="client_aborted")
    tape.http(b"half", ending="cut")
    tape.http(b"\xff\xfe", headers=(("content-type", "image/png"),))
    tape.mcp({"error": {"code": -32602, "message": "Unknown tool"}})
    made = of(tape)
    assert [one["status"] for one in made.responses] == [0, 0, 200, 0]
    assert len(made.notes) == 4
    assert made.notes[0].startswith("exchange 1: `price`: the agent left after ")
    assert (
        made.notes[1] == "exchange 2: `price`: its response ended early (cut), so it is replayed as an error"
    )
    assert made.notes[2] == "exchange 3: `price`: its body is not text, so it is not replayed exactly"
    assert (
        made.notes[3]
        == "exchange 4: `stock`: its MCP response is not a result, so it is replayed as an error"
    )


def test_our_own_answer_for_a_server_that_was_not_reached_is_an_answer(tape: Incident) -> None:
    tape.http(b"not reached", status=502, ours=True, ending="upstream_aborted")
    assert of(tape) == Taken([{"tool": "price", "response": "not reached", "status": 502, **KIND}])


KIND = {"headers": {"content-type": "application/json"}}


def test_requests_are_known_by_what_servers_got(tape: Incident) -> None:
    """What a replaced result makes of a request is what its answer is to."""
    tape.chat("real", sent=("told",), effect="replaced")
    with TapeReader.open(tape.close()) as reader:
        as_sent, as_got = index(reader), index(reader, as_forwarded=True)
    assert b"real" in (as_sent.entries[0].recorded.request.body or b"")
    assert b"told" in (as_got.entries[0].recorded.request.body or b"")


@pytest.mark.parametrize("about", [{}, {"imported": "har"}])
def test_what_was_imported_stays_so_when_it_is_replayed(
    about: dict[str, Any], tape: Incident, tmp_path: Path
) -> None:
    path = type(tape)(tmp_path / "i.tape", **about).close()
    said = tape_settings(ReplaySettings(tape=path))
    assert (said["made_by"], said.get("imported")) == ("replay", about.get("imported"))
    assert tape_settings(ReplaySettings(tape=path, unverified=True)) == said


# ---------------------------------------------------------------- sessions of a tape


def test_a_tapes_sessions_can_be_read_back(tape: Incident, tmp_path: Path) -> None:
    tape.chat(asks="what does tea cost")
    tape.http(b"no", status=503)
    folder = tmp_path / "out"
    (one,) = from_tape(tape.close(), Wish(folder, contract="honest"))
    assert one.name == "contract-outage-p1-r1"
    assert one.notes == (
        "`input` is what the agent told its model first (exchange 1); if it was given another input, "
        "use that instead",
    )
    session = parse(write_session(one.document, folder / "a.yaml").read_bytes(), folder / "a.yaml")
    assert (session.id, session.turns) == ("contract-outage-p1-r1", ("what does tea cost",))
    assert (session.contract, session.tape_session) == ("honest", "contract/outage/p1/r1")
    assert session.tape is not None
    assert session.tape.resolve() == tape.path.resolve()
    assert [(each.tool, each.status, each.response) for each in session.tool_responses] == [
        ("price", 503, "no")
    ]
    assert (folder / "a.yaml").stat().st_mode & 0o777 == 0o600


def test_only_the_session_that_is_named_and_no_tape(tape: Incident, tmp_path: Path) -> None:
    tape.chat()
    tape.begin("other")
    tape.http(b"1")
    path = tape.close()
    wish = Wish(tmp_path, turns=("one", "two"), with_tape=False)
    (one,) = from_tape(path, wish, "other")
    assert one.document["turns"] == ["one", "two"]
    assert "tape" not in one.document
    assert len(list(from_tape(path, wish))) == 2
    with pytest.raises(ScenarioError, match="found no session `nowhere` on the tape"):
        list(from_tape(path, wish, "nowhere"))


def test_a_tape_that_does_not_show_what_was_asked(tape: Incident, tmp_path: Path) -> None:
    tape.http(b"1")
    with pytest.raises(ScenarioError, match="nobody knows what the agent was asked") as caught:
        list(from_tape(tape.close(), Wish(tmp_path)))
    assert caught.value.hint == "give the input with --input"


# ---------------------------------------------------------------- failures of a report


def report(tape: Path, **more: Any) -> dict[str, Any]:
    check = {"severity": "high", "when": "any_chaos_active", "negate": False, "description": ""}
    return {
        "run": {"tapes": [str(tape)], "started_at": "2026-11-20T10:00:00+00:00"},
        "prompts": [
            {"id": "p1", "text": "what does tea cost", "turns": []},
            {"id": "p1-m1", "text": "wHat does tea cost!!", "turns": []},
        ],
        "scenarios": [{"name": "calm", "entries": []}, {"name": "outage", "entries": [{}]}],
        "invariants": [
            {**check, "id": "same", "type": "behavior_unchanged", "settings": {}},
            {**check, "id": "no-euro", "type": "contains", "settings": {"value": "euro"}, "negate": True},
        ],
        "cells": [
            {
                "invocation": "contract/outage/p1-m1/r1",
                "invariant": "same",
                "verdict": "pass",
                "explanation": "ok",
            },
            {
                "invocation": "contract/outage/p1-m1/r1",
                "invariant": "no-euro",
                "verdict": "fail",
                "explanation": "holds `euro`",
            },
            {
                "invocation": "contract/calm/p1/r1",
                "invariant": "same",
                "verdict": "unknown",
                "explanation": "",
            },
        ],
        "invocations": [
            {"id": "contract/calm/p1-m1/r1", "scenario": "calm", "prompt": "p1-m1", "answer": "3 pounds"},
            {"id": "contract/calm/p1/r1", "scenario": "calm", "prompt": "p1", "answer": "4 pounds"},
            {"id": "contract/outage/p1-m1/r1", "scenario": "outage", "prompt": "p1-m1", "answer": "x"},
        ],
        **more,
    }


def test_a_failure_with_the_input_that_failed_and_its_contract(tape: Incident, tmp_path: Path) -> None:
    tape.begin("contract/outage/p1-m1/r1")
    tape.http(b"first try", status=500)
    tape.begin("contract/outage/p1-m1/r1~2")
    tape.http(b"no", status=503)
    (one,) = from_report(report(tape.close()), tmp_path, Wish(tmp_path))
    assert one.document["input"] == "wHat does tea cost!!"
    assert one.document["expected_failure"] == "no-euro: holds `euro`"
    assert one.document["contract"] == "contracts/exported.yaml"
    assert one.document["tape_session"] == "contract/outage/p1-m1/r1~2", "the attempt that counted"
    assert [each["status"] for each in one.document["tool_responses"]] == [503]
    assert one.contract == {
        "name": "exported",
        "invariants": [
            {"id": "same", "type": "behavior_unchanged", "severity": "high", "baseline": "3 pounds"},
            {"id": "no-euro", "type": "contains", "severity": "high", "value": "euro", "negate": True},
        ],
    }


def test_the_contracts_of_several_phases_have_names_of_their_own(tape: Incident, tmp_path: Path) -> None:
    tape.begin("contract/outage/p1-m1/r1")
    tape.http(b"no")
    first = report(tape.close())
    check = {**first["invariants"][1], "settings": {"value": "dollar"}}
    second = {**first, "invariants": [first["invariants"][0], check]}
    clean = {**first, "cells": []}
    found = list(from_reports([first, clean, second, first], tmp_path, Wish(tmp_path)))
    assert [one.document["contract"] for one in found] == [
        "contracts/exported.yaml",
        "contracts/exported-2.yaml",
        "contracts/exported.yaml",
    ]
    with pytest.raises(ScenarioError, match="found no failed invariant in the report"):
        list(from_reports([clean, clean], tmp_path, Wish(tmp_path)))


def test_a_contract_that_is_named_is_not_written(tape: Incident, tmp_path: Path) -> None:
    tape.begin("contract/outage/p1-m1/r1")
    tape.http(b"no")
    (one,) = from_report(report(tape.close()), tmp_path, Wish(tmp_path, contract="honest"))
    assert (one.document["contract"], one.contract) == ("honest", None)


def test_what_a_report_cannot_give(tape: Incident, tmp_path: Path) -> None:
    path = tape.close()
    with pytest.raises(ScenarioError, match="found no failed invariant in the report"):
        list(from_report(report(path, cells=[]), tmp_path, Wish(tmp_path)))
    with pytest.raises(ScenarioError, match="found no session `contract/outage/p1-m1/r1` on the tapes"):
        list(from_report(report(path), tmp_path, Wish(tmp_path)))


def test_a_prompt_that_the_report_clipped(tape: Incident, tmp_path: Path) -> None:
    tape.begin("contract/outage/p1-m1/r1")
    clipped = [{"id": "p1-m1", "text": "x" * 16_384, "turns": []}]
    with pytest.raises(ScenarioError, match="the prompt `p1-m1` is longer than the 16384 characters"):
        list(from_report(report(tape.close(), prompts=clipped), tmp_path, Wish(tmp_path)))


# ---------------------------------------------------------------- files


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    document = {"id": "a", "input": "hi"}
    write_session(document, tmp_path / "a.yaml")
    with pytest.raises(UsageError, match="already, expected a new file"):
        write_session(document, tmp_path / "a.yaml")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        write(tmp_path / "file" / "a.yaml", "x")


def test_a_session_that_could_not_be_read_back_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"the session `a\.yaml` cannot be written: found no `input`"):
        write_session({"id": "a"}, tmp_path / "a.yaml")
    big = {"id": "a", "input": "hi", "tool_responses": [{"tool": "t", "response": "x" * 1_100_000}]}
    with pytest.raises(ScenarioError, match="more than 1000000 bytes"):
        write_session(big, tmp_path / "b.yaml")
    assert not list(tmp_path.iterdir())


def test_paths_are_written_as_seen_from_the_file(tmp_path: Path) -> None:
    assert relative(tmp_path / "runs" / "a.tape", tmp_path / "out") == "../runs/a.tape"


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(text=TEXTS.filter(bool), response=VALUES)
@settings(max_examples=200)
def test_every_text_is_read_back_as_it_was(text: str, response: Any) -> None:
    document = {"id": "a", "input": text, "tool_responses": [{"tool": "t", "response": response}]}
    assert read(text_of(document), "a.yaml", ScenarioError).plain() == document
