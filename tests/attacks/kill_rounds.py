"""Kill the command, its engine and its agent in turn: `python -m tests.attacks.kill_rounds --rounds 300`.

Each round is a real `faultwire exec --mock` with an agent that calls without end. One of its processes is
killed at a moment that the number of the round decides. The agent has children of children, one of them in a
session of its own that nobody is the parent of any more. None of the others may be left two seconds later
(where the agent was killed, two seconds after the end of its command), and every exchange that was
acknowledged has to be on a tape that verifies. Exits with 1 where one was not.

Most of a round's 4 s of CPU start it: at a load of 20 the engine needs 1.4 s, the command 1.1, the mock 0.5
and the agent 0.3. After its agent has ended, a command reads in what makes the report.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

from faultwire.dice import unit
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

VICTIMS = ("command", "engine", "agent")
ORPHANED_S = 2.0
LATEST_S = 0.3
"""Moments are spread over this long."""
FEWEST = 3
"""Calls that are answered before anything is killed."""
ENDED_S = 60.0
LOOK_S = 0.02
HARMLESS = {"session_open", "exchange_open", "seal_missing", "seal_untrusted"}
"""What a tape may state that was not closed, to a verifier that was given no key."""
AGENT = """
import json, os, subprocess, urllib.request
# Two children of a child: one whose parent stays, and one in a session of its own, whose parent has ended.
stays = "sleep 1000 & echo $!; exec >&-; wait"
leaves = "setsid sleep 1000 >&- & echo $!"
found = [
    subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout.readline()
    for script in (stays, leaves)
]
print(os.getpid(), *map(int, found), flush=True)
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
while True:
    asked = urllib.request.Request("https://api.openai.com/v1/chat/completions", body)
    asked.add_header("content-type", "application/json")
    asked.add_header("authorization", "Bearer sk-test")
    urllib.request.urlopen(asked).read()
    print("called", flush=True)
"""


def run(folder: Path, number: int) -> list[str]:
    """One round; what was wrong with it."""
    victim = VICTIMS[number % len(VICTIMS)]
    arguments = ["exec", "--mock", "-q", "--", sys.executable, "-c", AGENT]
    process = subprocess.Popen(
        [sys.executable, "-m", "faultwire", *arguments],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    agent, *below = map(int, process.stdout.readline().split() or (0,))
    if not agent:
        return [f"it did not start: {process.communicate()[1]}"]
    for _ in range(FEWEST):
        if not process.stdout.readline():
            return [f"the agent made no calls: {process.communicate()[1]}"]
    (about,) = (folder / ".faultwire" / "runs").glob("*/run.json")
    pids = {"command": process.pid, "engine": json.loads(about.read_text())["engine_pid"], "agent": agent}
    pids |= {"child of a child": below[0], "child in a session of its own": below[1]}
    others = {child.pid for child in psutil.Process(process.pid).children(recursive=True)} | {*pids.values()}
    handles = {}
    for pid in others - {pids[victim]}:
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            handles[os.pidfd_open(pid)] = pid
    # The moment is what is tested: anywhere between two commits, or inside one.
    threading.Event().wait(LATEST_S * unit(1, "kills", "moment", "", number))
    os.kill(pids[victim], signal.SIGKILL)
    drained = threading.Thread(target=process.communicate, daemon=True)
    drained.start()
    if victim == "agent":  # its command goes on to the report, and ends then
        drained.join(ENDED_S)
    names = {pid: name for name, pid in pids.items()}
    late = late_ends(handles)
    drained.join(ENDED_S)
    wrong = [f"the process `{names.get(pid, 'mock')}` {how}" for pid, how in late.items()]
    return wrong + _lost(about.parent)


def late_ends(handles: dict[int, int]) -> dict[int, str]:
    """The processes that did not end in time, and when they did.

    Time in which one that others wait for was ready to run and got no processor is the machine's, not theirs.
    """
    waited = {pid: first for pid in handles.values() if (first := starved(pid)) is not None}
    began, longest, late = time.monotonic(), 0.0, dict[int, str]()
    while handles and time.monotonic() < began + ENDED_S:
        ended = select.select([*handles], [], [], LOOK_S)[0]
        took = time.monotonic() - began
        longest = max([longest, *((starved(pid) or 0.0) - first for pid, first in waited.items())])
        for handle in ended:
            pid = handles.pop(handle)
            os.close(handle)
            if took - longest > ORPHANED_S:
                late[pid] = f"ended after {took:.1f} s"
            elif took > ORPHANED_S:
                print(f"after {took:.1f} s, {longest:.1f} of them without a processor", flush=True)
    for handle, pid in handles.items():
        os.close(handle)
        late[pid] = "did not end"
    return late


def starved(pid: int) -> float | None:
    """How many seconds a process's main thread has waited for a processor; none where nobody says."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return None


def _lost(place: Path) -> list[str]:
    """What is wrong with the tape of a run: findings, and acknowledged exchanges that are not on it."""
    (tape,) = place.glob("*.tape")
    lines = (place / "events.jsonl").read_bytes().split(b"\n")[:-1]
    events = [json.loads(line) for line in lines]
    named = {(e["session"], e["exchange"]) for e in events if e["type"] == "acknowledged"}
    with TapeReader.open(tape) as reader:
        found = {(one.name, each.number) for one in reader.sessions() for each in reader.exchanges(one.name)}
    wrong = [f"exchange {number} of `{session}` is lost" for session, number in sorted(named - found)]
    report = verify(tape)
    wrong += [one.code for one in report.findings if one.code not in HARMLESS and not one.is_note]
    return wrong if named else [*wrong, "nothing was acknowledged"]


def main() -> int:
    """Pass so many rounds, and print what was wrong with which."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.kill_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the number of the first round")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no round after that")
    asked = parser.parse_args()
    bad: Counter[str] = Counter()
    end, done = time.monotonic() + 60 * asked.minutes, 0
    for number in range(asked.first, asked.first + asked.rounds):
        if time.monotonic() > end:
            break
        done += 1
        folder = Path(tempfile.mkdtemp(prefix="faultwire-kill-"))
        for wrong in run(folder, number):
            bad[VICTIMS[number % len(VICTIMS)]] += 1
            print(f"round {number}, {VICTIMS[number % len(VICTIMS)]}: {wrong}", flush=True)
        shutil.rmtree(folder)
        if (number + 1) % 10 == 0:
            print(f"{number + 1} rounds", flush=True)
    print(f"{done} kills from {asked.first}: {sum(bad.values())} findings", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
