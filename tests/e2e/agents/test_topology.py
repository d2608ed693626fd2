"""`faultwire tape show --topology` on tapes of real agents, with the official A2A SDK."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import environments
import pytest
from harness import Run, execute, faultwire

from faultwire.mock.client import Mock

AGENT = Path(__file__).parent / "a2a_agent.py"
PROFILE = """name: who
agents:
  asker: {caller: {user-agent: "python-httpx/*"}}
  archivist: {url: "*/archivist"}
faults:
  - agent_slow: {ms: 1}
    on: {edge: "asker->writer"}
  - agent_slow: {ms: 1}
    on: {edge: "asker->archivist"}
"""


def topology(run: Run, *options: str) -> dict:
    command = [*faultwire(), "tape", "show", str(run.tape), "--topology", "--format", "json", *options]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def edges(found: dict) -> set[tuple[str | None, str, str, int, int]]:
    return {
        (one["sender"]["name"], one["receiver"]["name"], one["transport"], one["calls"], one["other"])
        for one in found["edges"]
    }


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "who.yaml").write_text(
        PROFILE.replace("  archivist", "  writer: {url: '*/writer*'}\n  archivist")
    )
    with Mock.start() as mock:
        python = str(environments.python("a2a-1"))
        command = [python, str(AGENT), "1", f"http://127.0.0.1:{mock.http}/writer", "whole", "stream"]
        return execute(tmp_path, command, "--profile", "who.yaml", "--allow-host", "127.0.0.1")


def test_who_called_whom_by_the_official_a2a_sdk(run: Run, tmp_path: Path) -> None:
    """The SDK says nothing of who it is; only a profile makes its user agent a name."""
    assert run.code == 0, run.stderr
    assert edges(topology(run)) == {(None, "writer", "a2a", 2, 2)}
    named = topology(run, "--profile", str(tmp_path / "who.yaml"))
    assert edges(named) == {("asker", "writer", "a2a", 2, 2)}
    (edge,) = named["edges"]
    assert edge["faults"] == {"agent_slow": 4}
    assert named["unseen"] == [{"sender": "asker", "receiver": "archivist"}]
    report = next((tmp_path / ".faultwire" / "runs").glob("*/report.html")).read_text()
    assert '<svg class="topology"' in report
    assert "<script" not in report
    written = json.loads(next((tmp_path / ".faultwire" / "runs").glob("*/report.json")).read_text())
    assert [one["sender"]["name"] for one in written["invocations"][0]["topology"]["edges"]] == ["asker"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--topology", "--lineage"), "expected it without"),
        (("--topology", "--session", "nobody"), "found no session"),
        (("--profile", "api_outage"), "expected `--topology` with it"),
    ],
)
def test_what_cannot_be_shown_ends_with_2(options: tuple[str, ...], words: str, run: Run) -> None:
    command = [*faultwire(), "tape", "show", str(run.tape), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in done.stderr
