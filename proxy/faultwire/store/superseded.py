"""Tapes in an object store whose place a copy with bodies erased has taken.

A tape has superseded another where it begins with all events of it and goes on with an erasure under a seal.
That is found out by the events, once both tapes have come back whole and verify; nothing that a manifest
claims decides it, but for whose tape it is (`origin`), which saves fetching those that cannot belong
together.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from faultwire.errors import FaultwireError, UsageError
from faultwire.store.tapes import (
    blob_name,
    kept,
    manifest_name,
    needed_pieces,
    pieces_of,
    pull,
    read_manifest,
)
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.format.validate import event_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.store.objects import Objects
    from faultwire.tape.evidence.signed_note import VerifierKey


@dataclass(frozen=True, slots=True)
class Superseded:
    """A tape, and the one that took its place; `kept_for` says why it stays all the same."""

    digest: str
    by: str
    kept_for: str | None = None


@dataclass(frozen=True, slots=True)
class _Log:
    """What two tapes are compared by."""

    digest: str
    events: tuple[bytes, ...]
    erasures: tuple[int, ...]
    """Numbers of the events that say that bodies were erased."""
    wrong: str | None
    """Why it does not verify with the keys that are trusted here."""


def superseded(objects: Objects, project: str, trusted: Sequence[VerifierKey]) -> Iterator[Superseded]:
    """The tapes of a project whose place another has taken, which verifies by a trusted key or is named as
    the reason to keep them. Raises FaultwireError where the store fails, TapeTampered for a manifest that
    cannot be read."""
    groups: dict[str | None, list[str]] = {}
    for digest in kept(objects, project):
        origin = read_manifest(objects, project, digest).get("origin")
        groups.setdefault(origin if isinstance(origin, str) else None, []).append(digest)
    unknown = groups.pop(None, [])  # of a version that did not write it: may belong to any
    several = [found + unknown for found in groups.values() if len(found + unknown) > 1] or [unknown]
    seen: set[str] = set()
    for group in several:
        logs = [log for digest in group if (log := _fetched(objects, project, digest, trusted)) is not None]
        for log in logs:
            heirs = [other for other in logs if _follows(other, log)]
            if heirs and log.digest not in seen:
                seen.add(log.digest)
                yield _judged(log, heirs)


def _judged(log: _Log, heirs: Sequence[_Log]) -> Superseded:
    sound = next((heir for heir in heirs if heir.wrong is None), None)
    if sound is None:
        return Superseded(log.digest, heirs[0].digest, heirs[0].wrong)
    return Superseded(log.digest, sound.digest)


def _follows(heir: _Log, log: _Log) -> bool:
    """Has `heir` all events of `log`, and an erasure right behind them?"""
    size = len(log.events)
    return len(heir.events) > size and heir.events[:size] == log.events and size in heir.erasures


def _fetched(objects: Objects, project: str, digest: str, trusted: Sequence[VerifierKey]) -> _Log | None:
    """A tape's log; None where it does not come back whole, so that it neither goes nor takes a place."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "found.tape"
        try:
            pull(objects, digest, project, path)
        except UsageError:
            raise
        except FaultwireError as error:
            if error.code == "tapes.failed":
                raise
            return None
        return _log(digest, path, trusted)


def _log(digest: str, path: Path, trusted: Sequence[VerifierKey]) -> _Log:
    report = verify(path, trusted)
    bad = next((one for one in report.findings if not one.is_note), None)
    events, erasures = list[bytes](), list[int]()
    with closing(connect_reader(path)) as connection:
        for seq, _, record, leaf in event_rows(connection):
            events.append(leaf)
            if event_of(record, path, seq)["type"] == "erasure":
                erasures.append(seq)
    return _Log(digest, tuple(events), tuple(erasures), None if bad is None else bad.message)


def remove(objects: Objects, project: str, found: Superseded) -> int:
    """Remove a tape from the store, with the pieces that no other tape of any project needs; how many.

    The manifest goes first: from then on it is no tape. What a kill leaves of its pieces goes with a later
    `collect_garbage`. Raises FaultwireError, and ValueError for one that is to be kept.
    """
    if found.kept_for is not None:
        raise ValueError("a tape whose successor does not verify is not removed")
    own = dict.fromkeys(pieces_of(read_manifest(objects, project, found.digest)))
    objects.delete(manifest_name(project, found.digest))
    needed = needed_pieces(objects)
    gone = [piece for piece in own if piece not in needed]
    for piece in gone:
        objects.delete(blob_name(piece))
    return len(gone)
