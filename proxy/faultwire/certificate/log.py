"""A project's log of certificates on the disk, in the files of C2SP tlog-tiles.

`checkpoint` is the last tree that witnesses cosigned. A tree that grew beyond it is in `pending` before a
witness gets it: what a witness has cosigned is never lost here, whenever this is killed.
"""

from __future__ import annotations

import base64
import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.certificate import tiles
from faultwire.certificate.cosignature import EMPTY, Seen, tree_of
from faultwire.certificate.files import write_whole
from faultwire.errors import FaultwireError
from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.evidence.signed_note import MAX_SIZE, NoteError, parse
from faultwire.tape.format.small_file import small_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from faultwire.certificate.cosignature import WitnessKey
    from faultwire.tape.evidence.signed_note import Note, SignerKey, VerifierKey

CHECKPOINT = "checkpoint"
PENDING = "pending"
LOCK = ".lock"
MOST = 1_000_000
"""Entries of a log that is read."""


class LogError(FaultwireError):
    """A log of certificates cannot be read or written, or is not the one that was signed."""

    default_code = "certificate.log"


@dataclass(frozen=True, slots=True)
class Contents:
    """All entries of a log, and its last cosigned checkpoint with the tree of that."""

    entries: tuple[bytes, ...]
    published: Note | None = None
    cosigned: Seen = EMPTY

    @property
    def leaves(self) -> list[bytes]:
        """Their leaf hashes."""
        return [_core.leaf_hash(entry) for entry in self.entries]


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The tree head of leaf hashes."""
    return _core.merkle_root(list(leaves)) if leaves else EMPTY.root


def contents(folder: Path, key: VerifierKey) -> Contents:
    """What a log's folder holds. Raises LogError where the log's key has not signed it, where entries are
    missing or others, or where it did not grow out of the tree that was cosigned."""
    published, pending = _note(folder / CHECKPOINT, key), _note(folder / PENDING, key)
    cosigned = published[1] if published else EMPTY
    tree = max((pending[1] if pending else EMPTY), cosigned, key=lambda one: one.size)
    entries = _entries(folder, tree.size)
    leaves = [_core.leaf_hash(entry) for entry in entries]
    if root_of(leaves) != tree.root:
        raise LogError(
            f"the entries in `{folder}` do not give the root that the log signed",
            hint="restore the folder from a backup that is whole",
        )
    if root_of(leaves[: cosigned.size]) != cosigned.root:
        raise LogError(f"the log in `{folder}` did not grow out of the tree that was cosigned")
    return Contents(tuple(entries), published[0] if published else None, cosigned)


class CertificateLog:
    """A log that this process alone writes to."""

    def __init__(self, folder: Path, signer: SignerKey) -> None:
        """`held` makes one."""
        self._folder, self._signer = folder, signer
        self._found = contents(folder, signer.verifier)
        self._leaves = self._found.leaves

    @classmethod
    @contextmanager
    def held(cls, folder: Path, signer: SignerKey) -> Iterator[CertificateLog]:
        """The log of a folder, which is made if there is none; others wait. Raises LogError."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise LogError(f"cannot write the log of certificates `{folder}`: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield cls(folder, signer)
        finally:
            os.close(lock)

    @property
    def key(self) -> VerifierKey:
        """By which others verify its checkpoints."""
        return self._signer.verifier

    @property
    def leaves(self) -> Sequence[bytes]:
        """The leaf hash of each entry."""
        return self._leaves

    def known(self, witness: WitnessKey) -> int:
        """The size of the tree that this witness cosigned last, as far as it is written here."""
        note = self._found.published
        return self._found.cosigned.size if note and witness.cosigned_on(note) is not None else 0

    def append(self, entry: bytes) -> int:
        """Add an entry, on the disk once this returns; its index. Raises LogError."""
        if len(self._leaves) >= MOST:
            raise LogError(f"the log in `{self._folder}` is full: it has {MOST} entries")
        entries = (*self._found.entries, entry)
        leaves = [*self._leaves, _core.leaf_hash(entry)]
        try:
            for name, data in tiles.changed(entries):
                path = self._folder / name
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_whole(path, data)
            write_whole(self._folder / PENDING, self._signer.sign(self._text(leaves)).encode())
        except OSError as error:
            raise LogError(f"cannot write the log of certificates: {error.strerror}") from error
        self._found = Contents(entries, self._found.published, self._found.cosigned)
        self._leaves = leaves
        return len(entries) - 1

    @property
    def cosigned(self) -> int:
        """How many entries had the tree that was cosigned last."""
        return self._found.cosigned.size

    @property
    def text(self) -> str:
        """The lines of its checkpoint, which the log and its witnesses sign."""
        return self._text(self._leaves)

    def request(self, old: int) -> str:
        """What a witness is asked (C2SP tlog-witness) that has cosigned `old` entries: the proof that this
        log grew out of them, and the checkpoint."""
        size = len(self._leaves)
        proof = _core.consistency_proof(self._leaves, old) if 0 < old < size else []
        lines = "".join(f"{base64.b64encode(one).decode()}\n" for one in proof)
        return f"old {old}\n{lines}\n{self._signer.sign(self.text)}"

    def publish(self, lines: Sequence[str]) -> str:
        """Keep the checkpoint with the lines of its witnesses; the signed note. Raises LogError."""
        note = self._signer.sign(self.text) + "".join(lines)
        try:
            write_whole(self._folder / CHECKPOINT, note.encode())
        except OSError as error:
            raise LogError(f"cannot write the log of certificates: {error.strerror}") from error
        return note

    def _text(self, leaves: Sequence[bytes]) -> str:
        return Checkpoint(self._signer.name, len(leaves), root_of(leaves)).text()


def _note(path: Path, key: VerifierKey) -> tuple[Note, Seen] | None:
    """A signed checkpoint of this log and its tree, None where there is no file."""
    try:
        note = parse(small_file(path, MAX_SIZE).decode())
        origin, tree = tree_of(note.text)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LogError(f"cannot read `{path}`: {error.strerror}") from error
    except (NoteError, ValueError) as error:
        raise LogError(f"found no checkpoint in `{path}`: {error}") from error
    if origin != key.name or not note.signed_by(key):
        raise LogError(f"the checkpoint `{path}` is not signed by the log `{key.name}`")
    return note, tree


def _entries(folder: Path, size: int) -> list[bytes]:
    if size > MOST:
        raise LogError(f"the log in `{folder}` has {size} entries, expected at most {MOST}")
    found: list[bytes] = []
    for name, full, width in tiles.bundles(size):
        path = folder / name if (folder / name).exists() else folder / full
        try:
            found += tiles.entries_of(small_file(path, tiles.WIDTH * (2 + tiles.ENTRY)), width)
        except OSError as error:
            raise LogError(f"cannot read `{path}`: {error.strerror}") from error
        except NoteError as error:
            raise LogError(f"`{path}` is damaged: {error}") from error
    return found
