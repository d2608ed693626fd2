"""The research agent's contract and incident, held by its twin in Node."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import environments
import pytest
from driving import faultwire

pytestmark = pytest.mark.nightly

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[2] / "replays" / "research_agent"
PYTHON = '["${AGENT_PYTHON:-python3}", agent.py, "${MANNERS:-careful}", "{prompt}"]'
BROKEN = ("search_outage", "calculator_outage")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example with the twin in the agent's place."""
    made = Path(shutil.copytree(EXAMPLE, tmp_path / "research_agent"))
    modules = environments.node("node_contract") / "node_modules"
    shutil.copy(HERE / "research_agent.mjs", made)
    (made / "node_modules").symlink_to(modules)
    text = (made / "faultwire.yaml").read_text()
    assert text.count(PYTHON) == 1
    command = json.dumps(["node", "research_agent.mjs", "${MANNERS:-careful}", "{prompt}"])
    (made / "faultwire.yaml").write_text(text.replace(PYTHON, command))
    return made


@pytest.mark.parametrize(
    ("manners", "code", "verdict"),
    [("careful", 0, "pass"), ("careless", 1, "fail"), ("silent", 1, "unknown")],
)
def test_the_same_manners_get_the_same_verdicts(manners: str, code: int, verdict: str, folder: Path) -> None:
    done = faultwire(folder, "contract", "run", "-o", "report.json", MANNERS=manners)
    assert done.code == code, done.stdout + done.stderr
    for scenario in BROKEN:
        found = done.cells(invocation=f"contract/{scenario}/eiffel/r1")
        assert (found["never_invents"], found["says_so"]) == (verdict, verdict)
    for scenario in ("calm", "model_hiccup"):
        assert set(done.cells(invocation=f"contract/{scenario}/eiffel/r1").values()) == {"pass"}


@pytest.mark.parametrize(("manners", "code"), [("careful", 0), ("careless", 1)])
def test_the_incident_is_replayed_to_it(manners: str, code: int, folder: Path) -> None:
    done = faultwire(folder, "replay", "run", MANNERS=manners)
    assert done.code == code, done.stdout + done.stderr
