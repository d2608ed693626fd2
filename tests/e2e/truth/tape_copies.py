"""Copies of a sealed tape that a test changes, and seals again where the change should stand alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.sealer import file_digest, seal_path
from faultwire.tape.evidence.signed_note import SignerKey, parse
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes, root

Event = dict[str, Any]
STRANGER = SignerKey("stranger", b"f" * 32)
OTHERS = [SignerKey(f"other{n}", bytes([n]) * 32).verifier for n in range(4)]


@dataclass
class Copy:
    """A copy of a sealed tape in a folder of its own, and the key that sealed it."""

    path: Path
    key: SignerKey
    other_seal: str
    """The seal beside another tape of the same project."""

    def rows(self, *statements: str, values: tuple[Any, ...] = ()) -> None:
        """Change rows and nothing else."""
        self.path.chmod(0o600)
        with closing(sqlite3.connect(self.path)) as rows, rows:
            for statement in statements:
                rows.execute(statement, values)

    def events(self) -> list[Event]:
        with closing(sqlite3.connect(self.path)) as rows:
            return [
                orjson.loads(record) for (record,) in rows.execute("SELECT record FROM events ORDER BY seq")
            ]

    def remake(self, change: Callable[[list[Event]], object], **sealing: Any) -> None:
        """Change the events before the seal, chain them anew, and seal tape and file again."""
        events = [one for one in self.events() if one["type"] != "seal"]
        change(events)
        self.path.chmod(0o600)
        with closing(sqlite3.connect(self.path)) as rows, rows:
            rows.execute("DELETE FROM events")
            for event in events:
                _append(rows, event)
        self.seal(**sealing)

    def seal(
        self,
        key: SignerKey | None = None,
        *,
        note: Event | str | None = None,
        members: Event | None = None,
        after: tuple[Event, ...] = (),
    ) -> None:
        """Seal the tape: `note` changes the members of the checkpoint or is the note, `members` those of the
        event, `after` are events behind the seal."""
        key = key or self.key
        with closing(sqlite3.connect(self.path)) as rows, rows:
            hashes = [leaf(record) for (record,) in rows.execute("SELECT record FROM events ORDER BY seq")]
            stated = {"origin": self.events()[0]["origin"], "size": len(hashes), "root": root(hashes)}
            changed = note if isinstance(note, dict) else {}
            signed = note if isinstance(note, str) else key.sign(Checkpoint(**{**stated, **changed}).text())
            seal = {"type": "seal", "size": len(hashes), "root": root(hashes).hex(), "note": signed}
            _append(rows, {**seal, "key": str(key.verifier), **(members or {})})
            for event in after:
                _append(rows, event)
        if not isinstance(note, str):
            self.seal_file(key)

    def seal_file(self, *keys: SignerKey, **changed: Any) -> None:
        """Write the seal beside the tape anew, for the file as it is now."""
        (seal,) = (one for one in self.events() if one["type"] == "seal")
        last = Checkpoint.parse(parse(seal["note"]).text)
        stated = {"origin": last.origin, "size": last.size, "root": last.root, "previous": last.previous}
        text = Checkpoint(**{**stated, "file": file_digest(self.path), **changed}).text()
        place = seal_path(self.path)
        place.unlink(missing_ok=True)
        signatures = [one.sign(text).split("\n\n")[1] for one in keys[1:]]
        place.write_text(keys[0].sign(text) + "".join(signatures))

    def unseal(self) -> None:
        self.path.chmod(0o600)
        self.rows("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
        seal_path(self.path).unlink()


def _append(rows: sqlite3.Connection, event: Event) -> None:
    last = rows.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    seq, prev = (last[0] + 1, last[1].hex()) if last else (0, GENESIS)
    record = record_bytes({**event, "seq": seq, "prev": prev})
    values = (
        seq,
        event.get("session", "") if isinstance(event.get("session", ""), str) else "",
        record,
        leaf(record),
    )
    rows.execute("INSERT INTO events VALUES (?, ?, ?, ?)", values)


def first(events: list[Event], kind: str) -> int:
    return next(at for at, event in enumerate(events) if event["type"] == kind)


def copied(path: Path, folder: Path, other_seal: str) -> Copy:
    """A tape and its seal in another folder, as they were."""
    key = KeyRing(path.parent / ".faultwire" / "keys").signer()
    assert key is not None
    for one in (path, seal_path(path)):
        (folder / one.name).write_bytes(one.read_bytes())
    return Copy(folder / path.name, key, other_seal)
