"""Keys of encrypted bodies are destroyed, session by session; the tape stays as it is, byte for byte."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.clock import wall_ms
from faultwire.errors import TapeError
from faultwire.tape.evidence.body_keys import BodyKeys, Shredded
from faultwire.tape.format import file
from faultwire.tape.format.encryption import encryption_of
from faultwire.tape.format.validate import event_of
from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey


@dataclass(slots=True)
class SessionKey:
    """A key that bodies of a session are encrypted with, and how many there are."""

    key: str
    session: str
    bodies: int = 0


def session_keys(path: Path, session: str | None = None) -> list[SessionKey]:
    """The keys that events of a session, or of all, name. Raises TapeError."""
    found: dict[tuple[str, str], SessionKey] = {}
    with closing(file.connect_reader(path)) as connection:
        for seq, _, record, _ in file.event_rows(connection):
            event = event_of(record, path, seq)
            how = encryption_of(event.get("body") or {})
            name = event.get("session", "")
            if how is not None and session in (None, name):
                found.setdefault((how.key, name), SessionKey(how.key, name)).bodies += 1
    return list(found.values())


def plain_bodies(path: Path, session: str | None = None) -> int:
    """How many bodies of a session, or of all, are not encrypted, so that no key's end takes them. Raises
    TapeError."""
    count = 0
    with closing(file.connect_reader(path)) as connection:
        for seq, _, record, _ in file.event_rows(connection):
            event = event_of(record, path, seq)
            body = event.get("body")
            if body and encryption_of(body) is None and session in (None, event.get("session", "")):
                count += 1
    return count


def shred(found: Sequence[SessionKey], reason: str, by: str, signer: SignerKey, keys: BodyKeys) -> None:
    """Destroy these keys. Raises TapeError for the first that is not here, before any is destroyed, or that
    cannot be destroyed."""
    clean = Redactor(fresh_key())
    for one in found:
        if not keys.has(one.key) and not keys.place(one.key, "shredding").is_file():
            keys.key(one.key)  # says whether it was shredded or is elsewhere
            raise TapeError(f"body key `{one.key}` went while it was looked at", code="keys.unreadable")
    for one in found:
        record = Shredded(one.session, wall_ms(), clean.text(by, {}), clean.text(reason, {}))
        keys.shred(one.key, record, signer)
