"""What a witness of logs answers: it cosigns a checkpoint that grew out of the last one it cosigned. Pure.

Formats: C2SP tlog-witness (`POST /add-checkpoint`) and tlog-cosignature (`cosignature/v1`). A log that shows
two histories to two readers needs cosignatures on both, and a witness gives them to one of them only.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from faultwire import _core
from faultwire.tape.evidence.signed_note import (
    COSIGNATURE,
    Note,
    NoteError,
    VerifierKey,
    check_point,
    decoded,
    key_parts,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.tape.evidence.signed_note import SignerKey

MAX_BODY = 64 * 1024
MAX_PROOF = 63
MAX_SIZE = (1 << 63) - 1
MAX_TIME = 253_402_300_799
"""The last second of the year 9999: later ones have no date."""
SIZE_TYPE = "text/x.tlog.size"


class RefusedError(Exception):
    """Why a checkpoint is not cosigned: a status of HTTP, and the text of the answer. With 409 that is the
    size which the witness knows."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Seen:
    """The tree of a log that was cosigned last: so many leaves, and the root (32 bytes)."""

    size: int
    root: bytes


EMPTY = Seen(0, sha256(b"").digest())
"""What is known of a log at first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the checkpoint `note` of the log `origin`, whose tree is `tree`, grew by `proof` out of one
    of `old` leaves. Nothing of it is verified."""

    old: int
    proof: tuple[bytes, ...]
    note: Note
    origin: str
    tree: Seen

    @classmethod
    def parse(cls, body: bytes) -> Asked:
        """From the body of a request. Raises RefusedError (400)."""
        try:
            return _asked(body.decode())
        except (NoteError, ValueError) as error:
            raise RefusedError(400, f"found no request of tlog-witness: {error}") from error


def judged(asked: Asked, keys: Mapping[str, VerifierKey], seen: Seen) -> Seen:
    """The tree that may be cosigned, where `seen` is the last one of its log. `keys` are the logs that are
    known, by origin. Raises RefusedError."""
    key = keys.get(asked.origin)
    if key is None:
        raise RefusedError(404, "no log of this origin is known here")
    if not asked.note.signed_by(key):
        raise RefusedError(403, "the log's key has not signed this checkpoint")
    if asked.old > asked.tree.size:
        raise RefusedError(400, "the old size is larger than the checkpoint's")
    if asked.old != seen.size or (asked.tree.size == seen.size and asked.tree.root != seen.root):
        raise RefusedError(409, f"{seen.size}\n")
    if not _grew(seen, asked):
        raise RefusedError(422, "the proof does not lead from the tree that is known to the checkpoint's")
    return asked.tree


def _grew(seen: Seen, asked: Asked) -> bool:
    if seen.size in (0, asked.tree.size):
        return not asked.proof
    proof = list(asked.proof)
    return bool(_core.verify_consistency(seen.size, asked.tree.size, proof, seen.root, asked.tree.root))


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """The public key of a witness with its name."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """Four bytes that tell keys apart; a hint, never a proof."""
        return sha256(self.name.encode() + b"\n" + COSIGNATURE + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(COSIGNATURE + self.public).decode()}"

    @classmethod
    def of(cls, signer: SignerKey) -> WitnessKey:
        """The public half."""
        return cls(signer.name, signer.verifier.public)

    @classmethod
    def parse(cls, text: str) -> WitnessKey:
        """From its one-line form. Raises NoteError."""
        name, data = key_parts(text, COSIGNATURE)
        key = cls(name, data)
        if text.split("+")[1] != key.id.hex():
            raise NoteError("the key id does not fit the key")
        check_point(data)
        return key

    def cosigned(self, text: str, line: str) -> int | None:
        """When this witness cosigned the text of a checkpoint, in seconds since 1970; None where it has not,
        by this line."""
        try:
            return self.cosigned_on(parse(f"{text}\n{line.removesuffix(chr(10))}\n"))
        except NoteError:
            return None

    def cosigned_on(self, note: Note) -> int | None:
        """When this witness cosigned a checkpoint, in seconds since 1970; None unless it did, and each line
        with its name and id holds."""
        found = [data for name, key_id, data in note.signatures if (name, key_id) == (self.name, self.id)]
        times = [self._time(note.text, data) for data in found]
        return None if not times or None in times else times[0]

    def _time(self, text: str, data: bytes) -> int | None:
        seconds = int.from_bytes(data[:8], "big")
        if len(data) != 8 + 64 or seconds > MAX_TIME:
            return None
        key = VerifierKey(self.name, self.public)
        return seconds if key.verifies(_message(text, seconds), data[8:]) else None


def cosign(signer: SignerKey, text: str, seconds: int) -> str:
    """The line by which a witness says that it saw this checkpoint at this time, and none beside it."""
    private = Ed25519PrivateKey.from_private_bytes(signer.seed)
    data = WitnessKey.of(signer).id + seconds.to_bytes(8, "big") + private.sign(_message(text, seconds))
    return f"— {signer.name} {base64.b64encode(data).decode()}\n"


def _message(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def _asked(body: str) -> Asked:
    head, between, below = body.partition("\n\n")
    first, *proof = head.split("\n")
    if not between or not first.startswith("old "):
        raise NoteError("it begins with `old SIZE`, the proof, and an empty line")
    if len(proof) > MAX_PROOF:
        raise NoteError(f"the proof has {len(proof)} hashes, expected at most {MAX_PROOF}")
    note = parse(below)
    origin, tree = tree_of(note.text)
    return Asked(size_of(first.removeprefix("old ")), tuple(map(hash_of, proof)), note, origin, tree)


def tree_of(text: str) -> tuple[str, Seen]:
    """Origin and tree of a checkpoint, whatever lines of extension follow. Raises NoteError."""
    lines = text.split("\n")
    if len(lines) < 4 or not lines[0]:
        raise NoteError("a checkpoint begins with origin, size and root, each on a line")
    return lines[0], Seen(size_of(lines[1]), hash_of(lines[2]))


def size_of(text: str) -> int:
    """A size, or an index, in its one spelling. Raises NoteError."""
    if not (text.isascii() and text.isdigit()) or len(text) > 19 or (text[0] == "0" and text != "0"):
        raise NoteError("a size is a decimal number without leading zeros")
    if int(text) > MAX_SIZE:
        raise NoteError(f"a size is at most {MAX_SIZE}")
    return int(text)


def hash_of(text: str) -> bytes:
    """A hash of 32 bytes in base64. Raises NoteError."""
    data = decoded(text)
    if len(data) != 32:
        raise NoteError(f"a hash has {len(data)} bytes, expected 32")
    return data
