"""A repro folder on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.checks._registry import read as check
from faultwire.cli._shrunk_repro import findings
from faultwire.profile.load import parse
from faultwire.shrink import repro
from faultwire.trials.model import Pin
from faultwire.trials.pins import pinned
from faultwire.workbench.shrunk_view import decisions, shrunk

PROFILE = parse("faults:\n  - status: {code: 503}\n  - latency: {ms: 9}\n", "p.yaml")
PINS = (Pin("latency", 1), Pin("status", 3), Pin("status", 4))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0.tape").write_bytes(b"tape")
    about = repro.Repro("exec", 42, 0.7, 60.0, ("python", "agent.py"), None, "hello\x1b")
    made = tmp_path / "0a1b-repro"
    repro.write(made, about, pinned(PROFILE, PINS), (check({"type": "completes"}),), tmp_path / "0.tape", [])
    return made


def test_decisions_are_those_that_the_command_prints(folder: Path) -> None:
    assert sorted(shrunk(folder)["decisions"]) == sorted(findings(PINS, PROFILE))
    assert decisions(pinned(PROFILE, (Pin("status", 2),))) == ["status on its call 2 {code: 503}"]


def test_how_to_see_it_is_there_and_inert(folder: Path) -> None:
    found = shrunk(folder)
    assert found["problem"] is None
    assert (found["seed"], found["rate"], found["runs"]) == (42, 0.7, 4)
    assert found["command"] == ["python", "agent.py"]
    assert "\x1b" not in found["prompt"]
    assert "completes" in found["contract"]
    (folder / repro.CONTRACT).unlink()
    assert shrunk(folder)["contract"] is None


@pytest.mark.parametrize("name", [repro.ABOUT, repro.PROFILE])
@pytest.mark.parametrize("text", [None, "{]", "[]", "faults: [{status: {code: many}}]"])
def test_a_folder_that_cannot_be_read_has_a_problem(folder: Path, name: str, text: str | None) -> None:
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text)
    found = shrunk(folder)
    assert found["problem"]
    assert "decisions" not in found


def test_a_contract_that_is_a_link_is_not_followed(folder: Path) -> None:
    (folder / repro.CONTRACT).unlink()
    (folder / repro.CONTRACT).symlink_to("/etc/hostname")
    assert shrunk(folder)["contract"] is None
