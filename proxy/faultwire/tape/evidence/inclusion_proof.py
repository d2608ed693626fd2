"""Proofs for one event: that it is in a sealed tape, checkable without the tape.

Format: C2SP tlog-proof (c2sp.org/tlog-proof): a first line that names the format, `extra` with the
event's record in base64, `index`, the hashes of the inclusion proof, an empty line, and the signed
checkpoint that they lead to.
"""

from __future__ import annotations

import base64
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import _core
from faultwire.errors import TapeIncomplete, TapeTampered
from faultwire.tape.evidence import signed_note
from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.format import hash_chain
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.format.validate import event_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import VerifierKey

HEAD = "c2sp.org/tlog-proof@v1"
SUFFIX = ".tlog-proof"
MAX_SIZE = 128 * 1024 * 1024
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,15})\Z")
_MAX_PATH = 64


@dataclass(frozen=True, slots=True)
class Proven:
    """An event that a trusted key's checkpoint commits to."""

    index: int
    event: dict[str, Any]
    checkpoint: Checkpoint
    key: VerifierKey


def prove(path: Path, seq: int) -> str:
    """The proof for event `seq`, against the first seal that covers it.

    Raises TapeIncomplete where there is no such event or no seal over it, TapeTampered where the rows
    do not have the root that the seal names.
    """
    leaves: list[bytes] = []
    record = b""
    with closing(connect_reader(path)) as connection:
        for number, _, found, _ in _rows(connection, path):
            if number != len(leaves):
                raise TapeTampered(f"event {len(leaves)} of tape `{path}` is missing")
            if number == seq:
                record = found
            if number > seq and b'"seal"' in found:
                event = event_of(found, path, number)
                if event["type"] == "seal":
                    return _proof(path, record, leaves, seq, event)
            leaves.append(hash_chain.leaf(found))
    if seq >= len(leaves):
        raise TapeIncomplete(
            f"tape `{path}` has {len(leaves)} events, found no event {seq}", code="tape.no_event"
        )
    raise TapeIncomplete(
        f"tape `{path}` has no seal over event {seq}",
        code="tape.unsealed",
        hint=f"faultwire tape seal {path}",
    )


def _rows(connection: sqlite3.Connection, path: Path) -> Iterator[tuple[int, str, bytes, bytes]]:
    try:
        yield from event_rows(connection)
    except sqlite3.Error as error:
        raise TapeTampered(f"tape `{path}` is damaged: {error}", code="tape.damaged") from error


def _proof(path: Path, record: bytes, leaves: list[bytes], seq: int, seal: dict[str, Any]) -> str:
    if _core.merkle_root(leaves).hex() != seal["root"]:
        raise TapeTampered(f"the events of tape `{path}` do not have the root that was sealed")
    lines = [HEAD, f"extra {_text(record)}", f"index {seq}"]
    lines += [_text(one) for one in _core.inclusion_proof(leaves, seq)]
    return "\n".join(lines) + "\n\n" + str(seal["note"])


def check(text: str, trusted: Sequence[VerifierKey]) -> Proven:
    """What a proof proves. Raises TapeTampered where it proves nothing under the trusted keys."""
    try:
        return _checked(text, trusted)
    except (signed_note.NoteError, ValueError) as error:
        raise TapeTampered(f"the proof does not hold: {error}", code="tape.proof") from error


def _checked(text: str, trusted: Sequence[VerifierKey]) -> Proven:
    head, between, sealed = text.partition("\n\n")
    lines = head.split("\n")
    if len(text) > MAX_SIZE or not between or len(lines) < 3 or lines[0] != HEAD:
        raise signed_note.NoteError(f"it does not begin with `{HEAD}`")
    signed = signed_note.parse(sealed)
    key = next((one for one in trusted if signed.signed_by(one)), None)
    if key is None:
        names = ", ".join(name for name, _, _ in signed.signatures)
        raise signed_note.NoteError(f"no trusted key signed its checkpoint (it names `{names}`)")
    checkpoint = Checkpoint.parse(signed.text)
    record, index = _record(lines[1]), _INDEX.match(lines[2])
    if index is None or len(lines) > 3 + _MAX_PATH:
        raise signed_note.NoteError("it has no index, or too many hashes")
    at = int(index[1])
    path = [_data(line) for line in lines[3:]]
    if not _core.verify_inclusion(hash_chain.leaf(record), at, checkpoint.size, path, checkpoint.root):
        raise signed_note.NoteError("its hashes do not lead from the event to the checkpoint's root")
    event = orjson.loads(record)
    if not isinstance(event, dict) or not hash_chain.is_number(event.get("seq"), at):
        raise signed_note.NoteError("the event is not the one at that index")
    return Proven(at, event, checkpoint, key)


def _record(line: str) -> bytes:
    word, _, data = line.partition(" ")
    if word != "extra":
        raise signed_note.NoteError("it does not carry its event")
    return _data(data)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _data(text: str) -> bytes:
    """Strictly, so that a proof has one spelling."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:  # binascii.Error, or what is not ASCII
        raise signed_note.NoteError("a line of it is not base64") from error
    if _text(data) != text:
        raise signed_note.NoteError("a line of it is not canonical base64")
    return data
