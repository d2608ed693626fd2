"""What every import does alike: a format's reader tells items, and they become a tape.

A reader is a module with `read(path) -> Iterator[Item]`. It tells what is wrong with the file as `Found` and
goes on; it raises TapeError only where nothing more can be read. Everything that it tells passes the same
redaction as what the proxy records, and no tape that was made so counts as recorded by the proxy.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count as counting
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.errors import TapeError
from faultwire.events import Exchange
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.format import events as tape_events
from faultwire.tape.import_._clean import clean, instant, name_of
from faultwire.tape.record.recorder import Elsewhere
from faultwire.tape.record.writer import TapeWriter
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey

__all__ = ["Elsewhere", "Event", "Exchanged", "Found", "Imported", "Item", "store"]

MOST_FINDINGS = 1000
"""More are counted, and not kept."""
MOST_BYTES = 4 << 30
"""Of all bodies that one file unpacks to."""
FLUSH_BYTES = 16 << 20
"""What may wait for the writer."""
SESSION = "imported"
"""Where the file names none."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One exchange, and the session that it belongs to by the file's own word."""

    exchange: Elsewhere
    session: str = SESSION


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a log that is no exchange: `data` is its JSON text, `at_ms` since the epoch."""

    session: str
    source: str
    kind: str
    data: bytes
    number: int | None = None
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """One thing about the file that is wrong; a `note` only says what it does not hold, or cannot prove."""

    code: str
    message: str
    note: bool = False


Item = Exchanged | Event | Found


@dataclass(slots=True)
class Imported:
    """What became of a file."""

    path: Path
    source: str
    sessions: int = 0
    exchanges: int = 0
    events: int = 0
    findings: list[Found] = field(default_factory=list)
    more: int = 0
    """Findings beyond those that are listed."""

    @property
    def clean(self) -> bool:
        """Is the file what it says it is?"""
        return not self.more and all(one.note for one in self.findings)


def store(
    items: Iterator[Item],
    target: Path,
    source: str,
    origin: str,
    signer: SignerKey | None = None,
    *,
    key: bytes | None = None,
    about: dict[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> Imported:
    """Make a tape of what a reader tells; `about` says more of the file, for the tape's first event.

    Raises UsageError where the tape exists, and TapeError where it cannot be written, or where nothing can
    be read of the file: then there is no tape.
    """
    settings = {"imported": source, **(about or {})}
    writer = TapeWriter.create(target, origin=origin, settings=settings, key=key, signer=signer)
    making = _Making(writer, Imported(target, source), most_bytes)
    try:
        making.all(items)
    except BaseException:
        writer.close()
        _remove(target)
        raise
    return making.done()


def _remove(target: Path) -> None:
    beside = [target.with_name(f"{target.name}{end}") for end in ("-wal", "-shm")]
    for path in (target, seal_path(target), *beside):
        with suppress(OSError):
            path.unlink()


class _Making:
    """A tape in the making."""

    def __init__(self, writer: TapeWriter, done: Imported, most_bytes: int) -> None:
        self._most = most_bytes
        self._writer = writer
        self._done = done
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._size = 0
        self._waiting = 0

    def all(self, items: Iterator[Item]) -> None:
        """Write every item. What cannot be read behind something that can is a finding."""
        try:
            for item in items:
                self._one(item)
                if self._size > self._most:
                    raise TapeError(f"found more than {self._most} bytes of bodies", code="tape.import_size")
        except TapeError as error:
            if self._writer.failed or not (self._done.exchanges or self._done.events):
                raise
            self._find(Found("import_broken_off", f"nothing more can be read: {error.message}"))

    def done(self) -> Imported:
        """Close the tape, sealed."""
        for name, ended_ms in self._ended.items():
            self._writer.close_session(name, ended_ms=ended_ms)
        if self._done.more:
            self._writer.note(
                "findings_left_out", f"{counted(self._done.more, 'more finding')}, not kept", bad=True
            )
        self._writer.close()
        if self._writer.failed:
            _remove(self._done.path)
            self._check()
        self._done.sessions = len(self._numbers)
        return self._done

    def _one(self, item: Item) -> None:
        if isinstance(item, Found):
            self._find(item)
            return
        if isinstance(item, Exchanged):
            size = self._exchange(item)
            self._done.exchanges += 1
        else:
            size = self._event(item)
            self._done.events += 1
        self._size += size
        self._waiting += size + 1024
        if self._waiting > FLUSH_BYTES:
            self._waiting = 0
            self._writer.flush()
            self._check()

    def _exchange(self, item: Exchanged) -> int:
        foreign = clean(item.exchange)
        request = foreign.request
        name = self._session(
            item.session, foreign.started_ms, foreign.started_ms + foreign.duration_ns // 1_000_000
        )
        self._numbers[name] += 1
        found = wire.classify(request)
        exchange = Exchange(name, self._numbers[name], request, found.kind)
        exchange = replace(
            exchange,
            protocol=found.protocol.name if found.protocol else None,
            provider=found.provider,
            tool=found.tool,
        )
        self._writer.record(exchange).whole(foreign)
        bodies = [request.body or b"", *(one.data for one in foreign.messages)]
        bodies += [side.body for side in (foreign.upstream, foreign.delivered) if side is not None]
        return sum(map(len, bodies))

    def _event(self, item: Event) -> int:
        at_ms = None if item.at_ms is None else instant(item.at_ms)
        name = self._session(item.session, at_ms or 0, at_ms or 0)
        number = None if item.number is None else instant(item.number)
        event = tape_events.foreign(name, item.source, item.kind[:200], number, at_ms)
        self._writer.foreign(event, item.data)
        return len(item.data)

    def _session(self, stated: str, began_ms: int, ended_ms: int) -> str:
        """The session on our tape for one in the file, opened when it is first named."""
        name = self._names.get(stated)
        if name is None:
            wanted = name_of(stated) or SESSION
            tries = (wanted if n == 1 else f"{wanted[:56]}-{n}" for n in counting(1))
            name = self._names[stated] = next(one for one in tries if one not in self._numbers)
            self._writer.open_session(name, profile="", profile_digest="", seed=0, started_ms=began_ms)
            self._numbers[name] = 0
        self._ended[name] = max(self._ended.get(name, 0), began_ms, ended_ms)
        return name

    def _find(self, found: Found) -> None:
        if len(self._done.findings) >= MOST_FINDINGS:
            self._done.more += 1
            return
        found = replace(found, message=found.message[:2000])
        self._done.findings.append(found)
        self._writer.note(found.code, found.message, bad=not found.note)

    def _check(self) -> None:
        if self._writer.failed:
            raise TapeError(
                f"cannot write tape `{self._done.path}`: {self._writer.failed}", code="tape.write"
            )
