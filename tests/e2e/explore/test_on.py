"""`explore --on`: the same search by workers as in one process, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.bench.dask_processes import Dask
from tests.e2e.agents.harness import base_environment, faultwire
from tests.e2e.play.test_on import OTHER_VERSION

LIMIT_S = 900
AGENT = """import json, sys, urllib.error, urllib.request


def ask(host, text):
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}]}
    head = {"authorization": "Bearer none", "content-type": "application/json"}
    url = f"https://{host}/v1/chat/completions"
    try:
        found = urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head)).read()
        return json.loads(found)["choices"][0]["message"]["content"]
    except (urllib.error.HTTPError, ValueError, LookupError, TypeError):
        return None


rivers = ask("api.openai.com", "Rivers?") or ask("api.mistral.ai", "Rivers?")
ask("api.groq.com", "Lakes?")
if rivers is None:
    sys.exit(3)
print(rivers)
"""
FAULTS = ("--fault", "status: {code: 500}", "--fault", "empty_response: {}")
CAUSE = ["POST api.mistral.ai/v1/chat/completions, call 1", "POST api.openai.com/v1/chat/completions, call 1"]
COMMAND = ("--", sys.executable, "-S", "agent.py")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    return tmp_path


def explore(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*faultwire(), "explore", "--mock", "--format", "json", *arguments, *COMMAND], cwd=work,
        capture_output=True, env=base_environment(), text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """All that a search reports but for how long it took, and where its folders are."""
    found: dict[str, Any] = json.loads(done.stdout)
    del found["seconds"]
    for failure in found["failures"]:
        failure["repro"] = failure["repro"]["failed_there"]
    return found


def anew(work: Path) -> None:
    """Another search, which has nothing of the one before."""
    for state in (work / ".faultwire" / "explore").glob("*.jsonl"):
        state.unlink()


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_one_two_and_four_workers_find_what_one_process_finds_in_the_same_order(work: Path) -> None:
    done = explore(work, *FAULTS)
    assert done.returncode == 1, done.stderr
    alone, steps = report(done), progress(done.stderr)
    assert [failure["cause"] for failure in alone["failures"]] == [CAUSE] * len(alone["failures"])
    assert alone["claim"]["holds"] is True
    for place in ("local:1", "local:2", "local:4"):
        anew(work)
        done = explore(work, *FAULTS, "--on", place)
        assert done.returncode == 1, done.stderr
        assert (report(done), progress(done.stderr)) == (alone, steps)
        assert "going on after" not in done.stderr
        assert list((work / ".faultwire" / "campaigns").iterdir()) == []
        assert not (work / ".faultwire" / "runs").exists(), "trials are no runs"
        assert list((work / ".faultwire" / "trials" / "runs").iterdir()) == []


def progress(text: str) -> list[str]:
    """How many failures were found after which run."""
    return [line for line in text.splitlines() if line.startswith("run ")]


def agents(process: subprocess.Popen[str], gone: set[int]) -> psutil.Process | None:
    """A worker of a search, not one of `gone`, that has an agent."""
    for worker in psutil.Process(process.pid).children():
        try:
            below = worker.children(recursive=True) if "worker" in worker.cmdline() else []
            if worker.pid not in gone and any("agent.py" in one.cmdline() for one in below):
                return worker
        except psutil.Error:
            continue
    return None


@pytest.mark.cold
@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_killed_workers_and_a_killed_search_cost_no_run_and_change_nothing(work: Path) -> None:
    alone = report(explore(work, *FAULTS))
    anew(work)
    command = [*faultwire(), "explore", "--mock", *FAULTS, "--on", "local:2", *COMMAND]
    gone: set[int] = set()
    with subprocess.Popen(
        command, cwd=work, env=base_environment(), stderr=subprocess.PIPE, text=True
    ) as first:
        assert first.stderr is not None
        while not gone:
            worker = agents(first, gone)
            assert first.poll() is None
            if worker is not None:
                gone.add(worker.pid)
                worker.kill()
        next(line for line in first.stderr if line.startswith("run 3"))
        first.send_signal(signal.SIGKILL)
    done = explore(work, *FAULTS, "--on", "local:2")
    assert done.returncode == 1, done.stderr
    assert "going on after 3 runs" in done.stderr or "going on after 4 runs" in done.stderr
    assert report(done) == alone


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_workers_of_a_scheduler_of_dask_find_the_same(work: Path, tmp_path: Path) -> None:
    faults = ("--fault", "status: {code: 500}", "--depth", "1")
    alone = explore(work, *faults)
    assert alone.returncode == 0, alone.stderr
    anew(work)
    dask = Dask.at_free_port(tmp_path / "dask")
    with ExitStack() as stack:
        for program in (dask.scheduler(), dask.worker(), dask.worker()):
            stack.enter_context(program)
        dask.reached(2)
        done = explore(work, *faults, "--on", dask.address)
    assert done.returncode == 0, done.stderr
    assert report(done) == report(alone)


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_a_limit_of_tokens_ends_the_search_and_is_not_gone_over_whoever_makes_its_runs(work: Path) -> None:
    whole = report(explore(work, *FAULTS, "--depth", "1"))
    limit, most = whole["tokens"] // 2, whole["tokens"] // whole["runs"] * 2
    seen = []
    for more in ((), ("--on", "local:2")):
        anew(work)
        done = explore(work, *FAULTS, "--depth", "1", "--max-tokens", str(limit), *more)
        assert done.returncode == 3, done.stderr
        assert f"`--max-tokens {limit}` ended the search after" in done.stderr
        assert f"the same command with `--max-tokens {2 * limit}` goes on" in done.stderr
        seen.append(report(done))
        assert limit - most < seen[-1]["tokens"] < limit + most
    assert seen[0] == seen[1]
    more = explore(work, *FAULTS, "--depth", "1", "--max-tokens", str(2 * limit + most), "--on", "local:2")
    assert "going on after" in more.stderr
    assert report(more) == whole


def other_version(work: Path) -> tuple[str, ...]:
    script = work / "other-python"
    script.write_text(OTHER_VERSION.format(python=sys.executable))
    script.chmod(0o755)
    return ("--worker-python", str(script))


def other_agent(work: Path) -> tuple[str, ...]:
    elsewhere = work / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "agent.py").write_text("print('another')\n")
    return ("--worker-folder", str(elsewhere))


def other_profile(work: Path) -> tuple[str, ...]:
    arguments = other_agent(work)
    (work / "elsewhere" / "agent.py").write_text(AGENT)
    for folder, code in ((work, 503), (work / "elsewhere", 500)):
        (folder / "own.yaml").write_text(f"name: own\nfaults: [{{status: {{code: {code}}}}}]\n")
    return (*arguments, "--profile", "own.yaml")


def unreachable(_work: Path) -> tuple[str, ...]:
    return ("--on", "dask://127.0.0.1:9")


@pytest.mark.parametrize(
    ("mixed", "why"),
    [
        (other_version, "this worker has faultwire `0.0.1`"),
        (other_agent, "this worker has the agent"),
        (other_profile, "this worker has the profiles"),
        (unreachable, "found no Dask scheduler"),
    ],
)
def test_what_would_make_other_runs_is_refused_before_the_first(work: Path, mixed: Any, why: str) -> None:
    given = mixed(work)
    place = () if "--on" in given else ("--on", "local:2")
    done = explore(work, *FAULTS, *place, *given)
    assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    assert "run 1" not in done.stderr
    assert not os.path.exists(work / ".faultwire" / "trials")
