"""`faultwire verify` without starting anything: what is told of findings, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli._examine import Finding
from faultwire.cli._verifying import _answered, _arrived, _file, code
from faultwire.cli.verify import verified
from faultwire.config.load import load
from faultwire.contract.cells import Invocation, Prompt
from faultwire.errors import ConfigError, ScenarioError
from faultwire.events import AgentResult, History
from faultwire.runner.phases import CALM
from faultwire.runner.run import Played

CONFIG = """
agent: {command: [agent, "{prompt}"]}
golden_prompts: [hello]
invariants: [completes]
contract:
  name: rules
  invariants: [valid_json]
  chaos_matrix: [{name: calm}, {name: out, profile: api_outage}]
chaos: {faults: [{latency: {ms: 1}}]}
whatever: 1
"""


def finding(state, subject):
    return Finding(state, subject, "")


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([], 0),
        ([finding("ok", "agent"), finding("note", "traffic")], 0),
        ([finding("fail", "agent")], 1),
        ([finding("fail", "agent"), finding("fail", "traffic")], 3),
        ([finding("fail", "model")], 3),
        ([finding("fail", "proxy")], 3),
    ],
)
def test_exit_codes(findings, expected):
    assert code(findings) == expected


def test_the_configuration_is_listed_with_its_references(tmp_path: Path) -> None:
    path = tmp_path / "faultwire.yaml"
    path.write_text(CONFIG)
    found = [(one.state, one.subject, one.text) for one in _file(load(path, environ={}))]
    assert found == [
        ("ok", "configuration", f"{path}: 1 golden prompt"),
        ("note", "configuration", found[1][2]),
        ("ok", "invariants", "completes"),
        ("ok", "contract", "`rules`: valid_json"),
        ("ok", "scenario", "`calm`: no faults"),
        ("ok", "scenario", "`out`: status, tool_error, reset"),
        ("ok", "chaos", "latency"),
    ]
    assert "`whatever`" in found[1][2]


@pytest.mark.parametrize(
    ("result", "state", "text"),
    [
        (AgentResult("Paris", 0, 0.5), "ok", "answers `p1` in 0.5 s: `Paris`"),
        (
            AgentResult("", 1, 0.5, "Traceback\nKeyError: 'x'\n"),
            "fail",
            "asked `p1` it exited with 1 without an answer; the last line of its stderr is `KeyError: 'x'`",
        ),
        (AgentResult(" ", 0, 0.5), "fail", "asked `p1` it exited with 0 without an answer"),
        (AgentResult("half", 2, 0.5), "fail", "asked `p1` it exited with 2"),
        (
            AgentResult("", None, 30.0, timed_out=True),
            "fail",
            "asked `p1` it was stopped after 30.0 s without an",
        ),
    ],
)
def test_answers(result, state, text):
    found = _answered("p1", result)
    assert found.state == state
    assert found.text.startswith(text)


def test_agent_output_is_redacted():
    key = "sk-ant-api03-" + "Zq7" * 31 + "AA"
    for result in (AgentResult(f"it is {key}", 0, 0.5), AgentResult("", 1, 0.5, f"401 for {key}")):
        found = _answered("p1", result)
        assert key not in found.text
        assert "redacted:v1:" in found.text


def test_incident_sessions_are_looked_up_with_their_contracts(tmp_path: Path) -> None:
    path = tmp_path / "faultwire.yaml"
    session = "replays: {sessions: [{id: inc-1, input: hi, contract: %s, tool_responses: []}]}"
    path.write_text(CONFIG + session % "rules")
    (found,) = (
        one for one in _file(load(path, environ={})) if one.subject == "replays" and one.state == "ok"
    )
    assert found.text == "inc-1"
    path.write_text(CONFIG + session % "no-such-contract")
    with pytest.raises(ScenarioError, match="no-such-contract"):
        list(_file(load(path, environ={})))


def test_a_void_session_is_a_failure() -> None:
    history = History("s", (), voids=("the tape broke",), agent=AgentResult("a", 0, 0.1))
    played = Played(Invocation(CALM, Prompt("p1", "hi")), history)
    assert [(one.state, one.subject) for one in _arrived(played)] == [("ok", "agent"), ("fail", "proxy")]


def test_a_wrong_configuration_is_reported_before_anything_starts(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("agent: 3")
    done = CliRunner().invoke(main, ["verify", "-c", str(path)])
    assert done.exit_code == 2
    assert "found `3` for `agent`, expected a mapping" in done.stderr
    with pytest.raises(ConfigError):
        verified(path)
