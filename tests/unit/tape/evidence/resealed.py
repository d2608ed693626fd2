"""Tapes that are sealed, changed, and sealed again by somebody who may write the file."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from tests.unit.tape.conftest import KEY as REDACTION, Deck

from faultwire.tape.evidence import sealer
from faultwire.tape.evidence.checkpoint import Checkpoint, note_digest
from faultwire.tape.evidence.signed_note import SignerKey, VerifierKey, parse as parse_note
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes, root
from faultwire.tape.record.writer import TapeWriter

KEY, STRANGER = SignerKey("p", b"s" * 32), SignerKey("stranger", b"f" * 32)
NAMESAKE = SignerKey("p", b"n" * 32)
TRUSTED = (KEY.verifier,)
Found = list[tuple[str, int | None, str]]
Change = dict[str, Any]


def label(value: object) -> str:
    """A parameter's name for the names of tests: without what would be escaped in one."""
    return re.sub(r"[^a-z0-9]+", "-", ascii(value).lower())[:60]


def recorded(folder: Path, signer: SignerKey | None) -> Path:
    path = folder / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=REDACTION, signer=signer, seal_every=1)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    deck = Deck(path, writer)
    deck.exchange()
    writer.flush()
    deck.exchange()
    writer.flush()
    writer.close_session("s")
    writer.close()
    assert writer.failed is None
    return path


def copied(path: Path, folder: Path) -> Path:
    """A closed tape and its seal in another folder, as they were."""
    for one in (path, sealer.seal_path(path)):
        if one.exists():
            shutil.copy2(one, folder / one.name)
    return folder / path.name


def findings(path: Path, trusted: tuple[VerifierKey, ...] = TRUSTED, *, demanded: bool = True) -> Found:
    return [(f.code, f.seq, f.message) for f in verify(path, trusted, demanded=demanded).findings]


def rewrite(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as connection, connection:
        change(connection)


def unseal(path: Path) -> None:
    """Take all seals away, and chain what is left anew."""

    def change(rows: sqlite3.Connection) -> None:
        kept = [
            event
            for (record,) in rows.execute("SELECT record FROM events ORDER BY seq")
            if (event := orjson.loads(record))["type"] != "seal"
        ]
        rows.execute("DELETE FROM events")
        for event in kept:
            append(rows, event)

    rewrite(path, change)
    sealer.seal_path(path).unlink()


def append(rows: sqlite3.Connection, event: dict[str, Any]) -> None:
    seq = len(leaves(rows))
    prev = leaves(rows)[-1].hex() if seq else GENESIS
    record = record_bytes({**event, "seq": seq, "prev": prev})
    rows.execute(
        "INSERT INTO events VALUES (?, ?, ?, ?)", (seq, event.get("session", ""), record, leaf(record))
    )


def leaves(rows: sqlite3.Connection) -> list[bytes]:
    return [leaf(record) for (record,) in rows.execute("SELECT record FROM events ORDER BY seq")]


def seals(path: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as rows:
        events = [orjson.loads(record) for (record,) in rows.execute("SELECT record FROM events")]
    return [event for event in events if event["type"] == "seal"]


def seal_file(path: Path, key: SignerKey, *cosigners: SignerKey, **changed: Any) -> None:
    """Write the seal beside a tape anew, for the file as it is now."""
    last = Checkpoint.parse(parse_note(seals(path)[-1]["note"]).text)
    said = {"origin": last.origin, "size": last.size, "root": last.root, "previous": last.previous}
    text = Checkpoint(**{**said, "file": sealer.file_digest(path), **changed}).text()
    place = sealer.seal_path(path)
    place.unlink(missing_ok=True)
    signatures = [one.sign(text).split("\n\n")[1] for one in cosigners]
    place.write_text(key.sign(text) + "".join(signatures))


def tampered(path: Path, key: SignerKey) -> None:
    """Change an answer, and seal the tape again with this key."""
    unseal(path)

    def change(rows: sqlite3.Connection) -> None:
        events = [orjson.loads(row[0]) for row in rows.execute("SELECT record FROM events ORDER BY seq")]
        rows.execute("DELETE FROM events")
        for event in events:
            append(rows, {**event, "status": 201} if event["type"] == "response" else event)

    rewrite(path, change)
    sealer.seal_tape(path, key)


def sealed_with(path: Path, change: Change, key: SignerKey = KEY) -> None:
    """Put the last seal of a tape anew, changed: `note` is a checkpoint's members, `event` the event's."""

    def put(rows: sqlite3.Connection) -> None:
        rows.execute("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
        hashes = leaves(rows)
        before = seals(path)[-2]["note"]
        said = {"origin": "p/t", "size": len(hashes), "root": root(hashes), "previous": note_digest(before)}
        note = key.sign(Checkpoint(**{**said, **change.get("note", {})}).text())
        note += change.get("cosigned", "")
        event = {
            **{"type": "seal", "size": len(hashes), "root": root(hashes).hex(), "note": note},
            **{"key": str(key.verifier), **change.get("event", {})},
        }
        append(rows, {name: value for name, value in event.items() if value is not ...})

    rewrite(path, put)
