"""Drives `disk_writer.py` under `disk_shim.c`, and judges what a job leaves on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import faultwire
from faultwire.errors import TapeError
from faultwire.tape.evidence.findings import VerifyReport
from faultwire.tape.evidence.sealer import seal_tape
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

HERE = Path(__file__).parent
SOURCE = Path(faultwire.__file__).parents[1]
CACHE = Path.home() / ".cache" / "faultwire-tests"
REOPEN_S = 1.0
KILLED, HALF, AFTER = -1, -2, -3
KEY = SignerKey.fresh("p")
OPEN_NOTES = {"session_open", "exchange_open"}
NOTES = OPEN_NOTES | {"seal_missing", "tail_unsealed", "file_unsealed"}


def shim() -> Path:
    """The compiled shim; compiled once per version of its source."""
    source = HERE / "disk_shim.c"
    CACHE.mkdir(parents=True, exist_ok=True)
    made = CACHE / f"disk-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}.so"
    if not made.exists():
        draft = made.with_suffix(f".{os.getpid()}")
        command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(draft), str(source), "-ldl", "-lpthread"]
        subprocess.run(command, check=True)
        draft.rename(made)
    return made


class Disk:
    """A process that runs one job after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "disk_writer.py")],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "LD_PRELOAD": str(shim())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Disk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def do(self, folder: Path, do: str = "write", **job: Any) -> Left:
        """Run a job in a folder; what it left."""
        (folder / "disk").mkdir(parents=True, exist_ok=True)
        (folder / "outcome").unlink(missing_ok=True)
        given = {"do": do, "folder": str(folder), "key": KEY.dump(), "seed": 1, "turns": 8, **job}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(given) + "\n")
        self._process.stdin.flush()
        code = json.loads(self._process.stdout.readline())["code"]
        return Left(folder, code)


class Left:
    """What is there after a job."""

    def __init__(self, folder: Path, code: int) -> None:
        self.folder = folder
        self.tape = folder / "disk" / "t.tape"
        self.killed = code == -9
        outcome = folder / "outcome"
        self.outcome: dict[str, Any] = json.loads(outcome.read_text()) if outcome.exists() else {}
        assert self.killed or (code == 0 and self.outcome), f"the writer ended with {code}"
        acks = folder / "acks"
        lines = acks.read_bytes().split(b"\n")[:-1] if acks.exists() else []
        self.acknowledged = {int(line) for line in lines}


def judged(left: Left) -> list[str]:
    """Everything that is wrong with what a job left; what it says is kept is there, whatever happened."""
    if not left.tape.exists():
        wrong = ["acknowledged without a tape"] if left.acknowledged else []
        return wrong if left.killed or left.outcome["error"] else [*wrong, "no tape, and no error"]
    wrong = bad_tape(left.tape, left.acknowledged)
    return wrong or resealed(left.tape, left.acknowledged)


def bad_tape(tape: Path, acknowledged: set[int]) -> list[str]:
    """The same for a tape alone."""
    began = time.monotonic()
    try:
        with TapeReader.open(tape) as reader:
            reader.info()
            took = time.monotonic() - began
            kept = {
                one.number for one in reader.exchanges() if one.ending == "complete" or one.ending != "open"
            }
    except TapeError as error:
        return [f"it cannot be read: {error}"]
    wrong = [f"acknowledged and lost: {sorted(acknowledged - kept)}"] if acknowledged - kept else []
    if took > REOPEN_S:
        wrong.append(f"opening it took {took:.2f} s")
    return wrong + findings(verify(tape, [KEY.verifier]), NOTES)


def findings(report: VerifyReport, accepted: set[str]) -> list[str]:
    return [f"{f.code}: {f.message}" for f in report.findings if f.code not in accepted]


def resealed(tape: Path, acknowledged: set[int]) -> list[str]:
    """Sealing it works, on top of whatever an interrupted one left, and a second time changes nothing."""
    try:
        seal_tape(tape, KEY)
    except TapeError as error:
        if error.code != "tape.sealed":
            return [f"it cannot be sealed: {error}"]
    before = tape.read_bytes()
    try:
        seal_tape(tape, KEY)
        return ["it was sealed twice"]
    except TapeError as error:
        if error.code != "tape.sealed" or tape.read_bytes() != before:
            return [f"sealing it again changed it, or said `{error.code}`"]
    wrong = findings(verify(tape, [KEY.verifier], demanded=True), OPEN_NOTES)
    return wrong + bad_tape(tape, acknowledged)


def fresh(folder: Path) -> Path:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
