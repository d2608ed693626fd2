"""`--on`: the same run on any number of workers, whatever is killed, and no half of one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from faultwire.campaign.distributed_run import On
from faultwire.campaign.engine import Command
from faultwire.campaign.local_engine import LocalEngine
from faultwire.campaign.open_engine import open_engine
from faultwire.errors import UsageError
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

HALF = {
    "name": "half",
    "faults": [{"status": {"code": 503}, "on": {"kind": "llm"}, "trigger": {"probability": 0.5}}],
}
RULES = {
    "name": "rules",
    "invariants": [{"type": "completes"}, {"type": "excludes_pattern", "patterns": ["(?i)surely"]}],
    "chaos_matrix": [{"name": "calm"}, HALF],
}
CONTRACT = ("contract", "run", "--allow-unknown", "-q")


def write(project: Any, repeat: int, **more: Any) -> None:
    agent = {"type": "command", "command": [sys.executable, "-S", "talker.py", "{prompt}"]}
    project.write(
        agent=agent, contract=RULES, advanced={"concurrency": 3, "seed": 7, "repeat": repeat}, **more
    )


def outcome(project: Any) -> tuple[str, list[tuple[str, str, str]]]:
    """The ledger's hash and all verdicts of the last run."""
    document = project.document()
    cells = sorted((c["invocation"], c["invariant"], c["verdict"]) for c in document["cells"])
    return project.about()["ledger"], cells


def sessions(tape: Path) -> list[str]:
    with TapeReader.open(tape) as reader:
        return sorted(info.name for info in reader.sessions())


def test_one_two_and_four_workers_give_the_ledger_and_the_verdicts_of_one_process(project: Any) -> None:
    write(project, 4)
    assert project.run(*CONTRACT, env={"TALKER": "careless"}).returncode == 1
    alone = outcome(project)
    assert {verdict for _, _, verdict in alone[1]} == {"pass", "fail", "unknown"}
    for workers in (1, 2, 4):
        done = project.run(*CONTRACT, "--on", f"local:{workers}", env={"TALKER": "careless"})
        assert done.returncode == 1, done.stderr
        assert outcome(project) == alone
        run = project.runs[-1]
        assert sessions(run / "run.tape") == sorted({invocation for invocation, _, _ in alone[1]})
        for tape in (run / "run.tape", *(run / "tapes").glob("*.tape")):
            assert [f.code for f in verify(tape).findings if not f.is_note and "trust" not in f.code] == []
    other = project.run(*CONTRACT, "--on", "local:2", "--seed", "8", env={"TALKER": "careless"})
    assert other.returncode == 1
    assert outcome(project)[0] != alone[0]  # another seed is another ledger
    assert list((project.folder / ".faultwire" / "campaigns").iterdir()) == []


@contextmanager
def started(project: Any, *arguments: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "faultwire", *arguments],
        cwd=project.folder,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        children = psutil.Process(process.pid).children()
        return [one for one in children if "worker" in one.cmdline()]
    except psutil.Error:
        return []


def at_work(process: subprocess.Popen[str], gone: set[int]) -> psutil.Process | None:
    """A worker, not one of `gone`, that has an agent."""
    for worker in workers_of(process):
        try:
            agents = [one for one in worker.children(recursive=True) if "talker.py" in one.cmdline()]
        except psutil.Error:
            continue
        if agents and worker.pid not in gone:
            return worker
    return None


