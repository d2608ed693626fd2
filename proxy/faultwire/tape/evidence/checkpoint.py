"""Checkpoints: what a seal says about the tree of a tape's events.

Format: C2SP tlog-checkpoint (c2sp.org/tlog-checkpoint): origin, tree size, base64 of the root, then
extension lines. Ours are `previous sha256:HEX`, the digest of the checkpoint note before this one, and,
in the detached seal only, `file sha256:HEX BYTES`, the digest of the whole tape file.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from hashlib import sha256

from faultwire.tape.evidence.signed_note import NoteError

_HEX = r"([0-9a-f]{64})"
_PREVIOUS = re.compile(rf"previous sha256:{_HEX}\Z")
_FILE = re.compile(rf"file sha256:{_HEX} ([1-9][0-9]{{0,18}})\Z")
_SIZE = re.compile(r"(0|[1-9][0-9]{0,15})\Z")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`size` events of the log `origin` have the tree head `root` (32 bytes)."""

    origin: str
    size: int
    root: bytes
    previous: str | None = None
    """SHA-256 in hex of the note of the checkpoint before."""
    file: tuple[str, int] | None = None
    """SHA-256 in hex and size in bytes of the whole file."""

    def text(self) -> str:
        """The lines that are signed."""
        lines = [self.origin, str(self.size), base64.b64encode(self.root).decode()]
        if self.previous is not None:
            lines.append(f"previous sha256:{self.previous}")
        if self.file is not None:
            lines.append(f"file sha256:{self.file[0]} {self.file[1]}")
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """From the signed lines. Raises NoteError; lines that are not ours are refused as well."""
        lines = text.removesuffix("\n").split("\n")
        if len(lines) < 3 or not lines[0] or not _SIZE.match(lines[1]):
            raise NoteError("a checkpoint begins with origin, size and root, each on a line")
        try:
            root = base64.b64decode(lines[2], validate=True)
        except ValueError as error:  # binascii.Error, or what is not ASCII
            raise NoteError("the root is not base64") from error
        if len(root) != 32 or base64.b64encode(root).decode() != lines[2]:
            raise NoteError("the root is not 32 bytes in canonical base64")
        previous, file = _extensions(lines[3:])
        return cls(lines[0], int(lines[1]), root, previous, file)


def _extensions(lines: list[str]) -> tuple[str | None, tuple[str, int] | None]:
    rest = list(lines)
    previous = _PREVIOUS.match(rest[0]) if rest else None
    if previous:
        rest.pop(0)
    file = _FILE.match(rest[0]) if rest else None
    if file:
        rest.pop(0)
    if rest:
        raise NoteError("the checkpoint has a line that no seal has")
    return (previous[1] if previous else None), ((file[1], int(file[2])) if file else None)


def note_digest(note: str) -> str:
    """What the next checkpoint calls this one: SHA-256 of the whole note, in hex."""
    return sha256(note.encode()).hexdigest()
