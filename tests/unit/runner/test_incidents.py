from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwire.agents.settings import CommandSettings
from faultwire.checks._registry import make
from faultwire.config.model import Config, ContractSettings, ReplaysSettings, Source
from faultwire.contract.cells import Prompt, Scenario
from faultwire.errors import ConfigError, Location, ScenarioError, UsageError
from faultwire.profile.model import Profile, ToolSite
from faultwire.replay.incident import Session, ToolResponse
from faultwire.runner.incidents import (
    TapeUse,
    by_tape,
    compile_session,
    distinct,
    phase,
    replay_settings,
    sessions_of,
)
from faultwire.tape.record.writer import TapeWriter

CHECK = make("output_not_empty", {})
FAULTY = make("completes", {"when": "tool_faults_active"})
PROBED = make("contains", {"value": "x", "probes": ["say x"]})
SCENARIO = Scenario("calm", Profile(name="calm"))
CONTRACT = ContractSettings("honest", (CHECK, FAULTY, PROBED), (SCENARIO,))
ANSWER = (ToolResponse(tool="price", status=504),)


def config(folder: Path, **more: Any) -> Config:
    agent = CommandSettings(command=("a", "{prompt}"))
    base = Config(folder / "faultwire.yaml", folder, "d", agent, (Prompt("p1", "?"),), contract=CONTRACT)
    return replace(base, **more)


def session(name: str = "one", **more: Any) -> Session:
    return Session(name, ("hi",), contract="honest", where=Location(f"{name}.yaml"), **more)


def test_a_session_is_a_scenario_a_prompt_and_its_contract(tmp_path: Path) -> None:
    asked = replace(session("a b", tool_responses=ANSWER), turns=("hello", "how much"))
    made = compile_session(asked, config(tmp_path, tools={"price": ToolSite(url="http://p")}), timing=0.5)
    assert made.scenario.name == made.prompt.id == asked.slug
    assert made.prompt.asked == ("hello", "how much")
    assert made.prompt.invariants == (CHECK, FAULTY), "probes are prompts of their own"
    assert made.scenario.profile.tools == {"price": ToolSite(url="http://p")}
    assert made.notes == ()


def test_an_agent_timeout_below_a_recorded_latency_is_noted(tmp_path: Path) -> None:
    slow = session(tool_responses=(ToolResponse(tool="price", latency_ms=20_000),) * 2)
    assert compile_session(slow, config(tmp_path)).notes == (
        "one.yaml: its tools take 40000 ms, and `agent.timeout` gives the agent 30000 ms for everything",
    )
    assert compile_session(slow, config(tmp_path), timing=0.5).notes == ()


def test_a_phase_plays_each_session_once_and_judges_it_by_its_own(tmp_path: Path) -> None:
    made = phase(config(tmp_path), [session("one", tool_responses=ANSWER), session("two")])
    assert [call.id for call in made.plan] == ["replay/one/one/r1", "replay/two/two/r1"]
    assert (made.name, made.invariants) == ("replay", ())
    assert made.checks == (CHECK, FAULTY)


def test_a_contract_by_path_starts_at_the_session_then_at_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "c.yaml").write_text("invariants: [completes]\n")
    one = replace(session(), contract="c.yaml", folder=tmp_path / "r")
    assert [
        c.name for c in compile_session(one, config(tmp_path)).prompt.invariants if hasattr(c, "name")
    ] == ["completes"]
    (tmp_path / "r" / "c.yaml").write_text("contract: {name: x, invariants: [output_not_empty]}\n")
    assert compile_session(one, config(tmp_path)).prompt.invariants == (CHECK,)


def test_a_contract_that_is_not_found_is_an_error(tmp_path: Path) -> None:
    one = replace(session(), contract="nowhere", folder=tmp_path)
    with pytest.raises(ScenarioError) as caught:
        compile_session(one, config(tmp_path))
    assert caught.value.exit_code == 2
    assert str(caught.value) == (
        "one.yaml: scenario.no_contract: found the contract `nowhere`, expected its name or the path of its "
        "file (the configuration's is `honest`)"
    )
    with pytest.raises(ScenarioError, match="the configuration has none"):
        compile_session(one, config(tmp_path, contract=None))