def until(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """What is found while a process lives; None where it ended before."""
    while process.poll() is None:
        if value := found():
            return value
    return None


def journal(project: Any) -> list[dict[str, Any]]:
    files = list((project.folder / ".faultwire").glob("campaigns/*/results.jsonl"))
    lines = files[0].read_bytes().splitlines(keepends=True) if files else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def test_killed_workers_and_a_killed_coordinator_cost_no_cell_and_double_none(project: Any) -> None:
    write(project, 15)  # of two prompts in two scenarios: 60 cells
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    gone: set[int] = set()
    with started(project, *CONTRACT, "--on", "local:2") as process:
        for _ in range(2):
            worker = until(lambda: at_work(process, gone), process)
            assert worker is not None
            gone.add(worker.pid)
            worker.kill()
        assert until(lambda: journal(project), process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    kept = {line["cell"] for line in journal(project)}
    assert 0 < len(kept) < 60
    with started(project, *CONTRACT, "--on", "local:2") as process:
        worker = until(lambda: at_work(process, gone), process)
        assert worker is not None
        worker.kill()
        _, said = process.communicate(timeout=180)
        assert process.returncode == 0, said
    assert "note: goes on where it was ended" in said
    assert outcome(project) == alone
    played = Counter(sessions(project.runs[-1] / "run.tape"))
    assert len(played) == 60
    assert set(played.values()) == {1}
    assert "lost and played again" in json.dumps(project.document()["run"]["warnings"])


@pytest.mark.nightly
def test_a_batch_whose_worker_stands_still_is_played_by_another_and_counts_once(project: Any) -> None:
    write(project, 6)
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    with started(project, *CONTRACT, "--on", "local:2", "--lease", "60s") as process:
        worker = until(lambda: at_work(process, set()), process)
        worker.suspend()
        _, said = process.communicate(timeout=240)
        assert process.returncode == 0, said
    assert outcome(project) == alone
    assert "at the end of a lease" in json.dumps(project.document()["run"]["warnings"])


def test_sequential_stopping_looks_in_the_same_order_on_any_number_of_workers(project: Any) -> None:
    write(project, 1)
    arguments = (*CONTRACT, "--until", "0.3:0.9", "--most", "12")
    alone_code = project.run(*arguments, env={"TALKER": "careless"}).returncode
    alone, decisions = outcome(project), project.document()["score"]
    done = project.run(*arguments, "--on", "local:3", env={"TALKER": "careless"})
    assert (done.returncode, outcome(project)) == (alone_code, alone), done.stderr
    assert project.document()["score"] == decisions
    invocations = {invocation for invocation, _, _ in alone[1]}
    assert sessions(project.runs[-1] / "run.tape") == sorted(invocations)
    assert "played ahead and not looked at" in json.dumps(project.document()["run"]["warnings"])


def test_a_budget_ends_the_run_without_a_verdict_and_more_of_it_goes_on(project: Any) -> None:
    write(project, 4)
    done = project.run(*CONTRACT, "--on", "local:2", "--max-runs", "6")
    assert done.returncode == 3
    assert "`--max-runs 6` ended the run after 6 of 16 invocations" in done.stderr
    assert len(journal(project)) == 6
    seen = project.folder / "seen"
    again = project.run(*CONTRACT, "--on", "local:2", "--max-runs", "6", env={"TALKER_SEEN": str(seen)})
    assert (again.returncode, seen.exists()) == (3, False)  # it holds over all starts
    done = project.run(*CONTRACT, "--on", "local:2", "--max-runs", "16", env={"TALKER_SEEN": str(seen)})
    assert done.returncode == 0, done.stderr
    assert seen.exists()
    assert len(outcome(project)[1]) == 32


BAD = {
    "unreachable": (("--on", "dask://127.0.0.1:9"), 2, "dask"),
    "no engine": (("--on", "ray://127.0.0.1:1"), 2, "expected `local:N`, `dask://HOST:PORT` or"),
    "no interpreter": (("--on", "local:2", "--worker-python", "/none/python"), 2, "cannot start a worker"),
    "no faultwire": (("--on", "local:2", "--worker-python", "/bin/true"), 3, "gave no answer"),
    "without --on": (("--max-runs", "5"), 2, "found --max-runs without --on"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_work_is_refused_before_the_first_cell(project: Any, case: str) -> None:
    arguments, code, why = BAD[case]
    write(project, 1)
    seen = project.folder / "seen"
    done = project.run(*CONTRACT, *arguments, env={"TALKER_SEEN": str(seen)})
    assert (done.returncode, why in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert not seen.exists()


OTHER_VERSION = """#!{python}
import sys
from faultwire import _core
_core.__version__ = "0.0.1"
from faultwire.cli import main
sys.argv = ["faultwire", *sys.argv[4:]]
main()
"""


def other_version(project: Any) -> tuple[str, ...]:
    script = project.folder / "other-python"
    script.write_text(OTHER_VERSION.format(python=sys.executable))
    script.chmod(0o755)
    return ("--worker-python", str(script))


def other_profile(project: Any) -> tuple[str, ...]:
    elsewhere = project.folder / "elsewhere"
    elsewhere.mkdir()
    for name in ("faultwire.yaml", "talker.py"):
        shutil.copy(project.folder / name, elsewhere)
    (elsewhere / "profiles").mkdir()
    (elsewhere / "profiles" / "own.yaml").write_text("name: own\nfaults: [{status: {code: 500}}]\n")
    return ("--worker-folder", str(elsewhere))


def other_agent(project: Any) -> tuple[str, ...]:
    arguments = other_profile(project)
    shutil.copy(project.folder / "profiles" / "own.yaml", project.folder / "elsewhere" / "profiles")
    (project.folder / "elsewhere" / "talker.py").write_text("print('another')\n")
    return arguments


@pytest.mark.parametrize(
    ("mixed", "why"),
    [
        (other_version, "this worker has faultwire `0.0.1`"),
        (other_profile, "this worker has the profiles"),
        (other_agent, "this worker has the agent"),
    ],
)
def test_a_worker_that_would_play_something_else_is_refused_before_the_first_cell(
    project: Any, mixed: Callable[[Any], tuple[str, ...]], why: str
) -> None:
    (project.folder / "profiles").mkdir()
    (project.folder / "profiles" / "own.yaml").write_text("name: own\nfaults: [{status: {code: 503}}]\n")
    own = {"name": "own", "profile": "own"}
    write(project, 1)
    project.write(contract={**RULES, "chaos_matrix": [{"name": "calm"}, own]})
    seen = project.folder / "seen"
    done = project.run(*CONTRACT, "--on", "local:2", *mixed(project), env={"TALKER_SEEN": str(seen)})
    assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    assert not seen.exists()
    assert journal(project) == []


def test_an_engine_of_processes_says_how_they_ended(tmp_path: Path) -> None:
    with closing(LocalEngine(2)) as engine:
        words = (sys.executable, "-c", "import sys; print(sys.stdin.read()); sys.exit(4)")
        engine.submit("a", Command(words, str(tmp_path)), "hello")
        (ended,) = engine.wait(60)
        assert (ended.batch, ended.code, ended.output, ended.lost) == ("a", 4, b"hello\n", "")
        still = (sys.executable, "-c", "import signal; signal.pause()")
        engine.submit("b", Command(still, str(tmp_path)), "")
        os.kill(engine._running["b"].process.pid, signal.SIGKILL)
        (ended,) = engine.wait(60)
        assert ended.lost == "its worker was ended by signal 9"
        engine.submit("c", Command(still, str(tmp_path)), "")
        left = engine._running["c"].process
    assert left.returncode == -signal.SIGTERM
    with pytest.raises(UsageError, match="cannot start a worker"):
        open_engine("local:1").submit("d", Command(("/none",), str(tmp_path)), "")


def test_an_agent_that_is_one_server_is_not_given_to_several_workers_of_a_machine(project: Any) -> None:
    write(project, 1)
    agent = {"type": "http", "endpoint": "http://127.0.0.1:9/", "timeout": 1000}
    project.write(agent=agent, contract=RULES)
    done = project.run(*CONTRACT, "--on", "local:2")
    assert done.returncode == 2
    assert "found an agent that is a server" in done.stderr
    assert On("local:2").limits.runs is None
