"""Kill the command, its engine and its agent in turn: `python -m tests.attacks.kill_rounds --rounds 300`.

Each round is a real `faultwire exec --mock` with an agent that calls without end. One of its processes is
killed once an exchange was acknowledged, at a moment after that which the number of the round decides. Three
answers alone do not say that: a commit waits up to 0.2 s for company, and they may be faster.

The agent has children of children, one of them in a session of its own that nobody is the parent of any more.
None of the others may be left two seconds later (where the agent was killed, two seconds after the end of its
command), and every exchange that was acknowledged has to be on a tape that verifies. Exits with 1 where one
was not.

The two seconds are by the clock, whatever else the machine does. Beside every round stands a control, an own
process that wants a fifth of a second of CPU from the kill on. Where something ended late, and the control
had not got that within two seconds either, the machine stood still: the round says nothing, is counted so,
and is made again. What is lost, or never ends, is found in any case.

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
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from faultwire.dice import unit
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

VICTIMS = ("command", "engine", "agent")
JOURNAL = "events.jsonl"
ORPHANED_S = 2.0
LATEST_S = 0.3
"""Moments are spread over this long."""
FEWEST = 3
"""Calls that are answered before anything is killed …"""
MOST = 1000
"""… and in which something must have been acknowledged."""
ENDED_S = 60.0
LOOK_S = 0.02
CONTROL_S = 0.2
"""CPU that the control wants: more than the end of an engine takes."""
CONTROL = f"""
import sys, time
print(flush=True)
sys.stdin.readline()
first = time.process_time()
while time.process_time() < first + {CONTROL_S}:
    pass
print(time.monotonic())
"""
TRIES = 4
"""Of a round that says nothing."""
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


class StarvedError(Exception):
    """Something ended late, on a machine on which the control was late too: the round says nothing."""


def run(folder: Path, number: int) -> list[str]:
    """One round; what was wrong with it. Raises StarvedError."""
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
    (about,) = (folder / ".faultwire" / "runs").glob("*/run.json")
    if (wrong := unready(process.stdout, about.with_name(JOURNAL))) is not None:
        process.kill()
        return [f"{wrong}: {process.communicate()[1]}"]
    pids = {"command": process.pid, "engine": json.loads(about.read_text())["engine_pid"], "agent": agent}
    pids |= {"child of a child": below[0], "child in a session of its own": below[1]}
    others = {child.pid for child in psutil.Process(process.pid).children(recursive=True)} | {*pids.values()}
    handles = {}
    for pid in others - {pids[victim]}:
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            handles[os.pidfd_open(pid)] = pid
    judge = control()
    # The moment is what is tested: anywhere between two commits, or inside one.
    threading.Event().wait(LATEST_S * unit(1, "kills", "moment", "", number))
    os.kill(pids[victim], signal.SIGKILL)
    drained = threading.Thread(target=process.communicate, daemon=True)
    drained.start()
    if victim == "agent":  # its command goes on to the report, and ends then
        drained.join(ENDED_S)
    names = {pid: name for name, pid in pids.items()}
    began = ask(judge)
    ends = late_ends(handles)
    drained.join(ENDED_S)
    return judged(ends, names, lost(about.parent), answer(judge) - began)


def unready(answers: Iterable[str], journal: Path) -> str | None:
    """Read answers until there were enough and the journal names an exchange; why that never came about."""
    for count, _ in enumerate(answers, 1):
        if count >= FEWEST and b"\n" in journal.read_bytes():
            return None
        if count == MOST:
            return f"nothing was acknowledged in {MOST} answers"
    return "the agent made no calls"


def judged(ends: Ends, names: dict[int, str], gone: list[str], took: float) -> list[str]:
    """What was wrong, where the control had its CPU after so many seconds. Raises StarvedError."""
    wrong = [f"the process `{names.get(pid, 'mock')}` {how}" for pid, how in ends.late.items()]
    gone = [*(f"the process `{names.get(pid, 'mock')}` did not end" for pid in ends.left), *gone]
    if wrong and not gone and took > ORPHANED_S:
        raise StarvedError(f"{wrong}, and the control after {took:.1f} s")
    return wrong + gone


def control() -> subprocess.Popen[str]:
    """A process that has started, and waits to be asked for its CPU."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", CONTROL], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def ask(process: subprocess.Popen[str]) -> float:
    """Let the control begin; when that was."""
    assert process.stdin is not None
    began = time.monotonic()
    process.stdin.write("\n")
    process.stdin.flush()
    return began


def answer(process: subprocess.Popen[str]) -> float:
    """When the control had what it wanted, by the clock that all processes share."""
    return float(process.communicate()[0])


@dataclass
class Ends:
    """What became of processes within the time, by their ids."""

    late: dict[int, str] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)


def late_ends(handles: dict[int, int]) -> Ends:
    """The processes that did not end in time, by the clock, and when they did.

    How long each was ready to run and got no processor is told with it, and changes nothing.
    """
    waited = {pid: first for pid in handles.values() if (first := starved(pid)) is not None}
    without = dict.fromkeys(handles.values(), 0.0)
    began, ends = time.monotonic(), Ends()
    while handles and time.monotonic() < began + ENDED_S:
        ended = select.select([*handles], [], [], LOOK_S)[0]
        took = time.monotonic() - began
        for pid, first in waited.items():
            without[pid] = max(without[pid], (starved(pid) or 0.0) - first)
        for handle in ended:
            pid = handles.pop(handle)
            os.close(handle)
            if took > ORPHANED_S:
                ends.late[pid] = f"ended after {took:.1f} s, {without[pid]:.1f} of them without a processor"
    for handle, pid in handles.items():
        os.close(handle)
        ends.left.append(pid)
    return ends


def starved(pid: int) -> float | None:
    """How many seconds a process's main thread has waited for a processor; none where nobody says."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return None


def lost(place: Path) -> list[str]:
    """What is wrong with the tape of a run: findings, and acknowledged exchanges that are not on it."""
    (tape,) = place.glob("*.tape")
    lines = (place / JOURNAL).read_bytes().split(b"\n")[:-1]
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
    parser.add_argument("--victim", choices=VICTIMS, help="only the rounds that kill this one")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no round after that")
    asked = parser.parse_args()
    bad: Counter[str] = Counter()
    end, done, void, unsaid = time.monotonic() + 60 * asked.minutes, 0, 0, 0
    for number in range(asked.first, asked.first + asked.rounds):
        if asked.victim not in (None, VICTIMS[number % len(VICTIMS)]):
            continue
        if time.monotonic() > end:
            break
        for _ in range(TRIES):
            folder = Path(tempfile.mkdtemp(prefix="faultwire-kill-"))
            try:
                found = run(folder, number)
            except StarvedError as error:
                void += 1
                print(f"round {number}, {VICTIMS[number % len(VICTIMS)]} says nothing: {error}", flush=True)
                continue
            finally:
                shutil.rmtree(folder)
            done += 1
            for wrong in found:
                bad[VICTIMS[number % len(VICTIMS)]] += 1
                print(f"round {number}, {VICTIMS[number % len(VICTIMS)]}: {wrong}", flush=True)
            break
        else:
            unsaid += 1
        if (number + 1) % 10 == 0:
            print(f"{number + 1} rounds", flush=True)
    print(
        f"{done} kills from {asked.first} that say something: {sum(bad.values())} findings; {void} that say "
        f"nothing, {unsaid} rounds without any that does",
        flush=True,
    )
    return 1 if bad or unsaid or not done else 0


if __name__ == "__main__":
    sys.exit(main())
