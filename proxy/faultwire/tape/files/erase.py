"""Bodies are taken off a sealed tape while its chain holds: events name them by their SHA-256 and stay.

The tape gets an event that says which bodies are gone, when, by whom and why, and a seal over it. It is
written anew without them, since SQLite keeps what it deletes in pages that nobody uses, and takes the old
file's place, whose bytes are overwritten once. A kill leaves one of the two, at worst unsealed as a file.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from faultwire._core import Frontier
from faultwire.clock import wall_ms
from faultwire.errors import TapeError, TapeIncomplete, TapeTampered
from faultwire.tape.evidence.checkpoint import note_digest
from faultwire.tape.evidence.sealer import Sealer, close_file, seal_path
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format import events as tape_events, file, hash_chain
from faultwire.tape.format.rows import insert_blobs, insert_events
from faultwire.tape.format.validate import event_of
from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey
    from faultwire.tape.format.events import Event

_STEP = 1 << 20


def bodies(path: Path, wanted: Callable[[Event], bool]) -> dict[str, set[tuple[str, int | None]]]:
    """The bodies on the tape that an event which is wanted names: each with all places (session, exchange)
    that name it, since equal bodies are stored once. Raises TapeError.
    """
    places: dict[str, set[tuple[str, int | None]]] = {}
    chosen: set[str] = set()
    with closing(file.connect_reader(path)) as connection:
        there = {digest.hex() for (digest,) in connection.execute("SELECT digest FROM blobs")}
        for seq, session, record, _ in file.event_rows(connection):
            event = event_of(record, path, seq)
            name: str = (event.get("body") or {"blob": ""})["blob"]
            if name in there:
                places.setdefault(name, set()).add((session, event.get("exchange")))
                if wanted(event):
                    chosen.add(name)
    return {name: places[name] for name in sorted(chosen)}


def check(path: Path) -> None:
    """Raise TapeTampered where the tape is not what was recorded, TapeIncomplete where it has no seal,
    TapeError where the file has another name."""
    report = verify(path)
    bad = [one for one in report.findings if not one.is_note and one.code != "seal_untrusted"]
    if bad:
        raise TapeTampered(
            f"tape `{path}` does not verify: {bad[0].message}",
            hint="an erasure would vouch for it; `faultwire tape salvage` keeps what is sound",
        )
    if any(one.code in ("seal_missing", "tail_unsealed") for one in report.findings):
        raise TapeIncomplete(
            f"tape `{path}` is not sealed to its end, expected a sealed one",
            code="tape.unsealed",
            hint=f"faultwire tape seal {path}",
        )
    if path.stat().st_nlink > 1:
        raise TapeError(
            f"the file of tape `{path}` has another name as well, under which its bodies would stay",
            code="tape.linked",
            hint="remove the other hard link first",
        )


def erase(path: Path, blobs: Collection[str], reason: str, by: str, key: SignerKey) -> None:
    """Take bodies off the tape, and seal it again. Raises TapeError as `check` does, or where it is being
    written, is read through a log, or cannot be written."""
    check(path)
    clean = Redactor(fresh_key())
    event = tape_events.erasure(blobs, clean.text(reason, {}), clean.text(by, {}), wall_ms())
    draft = path.with_name(f".{path.name}.erasing")
    try:
        path.chmod(0o600)
        fd = file.lock(path)
        try:
            draft.unlink(missing_ok=True)  # of one that was killed
            sealer = _write_anew(path, draft, event, key)
            seal_path(path).unlink(missing_ok=True)  # it seals the old file
            os.replace(draft, path)
            file.sync_folder(path.parent)
            _overwrite(fd)
            if not close_file(path, sealer):
                raise TapeError(f"tape `{path}` is being read: close its readers first", code="tape.busy")
        finally:
            os.close(fd)
    except (OSError, sqlite3.Error) as error:
        raise TapeError(f"cannot erase from tape `{path}`: {error}", code="tape.erase") from error


def _write_anew(path: Path, draft: Path, event: Event, key: SignerKey) -> Sealer:
    made: list[Sealer] = []

    def fill(target: sqlite3.Connection) -> None:
        with closing(file.connect_reader(path)) as source:
            target.execute("BEGIN IMMEDIATE")
            gone = {bytes.fromhex(name) for name in event["blobs"]}
            for row in source.execute("SELECT digest, size, packed, data FROM blobs ORDER BY rowid"):
                if row[0] not in gone:
                    insert_blobs(target, [row])
            made.append(_events(source, target, path, event, key))
            target.execute("COMMIT")
        target.execute("PRAGMA journal_mode=DELETE")

    file.create(draft, fill)
    return made[0]


def _events(
    source: sqlite3.Connection, target: sqlite3.Connection, path: Path, erasure: Event, key: SignerKey
) -> Sealer:
    """Copy the events as they are, and put the erasure and its seal behind them."""
    tree, prev, origin, previous = Frontier(), hash_chain.GENESIS, "", None
    for row in file.event_rows(source):
        event = event_of(row[2], path, row[0])
        origin = event["origin"] if row[0] == 0 else origin
        previous = note_digest(event["note"]) if event["type"] == "seal" else previous
        tree.push(row[3])
        prev = row[3].hex()
        insert_events(target, [row])
    sealer = Sealer(key, origin, previous)
    for kind in ("erasure", "seal"):
        event = erasure if kind == "erasure" else sealer.event(tree.size, tree.root())
        event["seq"], event["prev"] = tree.size, prev
        record = hash_chain.record_bytes(event)
        leaf = hash_chain.leaf(record)
        insert_events(target, [(tree.size, "", record, leaf)])
        tree.push(leaf)
        prev = leaf.hex()
    return sealer


def _overwrite(fd: int) -> None:
    """Zeros in place of the old file, which has no name any more."""
    left, at = os.fstat(fd).st_size, 0
    while left > 0:
        step = os.pwrite(fd, bytes(min(_STEP, left)), at)
        at, left = at + step, left - step
    os.fsync(fd)
