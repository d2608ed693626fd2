"""`run` and `ci` on several engines, as real processes: one run, whatever number of them plays it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.play.conftest import Project
from tests.e2e.play.test_contract import RULES, timeless

from faultwire.events import FaultFired
from faultwire.runner import closed_tape
from faultwire.tape.format.events import ledger_line
from faultwire.tape.read.reader import TapeReader

FLAKY = {"name": "flaky", "faults": [{"status": {"code": 503}, "trigger": {"probability": 0.5}}]}
CHAOS: dict[str, Any] = {"invariants": None, "contract": {**RULES, "chaos_matrix": [{"name": "calm"}, FLAKY]}}
KILLER = """
import json, os, pathlib, runpy, signal, sys
prompt = sys.argv[1]
about = json.loads(next(pathlib.Path(".faultwire/runs").glob("*/run.json")).read_text())
if "hello" in prompt:
    os.kill(about["engine_pids"][1], signal.SIGKILL)
runpy.run_path("talker.py", run_name="__main__")
"""
WAITER = """
import pathlib, runpy, sys, time
try:
    runpy.run_path("talker.py", run_name="__main__")
except SystemExit:
    pass
pathlib.Path("asked.fifo").open("w").write("x")
time.sleep(600)
"""


def pids(about: dict[str, Any]) -> list[int]:
    return about.get("engine_pids") or [about["engine_pid"]]


def gone(pid: int) -> bool:
    """Has a process ended? One that nobody has waited for has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def names(tape: Path) -> set[str]:
    with TapeReader.open(tape) as reader:
        return {info.name for info in reader.sessions()}


def content(tape: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What was asked in each session, and which faults fired."""
    with TapeReader.open(tape) as reader:
        return {
            name: [
                (
                    one.request.url,
                    one.request.body,
                    sorted(map(ledger_text, one.faults)),
                )
                for one in reader.history(name).exchanges
            ]
            for name in sorted(info.name for info in reader.sessions())
        }


def ledger_text(fault: FaultFired) -> str:
    """A line of the ledger, without its key, which is made with the project's secret, and its reason."""
    line = ledger_line(fault)
    del line["key"], line["reason"]
    return json.dumps(line, sort_keys=True)


def test_one_two_and_four_engines_play_the_same_run(project: Project) -> None:
    project.write(**CHAOS)
    found: dict[str, Any] = {}
    for label, options in {
        "1": ("--engines", "1"),
        "2": ("--engines", "2"),
        "4": ("--engines", "4"),
        "other": ("--engines", "2", "--seed", "8"),
    }.items():
        done = project.run("ci", "--repeat", "3", "--allow-unknown", *options)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        about, folder = project.about(), project.runs[-1]
        assert about["status"] == "finished"
        assert about["tape"] == str(Path(".faultwire") / "runs" / folder.name / "run.tape")
        assert len(pids(about)) == int(options[1])
        assert all(gone(pid) for pid in pids(about))
        with TapeReader.open(folder / "run.tape") as tape:
            assert tape.ledger_hash() == about["ledger"]
        closed_tape.check(folder / "run.tape")
        documents = {phase: timeless(project.document(phase)) for phase in ("summary", "contract")
                     if (folder / f"{phase}.json").exists()}  # fmt: skip
        assert documents
        found[label] = {
            "ledger": about["ledger"],
            "gate": about["gate"],
            "scores": about["scores"],
            "documents": documents,
            "tape": content(folder / "run.tape"),
        }
        if label in ("2", "4"):
            parts = sorted((folder / "tapes").glob("*.tape"))
            assert len(parts) == int(label)
            each = [names(part) for part in parts]
            assert all(each)  # sessions were placed on every engine
            assert sum(map(len, each)) == len(set().union(*each))  # each on one of them
            assert set().union(*each) == names(folder / "run.tape")
    assert found["1"] == found["2"] == found["4"]
    assert found["1"]["ledger"] != found["other"]["ledger"]  # the control: another seed is another run


def test_commands_that_read_a_run_show_the_sessions_of_all_engines(project: Project) -> None:
    project.write(**CHAOS)
    project.run("ci", "--engines", "2")
    folder = project.runs[-1]
    shown = project.run("tape", "show", "last", "--format", "json")
    assert shown.returncode == 0, shown.stderr
    assert all(name in shown.stdout for name in names(folder / "run.tape"))
    checked = project.run("tape", "verify", "last")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    exported = project.run("tape", "export", "last", "--format", "jsonl", "-o", "all.jsonl")
    assert exported.returncode == 0, exported.stderr
    text = (project.folder / "all.jsonl").read_text()
    assert all(json.dumps(name) in text for name in names(folder / "run.tape"))


@pytest.mark.cold
def test_an_engine_that_is_killed_makes_the_run_void(project: Project) -> None:
    (project.folder / "killer.py").write_text(KILLER)
    agent = {"type": "command", "command": [sys.executable, "killer.py", "{prompt}"]}
    project.write(**CHAOS, agent=agent, advanced={"concurrency": 2, "seed": 7, "retries": 0})
    done = project.run("ci", "--engines", "2")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "engine.lost: engine 2 of 2 ended with code `-9`" in done.stderr
    about = project.about()
    assert (about["status"], about["error"]) == ("void", "engine.lost")
    assert not (project.runs[-1] / "run.tape").exists()
    assert all(gone(pid) for pid in pids(about))


@pytest.mark.cold
def test_ctrl_c_leaves_no_process(project: Project) -> None:
    (project.folder / "waiter.py").write_text(WAITER)
    os.mkfifo(project.folder / "asked.fifo")
    agent = {"type": "command", "command": [sys.executable, "waiter.py", "{prompt}"]}
    project.write(**CHAOS, agent=agent)
    command = [sys.executable, "-m", "faultwire", "ci", "--engines", "2"]
    with subprocess.Popen(command, cwd=project.folder, stdin=subprocess.DEVNULL) as process:
        (project.folder / "asked.fifo").read_text()  # an agent has called its model, and waits
        engines = pids(project.about())
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert len(engines) == 2
    assert all(gone(pid) for pid in engines)
    assert not left(project.folder)
    assert project.about()["status"] == "interrupted"


def left(folder: Path) -> list[int]:
    """Processes that still work in this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve() == folder.resolve() and not gone(int(entry.name)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engines", "0"), "found `0`, expected a number from 1 to 64, or `auto`"),
        (("--engines", "two"), "found `two`, expected a number from 1 to 64, or `auto`"),
        (("--engines", "2", "--ui"), "found --engines with --ui, expected one of them"),
        (("--engines", "2", "--on", "local:2"), "found --engines with --on, expected one of them"),
    ],
    ids=["none", "a_word", "beside_the_page", "beside_workers"],
)
def test_what_cannot_be_had_is_refused(project: Project, options: tuple[str, ...], said: str) -> None:
    project.write(**CHAOS)
    done = project.run("ci", *options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert not (project.folder / ".faultwire" / "runs").exists()
