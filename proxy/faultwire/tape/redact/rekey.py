"""Other placeholders for the same secrets: a tape that is given away must not match those that stay.

Whoever holds the project's key could tell that two tapes hold the same secret. `Rekey` puts each
placeholder through a fresh key, wherever it stands; lengths stay, so bodies, chunks and checksums do.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from hashlib import sha256

from faultwire import _core
from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.redactor import fresh_key

_PLACEHOLDER = re.compile(re.escape(MARK.encode()) + rb"([0-9a-f]{32})")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{56,}={0,2}")


class Rekey:
    """Renames placeholders under a key that nobody keeps."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or fresh_key()

    def digest(self, old: str) -> str:
        """What 32 hex digits become."""
        return hmac.digest(self._key, old.encode(), sha256).hex()[:32]

    def data(self, data: bytes) -> bytes:
        """The same bytes with every placeholder renamed, also in Base64; frames keep valid checksums."""
        frames = _frames(data)
        if frames is None:
            return self._text(data)
        return b"".join(map(self._frame, frames))

    def _frame(self, piece: bytes) -> bytes:
        start = 12 + int.from_bytes(piece[4:8])
        new = self._text(piece[start:-4])
        try:
            return _core.eventstream_with_payload(piece, new)
        except ValueError:  # its checksum was wrong before: it was redacted as text, or a fault broke it
            return piece[:start] + new + piece[-4:]

    def _text(self, data: bytes) -> bytes:
        plain = _PLACEHOLDER.sub(lambda found: MARK.encode() + self.digest(found[1].decode()).encode(), data)
        return _BASE64.sub(self._base64, plain)

    def _base64(self, found: re.Match[bytes]) -> bytes:
        text = found[0]
        if len(text) % 4:
            return text
        inner = b64decode(text)
        new = _PLACEHOLDER.sub(lambda one: MARK.encode() + self.digest(one[1].decode()).encode(), inner)
        return text if new == inner else b64encode(new)


def _frames(data: bytes) -> list[bytes] | None:
    """The frames of an AWS event stream; None where it is none."""
    splitter = _core.EventStreamSplitter()
    pieces = splitter.feed(data)
    if splitter.broken is not None or sum(map(len, pieces)) != len(data):
        return None
    return pieces
