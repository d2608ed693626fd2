"""The audit log: a tape of what was asked of the service by whom, so that it verifies as any other tape.

Every request that changes something, comes in, or is refused is an exchange: the session is the project,
the caller stands in a header field of our own, and secrets of paths and bodies are not kept. An answer
leaves only once its line is on the disk; where the tape fails, so does the request.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from faultwire.clock import wall_ms
from faultwire.errors import TapeError
from faultwire.events import Delivery, Exchange, Request
from faultwire.tape.files.find import tapes
from faultwire.tape.record.recorder import Elsewhere
from faultwire.tape.record.writer import TapeWriter

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey

CALLER = "x-faultwire-caller"
REASON = "x-faultwire-code"
FIRST = "audit-000001.tape"
SERVICE = "service"
"""The session of what belongs to no project."""


class Audit:
    """One tape for each start of the service."""

    def __init__(self, folder: Path, origin: str, signer: SignerKey, key: bytes) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / f"audit-{len(tapes(folder)) + 1:06d}.tape"
        self._writer = TapeWriter.create(
            self.path, origin=f"{origin}/{self.path.stem}", settings={"audit": True}, key=key, signer=signer
        )
        self._numbers: defaultdict[str, int] = defaultdict(int)

    async def add(
        self, request: Request, project: str | None, caller: str, status: int, code: str = ""
    ) -> None:
        """Keep what was asked, and how it was answered. Raises TapeError where that cannot be kept."""
        session = project or SERVICE
        if not self._numbers[session]:
            self._writer.open_session(session, profile="", profile_digest="", seed=0)
        self._numbers[session] += 1
        asked = Request(
            request.method, request.scheme, request.host, request.port, request.path, ((CALLER, caller),)
        )
        answer = Delivery(status, "", ((REASON, code),) if code else (), b"")
        exchange = Exchange(session, self._numbers[session], asked, "other")
        self._writer.record(exchange).whole(Elsewhere(asked, answer, answer, wall_ms(), 0))
        await self._writer.flushed()
        if self._writer.failed:
            raise TapeError(f"cannot write the audit log: {self._writer.failed}", code="service.audit")

    def close(self) -> None:
        """Close it, sealed."""
        for session in self._numbers:
            self._writer.close_session(session)
        self._writer.close()
