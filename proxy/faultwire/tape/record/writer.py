"""The writer of a tape: one thread, one connection, one transaction for many exchanges.

The event loop only fills a queue. The thread gathers for `GATHER_S`, redacts, and has the core write all
of it in one transaction, without the interpreter, with `synchronous=FULL`; only then does an exchange count
as acknowledged. After any error the tape is closed as failed and `failed` says why: a disk that
refused one write is not asked again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from faultwire.clock import wall_ms
from faultwire.errors import TapeError, UsageError
from faultwire.tape.evidence.sealer import EVERY, Sealer, close_file
from faultwire.tape.format import events as tape_events, file
from faultwire.tape.format.rows import insert_events
from faultwire.tape.record.encoder import EventEncoder
from faultwire.tape.record.event_log import EventLog
from faultwire.tape.record.file_watch import FileWatch
from faultwire.tape.record.journal import Journal
from faultwire.tape.record.overload_policy import BEHIND, DEFAULT
from faultwire.tape.record.queue import WriteQueue
from faultwire.tape.record.recorder import Recording
from faultwire.tape.record.store import open_store
from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from faultwire.events import Exchange
    from faultwire.tape.evidence.signed_note import SignerKey
    from faultwire.tape.record.body_cipher import BodyCipher
    from faultwire.tape.record.overload_policy import Policy
    from faultwire.tape.record.store import Store
    from faultwire.tape.redact.rules import Rules

GATHER_S = 0.2
"""How long a first item waits for others, which then share what a commit and waking the thread cost."""


class TapeWriter:
    """Writes one tape. `record` and what it returns belong to the event loop; all others may block."""

    def __init__(
        self,
        path: Path,
        fd: int,
        store: Store,
        log: EventLog,
        scribe: EventEncoder,
        journal: Journal | None,
        sealer: Sealer | None,
        policy: Policy = DEFAULT,
        seal_every: int = EVERY,
    ) -> None:
        self.path = path
        self.policy = policy
        self.failed: str | None = None
        self.unrecorded: Counter[str] = Counter()
        """By session: exchanges that began and passed after the tape had failed."""
        self._kept_out: Counter[str] = Counter()
        self._cut_short: Counter[str] = Counter()
        self._fd = fd
        self._store = store
        self._log = log
        self._watch = FileWatch(path)
        self._scribe = scribe
        self._intake = WriteQueue(drops=policy.drops)
        self._journal = journal
        self._sealer = sealer
        self._seal_every = seal_every
        self._unsealed = 0
        self._sessions: dict[str, int] = {}
        self._acknowledged, self._closing = 0, False
        self._thread = threading.Thread(target=self._run, name=f"tape {path.name}", daemon=True)

    # ------------------------------------------------------------ opening

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        origin: str,
        settings: Mapping[str, Any],
        key: bytes | None = None,
        journal: Path | None = None,
        signer: SignerKey | None = None,
        policy: Policy = DEFAULT,
        rules: Rules | None = None,
        seal_every: int = EVERY,
        cipher: BodyCipher | None = None,
    ) -> TapeWriter:
        """Start a new tape.

        `origin` is `<project>/<tape>`. `key` keys the placeholders (see `redact.load_key`); without
        one they match nothing outside this tape. `journal` is a JSON-lines file that gets a line
        for each acknowledged exchange. `signer` seals the tape every `seal_every` exchanges and on
        close; without one it is left unsealed. `rules` are redacted besides secrets; `cipher` encrypts
        bodies. Raises UsageError where the tape exists or its name is not allowed, TapeError where it is
        locked or cannot be written.
        """
        file.check_name(path)
        file.prepare_folder(path.parent)
        redactor = Redactor(key or fresh_key(), rules)
        log = EventLog(redactor)
        log.append(tape_events.tape(origin, file.schema_digest(), wall_ms(), settings))
        first, _ = log.drain()
        with ExitStack() as undo:
            try:
                lines = Journal(journal) if journal else None
                if lines:
                    undo.callback(lines.close)
                file.create(path, lambda draft: insert_events(draft, first))
                fd = file.lock(path)
                undo.callback(os.close, fd)
                store = open_store(path)
            except FileExistsError as error:
                raise UsageError(
                    f"tape `{path}` exists already", code="tape.exists", hint="name another one, or remove it"
                ) from error
            except (OSError, sqlite3.Error) as error:
                raise TapeError(f"cannot create tape `{path}`: {error}", code="tape.create") from error
            undo.pop_all()
        sealer = Sealer(signer, origin) if signer else None
        scribe = EventEncoder(log, redactor, cipher)
        writer = cls(path, fd, store, log, scribe, lines, sealer, policy, seal_every)
        writer._thread.start()
        return writer

    # ------------------------------------------------------------ recording

    def open_session(
        self,
        name: str,
        *,
        profile: str,
        profile_digest: str,
        seed: int,
        agent: str = "",
        started_ms: int | None = None,
    ) -> None:
        """A session starts: now, or when somebody else says. Raises UsageError where one of that name was
        recorded already."""
        if name in self._sessions:
            raise UsageError(f"session `{name}` is on the tape already", code="tape.session")
        self._sessions[name] = 0
        began = wall_ms() if started_ms is None else started_ms
        self._intake.offer(tape_events.session_start(name, profile, profile_digest, seed, agent, began))

    def close_session(self, name: str, *, ended_ms: int | None = None, **seen: Any) -> None:
        """A session is over, and its exchanges before it; `seen` is as `events.session_end` takes it."""
        ended = wall_ms() if ended_ms is None else ended_ms
        self._intake.offer(tape_events.session_end(name, self._sessions[name], ended, **seen))

    def record(self, exchange: Exchange) -> Recording:
        """Begin to record an exchange; costs no more than an object."""
        self._sessions[exchange.session] = self._sessions.get(exchange.session, 0) + 1
        return Recording(exchange, self._intake)

    def admit(self, exchange: Exchange) -> Recording | None:
        """`record`, or None where the policy lets an exchange pass that the tape cannot take."""
        if self.failed is not None and self.policy.passes:
            self.unrecorded[exchange.session] += 1
            return None
        if self._intake.drops and self._intake.overflows:
            self._kept_out[exchange.session] += 1
            self.drop(exchange, BEHIND)
            return None
        return self.record(exchange)

    def drop(self, exchange: Exchange, reason: str) -> None:
        """Say on the tape that an exchange is missing from it."""
        self._intake.offer(tape_events.drop(exchange.session, exchange.number, reason))

    def dropped(self, session: str) -> int:
        """Exchanges that the policy `drop` made the tape miss, wholly or in part; exact after a `flush`."""
        return self._kept_out[session] + self._cut_short[session]

    def note(self, code: str, text: str, *, bad: bool = False) -> None:
        """Say something on the tape that its readers must know; with `bad` the tape does not verify."""
        self._intake.offer(tape_events.note(code, text, bad=bad))

    def foreign(self, event: tape_events.Event, data: bytes) -> None:
        """Keep an event of somebody else's log (`records.foreign`), with the JSON text that it was."""
        self._intake.offer((event, data))

    @property
    def behind(self) -> int:
        """Bytes that wait for the writer."""
        return self._intake.behind

    @property
    def lags(self) -> bool:
        """Does so much wait (`intake.LIMIT`) that `room` would not return at once?"""
        return (queue := self._intake).offered - queue.taken >= queue.limit and not queue.drops

    async def room(self) -> None:
        """Return once the queue has room."""
        await self._intake.room()

    # ------------------------------------------------------------ waiting for the disk

    def flush(self) -> int:
        """Wait until all that was recorded is committed, or the writer has failed; what is acknowledged."""
        self._intake.urge(done := threading.Event())
        while not done.wait(0.05) and self._thread.is_alive():
            pass
        return self._acknowledged

    async def flushed(self) -> int:
        """As `flush`, for the event loop."""
        await self._intake.written()
        return self._acknowledged

    def close(self) -> None:
        """Write what is left, fold the log into one file, and let the tape go."""
        if not self._closing:
            self._closing = True
            self._intake.urge(None)
            self._thread.join()

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        whole = False
        try:
            self._guarded(self._write)
            self._guarded(self._store.close)
            if not self.failed:
                self._guarded(lambda: self._watch.read_back(self._log.last))
            if self._sealer and not self.failed:
                # Where a reader keeps the log beside the file, `tape seal` finishes it later.
                self._guarded(partial(close_file, self.path, self._sealer))
            self._guarded(partial(os.close, self._fd))
            if self._journal:
                self._guarded(self._journal.close)
            whole = True
        finally:
            # What no step expects, such as SystemExit, ends a thread in silence.
            self.failed = self.failed or (None if whole else "the writer thread ended")
            self._intake.abandon()

    def _guarded(self, step: Callable[[], object]) -> None:
        """Do a step; the first that fails says why the tape did."""
        try:
            step()
        except (sqlite3.Error, OSError) as error:
            self.failed = self.failed or f"{error}"
        except Exception as error:  # noqa: BLE001 - a mistake of ours fails the tape, whatever it is
            # Never its text, nor through the thread's own hook: both may quote traffic.
            self.failed = self.failed or f"the writer failed with {type(error).__name__}"

    def _write(self) -> None:
        while self._batch(self._intake.gather(GATHER_S)):
            pass
        if self._sealer:
            self._scribe.seal(self._sealer)
            self._commit()
        self._store.fold()

    def _batch(self, items: list[Any]) -> bool:
        """Write and commit; False once the tape is to be closed."""
        ended: list[Recording] = []
        waiting: list[threading.Event] = []
        taken, more = 0, True
        for item in items:
            if isinstance(item, Recording):
                over, size = self._scribe.write(item)
                taken += size
                if item.lost and item.ending is not None:
                    self._cut_short[item.exchange.session] += over
                elif over:
                    ended.append(item)
            elif isinstance(item, threading.Event):
                waiting.append(item)
            elif item is None:
                more = False
            elif isinstance(item, tuple):
                self._scribe.foreign(*item)
            else:
                self._scribe.note(item)
        self._settle(ended)
        self._intake.took(taken)
        for done in waiting:
            done.set()
        return more

    def _settle(self, ended: list[Recording]) -> None:
        """Commit, and only then say so."""
        self._unsealed += len(ended)
        # Where no session is open, a tape that is cut behind the seal would look like a whole one.
        if self._sealer and self._unsealed >= self._seal_every and self._scribe.has_open_session:
            self._unsealed = 0
            self._scribe.seal(self._sealer)
        self._commit()
        self._acknowledged += len(ended)
        if self._journal and ended:
            self._journal.acknowledge(recording.exchange for recording in ended)

    def _commit(self) -> None:
        """Returns once all that is in the log is on the disk."""
        if not self._log.core.waits:
            return
        self._watch.check()
        self._store.commit(self._log.core)
        self._watch.check()
