"""Load on real processes: an agent that is fine, one with a planted race, and one that saturates."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from faultwire.load.shape import schema
from faultwire.tape.read.reader import TapeReader

CHAT = """
import json, os, sys, time, urllib.request as u
def chat(text):
    headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    asked = u.Request("https://api.openai.com/v1/chat/completions", body, headers)
    return json.loads(u.urlopen(asked).read())["choices"][0]["message"]["content"]
"""
FINE = CHAT + "chat('hello')\nprint('OK')\n"
RACING = (
    CHAT
    + """
mine = f"{os.getpid()}"
open("notes.txt", "w").write(mine)   # planted: one file for all
chat("hello")
print("OK" if open("notes.txt").read() == mine else "notes of somebody else")
"""
)
SATURATING = (
    CHAT
    + """
import fcntl
chat("hello")
with open("lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    time.sleep(1.0)   # planted: the work of one at a time
print("OK")
"""
)
SCRIPT = "name: slow\nfirst_event_delay_ms: 300\nturns:\n  - reply: {text: Hello.}\n"
EXPECT = ("--expect", 'contains: "OK"', "--script", "s.yaml")


def load(faultwire: Any, here: Path, agent: str, *options: str) -> tuple[Any, dict[str, Any]]:
    (here / "agent.py").write_text(agent)
    (here / "s.yaml").write_text(SCRIPT)
    done = faultwire(
        "load", "-q", "--format", "json", *EXPECT, *options, "--", sys.executable, "agent.py"
    )  # fmt: skip
    found = json.loads(done.stdout) if done.stdout else {}
    if found:
        jsonschema.validate(found, schema())
    return done, found


def test_an_agent_that_is_fine_has_no_race_and_keeps_its_budget(faultwire: Any, here: Path) -> None:
    done, found = load(
        faultwire, here, FINE, "--levels", "1,4", "--cells", "2", "--serial", "2", "--per-level", "8",
        "--fault", "{latency: {ms: 50}, trigger: {probability: 0.5}}", "-o", "l.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not found["races"]["found"]
    assert found["races"]["suspects"] == []
    assert [(one["level"], one["runs"], one["budget"]["failed"]) for one in found["levels"]] == [
        (1, 4, 0),
        (4, 8, 0),
    ]
    assert found["knee"]["reason"] == "2 of at least 3 levels were measured"
    assert "<svg" in (here / "l.html").read_text()
    with TapeReader.open(here / found["tape"]) as tape:
        fired: dict[str, set[bool]] = {}
        for one in tape.sessions():
            faults = [line for each in tape.history(one.name).exchanges for line in each.faults]
            cell = one.name.split("cell-")[1][:2]
            fired.setdefault(cell, set()).add(any(line.outcome == "fired" for line in faults))
    assert all(len(some) == 1 for some in fired.values()), (
        "a cell meets the same faults alone and beside others"
    )


def test_a_planted_race_is_found_with_its_evidence(faultwire: Any, here: Path) -> None:
    done, found = load(
        faultwire, here, RACING, "--levels", "1,6", "--cells", "2", "--serial", "3", "--per-level", "18"
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    races = found["races"]
    assert races["found"], races
    assert races["p_value"] < 0.05
    suspect = next(one for one in races["suspects"] if one["holds"])
    assert suspect["alone"] == [3, 3]
    assert suspect["again"][0] == suspect["again"][1] == 5
    assert suspect["failures"][0]["beside"], "what ran at the same time is named"
    with TapeReader.open(here / found["tape"]) as tape:
        names = {one.name for one in tape.sessions()}
    assert {suspect["reference"], suspect["failures"][0]["session"]} <= names


def test_an_agent_that_saturates_has_its_knee_below_the_highest_level(faultwire: Any, here: Path) -> None:
    done, found = load(
        faultwire, here, SATURATING, "--levels", "1,2,4,8", "--cells", "1", "--serial", "6", "--per-level",
        "12",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    knee = found["knee"]
    assert knee["at"] is not None, found["levels"]
    assert 1 <= knee["low"] <= knee["at"] <= knee["high"] < 8
    assert not found["races"]["found"]


@pytest.mark.parametrize(
    ("options", "ended", "most"), [(("--max-runs", "5"), "runs", 5), (("--max-time", "0.000001s"), "time", 0)]
)
def test_nothing_begins_after_a_bound(
    faultwire: Any, here: Path, options: tuple[str, ...], ended: str, most: int
) -> None:
    agent = "open('starts.txt', 'a').write('x')\n" + FINE
    done, found = load(faultwire, here, agent, "--levels", "1,4", "--cells", "2", *options)
    starts = here / "starts.txt"
    assert (len(starts.read_text()) if starts.exists() else 0) == found["runs"] == most
    assert found["ended"] == ended
    assert done.returncode == (0 if most else 3)


def test_fewer_files_are_a_scenario_and_a_group_that_is_not_ours_is_refused(
    faultwire: Any, here: Path
) -> None:
    many = "import sys\nkept = [open(sys.argv[0]) for _ in range(60)]\n" + FINE
    done, found = load(
        faultwire, here, many, "--levels", "1", "--cells", "2", "--serial", "4", "--pressure", "fds=30"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (one,) = found["pressures"]
    assert (one["passed"], one["verdict"]) == (0, "worse")
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        # The first version's groups cannot hold buffered writes back, so that this would limit nothing.
        done, _ = load(faultwire, here, FINE, "--pressure", "disk=1M")
        assert done.returncode == 2
        assert b"load.cgroup: found " in done.stderr
        assert b"`--pressure disk=1M`, expected a control group that we may divide" in done.stderr


def test_the_terminal_has_60_columns(faultwire: Any, here: Path) -> None:
    (here / "agent.py").write_text(FINE)
    (here / "s.yaml").write_text(SCRIPT)
    done = faultwire(
        "load", "-q", *EXPECT, "--levels", "1,2,3", "--cells", "1", "--per-level", "4", "--", sys.executable,
        "agent.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "at once" in text
    assert all(len(line) <= 60 for line in text.splitlines() if not line.startswith("report")), text
