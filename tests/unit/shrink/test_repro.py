from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from faultwire.checks._registry import read as check
from faultwire.config.contract_file import load_contract
from faultwire.errors import UsageError
from faultwire.profile.load import dump, load, parse
from faultwire.shrink import repro
from faultwire.trials.model import Pin
from faultwire.trials.pins import pinned

PROFILE = parse(
    "tools: {search: {url: 'https://x.example/*'}}\n"
    "faults:\n"
    "  - latency: {ms: 5}\n"
    "  - latency: {ms: 9}\n    on: {kind: llm, model: 'gpt-*'}\n    trigger: {attempts: first}\n"
    "  - tool_error: {message: 'a: \"b\"'}\n    on: {tool: search}\n",
    "p.yaml",
)
ABOUT = repro.Repro("exec", 42, 0.7, 60.0, ("python", "agent.py"), None, "hello")
CHECKS = (check({"type": "contains", "value": "Paris"}), check({"type": "completes", "severity": "high"}))


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "0.tape"
    path.write_bytes(b"tape")
    return path


def test_what_is_written_is_read_again(tmp_path: Path, tape: Path) -> None:
    profile = pinned(PROFILE, [Pin("latency#2", 3), Pin("tool_error", 1)])
    folder = tmp_path / "repro"
    repro.write(folder, ABOUT, profile, CHECKS, tape, ["latency#2 on its call 3"])
    assert repro.read(folder) == ABOUT
    loaded = dump(load(folder / repro.PROFILE))
    assert [{k: v for k, v in e.items() if k != "line"} for e in loaded["entries"]] == [
        {k: v for k, v in e.items() if k != "line"} for e in dump(profile)["entries"]
    ]
    assert loaded["tools"] == dump(profile)["tools"]
    assert load_contract(folder / repro.CONTRACT) == ("repro", CHECKS)
    assert (folder / repro.TAPE).read_bytes() == b"tape"
    assert os.access(folder / "run.sh", os.X_OK)
    text = (folder / "README.md").read_text()
    assert "latency#2 on its call 3" in text
    assert "./run.sh\n" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repro"]


def test_a_command_that_may_hold_a_secret_is_asked_for(tmp_path: Path, tape: Path) -> None:
    about = repro.Repro("exec", 42, 1.0, 60.0, None, "grep x")
    repro.write(tmp_path / "repro", about, PROFILE, (), tape, [])
    assert repro.read(tmp_path / "repro").command is None
    assert "run.sh COMMAND" in (tmp_path / "repro" / "README.md").read_text()
    assert not (tmp_path / "repro" / repro.CONTRACT).exists()


def test_nothing_is_left_half_written(tmp_path: Path, tape: Path) -> None:
    (tmp_path / "repro").mkdir()
    with pytest.raises(UsageError, match="expected a new folder"):
        repro.write(tmp_path / "repro", ABOUT, PROFILE, (), tape, [])
    with pytest.raises(FileNotFoundError):
        repro.write(tmp_path / "other", ABOUT, PROFILE, (), tmp_path / "none.tape", [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.tape", "repro"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"faultwire_repro": 2}', '{"faultwire_repro": 1, "rate": 0.5}']
)
def test_a_folder_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="expected a folder that"):
        repro.read(tmp_path)
    (tmp_path / repro.ABOUT).write_text(text)
    with pytest.raises(UsageError, match="expected a folder that"):
        repro.read(tmp_path)


@pytest.mark.parametrize("rate", [0.0, 2.0])
def test_a_rate_that_is_none_is_refused(tmp_path: Path, tape: Path, rate: float) -> None:
    repro.write(tmp_path / "repro", ABOUT, PROFILE, (), tape, [])
    about = tmp_path / "repro" / repro.ABOUT
    about.write_text(json.dumps({**json.loads(about.read_text()), "rate": rate}))
    with pytest.raises(UsageError):
        repro.read(tmp_path / "repro")


def test_a_flaky_failure_is_given_more_runs() -> None:
    runs = [repro.Repro("exec", 1, rate, 60.0, ()).runs for rate in (1.0, 0.9, 0.5)]
    assert runs == [1, 2, 7]


def test_the_prompt_takes_its_place() -> None:
    assert repro.filled(("a", "--ask={prompt}"), "b") == ("a", "--ask=b")
    assert repro.filled(("a", "{prompt}"), None) == ("a", "{prompt}")