def test_the_default_contract_is_the_only_one_with_a_note(tmp_path: Path) -> None:
    one = replace(session(), contract="default")
    made = compile_session(one, config(tmp_path))
    assert made.prompt.invariants == (CHECK, FAULTY)
    assert made.notes == ("one.yaml: names no contract; it is judged by the only one, `honest`",)
    with pytest.raises(ScenarioError, match="found the contract `default`"):
        compile_session(one, config(tmp_path, contract=None))
    named = config(tmp_path, contract=replace(CONTRACT, name="default"))
    assert compile_session(one, named).notes == ()


def test_a_session_that_no_invariant_judges_is_an_error(tmp_path: Path) -> None:
    only = config(tmp_path, contract=replace(CONTRACT, invariants=(FAULTY,)))
    with pytest.raises(
        ScenarioError, match="found no invariant in the contract `honest` that is judged here"
    ):
        compile_session(session(), only)
    assert compile_session(session(tool_responses=ANSWER), only).prompt.invariants == (FAULTY,)


def test_ids_are_used_once_and_there_must_be_one() -> None:
    with pytest.raises(ScenarioError) as caught:
        distinct([session("a"), replace(session("a"), where=Location("b.yaml"))])
    assert str(caught.value) == (
        "b.yaml: scenario.duplicate_id: found the id `a` again, expected it once (first in a.yaml)"
    )
    with pytest.raises(ConfigError, match="found no session to replay"):
        distinct([])


def recorded(path: Path, name: str) -> None:
    """A tape with one session that said nothing."""
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    writer.open_session(name, profile="", profile_digest="", seed=1, agent="")
    writer.close_session(name)
    writer.close()


def test_each_tape_is_an_engine_of_its_own(tmp_path: Path) -> None:
    tape = tmp_path / "a.tape"
    live, taped = session("a"), session("b", tape=tape, tape_session="s")
    whole, other = session("c", tape=tape), session("d", tape=tape, tape_session="s", on_miss="live")
    use = TapeUse(tape, (("replay/b/b/r", "s"),))
    assert by_tape([taped, live, whole, other]) == (
        (None, (live,)),
        (use, (taped, whole)),
        (TapeUse(tape, (("replay/d/d/r", "s"),), "live"), (other,)),
    )
    assert by_tape([]) == ()
    assert replay_settings(None) is None
    with pytest.raises(ScenarioError, match="found no tape at"):
        replay_settings(use)
    recorded(tape, "other")
    with pytest.raises(ScenarioError, match="found no session `s` on the tape"):
        replay_settings(use)
    tape.unlink()
    recorded(tape, "s")
    made = replay_settings(use, timing=0.5)
    assert made is not None
    assert (made.tape, made.on_miss, made.timing) == (tape, "fail", 0.5)
    call = phase(config(tmp_path), [taped]).plan[0]
    assert made.answering(call.id) == made.answering(f"{call.id}~2") == "s"
    assert made.answering("replay/c/c/r1") == "replay/c/c/r1", "which no tape has: all of it answers"


def test_the_sessions_of_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: a\ninput: hi\n")
    replays = ReplaysSettings(({"file": "a.yaml"}, {"id": "b", "input": "ho"}))
    assert [one.id for one in sessions_of(config(tmp_path, replays=replays))] == ["a", "b"]
    assert sessions_of(config(tmp_path)) == ()
    with pytest.raises(ScenarioError) as caught:
        sessions_of(config(tmp_path, replays=ReplaysSettings(({"id": "b"},))))
    assert caught.value.where is not None
    assert caught.value.where.file.endswith("faultwire.yaml (replays.sessions[0])")


def test_a_source_is_read_only_where_that_is_wanted(tmp_path: Path) -> None:
    source = Source(type="langsmith", project="shop")
    assert sessions_of(config(tmp_path, replays=ReplaysSettings(sources=(source,)))) == ()
    wanted = ReplaysSettings(sources=(source.model_copy(update={"auto_import": True}),))
    with pytest.raises(UsageError, match=r"LangSmith's client|LANGSMITH_API_KEY"):
        sessions_of(config(tmp_path, replays=wanted))
