"""Bodies, addressed by the SHA-256 of their redacted bytes and stored once; `_core.TapeLog` makes rows."""

from __future__ import annotations

import threading

import zstandard

from faultwire.errors import TapeTampered

MAX_BLOB = 256 * 1024 * 1024
"""No single blob is larger; longer bodies are several pieces."""

ENCRYPTION = "encryption"
"""The member of a body in an event that says how it is encrypted (`format.encryption`), and of the settings
of a tape whose bodies are."""
ENCRYPTED_BODIES = {"bodies": "AES-256-GCM"}
"""What the settings hold."""

_STEP = 1 << 20

_OF_THREAD = threading.local()

BlobRow = tuple[bytes, int, int, bytes]
"""digest, size, packed (0 plain, 1 zstd), data."""


def unpack(size: int, packed: int, data: bytes) -> bytes:
    """The bytes of a stored blob. Raises TapeTampered where they are not of the size it claims."""
    if not (isinstance(size, int) and isinstance(data, bytes)):  # a damaged page has values of any type
        raise TapeTampered("a blob is not what a blob is", code="tape.blob_size")
    if not 0 <= size <= MAX_BLOB or packed not in (0, 1):
        raise TapeTampered(f"a blob claims {size} bytes, expected at most {MAX_BLOB}", code="tape.blob_size")
    if packed:
        data = _decompress(size, data)
    if len(data) != size:
        raise TapeTampered(f"a blob holds {len(data)} bytes, expected {size}", code="tape.blob_size")
    return data


def _unpacker() -> zstandard.ZstdDecompressor:
    """This thread's own: making one takes longer than using it."""
    found: zstandard.ZstdDecompressor | None = getattr(_OF_THREAD, "unpacker", None)
    if found is None:
        found = _OF_THREAD.unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    return found


def _decompress(size: int, data: bytes) -> bytes:
    """Step by step: what a blob claims to hold is no reason to make room for it."""
    out = bytearray()
    try:
        reader = _unpacker().stream_reader(data)
        while len(out) <= size and (block := reader.read(min(_STEP, size + 1 - len(out)))):
            out += block
    except zstandard.ZstdError as error:
        raise TapeTampered(f"a blob is no zstd data: {error}", code="tape.blob_size") from error
    return bytes(out)
