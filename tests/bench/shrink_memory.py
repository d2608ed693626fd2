"""`python -m tests.bench.shrink_memory [--exchanges N]`: memory of a search over a long tape.

Writes a tape of 10,000 exchanges on which 64 faults fired, and starts a search from it in a process of its
own, with simulated trials in place of an agent's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.replay.reader import open_tape
from faultwire.shrink.search import Search
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.trials.execute import answers_of_faults
from faultwire.trials.pins import pins_of

FAULTS = 64
LIMIT_MB = 300


def write(path: Path, exchanges: int) -> None:
    writer = TapeWriter.create(path, origin="bench/shrink", settings={}, key=b"k" * 32, signer=None)
    writer.open_session("exec", profile="p", profile_digest="", seed=7)
    for number in range(1, exchanges + 1):
        body = b'{"model":"m","messages":[{"role":"user","content":"%d %s"}]}' % (number, b"x" * 2000)
        headers = (("content-type", "application/json"),)
        request = Request("POST", "https", "api.example", 443, "/v1/chat/completions", headers, body)
        recording = writer.record(Exchange("exec", number, request, "llm"))
        recording.request(request)
        recording.upstream_head(Response(200, "OK", headers))
        recording.upstream_chunk(b'{"text":"%s"}' % (b"y" * 2000))
        every = exchanges // FAULTS
        outcome = "fired" if number % every == 0 and number // every <= FAULTS else "skipped"
        reason = f"call {number} matches" if outcome == "fired" else "rolled 0.1 or more"
        line = FaultFired("latency", "latency", "response", outcome, reason, f"key{number}", 0, 0)
        recording.end("complete", None, (line,))
    writer.close_session("exec")
    writer.close()


def search(path: Path) -> int:
    """The steps of the command that read the tape, and a search; prints the peak in MB."""
    with open_tape(path) as tape:
        pins = pins_of(tape.exchanges("exec"))
    with TapeReader.open(path) as tape:
        made = answers_of_faults(tape.exchanges("exec"))
    one = Search(len(pins))
    while (candidate := one.candidate()) is not None:
        one.record(candidate, {3, 40} <= candidate)
    assert (len(pins), len(made), one.smallest) == (FAULTS, 0, {3, 40})
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(int(status["VmHWM"].split()[0]) / 1024)  # that of getrusage(2) counts the parent's, too
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.shrink_memory")
    parser.add_argument("--exchanges", type=int, default=10_000)
    parser.add_argument("--tape", type=Path, help="search this tape, in this process")
    given = parser.parse_args()
    if given.tape is not None:
        return search(given.tape)
    with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as folder:
        path = Path(folder) / "long.tape"
        write(path, given.exchanges)
        command = [sys.executable, "-m", "tests.bench.shrink_memory", "--tape", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    used = float(done.stdout)
    print(f"{FAULTS} faults on {given.exchanges} exchanges: {used:.0f} MB, limit {LIMIT_MB} MB")
    return int(used >= LIMIT_MB)


if __name__ == "__main__":
    raise SystemExit(main())
