"""A disk that loses its power: from what a writer wrote and synced to what may be left of it.

The journal of `disk_shim.c` is played up to some call. A file then holds what its last sync made
durable; of everything written after that each sector of 512 bytes may be there, may be as before, or
may be garbage, and a change of its size may have happened or not. Names (created, linked, renamed,
removed) become durable in order, up to some point at or after the last sync of the folder.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
_HEAD = struct.Struct("<iiqII")


class Call(NamedTuple):
    """One call that reached the disk; `op` is a letter of the shim's."""

    op: str
    fd: int
    offset: int
    first: bytes
    second: bytes


def calls(log: Path) -> Iterator[Call]:
    """What the shim wrote down, in order."""
    data, at = log.read_bytes(), 0
    while at < len(data):
        op, fd, offset, first, second = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Call(chr(op), fd, offset, data[at : at + first], data[at + first : at + first + second])
        at += first + second


@dataclass
class Stored:
    """A file: what is durable, what is there now, and which sectors were touched since."""

    durable: bytearray = field(default_factory=bytearray)
    now: bytearray = field(default_factory=bytearray)
    touched: set[int] = field(default_factory=set)

    def write(self, offset: int, data: bytes) -> None:
        if len(self.now) < offset:
            self.now += bytes(offset - len(self.now))
        self.now[offset : offset + len(data)] = data
        self.touched |= set(range(offset // SECTOR, (offset + len(data) - 1) // SECTOR + 1))

    def resize(self, size: int) -> None:
        if size < len(self.now):
            del self.now[size:]
        else:
            self.now += bytes(size - len(self.now))

    def sync(self) -> None:
        self.durable = bytearray(self.now)
        self.touched.clear()

    def left(self, chance: random.Random) -> bytes:
        """What may be found after the power is back."""
        if not self.touched and len(self.now) == len(self.durable):
            return bytes(self.durable)
        sizes = (len(self.durable), len(self.now))
        size = max(sizes) if chance.random() < 0.5 else chance.choice(sizes)
        out = bytearray(self.durable[:size])
        out += bytes(size - len(out))
        mood = chance.choice(("keep", "drop", "mixed", "mixed", "garble"))
        for sector in sorted(self.touched):
            start = sector * SECTOR
            part = self.now[start : start + SECTOR]
            fate = chance.choice(("keep", "drop", "garble")) if mood == "mixed" else mood
            if start >= size or fate == "drop":
                continue
            new = part if fate == "keep" else bytearray(chance.randbytes(len(part)))
            out[start : start + len(new)] = new
        return bytes(out[:size])


class Machine:
    """A folder on a disk, and what became of it so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._names: dict[str, Stored] = {}
        self._durable: dict[str, Stored] = {}
        self._since: list[dict[str, Stored]] = []
        self._open: dict[int, Stored | None] = {}
        self.acknowledged: set[int] = set()

    def do(self, call: Call) -> None:
        """One call happens."""
        path, other = call.first.decode("latin-1"), call.second.decode("latin-1")
        if call.op == "A":
            self.acknowledged.add(call.offset)
        elif call.op == "O":
            self._opened(call.fd, path)
        elif call.op == "W":
            stored = self._open[call.fd]
            assert stored is not None
            stored.write(call.offset, call.first)
        elif call.op == "T":
            stored = self._open[call.fd]
            assert stored is not None
            stored.resize(call.offset)
        elif call.op == "S":
            self._synced(self._open[call.fd])
        elif call.op in "LRU":
            self._renamed(call.op, path, other)

    def _opened(self, fd: int, path: str) -> None:
        if path == self._folder:
            self._open[fd] = None
            return
        if path not in self._names:
            self._names[path] = Stored()
            self._since.append(dict(self._names))
        self._open[fd] = self._names[path]

    def _synced(self, stored: Stored | None) -> None:
        if stored is None:
            self._durable = dict(self._names)
            self._since.clear()
            return
        stored.sync()

    def _renamed(self, op: str, path: str, other: str) -> None:
        if op == "L":
            self._names[other] = self._names[path]
        elif op == "R":
            self._names[other] = self._names.pop(path)
        else:
            self._names.pop(path, None)
        self._since.append(dict(self._names))

    def lose_power(self, target: Path, chance: random.Random) -> None:
        """Write what may be left into an empty folder. Memory that was shared (`-shm`) is gone."""
        names = chance.choice([self._durable, *self._since])
        for path, stored in names.items():
            if not path.endswith("-shm"):
                (target / Path(path).name).write_bytes(stored.left(chance))
                (target / Path(path).name).chmod(0o600)
