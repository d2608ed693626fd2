"""Encrypts bodies on their way to the tape, each session's under a key of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.dice import token
from faultwire.tape.format.blobs import ENCRYPTION
from faultwire.tape.format.encryption import NONCE, encrypted

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.tape.format.events import Event


class BodyCipher:
    """Used by the writer thread only; `fresh` makes and keeps a key for a session."""

    def __init__(self, fresh: Callable[[str], tuple[str, bytes]]) -> None:
        self._fresh = fresh
        self._keys: dict[str, tuple[str, bytes]] = {}

    def stored(self, session: str, data: bytes) -> tuple[bytes, Event]:
        """What is stored of a body, and what its event has besides. Raises TapeError for keys that cannot
        be kept: then nothing of the body may be written."""
        key_id, key = self._keys.get(session) or self._keys.setdefault(session, self._fresh(session))
        made, how = encrypted(data, key_id, key, token(NONCE))
        return made, {ENCRYPTION: how.member()}

    def forget(self, session: str) -> None:
        """A session has ended."""
        self._keys.pop(session, None)
