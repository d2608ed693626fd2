"""Opening a tape to replay it: verified first, or, where that was waived, read as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from faultwire.errors import TapeTampered
from faultwire.replay.mask import Masks
from faultwire.replay.match import Index
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.blobs import ENCRYPTED_BODIES, ENCRYPTION, unpack
from faultwire.tape.format.validate import event_of
from faultwire.tape.read.metadata import masks_of
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.redact.taped_rules import complete, joined, rules_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    from faultwire.events import Recorded
    from faultwire.replay.settings import ReplaySettings
    from faultwire.tape.format.events import Event
    from faultwire.wire.senders import Mark


class Unverified(TapeReader):
    """Reads what the rows say, also where it contradicts their hashes."""

    def _event(self, seq: int, session: str, record: bytes, digest: bytes) -> Event:
        return event_of(record, self.path, seq)

    def _blob(self, name: str) -> bytes:
        row = self._one("SELECT size, packed, data FROM blobs WHERE digest = ?", (bytes.fromhex(name),))
        if row is None:
            raise TapeTampered(f"tape `{self.path}` lacks blob `{name}`", code="tape.blob_missing")
        return unpack(*row)


def open_tape(path: Path, *, unverified: bool = False) -> TapeReader:
    """Open a tape whose answers an agent is to get; `unverified`: as it is, or what is left of it.

    Raises TapeTampered, with the first bad event, where it is not what was recorded; TapeNotFound,
    TapeVersion or TapeError where it cannot be read.
    """
    if unverified:
        return as_it_is(path)
    _whole(path)
    report = verify(path)
    # A seal by somebody whom nobody here knows says nothing against what the chain proves.
    bad = next((one for one in report.findings if not one.is_note and one.code != "seal_untrusted"), None)
    if bad is not None:
        where = "" if report.first_bad is None else f" from event {report.first_bad} on"
        raise TapeTampered(
            f"tape `{path}` is not what was recorded{where}: {bad.message}",
            hint="`faultwire tape verify` lists all findings; --unverified replays it all the same",
        )
    return TapeReader.open(path)


def as_it_is(path: Path) -> TapeReader:
    """Open a tape that nobody verifies; of one whose end is gone, what can be read.

    Raises TapeNotFound, TapeVersion, or TapeError where nothing can be read.
    """
    from faultwire.tape.evidence.salvage import cut_short  # most engines replay nothing
    from faultwire.tape.read.partial import partial_copy

    if not cut_short(path):
        return Unverified.open(path)
    with TemporaryDirectory() as folder:
        left = Path(folder) / path.name
        partial_copy(path, left)
        reader = Unverified.open(left)  # what is open stays readable when its name is gone
    reader.path = path
    return reader


def _whole(path: Path) -> None:
    """Refuse a tape whose end is gone. Raises TapeError."""
    from faultwire.tape.evidence.salvage import kept_of_cut  # most engines replay nothing

    kept = kept_of_cut(path)
    if kept is not None:
        where = "" if kept.reason is None else f" from event {kept.events} on: {kept.reason}"
        raise TapeTampered(
            f"tape `{path}` is cut off and not what was recorded{where}",
            hint="`faultwire tape salvage` copies what is whole to a tape that replays; --unverified replays "
            "what can be read",
        )


def tape_settings(settings: ReplaySettings) -> dict[str, object]:
    """What a tape that is made by a replay says of itself. What the proxy did not record does not become its
    record by being replayed. Raises TapeError where the replayed tape cannot be read."""
    if not settings.unverified:
        _whole(settings.tape)
    known = _known(settings)
    imported = known.get("imported")
    settings_ = {
        **settings.tape_settings(),
        "masks": list(dict.fromkeys((*masks_of(known), *settings.masks))),
    }
    if ENCRYPTION in known:  # what was recorded encrypted is not recorded in the clear by its replay
        settings_[ENCRYPTION] = ENCRYPTED_BODIES
    return {**settings_, **({"imported": str(imported)} if imported else {})}


def _known(settings: ReplaySettings) -> dict[str, Any]:
    with as_it_is(settings.tape) if settings.unverified else TapeReader.open(settings.tape) as tape:
        return tape.info().settings


def redaction(settings: ReplaySettings | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """The redaction rules of a run: its own, and in a replay also those of the tape that it replays.

    Raises UsageError where the tape does not hold the text of a pattern and `own` has no such pattern,
    TapeError where the replayed tape cannot be read."""
    if settings is None:
        return dict(own)
    return complete(joined(rules_of(_known(settings), settings.tape), own), settings.tape)


def index(
    reader: TapeReader,
    masks: tuple[str, ...] = (),
    *,
    session: str | None = None,
    strict_order: bool = False,
    reuse: bool = False,
    as_forwarded: bool = False,
    without: Collection[int] = (),
    marks: tuple[Mark, ...] = (),
) -> Index:
    """What a tape answers: one of its sessions where it has one of that name, else all. The tape's own masks
    hold as well. `as_forwarded`: requests that a fault changed are known by what their servers were asked.
    `without` are the numbers of exchanges that do not answer, and `marks` tell its agents apart.

    Raises UsageError for a mask that is none."""
    texts = masks_of(reader.info().settings)
    recorded = reader.exchanges(session if session is not None and reader.has(session) else None)
    recorded = forwarded(reader, recorded) if as_forwarded else recorded
    if without:
        left_out = frozenset(without)
        recorded = (one for one in recorded if one.number not in left_out)
    parsed = Masks.parse([*texts, *masks])
    return Index(recorded, parsed, strict_order=strict_order, reuse=reuse, marks=marks)


def forwarded(reader: TapeReader, exchanges: Iterable[Recorded]) -> Iterator[Recorded]:
    """The exchanges with the requests that servers got. A tool's result that a fault replaced is replaced in
    all requests that follow, so only those are looked at."""
    changed: set[str] = set()
    for exchange in exchanges:
        if any(line.site == "result" and line.outcome != "skipped" for line in exchange.faults):
            changed.add(exchange.session)
        sent = None
        if exchange.session in changed and exchange.kind == "llm":
            sent = reader.detail(exchange.session, exchange.number).forwarded
        yield exchange if sent is None else replace(exchange, request=sent)
