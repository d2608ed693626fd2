"""`faultwire explore` with real agents: planted failures of one and of two faults, found over the mock."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.agents import environments
from tests.e2e.agents.harness import base_environment, faultwire

LIMIT_S = 900
PLAIN = """import httpx, sys


def ask(host, text):
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}]}
    head = {"authorization": "Bearer sk-none"}
    answer = httpx.post(f"https://{host}/v1/chat/completions", json=body, headers=head)
    return answer.json()["choices"][0]["message"]["content"] if answer.status_code == 200 else None


first = ask("api.openai.com", "Rivers?") or ask("api.mistral.ai", "Rivers?")
if first is None:
    sys.exit(3)
print(first)
"""
REAL = """from openai import OpenAI, OpenAIError

MODELS = {"https://api.openai.com/v1": "gpt-4o", "https://api.mistral.ai/v1": "mistral-small"}


def ask(url, text):
    client = OpenAI(base_url=url, max_retries=0)
    asked = [{"role": "user", "content": text}]
    return client.chat.completions.create(model=MODELS[url], messages=asked).choices[0].message.content


def either(text):
    first, second = MODELS
    try:
        return ask(first, text)
    except OpenAIError:
        return ask(second, text)


rivers = either("Tell me about rivers")
try:
    print(ask("https://api.openai.com/v1", f"Translate: {rivers}"))
except OpenAIError:
    print(rivers)
"""
OPENAI, MISTRAL = "POST api.openai.com/v1/chat/completions", "POST api.mistral.ai/v1/chat/completions"


def explore(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*faultwire(), "explore", "--mock", "--format", "json", *arguments], cwd=work, capture_output=True,
        env=base_environment(), text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


@pytest.mark.cold
def test_a_primary_with_its_fallback_and_what_goes_on_after_a_kill(tmp_path: Path) -> None:
    """Two faults at once: the call of the fallback is in no run without faults."""
    (tmp_path / "agent.py").write_text(PLAIN)
    arguments = ("--fault", "status: {code: 500}", "--", sys.executable, "agent.py")
    command = [*faultwire(), "explore", "--mock", *arguments]
    with subprocess.Popen(
        command, cwd=tmp_path, env=base_environment(), stderr=subprocess.PIPE, text=True
    ) as first:
        assert first.stderr is not None
        next(line for line in first.stderr if line.startswith("run 3"))
        first.send_signal(signal.SIGKILL)
    done = explore(tmp_path, *arguments)
    assert done.returncode == 1, done.stderr
    assert "going on after" in done.stderr
    found = json.loads(done.stdout)
    (failure,) = found["failures"]
    assert failure["cause"] == [f"{MISTRAL}, call 1", f"{OPENAI}, call 1"]
    assert failure["reason"] == "the agent exited with 3"
    assert found["claim"]["holds"] is True
    assert not (tmp_path / ".faultwire" / "runs").exists(), "trials are no runs"
    left = os.listdir(tmp_path / ".faultwire" / "trials" / "runs")
    assert len(left) <= 1, "trials leave no folder, but for the one that was killed"


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_a_find_has_a_folder_that_shows_it_elsewhere(tmp_path: Path) -> None:
    """Offline, in another folder and process; an agent that was mended passes there."""
    (tmp_path / "agent.py").write_text(PLAIN)
    done = explore(tmp_path, "--fault", "status: {code: 500}", "--", sys.executable, "agent.py")
    assert done.returncode == 1, done.stderr
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["repro"]["failed_there"] is True
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(tmp_path / failure["repro"]["folder"], elsewhere / "repro")
    environment = base_environment()
    environment["PATH"] = f"{Path(faultwire()[0]).parent}{os.pathsep}{environment['PATH']}"
    for source, code in ((PLAIN, 1), (PLAIN.replace("sys.exit(3)", "first = 'sorry'"), 0)):
        (elsewhere / "agent.py").write_text(source)
        seen = subprocess.run(
            ["sh", "repro/run.sh"], cwd=elsewhere, env=environment, capture_output=True, text=True,
            timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert seen.returncode == code, (seen.stdout, seen.stderr)


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("strategy", ["lineage", "pairwise"])
def test_an_agent_on_the_openai_sdk_with_two_engines(strategy: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(REAL)
    faults = ("--fault", "status: {code: 500}", "--fault", "empty_response: {}")
    command = (str(environments.python("openai-3")), "agent.py")
    done = explore(tmp_path, *faults, "--strategy", strategy, "--workers", "2", "--", *command)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert [one["cause"] for one in found["failures"]] == [[f"{MISTRAL}, call 1", f"{OPENAI}, call 1"]]
    assert found["claim"]["holds"] is True
    again = explore(tmp_path, *faults, "--strategy", strategy, "--workers", "2", "--", *command)
    assert json.loads(again.stdout)["failures"] == found["failures"]


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_an_agent_without_a_weakness_gets_a_bounded_claim(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(PLAIN.replace("sys.exit(3)", "first = 'I do not know'"))
    done = explore(tmp_path, "--fault", "status: {code: 500}", "--", sys.executable, "agent.py")
    found = json.loads(done.stdout)
    assert (done.returncode, found["failures"], found["claim"]["holds"]) == (0, [], True), done.stderr
    assert found["claim"]["sets"]["run"] == 2


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_what_is_no_subject_of_a_search(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(PLAIN.replace("print(first)", "sys.exit(9)"))
    command = ("--", sys.executable, "agent.py")
    fails = explore(tmp_path, "--fault", "status: {code: 500}", *command)
    assert (fails.returncode, "fails without any fault" in fails.stderr) == (2, True)
    bare = explore(tmp_path, *command)
    assert (bare.returncode, "found no fault" in bare.stderr) == (2, True)
    few = explore(tmp_path, "--max-runs", "2", "--fault", "status: {code: 500}", *command)
    assert (few.returncode, "expected at least 3" in few.stderr) == (2, True)
    (tmp_path / "agent.py").write_text(PLAIN)
    short = explore(tmp_path, "--max-runs", "3", "--fault", "status: {code: 500}", *command)
    assert short.returncode == 3, short.stderr
    assert "`--max-runs 3` ended the search after 3 runs" in short.stderr
