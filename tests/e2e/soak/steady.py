"""Run one agent for hours at a steady pace: `python -m tests.e2e.soak.steady --calls 43200 --minutes 100`.

A real `faultwire exec --mock` with an agent that calls so often: one JSON answer after the other, every
fifth a stream, every 25th on a new connection. 43,200 calls are what an agent makes in a day at one every
two seconds. Memory, file descriptors and CPU time of the command, its engine and its mock are read every
few seconds. Exits with 1 where the engine's memory grows by more than 1 MB an hour, its descriptors are not
as many at the end as they were, or not every call is on a tape that verifies.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import linear_regression, median

import psutil

from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify

MOST_MB_AN_HOUR = 1.0
WARMING = 0.2
"""The part of a run that is not counted: caches fill, arenas grow."""
ENDS_S = 600.0
AGENT = """
import http.client, json, os, ssl, sys, time
from urllib.parse import urlsplit
calls, seconds, leak = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
proxy = urlsplit(os.environ["HTTPS_PROXY"])
import base64
user = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
trust = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
headers = {"content-type": "application/json", "authorization": "Bearer sk-test"}
def connect():
    made = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=trust)
    made.set_tunnel("api.openai.com", 443, {"Proxy-Authorization": "Basic " + user})
    return made
link, kept, began = connect(), [], time.monotonic()
for number in range(calls):
    time.sleep(max(0.0, began + number * seconds / calls - time.monotonic()))
    if number % 25 == 24:
        kept.append(link) if leak else link.close()
        link = connect()
    said = {"model": "m", "messages": [{"role": "user", "content": f"call {number} " + "word " * 200}]}
    if number % 5 == 4:
        said["stream"] = True
    link.request("POST", "/v1/chat/completions", json.dumps(said), headers)
    answer = link.getresponse()
    assert answer.status == 200 and answer.read(), number
link.close()
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """One process at one moment; memory in MB, CPU time in seconds since its start."""

    at_s: float
    resident_mb: float
    descriptors: int
    cpu_s: float


def slope(seen: list[Seen]) -> float:
    """MB an hour, of what is left once warm: a straight line through all moments."""
    warm = _warm(seen)
    return linear_regression([one.at_s for one in warm], [one.resident_mb for one in warm]).slope * 3600


def leaked(seen: list[Seen]) -> int:
    """How many descriptors more there are in the last tenth than in the first, once warm (medians)."""
    counts = [one.descriptors for one in _warm(seen)]
    part = max(1, len(counts) // 10)
    return round(median(counts[-part:]) - median(counts[:part]))


def _warm(seen: list[Seen]) -> list[Seen]:
    return seen[int(len(seen) * WARMING) :]


def watch(calls: int, seconds: float, folder: Path, *, leak: bool = False, every_s: float = 10.0) -> Outcome:
    """Run it, and look at its processes until it ends; `folder` keeps the run and each moment."""
    agent = [sys.executable, "-c", AGENT, str(calls), str(seconds), str(int(leak))]
    command = subprocess.Popen(
        [sys.executable, "-m", "faultwire", "exec", "--mock", "-q", "--", *agent], cwd=folder
    )
    ended = threading.Event()
    waits = threading.Thread(target=lambda: (command.wait(), ended.set()), daemon=True)
    waits.start()
    processes: dict[str, psutil.Process] = {}
    seen: dict[str, list[Seen]] = {}
    began = time.monotonic()
    with (folder / "seen.jsonl").open("w") as log:
        while not ended.wait(every_s) and time.monotonic() < began + seconds + ENDS_S:
            for name, process in (processes or _named(command.pid, folder, processes)).items():
                try:
                    one = _look(process, time.monotonic() - began)
                except psutil.NoSuchProcess:
                    continue  # it ended between two looks
                if processes["agent"].is_running():  # what closing a run takes is no part of it
                    seen.setdefault(name, []).append(one)
                log.write(json.dumps({"process": name, **asdict(one)}) + "\n")
                log.flush()
    waits.join(ENDS_S)
    return Outcome(calls, command.returncode, seen, _findings(folder, calls))


def _look(process: psutil.Process, at_s: float) -> Seen:
    with process.oneshot():
        times = process.cpu_times()
        resident = process.memory_info().rss / 2**20
    return Seen(round(at_s, 1), round(resident, 3), process.num_fds(), round(times.user + times.system, 2))


def _named(pid: int, folder: Path, into: dict[str, psutil.Process]) -> dict[str, psutil.Process]:
    """The run's processes by what they are, once the agent has started."""
    about = next(iter((folder / ".faultwire" / "runs").glob("*/run.json")), None)
    engine = json.loads(about.read_text()).get("engine_pid") if about else None
    children = psutil.Process(pid).children()
    if engine is None or not any(AGENT in " ".join(child.cmdline()) for child in children):
        return {}
    into["command"] = psutil.Process(pid)
    for child in children:
        words = " ".join(child.cmdline())
        into["engine" if child.pid == engine else "agent" if AGENT in words else "mock"] = child
    return into


def _findings(folder: Path, calls: int) -> list[str]:
    (tape,) = folder.glob(".faultwire/runs/*/*.tape")
    report = verify(tape, KeyRing(folder / ".faultwire" / "keys").trusted())
    found = [one.code for one in report.findings]
    return found if report.exchanges == calls else [*found, f"{report.exchanges} of {calls} are on the tape"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was seen of each process, and what was wrong with the tape."""

    calls: int
    code: int | None
    seen: dict[str, list[Seen]]
    findings: list[str]

    def wrong(self) -> list[str]:
        """What must not be."""
        engine = self.seen["engine"]
        found = list(self.findings)
        if self.code != 0:
            found.append(f"the command ended with {self.code}")
        if slope(engine) > MOST_MB_AN_HOUR:
            found.append(f"the engine's memory grew by {slope(engine):.2f} MB an hour")
        if leaked(engine) > 0:
            found.append(f"the engine had {leaked(engine)} descriptors more at the end")
        return found

    def lines(self) -> list[str]:
        """One line for each process."""
        text = []
        for name, seen in self.seen.items():
            first, last = _warm(seen)[0], seen[-1]
            text.append(
                f"{name}: {first.resident_mb:.1f} MB once warm, {last.resident_mb:.1f} MB at the end, "
                f"{slope(seen):+.2f} MB an hour, {min(s.descriptors for s in seen)} to "
                f"{max(s.descriptors for s in seen)} descriptors ({leaked(seen):+d}), "
                f"{last.cpu_s:.0f} s of CPU in {last.at_s / 60:.0f} minutes"
            )
        return text


def main() -> int:
    """Run it, print what each process used, and what must not be."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.soak.steady", description=__doc__)
    parser.add_argument("--calls", type=int, default=43_200)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--folder", type=Path, help="where the run is kept; a new one by default")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="faultwire-steady-"))
    outcome = watch(asked.calls, asked.minutes * 60, folder)
    wrong = outcome.wrong()
    print("\n".join([f"{asked.calls} calls; the run is in {folder}", *outcome.lines(), *wrong]), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
