"""New tapes out of others: several made one, one session taken out, one made fit to be given away.

A copy is a new log with its own chain. Its first event names the tapes that it was made from, with
their roots, so that whoever has those can compare; it is never worth more than partial evidence.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson

from faultwire.clock import wall_ms
from faultwire.errors import TapeError, TapeIncomplete, TapeTampered, UsageError, did_you_mean
from faultwire.tape.evidence.sealer import Sealer, close_file
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format import events as tape_events, file
from faultwire.tape.format.blobs import ENCRYPTED_BODIES, ENCRYPTION, unpack
from faultwire.tape.format.rows import insert_blobs, insert_events
from faultwire.tape.format.validate import event_of
from faultwire.tape.read.metadata import masks_of
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.event_log import EventLog
from faultwire.tape.redact.redactor import Redactor, fresh_key
from faultwire.tape.redact.rekey import Rekey
from faultwire.tape.redact.taped_rules import KEY, joined, rules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey
    from faultwire.tape.format.events import Event

BATCH = 500
BATCH_BYTES = 16 << 20
"""What waits to be written: so many events, or so many bytes of bodies."""


class Copy:
    """A tape that is made out of others; used once."""

    def __init__(self, target: Path, how: str, origin: str, rekey: Rekey | None = None) -> None:
        self.target = target
        self.events = 0
        self._how = how
        self._origin = origin
        self._rekey = rekey
        self._settings: dict[str, Any] = {}
        self._log = EventLog(Redactor(fresh_key()))
        self._events = 0
        self._names: set[str] = set()
        self._waiting = 0

    def make(self, sources: Sequence[Path], keep: Callable[[Event], bool], signer: SignerKey | None) -> None:
        """Write the copy, sealed where there is a signer.

        Raises TapeTampered where a source does not verify: what was changed is not passed on as
        recorded. Raises UsageError where the target exists, TapeError where it cannot be written.
        """
        file.check_name(self.target)
        file.prepare_folder(self.target.parent)
        made_of = [_sound(source) for source in sources]
        sealer = Sealer(signer, self._origin) if signer else None
        try:
            file.create(self.target, lambda draft: self._fill(draft, sources, made_of, keep, sealer))
            if sealer:
                self._seal(sealer)
        except FileExistsError as error:
            raise UsageError(f"tape `{self.target}` exists already", code="tape.exists") from error
        except (OSError, sqlite3.Error) as error:
            raise TapeError(f"cannot write tape `{self.target}`: {error}", code="tape.create") from error

    def _seal(self, sealer: Sealer) -> None:
        """Seal the file; what cannot be sealed does not stay. Raises OSError."""
        try:
            close_file(self.target, sealer)
        except OSError:
            self.target.unlink(missing_ok=True)
            raise

    def _fill(
        self,
        draft: sqlite3.Connection,
        sources: Sequence[Path],
        made_of: list[dict[str, Any]],
        keep: Callable[[Event], bool],
        sealer: Sealer | None,
    ) -> None:
        settings: dict[str, Any] = {**self._settings, "made_by": self._how, "made_of": made_of}
        masks = _masks_of_all(sources)
        if masks:
            settings.setdefault("masks", masks)
        rules = _rules_of_all(sources)
        if rules:
            settings.setdefault(KEY, self._renamed(rules))
        imported = [one["imported"] for one in made_of if "imported" in one]
        if any(_encrypts(source) for source in sources):
            settings.setdefault(ENCRYPTION, ENCRYPTED_BODIES)
        if imported:  # what was not recorded by the proxy does not become so in a copy
            settings["imported"] = ", ".join(dict.fromkeys(imported))
        self._log.append(tape_events.tape(self._origin, file.schema_digest(), wall_ms(), settings))
        for source in sources:
            self._names |= self._one(draft, source, keep)
        if sealer:
            self._log.seal(sealer)
        self.events = self._log.core.seq
        self._flush(draft)
        draft.execute("PRAGMA journal_mode=DELETE")

    def _one(self, draft: sqlite3.Connection, source: Path, keep: Callable[[Event], bool]) -> set[str]:
        """Copy one source's events; sessions whose names are taken already get the next free one."""
        names: dict[str, str] = {}
        with closing(file.connect_reader(source)) as connection:
            rows = file.event_rows(connection)
            for event in (event_of(record, source, seq) for seq, _, record, _ in rows):
                if event["type"] in ("tape", "seal") or not keep(event):
                    continue
                self._place(event, names)
                self._event(connection, event)
                if self._events >= BATCH or self._waiting >= BATCH_BYTES:
                    self._flush(draft)
        return set(names.values())

    def _place(self, event: Event, names: dict[str, str]) -> None:
        """Name an event's session as the copy does; `names` has those of this source."""
        if "session" in event:
            session = event["session"]
            event["session"] = names.setdefault(session, _free(session, self._names))

    def _event(self, connection: sqlite3.Connection, event: Event) -> None:
        body = event.get("body")
        if body:
            row = connection.execute(
                "SELECT size, packed, data FROM blobs WHERE digest = ?", (bytes.fromhex(body["blob"]),)
            ).fetchone()
            if row is None:
                raise TapeIncomplete(
                    f"the body `{body['blob']}` was erased, expected a tape that has all of its bodies",
                    code="tape.body_erased",
                    hint="`tape export --to jsonl` and `--to bundle` take an erased tape as it is",
                )
            data = unpack(*row)
            if self._rekey and ENCRYPTION in body:
                raise TapeIncomplete(
                    f"the body `{body['blob']}` is encrypted, so its placeholders cannot be replaced",
                    code="tape.body_encrypted",
                )
            self._waiting += len(data)
            body["blob"] = self._log.put(self._rekey.data(data) if self._rekey else data)
        if self._rekey:
            if event.get("key"):
                event["key"] = self._rekey.digest(event["key"])
            for line in event.get("lines", ()):
                line["key"] = self._rekey.digest(line["key"])
            event = self._renamed(event)
        self._add(event)
        self._events += 1

    def _add(self, event: Event) -> None:
        """Add an event of a source, which gets a place of its own."""
        self._log.append({name: value for name, value in event.items() if name not in ("seq", "prev")})

    def _renamed(self, value: dict[str, Any]) -> dict[str, Any]:
        """The same with other placeholders, where those of the copy are others."""
        if self._rekey is None:
            return value
        new: dict[str, Any] = orjson.loads(self._rekey.data(orjson.dumps(value)))
        return new

    def _flush(self, draft: sqlite3.Connection) -> None:
        draft.execute("BEGIN IMMEDIATE")
        events, blobs = self._log.drain()
        insert_blobs(draft, blobs)
        insert_events(draft, events)
        draft.execute("COMMIT")
        self._events = self._waiting = 0


