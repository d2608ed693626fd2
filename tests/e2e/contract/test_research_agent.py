"""The example in replays/research_agent, as its first lines say: it runs with nothing but the SDK."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import environments
import pytest
from driving import Done, faultwire

from faultwire.config.load import load
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

pytestmark = pytest.mark.nightly

EXAMPLE = Path(__file__).parents[3] / "replays" / "research_agent"
BROKEN = ("search_outage", "calculator_outage")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy: a run writes beside the configuration."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "research_agent"))


def play(folder: Path, manners: str | None, *command: str) -> Done:
    chosen = {"MANNERS": manners} if manners else {}
    return faultwire(
        folder, *command, "-o", "report.json", AGENT_PYTHON=str(environments.python("openai-3")), **chosen
    )


def verdicts(done: Done, scenario: str) -> dict[str, str]:
    return done.cells(invocation=f"contract/{scenario}/eiffel/r1")


def test_the_careful_agent_passes_and_is_what_is_run_by_default(folder: Path) -> None:
    done = play(folder, None, "contract", "run")
    assert done.code == 0, done.stdout + done.stderr
    assert done.report["score"]["value"] == 100.0
    assert {cell["verdict"] for cell in done.report["cells"]} == {"pass"}
    fired = {
        invocation["scenario"]: [
            f["fault"] for e in invocation["exchanges"] for f in e["faults"] if f["outcome"] == "fired"
        ]
        for invocation in done.report["invocations"]
    }
    assert fired == {
        "calm": [],
        "search_outage": ["tool_error"],
        "calculator_outage": ["tool_error"],
        "model_hiccup": ["status"],
    }


def test_the_careless_one_fails_where_a_tool_fails_and_nowhere_else(folder: Path) -> None:
    done = play(folder, "careless", "contract", "run")
    assert done.code == 1, done.stdout + done.stderr
    failed = {(c["scenario"], c["invariant"]) for c in done.report["cells"] if c["verdict"] == "fail"}
    assert failed == {(scenario, rule) for scenario in BROKEN for rule in ("never_invents", "says_so")}
    assert not [cell for cell in done.report["cells"] if cell["verdict"] == "unknown"]


def test_the_silent_one_proves_nothing_about_tools(folder: Path) -> None:
    done = play(folder, "silent", "contract", "run")
    assert done.code == 1, done.stdout + done.stderr
    for scenario in BROKEN:
        assert set(verdicts(done, scenario).values()) == {"unknown"}
    for scenario in ("calm", "model_hiccup"):
        assert set(verdicts(done, scenario).values()) == {"pass"}


@pytest.mark.parametrize(("manners", "code"), [("careful", 0), ("careless", 1)])
def test_the_incident_stays_fixed(manners: str, code: int, folder: Path) -> None:
    done = play(folder, manners, "replay", "run")
    assert done.code == code, done.stdout + done.stderr
    rules = {cell["invariant"]: cell["verdict"] for cell in done.report["cells"]}
    assert rules["never_invents"] == ("pass" if code == 0 else "fail")


@pytest.mark.nightly
def test_everything_at_once(folder: Path) -> None:
    done = faultwire(folder, "ci", AGENT_PYTHON=str(environments.python("openai-3")))
    assert done.code == 0, done.stdout + done.stderr
    assert len(list((folder / ".faultwire" / "runs").iterdir())) == 1


def test_one_variable_leads_to_the_real_provider() -> None:
    path = EXAMPLE / "faultwire.yaml"
    environ = {k: v for k, v in os.environ.items() if k not in ("OFFLINE", "OPENAI_API_KEY")}
    assert load(path, environ=environ).proxy.mock is True
    assert load(path, environ=environ | {"OFFLINE": "false"}).proxy.mock is False


def test_without_the_line_in_env_it_is_the_real_provider(folder: Path) -> None:
    lines = (folder / ".env").read_text().splitlines(keepends=True)
    (folder / ".env").write_text("".join(line for line in lines if not line.startswith("OFFLINE")))
    environ = {k: v for k, v in os.environ.items() if k not in ("OFFLINE", "OPENAI_API_KEY")}
    assert load(folder / "faultwire.yaml", environ=environ).proxy.mock is False


def test_the_tape_shows_the_incident() -> None:
    found = verify(EXAMPLE / "incident_001.tape").findings
    assert [finding.code for finding in found] == ["seal_untrusted"], "whole, sealed by a key of its own"
    with TapeReader.open(EXAMPLE / "incident_001.tape") as tape:
        asked, searched, answered = tape.exchanges()
    assert (searched.kind, searched.tool) == ("tool", "search")
    assert [line.fault for line in searched.faults if line.outcome == "fired"] == ["tool_error"]
    assert asked.kind == answered.kind == "llm"
    assert answered.delivered is not None
    assert b"312 metres" in answered.delivered.body
