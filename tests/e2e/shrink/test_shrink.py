"""`faultwire shrink` with real agents: the planted fault is found, and the repro folder shows the failure."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.e2e.agents import environments

AGENTS = Path(__file__).parents[1] / "agents"
COMMAND = Path(sys.executable).with_name("faultwire")
FAULTS = ("--fault", "status: {code: 503, probability: 0.8}")
LIMIT_S = 900

AGENT = """import httpx, sys
url = "https://api.openai.com/v1/chat/completions"
failed = []
for number in range(1, 5):
    asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": f"Step {number}?"}]}
    answer = httpx.post(url, json=asked, headers={"authorization": "Bearer sk-none"}, timeout=60)
    failed += [number] if answer.status_code != 200 else []
print(failed)
sys.exit(1 if 3 in failed else 0)
"""
SPLIT = """import json, sys
answers = json.loads(sys.stdin.read().splitlines()[-1])
sys.exit(1 if {test} else 0)
"""


def environment() -> dict[str, str]:
    keys = {"OPENAI_API_KEY": "sk-test-key-of-nobody"}
    return {**os.environ, **keys, "PATH": f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"}


def faultwire(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), *arguments], cwd=work, env=environment(), capture_output=True, text=True,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip


def kept(state: Path) -> int:
    """How many runs the only state file of a folder holds, but for a line that a kill cut off."""
    (file,) = state.glob("*.jsonl")
    return file.read_bytes().count(b"\n") - 1


def pinned(folder: Path) -> set[str]:
    entries = yaml.safe_load((folder / "profile.yaml").read_text())["faults"]
    return {f"{entry['id']} {call}" for entry in entries for call in entry["trigger"]["calls"]}


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A folder with an agent, and a run of it that failed."""
    (tmp_path / "agent.py").write_text(AGENT)
    done = faultwire(
        tmp_path, "exec", "-q", "--mock", *FAULTS, "--seed", "3", "--", sys.executable, "agent.py"
    )
    assert done.returncode == 1, done.stderr
    return tmp_path


@pytest.mark.cold
@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_from_a_failing_run_to_a_folder_that_shows_it_elsewhere(failing: Path) -> None:
    """Killed in between, it goes on; the folder works in another place, as another process, on its tape."""
    arguments = ("shrink", "last", "--mock", *FAULTS, "-o", "repro", "--", sys.executable, "agent.py")
    first = subprocess.Popen(
        [str(COMMAND), *arguments], cwd=failing, env=environment(), stderr=subprocess.PIPE, text=True
    )
    assert first.stderr is not None
    for line in first.stderr:
        if line.startswith("run 4 "):
            break
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stderr.close()
    runs = kept(failing / ".faultwire" / "shrink")
    assert runs >= 4, "each outcome is on disk before its line is printed"
    done = faultwire(failing, *arguments)
    assert done.returncode == 0, done.stderr
    assert f"going on after {runs} runs" in done.stderr
    assert pinned(failing / "repro") == {"status 3"}, done.stdout
    assert not list((failing / ".faultwire" / "shrink").glob("*repro*"))

    elsewhere = failing / "elsewhere"
    elsewhere.mkdir()
    shutil.move(failing / "repro", elsewhere / "repro")
    shutil.copy(failing / "agent.py", elsewhere)
    script = ["sh", str(elsewhere / "repro" / "run.sh")]
    seen = subprocess.run(
        script, cwd=elsewhere, env=environment(), capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert (seen.returncode, "fails as recorded" in seen.stdout) == (1, True), seen.stderr
    (elsewhere / "agent.py").write_text(AGENT.replace("if 3 in failed", "if 9 in failed"))
    fixed = subprocess.run(
        script, cwd=elsewhere, env=environment(), capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert fixed.returncode == 0, fixed.stderr


@pytest.mark.cold
@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_ctrl_c_prints_the_smallest_so_far(failing: Path) -> None:
    arguments = ("shrink", "last", "--mock", *FAULTS, "--", sys.executable, "agent.py")
    with subprocess.Popen(
        [str(COMMAND), *arguments], cwd=failing, env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("run 3 "):
                break
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, stderr
    assert "decisions are left so far" in stdout
    assert list((failing / ".faultwire" / "shrink").glob("*.jsonl"))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("{type: completes, exit_codes: [0, 1]}", "found no failure"),
        ("{type: completes, exit_codes: [9]}", "without any fault"),
    ],
)
def test_an_oracle_that_never_changes(failing: Path, expect: str, words: str) -> None:
    oracle = ("--expect", expect)
    done = faultwire(
        failing, "shrink", "last", "--mock", *FAULTS, *oracle, "--", sys.executable, "-c", AGENT[:-45]
    )
    assert done.returncode == 2, done.stderr
    assert words in done.stderr


SDKS = {
    "openai-3": ["sync/whole", "sync/stream"],
    "langchain-1": ["whole", "stream", "tools"],
    "node_ai": ["whole", "stream", "tools"],
}


def command(name: str) -> list[str]:
    if name == "openai-3":
        return [str(environments.python(name)), str(AGENTS / "openai_agent.py"), *SDKS[name]]
    if name == "langchain-1":
        return [
            str(environments.python(name)),
            str(AGENTS / "framework_agent.py"),
            "langchain-openai",
            *SDKS[name],
        ]
    return ["node", str(environments.node(name) / "agent.mjs"), "chat", *SDKS[name]]


@pytest.mark.nightly
@pytest.mark.timeout(2 * LIMIT_S)
@pytest.mark.parametrize("name", SDKS)
def test_the_planted_fault_of_an_agent_with_a_real_sdk(name: str, tmp_path: Path) -> None:
    """Of a fault on every call, only the one on the second way is a failure to the oracle. That is the call
    which streams. The agent on the openai SDK makes its calls at once: each has a fault of its own."""
    way = SDKS[name][1]
    judge = tmp_path / "judge.py"
    judge.write_text(SPLIT.format(test=f"'error' in answers.get({way!r}, {{}})"))
    texts = ["status: {code: 400, on: {stream: false}}", "status: {code: 400, on: {stream: true}}"]
    faults = [word for text in (*texts, "latency: {ms: 20}") for word in ("--fault", text)]
    run = faultwire(tmp_path, "exec", "-q", "--mock", *faults, "--", *command(name))
    assert run.returncode == 0, run.stderr
    assert "error" in json.loads(run.stdout.splitlines()[-1])[way]
    oracle = ("--oracle", f"{sys.executable} {judge}")
    done = faultwire(
        tmp_path, "shrink", "last", "--mock", *faults, *oracle, "-o", "repro", "--", *command(name)
    )
    assert done.returncode == 0, done.stderr
    assert pinned(tmp_path / "repro") == {"status#2 1"}, done.stdout
    assert "it failed there" in done.stdout