def merge(sources: Sequence[Path], target: Path, origin: str, signer: SignerKey | None) -> Copy:
    """All sessions of several tapes on one."""
    copy = Copy(target, "merge", origin)
    copy.make(sources, lambda _event: True, signer)
    return copy


def split(source: Path, session: str, target: Path, origin: str, signer: SignerKey | None) -> Copy:
    """One session of a tape on its own. Raises TapeIncomplete where the tape does not have it."""
    return split_sessions(source, [session], target, origin, signer)


def split_sessions(
    source: Path, sessions: Collection[str], target: Path, origin: str, signer: SignerKey | None
) -> Copy:
    """Some sessions of a tape on their own. Raises TapeIncomplete where the tape does not have one."""
    with TapeReader.open(source) as reader:
        names = [info.name for info in reader.sessions()]
    missing = next((session for session in sessions if session not in names), None)
    if missing is not None:
        raise TapeIncomplete(
            f"tape `{source}` has no session `{missing}`",
            code="tape.no_session",
            hint=did_you_mean(missing, names) if names else None,
        )
    copy = Copy(target, "split", origin)
    copy.make([source], lambda event: event.get("session") in sessions, signer)
    return copy


def clone(source: Path, target: Path, origin: str, signer: SignerKey | None) -> Copy:
    """The same sessions on a tape of its own."""
    return merge([source], target, origin, signer)


def share(source: Path, target: Path, origin: str, signer: SignerKey | None) -> Copy:
    """The same tape with placeholders that match those of no other tape."""
    copy = Copy(target, "share", origin, Rekey())
    copy.make([source], lambda _event: True, signer)
    return copy


def _masks_of_all(sources: Sequence[Path]) -> list[str]:
    """The masks that each of the sources was recorded with. What only one of them is blind to would make
    requests of another look alike, which then got each other's answers; without it they miss."""
    kept: list[str] | None = None
    for source in sources:
        with TapeReader.open(source) as reader:
            own = masks_of(reader.info().settings)
        kept = own if kept is None else [mask for mask in kept if mask in own]
    return kept or []


def _rules_of_all(sources: Sequence[Path]) -> dict[str, Any]:
    """What any of the sources redacts: a replay of the copy must not store what one of them did not."""
    kept: dict[str, Any] = {}
    for source in sources:
        with TapeReader.open(source) as reader:
            kept = joined(kept, rules_of(reader.info().settings, source))
    return kept


def _encrypts(source: Path) -> bool:
    with TapeReader.open(source) as reader:
        return ENCRYPTION in reader.info().settings


def _sound(source: Path) -> dict[str, Any]:
    report = verify(source)
    bad = [finding for finding in report.findings if not finding.is_note and finding.code != "seal_untrusted"]
    if bad:
        raise TapeTampered(
            f"tape `{source}` does not verify: {bad[0].message}",
            hint=f"faultwire tape verify {source}; faultwire tape salvage {source} -o NEW",
        )
    about = {"origin": report.origin, "root": report.root, "events": report.events}
    return {**about, "imported": str(report.imported)} if report.imported else about


def _free(name: str, taken: set[str]) -> str:
    return next(one for one in _candidates(name) if one not in taken)


def _candidates(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
