"""Plays an agent under `exec` and in a contract, and gives what faultwire said of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import environments
import harness

HERE = Path(__file__).parent
LIMIT_S = 280
"""Of one command, below the limit of a test: that a busy machine is slow is no failure of anybody's."""
AGENT_MS = 240_000
"""Of one agent, whose verdict would be that it was stopped at its timeout."""


class Said(NamedTuple):
    """The exit code of the command, the verdicts by scenario, and what the terminal showed."""

    code: int
    verdicts: dict[str, tuple[str, str]]
    """Verdict and explanation of the contract's only invariant."""
    terminal: str


def agent(environment: str, program: str, *arguments: str) -> list[str]:
    """The command of one of the agents beside this file, in a locked environment."""
    return [str(environments.python(environment)), str(HERE / program), *arguments]


def noticed(work: Path, command: list[str], *options: str, script: str | None = None) -> tuple[int, str]:
    """The exit code of an agent under `exec --mock`, and what stands below `noticed`."""
    mock = ["--mock"]
    if script is not None:
        (work / "script.yaml").write_text(script)
        mock = ["--script", "script.yaml"]
    done = harness.execute(work, command, *mock, *options)
    assert done.code != 3, done.stderr
    lines = done.stderr.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith("noticed")), len(lines))
    end = next((at for at in range(start, len(lines)) if lines[at].startswith("report ")), len(lines))
    return done.code, "\n".join(lines[start:end])


def contract(
    work: Path,
    command: list[str],
    invariant: dict[str, Any],
    scenarios: dict[str, list[dict[str, Any]]],
    *,
    prompt: str = "What is 6*7?",
    script: str | None = None,
    without: tuple[str, ...] = (),
    **sections: Any,
) -> Said:
    """A contract of one invariant in these scenarios, played with the mock as the provider.

    `sections` replace those of the configuration; variables named in `without` are not in its environment.
    """
    proxy: dict[str, Any] = {"mock": True}
    if script is not None:
        (work / "script.yaml").write_text(script)
        proxy["script"] = "script.yaml"
    keys = {name: f"${{{name}}}" for name in harness.KEYS}
    document = {
        "version": "2.0",
        "agent": {"type": "command", "command": [*command, "{prompt}"], "env": keys, "timeout": AGENT_MS},
        "proxy": proxy,
        "golden_prompts": [prompt],
        "contract": {
            "name": "truth",
            "invariants": [invariant],
            "chaos_matrix": [{"name": name, "faults": faults} for name, faults in scenarios.items()],
        },
    } | sections
    (work / "faultwire.yaml").write_text(json.dumps(document))
    environment = {k: v for k, v in harness.base_environment().items() if k not in without}
    done = subprocess.run(
        [*harness.faultwire(), "contract", "run", "-o", "report.json"],
        cwd=work, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    report = work / "report.json"
    cells = json.loads(report.read_text())["cells"] if report.exists() and report.stat().st_size else []
    verdicts = {cell["scenario"]: (cell["verdict"], cell["explanation"]) for cell in cells}
    return Said(done.returncode, verdicts, done.stdout + done.stderr)
