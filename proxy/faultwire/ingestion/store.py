"""Where events are kept: a folder of tapes, one for each start of the service.

A batch is answered only once its events are on the disk. Sessions go on after a restart, on the next tape;
what an earlier start kept is checked against its own hashes before anything is added to it.
"""

from __future__ import annotations

import fcntl
import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson

from faultwire._core import __version__
from faultwire.clock import iso, wall_ms
from faultwire.errors import TapeError, UsageError
from faultwire.ingestion.chain import Chain, restored
from faultwire.ingestion.refusal import Refused
from faultwire.tape.files.find import tapes
from faultwire.tape.format.events import foreign
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.body import Body
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.ingestion.batch import Batch
    from faultwire.tape.evidence.signed_note import SignerKey

SOURCE = "agentops ELS 1.0"
SERVICE = "faultwire-ingest"
LOCK = "ingest.lock"
MISMATCH, _OF = "ingest_hash_mismatch", "session `"
"""The code of a note on an event that is not what its SDK hashed, and how its text begins."""
_JSON = Head((), "application/json")
Json = dict[str, Any]


class Store:
    """Raises UsageError where another service has the folder, TapeError where what is in it cannot be read or
    is not what was kept."""

    def __init__(
        self,
        folder: Path,
        project: str,
        signer: SignerKey,
        key: bytes,
        *,
        pii: bool = False,
        hmac_key: bytes | None = None,
        strict: bool = False,
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._lock = _locked(folder / LOCK)
        self._hmac_key, self._strict = hmac_key, strict
        self._redactor = Redactor(key, Rules(pii=pii))
        self._cleaner = ThreadPoolExecutor(1, "redaction")
        self.chains: dict[str, Chain] = {}
        self._places: dict[str, list[Path]] = {}
        earlier = tapes(folder)
        for path in earlier:
            self._restore(path)
        target = folder / f"events-{len(earlier) + 1:06d}.tape"
        settings = {"imported": "agentops", "ingested": True}
        origin = f"{project}/{target.stem}"
        self._writer = TapeWriter.create(
            target, origin=origin, settings=settings, key=key, signer=signer, rules=Rules(pii=pii)
        )
        self._on_tape: set[str] = set()

    @property
    def tape(self) -> Path:
        """The tape of this start."""
        return self._writer.path

    # ------------------------------------------------------------ taking

    async def add(self, batch: Batch) -> Json:
        """Keep a batch; the answer to its SDK. Raises Refused."""
        import asyncio

        chain = self.chains.get(batch.session) or Chain(batch.session)
        chain.check(batch)
        self._room()
        loop = asyncio.get_running_loop()
        payloads, wrong = await loop.run_in_executor(self._cleaner, self._prepared, chain, batch)
        chain.check(batch)  # another batch of the session may have come meanwhile
        if self.chains.setdefault(batch.session, chain) is not chain:
            raise Refused(409, "DUPLICATE_SEQUENCE", "another batch of this session came at the same time")
        for _, text in wrong:
            chain.find(text)
            self._writer.note(MISMATCH, f"{_OF}{chain.session}`: {text}")
        events = chain.add(batch, payloads, {number for number, _ in wrong})
        if batch.seal:
            now = f"{iso(wall_ms())[:-1]}000Z"
            events.append(chain.sealed(now, SERVICE, f"faultwire {__version__}", self._hmac_key))
        self._keep(chain, events)
        await self._writer.flushed()
        self._check()
        return _accepted(chain, batch, [text for _, text in wrong])

    def _prepared(self, chain: Chain, batch: Batch) -> tuple[list[Json], list[tuple[int, str]]]:
        """The payloads without secrets, and the events whose own hash does not fit."""
        wrong = list(chain.mismatches(batch))
        if wrong and self._strict:
            raise Refused(400, "PAYLOAD_HASH_MISMATCH", wrong[0][1], numbers=[one for one, _ in wrong[:100]])
        return [self._clean(event.payload) for event in batch.events], wrong

    def _clean(self, payload: Json) -> Json:
        body = Body(self._redactor, _JSON, {})
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        body.add(((0, text),))
        found, _ = body.release(final=True)
        value = payload if found == text else json.loads(found)
        if not isinstance(value, dict):
            raise Refused(400, "INVALID_PAYLOAD", "a payload cannot be kept: nothing of it may be shown")
        return value

    def _keep(self, chain: Chain, events: list[Json]) -> None:
        name = chain.session
        if name not in self._on_tape:
            self._on_tape.add(name)
            self._places.setdefault(name, []).append(self.tape)
            self._writer.open_session(name, profile="", profile_digest="", seed=0)
        for event in events:
            about = foreign(name, SOURCE, event["event_type"], event["seq"], _instant(event["timestamp"]))
            self._writer.foreign(about, json.dumps(event, ensure_ascii=False).encode())
        if chain.seal is not None:
            self._writer.close_session(name)

    def _room(self) -> None:
        self._check()
        if self._writer.lags:
            raise Refused(503, "BACK_PRESSURE", "the disk does not keep up: send this batch again later")

    def _check(self) -> None:
        if self._writer.failed:
            raise Refused(503, "STORE_FAILED", f"nothing can be kept any more: {self._writer.failed}")

    # ------------------------------------------------------------ reading

    def lines(self, session: str) -> Iterator[bytes]:
        """The events of a session as JSON lines, its seal last."""
        for path in self._places[session]:
            with TapeReader.open(path) as reader:
                for one in reader.foreign(session):
                    yield one.data + b"\n"

    def sessions(self) -> list[Json]:
        """What there is of each session."""
        return [
            {
                "session_id": name,
                "event_count": chain.count,
                "total_drops": chain.drops,
                "sealed": chain.seal is not None,
                "evidence_class": chain.evidence_class,
            }
            for name, chain in self.chains.items()
        ]

    # ------------------------------------------------------------ lives and deaths

    def close(self) -> None:
        """Close this start's tape, sealed; sessions that are open go on with the next one."""
        for name in self._on_tape:
            if self.chains[name].seal is None:
                self._writer.close_session(name)
        self._writer.close()
        self._cleaner.shutdown()
        os.close(self._lock)

    def _restore(self, path: Path) -> None:
        with TapeReader.open(path) as reader:
            for name in dict.fromkeys(one.session for one in reader.foreign()):
                self._places.setdefault(name, []).append(path)
            wrong = restored((orjson.loads(one.data) for one in reader.foreign()), self._chain)
            for note in reader.notes():
                if note.code == MISMATCH:
                    session, _, text = note.text.removeprefix(_OF).partition("`: ")
                    self._chain(session).find(text)
        if wrong:
            raise TapeError(
                f"`{path}`: {wrong}",
                code="ingest.changed",
                hint=f"`faultwire tape verify {path}` says what was changed; another `--store` begins anew",
            )

    def _chain(self, session: str) -> Chain:
        return self.chains.setdefault(session, Chain(session))


def _locked(path: Path) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise UsageError(
            f"`{path.parent}` is used by another service",
            code="ingest.locked",
            hint="choose another `--store`",
        ) from None
    return fd


def _instant(text: str) -> int | None:
    try:
        return max(0, int(datetime.fromisoformat(text).timestamp() * 1000))
    except (ValueError, OverflowError):
        return None


def _accepted(chain: Chain, batch: Batch, wrong: list[str]) -> Json:
    """The answer of 201; members that its SDK's service has, and `findings`."""
    seal = chain.seal
    payload = seal["payload"] if seal else {}
    summary = {
        name: payload.get(name)
        for name in (
            "evidence_class",
            "session_digest",
            "final_event_hash",
            "event_count",
            "ingestion_service_id",
        )
    }
    return {
        "status": "success",
        "accepted_count": len(batch.events),
        "final_hash": chain.last,
        "chain_authority": "SERVER",
        "sealed": seal is not None,
        "seal_timestamp": payload.get("seal_timestamp"),
        "session_digest": payload.get("session_digest"),
        "evidence_class": payload.get("evidence_class"),
        "chain_seal": summary if seal else None,
        "findings": wrong,
    }
