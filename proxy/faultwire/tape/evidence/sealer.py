"""Seals: signed checkpoints in a tape's own log, and the detached `.seal` of the closed file.

A seal event signs the tree of all events before it. The one written on close is followed by the
file's own seal, `NAME.tape.seal`: the same checkpoint with the digest of the whole file, signed by the
same key. A sealed file is 0400.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire._core import Frontier
from faultwire.errors import TapeError, TapeTampered
from faultwire.tape.evidence.checkpoint import Checkpoint, note_digest
from faultwire.tape.format import events as tape_events, file, hash_chain
from faultwire.tape.format.rows import insert_events
from faultwire.tape.format.validate import event_of

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey
    from faultwire.tape.format.events import Event

EVERY = 1000
"""Exchanges between two seals of a tape that is still written."""


class Sealer:
    """Signs the checkpoints of one tape, each naming the one before."""

    def __init__(self, key: SignerKey, origin: str, previous: str | None = None) -> None:
        self._key = key
        self._origin = origin
        self._previous = previous
        self._last: Checkpoint | None = None

    def event(self, size: int, root: bytes) -> Event:
        """The seal over the first `size` events."""
        self._last = Checkpoint(self._origin, size, root, self._previous)
        note = self._key.sign(self._last.text())
        self._previous = note_digest(note)
        return tape_events.seal(size, root.hex(), note, str(self._key.verifier))

    @property
    def last(self) -> Checkpoint:
        """What the last seal signs. Raises TapeError before there is one."""
        if self._last is None:
            raise TapeError("a file is sealed after its events", code="tape.seal")
        return self._last

    def detached(self, digest: str, size: int) -> str:
        """The note for the file as a whole. Call after the last `event`."""
        last = self.last
        whole = Checkpoint(last.origin, last.size, last.root, last.previous, (digest, size))
        return self._key.sign(whole.text())


def seal_path(tape: Path) -> Path:
    """Where the detached seal of a tape is."""
    return tape.with_name(tape.name + file.SEAL)


def file_digest(path: Path) -> tuple[str, int]:
    """SHA-256 in hex and size of a whole file."""
    digest, size = sha256(), 0
    with path.open("rb") as source:
        while block := source.read(1 << 20):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def close_file(path: Path, sealer: Sealer) -> bool:
    """Seal the closed file; False where its log could not be folded into it, or a journal is left that
    the next to open it rolls back, so that its bytes may still change. Raises OSError."""
    if any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal")):
        return False
    note = sealer.detached(*file_digest(path))
    target = seal_path(path)
    draft = target.with_name(f".{target.name}.draft")
    draft.unlink(missing_ok=True)
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
    with os.fdopen(fd, "wb") as out:
        out.write(note.encode())
        out.flush()
        os.fsync(fd)
    os.chmod(path, 0o400)
    os.rename(draft, target)
    file.sync_folder(path.parent)
    return True


def seal_tape(path: Path, key: SignerKey) -> Checkpoint:
    """Seal a tape that nobody writes: all its events, then the file.

    Raises TapeTampered where its chain does not hold (what is not what was recorded is not signed),
    TapeError where somebody writes it or it cannot be written.
    """
    with closing(file.connect_reader(path)):
        pass  # a genuine tape, before anything is opened for writing
    if seal_path(path).exists():
        raise TapeError(f"tape `{path}` is sealed already", code="tape.sealed")
    try:
        path.chmod(0o600)
        fd = file.lock(path)
        try:
            connection = file.connect_writer(path)
            try:
                sealer = _append(connection, path, key)
                connection.execute("PRAGMA journal_mode=DELETE")
            finally:
                connection.close()
            if not close_file(path, sealer):
                raise TapeError(f"tape `{path}` is being read: close its readers first", code="tape.busy")
        finally:
            os.close(fd)
    except (OSError, sqlite3.Error) as error:
        raise TapeError(f"cannot seal tape `{path}`: {error}", code="tape.seal") from error
    return sealer.last


def _append(connection: sqlite3.Connection, path: Path, key: SignerKey) -> Sealer:
    tree = Frontier()
    prev, origin, previous = hash_chain.GENESIS, "", None
    for seq, _, record, digest in file.event_rows(connection):
        event = event_of(record, path, seq)
        if hash_chain.leaf(record) != digest or seq != tree.size or event.get("prev") != prev:
            raise TapeTampered(f"event {seq} of tape `{path}` is not what was recorded")
        prev = digest.hex()
        tree.push(digest)
        origin = event["origin"] if seq == 0 else origin
        previous = note_digest(event["note"]) if event["type"] == "seal" else previous
    if not tree.size:
        raise TapeError(f"tape `{path}` has no events", code="tape.seal")
    sealer = Sealer(key, origin, previous)
    event = sealer.event(tree.size, tree.root())
    event["seq"], event["prev"] = tree.size, prev
    record = hash_chain.record_bytes(event)
    connection.execute("BEGIN IMMEDIATE")
    insert_events(connection, [(tree.size, "", record, hash_chain.leaf(record))])
    connection.execute("COMMIT")
    return sealer
