"""The results of a campaign on disk: each cell's once, whatever is retried, killed or started again.

`.faultwire/campaigns/<id>/`, for its user alone, with one writer at a time:

results.jsonl         a line for each cell that has a result, appended and synced before it counts
tapes/<sha256>.tape   the tapes of batches, whole, each there before a line names it
key                   the private key that opens results

A line that is cut by the end of its writer is no result; its cell is played again.
"""

from __future__ import annotations

import json
import os
import shutil
from base64 import b64decode, b64encode
from collections import OrderedDict
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any

from faultwire.campaign.sealed_box import BoxKey, seal
from faultwire.errors import FaultwireError, TapeTampered, UsageError
from faultwire.events import AgentResult, History
from faultwire.runner.folder import private_dir, state
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.format.file import SUFFIX
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = "campaigns"
JOURNAL = "results.jsonl"


@dataclass(frozen=True, slots=True)
class CellResult:
    """What came of a cell: `about` is what its worker said of it, `tape` holds its `session`."""

    about: Mapping[str, Any]
    tape: Path

    @property
    def session(self) -> str:
        """The name of its session on the tape."""
        return str(self.about["session"])

    @property
    def cost_usd(self) -> float:
        """What its models cost, as far as prices are known."""
        return float(self.about["cost_usd"])

    @property
    def unpriced(self) -> int:
        """How many answers of models have no known price."""
        return int(self.about.get("unpriced", 0))


class Results:
    """The folder of one campaign, held by one coordinator."""

    def __init__(self, base: Path, campaign: str) -> None:
        """Open or begin a campaign. Raises UsageError where another process has it."""
        self.path = private_dir(state(base) / FOLDER / campaign)
        self.tapes = private_dir(self.path / "tapes")
        self._journal: IO[bytes] | None = None
        self._hold()
        self.key = BoxKey(self.path / "key")
        self.cells: dict[str, CellResult] = {}
        self._read()

    def _hold(self) -> None:
        import fcntl

        self._journal = (self.path / JOURNAL).open("a+b")
        os.chmod(self.path / JOURNAL, 0o600)
        try:
            fcntl.flock(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._journal.close()
            raise UsageError(
                f"found the campaign `{self.path.name}` at work in another process, expected none",
                code="campaign.held",
                hint="wait for it, or end it: it goes on from where it was with the same command",
            ) from error

    def _read(self) -> None:
        """Take what is there already; the first line of a cell counts, and a cut last line is removed."""
        journal = self._file()
        journal.seek(0)
        whole = 0
        for line in journal:
            if not line.endswith(b"\n"):
                break
            entry = json.loads(line)
            about = json.loads(self.key.open(b64decode(entry["box"])))
            self.cells.setdefault(entry["cell"], CellResult(about, self.tapes / entry["tape"]))
            whole += len(line)
        journal.truncate(whole)

    def keep_tape(self, digest: str, data: bytes, note: str) -> Path:
        """Keep a batch's tape by its content, with the seal of the closed file beside it. Raises TapeTampered
        where it is not what its worker sent."""
        if sha256(data).hexdigest() != digest:
            raise TapeTampered(f"found another tape than the one that a worker sealed (`{digest[:16]}`)")
        path = self.tapes / f"{digest}{SUFFIX}"
        seal_path(path).write_text(note)
        draft = self.tapes / f".{digest}"
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        return path

    def commit(self, found: Mapping[str, Mapping[str, Any]], tape: Path) -> None:
        """Results of cells become theirs for good. Those that have one already keep it."""
        journal = self._file()
        for cell, about in found.items():
            if cell in self.cells:
                continue
            box = seal(json.dumps(about).encode("utf-8", "surrogatepass"), self.key.public)
            line = {"cell": cell, "tape": tape.name, "box": b64encode(box).decode()}
            journal.write(json.dumps(line).encode() + b"\n")
            self.cells[cell] = CellResult(about, tape)
        journal.flush()
        os.fsync(journal.fileno())

    def close(self) -> None:
        """Let go of the folder; another process may go on."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def remove(self) -> None:
        """The campaign is over: its folder goes, and with its key all that nobody has opened yet."""
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def _file(self) -> IO[bytes]:
        if self._journal is None:
            raise FaultwireError(f"the campaign `{self.path.name}` is closed", code="campaign.closed")
        return self._journal


class Readers:
    """Histories of cells from the tapes of their batches. Some tapes stay open: each body is read when it is
    asked for, and to open a tape for it costs more than to read it."""

    def __init__(self, most: int = 128) -> None:
        self._most = most
        self._open: OrderedDict[Path, TapeReader] = OrderedDict()

    def history(self, one: CellResult) -> History:
        """What is known of a cell, traffic and all. Raises TapeError where its tape cannot be read."""
        about, agent = one.about, one.about["agent"]
        reader = self._reader(one.tape)
        taped = reader.history(one.session) if reader.has(one.session) else History(one.session, ())
        return replace(
            taped,
            agent=None if agent is None else AgentResult(**agent),
            voids=tuple(about["voids"]),
            notes=tuple(about["notes"]),
            remarks=tuple(about["remarks"]),
        )

    def _reader(self, tape: Path) -> TapeReader:
        reader = self._open.pop(tape, None) or TapeReader.open(tape)
        self._open[tape] = reader
        if len(self._open) > self._most:
            self._open.popitem(last=False)[1].close()
        return reader

    def close(self) -> None:
        """Let all tapes go."""
        while self._open:
            self._open.popitem()[1].close()
